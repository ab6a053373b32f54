"""One reorder by three routes: its meaning in numpy, the lowered loops interpreted, the compiled kernel."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import layout_ir as li
from layout_ir.interpreter.loops import run_loops
from layout_ir.interpreter.module import interpret
from layout_ir.lowering.build import reorder_module
from layout_ir.runtime.module import compile_functions, lower_to_c

SENTINEL, GUARD = 0xA5, 64

LAYOUTS = [
    "NCHW",
    "CHWN",
    "openvino:b_fs_yx_fsv4",
    "openvino:bs_fs_yx_bsv4_fsv2",
    "onednn:nChw8c",
    "cudnn:NC/3HW3",
    "mace:IN_OUT_CHANNEL",
    "(n, c, h, w) -> (c floordiv 4, n, h * 3 + w, c mod 4), round_up = [2, 1, 1, 1]",
]


TENSORS = [((1, 5, 2, 3), "i16", 0), ((3, 4, 1, 3), "u8", 7), ((2, 7, 2, 3), "f32", None)]
CASES = [
    (source, destination, *tensor)
    for (source, destination), tensor in zip(itertools.permutations(LAYOUTS, 2), itertools.cycle(TENSORS), strict=False)
]


@pytest.mark.parametrize("source, destination, shape, dtype, pad", CASES)
def test_agree(source: str, destination: str, shape: tuple[int, ...], dtype: str, pad: float | None) -> None:
    left, right = (
        li.layout(text, dims="NCHW") if text.startswith("mace") else li.layout(text) for text in (source, destination)
    )
    module = reorder_module(left, right, shape, dtype, pad=pad)
    element = li.element_type(dtype)
    read, written = left.index_map(shape, dtype).storage_size, right.index_map(shape, dtype).storage_size
    stored = np.random.default_rng(read).integers(0, 256, read * element.bytes, np.uint8).view(element.numpy)
    (expected,) = interpret(module, "reorder", [stored], fill=SENTINEL)
    memory = [np.full((written + GUARD) * element.bytes, SENTINEL, np.uint8).view(element.numpy) for _ in range(2)]
    run_loops(lower_to_c(module)[0], "reorder", [stored, memory[0]])
    (kernel,) = compile_functions(module, ["reorder"])
    kernel(stored, memory[1])
    guard = bytes([SENTINEL]) * (GUARD * element.bytes)
    assert [array.tobytes() for array in memory] == [expected.tobytes() + guard] * 2
