"""
Many reorders at once: one module, one C file, one shared library, and the numpy interpreter's word on every result.

A C compiler takes longer to start than to compile a small function; this is what lets a cross product of all layouts
run in the test suite. The destination lies in a field of sentinels, so that every write outside of its cells and every
cell that was left out shows; the source lies next to a page that cannot be read.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fenced_memory import FencedMemory
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from layout_ir.backends.c import emit_c
from layout_ir.backends.uses import called_by, is_private
from layout_ir.interpreter.loops import run_loops
from layout_ir.interpreter.reference import allocated_size, reorder_reference
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.element_type import element_type
from layout_ir.layouts.layout import Layout
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.pipeline import lower
from layout_ir.lowering.processor_families import ICE_LAKE
from layout_ir.lowering.split_vectors import SplitVectorsPass
from layout_ir.lowering.target import Target
from layout_ir.runtime.compilation import compile_library
from layout_ir.runtime.compiler import find_compiler, register_bytes

SENTINEL, GUARD = 0xA5, 80
"""The byte that destinations are filled with, and the elements in front of and behind them that keep it."""

FLAGS = ("-O0", "-std=gnu11", "-fPIC", "-shared", "-march=native", "-Wall", "-Wextra", "-Werror")
"""Much faster to compile than a user's kernels, and no less right."""

Run = Callable[[np.ndarray, np.ndarray], None]
"""Reads the first storage, writes the second."""


@dataclass(frozen=True)
class Reorder:
    """One reorder. `pad`: what pads are set to, None leaves them."""

    source: Layout
    destination: Layout
    shape: tuple[int, ...]
    dtype: str = "f32"
    pad: float | None = 0

    def __str__(self) -> str:
        return f"{self.source} -> {self.destination} of {list(self.shape)} {self.dtype}, pad {self.pad}"


def pad_bits(pad: float, dtype: str) -> int:
    """The bits of a small number in an element type."""
    if dtype == "bf16":
        return struct.unpack("<I", struct.pack("<f", pad))[0] >> 16
    if dtype == "f16":
        return struct.unpack("<H", struct.pack("<e", pad))[0]
    if dtype in ("f32", "f64"):
        return struct.unpack(*(("<I", struct.pack("<f", pad)) if dtype == "f32" else ("<Q", struct.pack("<d", pad))))[0]
    return int(pad) % (1 << element_type(dtype).bits)


def module_of(reorders: Sequence[Reorder]) -> ModuleOp:
    """A module with the functions `case_0`, `case_1`, ..."""
    module = ModuleOp([])
    for number, case in enumerate(reorders):
        one = reorder_module(case.source, case.destination, case.shape, case.dtype, f"case_{number}", case.pad)
        function = one.body.block.first_op
        assert function is not None
        function.detach()
        module.body.block.add_op(function)
    return module


def lowered(
    reorders: Sequence[Reorder],
    vector_bytes: int = 0,
    threads: bool = False,
    *,
    panels: bool = False,
    stream_bytes: int | None = None,
    processor: str = ICE_LAKE,
    registers: int = LINE_BYTES,
    team: int = 2,
) -> ModuleOp:
    """The module with its functions as loops; `registers`: bytes of one; `team`: how many threads share them."""
    module = module_of(reorders)
    lower(Context(), module, Target(vector_bytes, threads, panels, stream_bytes, processor, registers, team))
    return module


def case_texts(module: ModuleOp) -> dict[str, str]:
    """The text of every case by its name, with those of the functions that it calls."""
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    texts = {op.sym_name.data: str(op) for op in functions}
    return {
        op.sym_name.data: "".join(texts[name] for name in (*called_by(op), op.sym_name.data))
        for op in functions
        if not is_private(op)
    }


def text_for_this_processor(module: ModuleOp) -> str:
    """The C text of a lowered module, whose vectors are taken apart into the registers that there are."""
    in_registers = module.clone()
    SplitVectorsPass(register_bytes(), stores_apart=True).apply(Context(), in_registers)
    return emit_c(in_registers)


def kernels(module: ModuleOp, folder: Path, *flags: str) -> list[Run]:
    """Every function of a lowered module, in this processor's registers, compiled with further flags."""
    source, library = folder / "batch.c", folder / "batch.so"
    source.write_text(text_for_this_processor(module))
    compile_library(find_compiler(), source, library, (*FLAGS, *flags))
    loaded = ctypes.CDLL(str(library))
    return [_kernel(loaded[name]) for name in case_texts(module)]


def _kernel(function: Callable[..., object]) -> Run:
    def call(source: np.ndarray, destination: np.ndarray) -> None:
        function(ctypes.c_void_p(source.ctypes.data), ctypes.c_void_p(destination.ctypes.data))

    return call


def interpreted(module: ModuleOp) -> list[Run]:
    """Every function of a lowered module, interpreted by xDSL."""

    def call(name: str) -> Run:
        return lambda source, destination: run_loops(module, name, [source, destination])

    return [call(name) for name in case_texts(module)]


def faults(reorders: Sequence[Reorder], runs: Sequence[Run]) -> list[str]:
    """What is wrong, one line a reorder that does not do what the interpreter of its layouts does."""
    memory = FencedMemory(1 << 22)
    messages = [
        _fault(case, run, number, memory) for number, (case, run) in enumerate(zip(reorders, runs, strict=True))
    ]
    return [f"{case}: {message}" for case, message in zip(reorders, messages, strict=True) if message]


def _fault(case: Reorder, run: Run, number: int, memory: FencedMemory) -> str | None:
    width = element_type(case.dtype).bytes
    maps = [layout.index_map(case.shape, case.dtype) for layout in (case.source, case.destination)]
    read, written = map(allocated_size, maps)
    random = np.random.default_rng(number).integers(0, 256, read * width, np.uint8).view(f"u{width}")
    source = memory.copy_of(random, at_end=number % 4 != 3)
    field = _field(written, width, behind_line=(0, 16, width)[number % 3])
    expected = field.copy()
    pad = None if case.pad is None else pad_bits(case.pad, case.dtype)
    reorder_reference(random, *maps, pad, expected[GUARD : GUARD + written])
    run(source, field[GUARD : GUARD + written])
    wrong = np.flatnonzero(field != expected) - GUARD
    if not np.array_equal(source, random):
        return "the source was changed"
    if not wrong.size:
        return None
    first = int(wrong[0])
    got, wanted = field[GUARD + first], expected[GUARD + first]
    return f"{wrong.size} of {written} cells are wrong, first at {first}: expected {wanted:#x}, got {got:#x}"


def _field(size: int, width: int, behind_line: int) -> np.ndarray:
    """Sentinels in which a destination of `size` elements begins some bytes behind a cache line."""
    memory = np.full((size + 2 * GUARD) * width + 2 * LINE_BYTES, SENTINEL, np.uint8)
    start = -(memory.ctypes.data + GUARD * width) % LINE_BYTES + behind_line
    return memory[start : start + (size + 2 * GUARD) * width].view(f"u{width}")
