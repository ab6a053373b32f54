"""One function on one set of data: run the kernel, compare with the interpreter, measure, say what happened."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp, NoneAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from layout_ir.dialects.attributes import FormatAttr
from layout_ir.dialects.types import layout_of, stored_type
from layout_ir.errors import LayoutError
from layout_ir.interpreter.functions import Storage, arguments, results
from layout_ir.interpreter.module import interpret
from layout_ir.interpreter.reference import allocated_size
from layout_ir.layouts.index_map import IndexMap
from layout_ir.runtime.kernel import Kernel
from layout_ir.runtime.storage import as_storage, is_row_major, new_storage, traffic
from layout_ir.tools.layout_run_files import Given

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

SENTINEL = 0xA5
"""The byte that fills what a kernel writes to, so that what it leaves unwritten shows."""

GUARD = 4096
"""Bytes in front of and behind a buffer that a kernel must not touch."""

_ENOUGH_SECONDS = 0.25
_MOST_RUNS = 1000


@dataclass
class Guarded:
    """A buffer between two guard zones, all of it filled with the sentinel."""

    storage: Storage
    memory: Array = field(init=False)
    buffer: Array = field(init=False)

    def __post_init__(self) -> None:
        import numpy as np

        size = allocated_size(self.storage.index_map) * self.storage.element.bytes
        whole = np.full(size + 3 * GUARD, SENTINEL, np.uint8)
        start = -whole.ctypes.data % GUARD  # a page of its own, as a framework would allocate it
        self.memory = whole[start : start + size + 2 * GUARD]
        self.buffer = self.memory[GUARD : GUARD + size].view(self.storage.element.numpy)

    def check(self) -> None:
        """Raise `LayoutError` if a guard zone was written to."""
        for where, zone in (("in front of", self.memory[:GUARD]), ("behind", self.memory[-GUARD:])):
            if (zone != SENTINEL).any():
                raise LayoutError(f"{self.storage.name}: the kernel wrote {where} the buffer; this is a defect")


@dataclass
class Job:
    """A compiled function with the arrays that it runs on."""

    module: ModuleOp
    function: FuncOp
    kernel: Kernel
    inputs: dict[str, Array] = field(default_factory=dict[str, "Array"])
    """Storages of the arguments that are given; the others are made up, or are written."""

    written: list[Guarded] = field(init=False)
    buffers: list[Array] = field(init=False)

    def __post_init__(self) -> None:
        self.written, self.buffers = [], []
        for argument, storage in zip(self.kernel.arguments, self.storages, strict=True):
            if not argument.is_written:
                self.buffers.append(self.inputs[storage.name])
                continue
            guarded = Guarded(storage)
            if storage.name in self.inputs:
                guarded.buffer[:] = self.inputs[storage.name]
            self.written.append(guarded)
            self.buffers.append(guarded.buffer)

    @property
    def storages(self) -> list[Storage]:
        """Arguments, then results."""
        return [*arguments(self.function), *results(self.function)]

    def run(self) -> None:
        """Call the kernel once."""
        self.kernel(*self.buffers)

    def expected(self) -> list[Array]:
        """What the interpreter writes, in the order of `written`; to be called before the kernel has run."""
        count = len(self.function.function_type.inputs)
        copies = [
            buffer.copy() if argument.is_written else buffer
            for argument, buffer in zip(self.kernel.arguments[:count], self.buffers[:count], strict=True)
        ]
        try:
            outputs = interpret(self.module, self.kernel.name, copies, fill=SENTINEL)
        except LayoutError as error:
            raise LayoutError(
                f"{self.kernel.name}: cannot be checked (--no-check runs it all the same): {error}"
            ) from None
        everything = [*copies, *outputs]
        return [array for argument, array in zip(self.kernel.arguments, everything, strict=True) if argument.is_written]

    def compare(self, expected: Sequence[Array]) -> None:
        """Raise `LayoutError` unless the kernel wrote, bit for bit, what the interpreter wrote, and nothing else."""
        import numpy as np

        for guarded, array in zip(self.written, expected, strict=True):
            guarded.check()
            kind = f"u{array.itemsize}"
            got, wanted = guarded.buffer.view(kind), array.view(kind)
            if np.array_equal(got, wanted):
                continue
            places = np.flatnonzero(got != wanted)
            first = int(places[0])
            raise LayoutError(
                f"{self.kernel.name}: {guarded.storage.name} differs from the interpreter in {places.size} of "
                f"{got.size} elements, first at storage element {first}: expected the bits {wanted[first]:#x}, "
                f"got {got[first]:#x}; this is a defect"
            )

    def outputs(self) -> dict[str, Array]:
        """What was written, by name, each shaped as its storage."""
        return {g.storage.name: g.buffer.reshape(g.storage.index_map.storage_shape) for g in self.written}

    def measure(self, repeat: int | None) -> tuple[float, int]:
        """Median seconds of a call and the number of calls; as many as a quarter of a second takes, unless given."""
        call, times = self.kernel.ready(*self.buffers), list[float]()
        while len(times) < (repeat or _MOST_RUNS):
            start = perf_counter()
            call()
            times.append(perf_counter() - start)
            if repeat is None and len(times) >= 3 and sum(times) > _ENOUGH_SECONDS:
                break
        times.sort()
        middle = len(times) // 2
        return (times[middle] + times[(len(times) - 1) // 2]) / 2, len(times)

    def traffic(self) -> tuple[int, int]:
        """Bytes of the elements that are read, and of the cells that are written."""
        return traffic(self.kernel, self.storages)

    def signature(self) -> str:
        """`1x3x224x224 f32: NCHW -> openvino:b_fs_yx_fsv16`; every tensor with its shape where shapes differ."""
        kinds = [*self.function.function_type.inputs, *self.function.function_type.outputs]
        written = [argument.is_written for argument in self.kernel.arguments]
        shapes = {_shape(storage) for storage in self.storages}
        texts = [
            layout_text(kind) if len(shapes) == 1 else f"{_shape(storage)} {layout_text(kind)}"
            for kind, storage in zip(kinds, self.storages, strict=True)
        ]
        left = ", ".join(text for text, is_written in zip(texts, written, strict=True) if not is_written)
        right = ", ".join(text for text, is_written in zip(texts, written, strict=True) if is_written)
        return f"{shapes.pop()}: {left} -> {right}" if len(shapes) == 1 else f"{left} -> {right}"


def prepare_input(given: Given | None, storage: Storage, seed: int, function: str) -> Array:
    """The storage of an argument: from the user's array, or made of random bits that depend on the seed only."""
    if given is not None:
        what = f"{function}: {given.origin} for {storage.name}"
        result = as_storage(given.array, storage.index_map, storage.element, what)
        _check_file_shape(given.array.shape, storage.index_map, what)
        return result
    import numpy as np

    random = np.random.default_rng(seed)
    if storage.element.name == "i1":
        return random.integers(0, 2, allocated_size(storage.index_map), np.uint8).view(np.bool_)
    made = new_storage(storage.index_map, storage.element.numpy)
    made.view(np.uint8)[:] = np.frombuffer(random.bytes(made.nbytes), np.uint8)
    return made


def _check_file_shape(shape: tuple[int, ...], index_map: IndexMap, what: str) -> None:
    """Raise `LayoutError` for as many elements in another shape, such as NHWC's for NCHW; axes of 1 are free."""
    stored = index_map.storage_shape
    fitting = [stored, index_map.extents, *([index_map.shape] if is_row_major(index_map) else [])]
    if len(shape) > 1 and _without_ones(shape) not in map(_without_ones, fitting):
        raise LayoutError(f"{what}: expected an array shaped {list(stored)} or flat, got {list(shape)}")


def _without_ones(shape: Sequence[int]) -> list[int]:
    return [size for size in shape if size != 1]


def layout_text(kind: Attribute) -> str:
    """The layout of a type as a reader would say it."""
    match layout_of(stored_type(kind)):
        case NoneAttr():
            return "row-major"
        case FormatAttr() as named:
            return str(named.format).replace('"', "")
        case other:
            return str(other).removeprefix("#layout.")


def _shape(storage: Storage) -> str:
    return "x".join([*map(str, storage.index_map.shape)] or ["scalar"]) + f" {storage.element}"


def amount(number: float, unit: str) -> str:
    """`3211264, "B"` is `3.21 MB`; `0.000412, "s"` is `412 us`."""
    if number <= 0:
        return f"0 {unit}"
    exponent = max(min(math.floor(math.log10(number * 1.0006) / 3), 3), -3)  # 999.6 is printed as 1000
    prefix = {3: "G", 2: "M", 1: "k", 0: "", -1: "m", -2: "u", -3: "n"}[exponent]
    return f"{number / 1000**exponent:.3g} {prefix}{unit}"
