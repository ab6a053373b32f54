"""Kernels for any number of images of any size, where these are innermost on one side: for few and small ones."""

from __future__ import annotations

import itertools

import pytest
from fenced_memory import FencedMemory
from sized_runs import FILL, check_run, known, noise

import layout_ir as li
from layout_ir.interpreter.module import interpret
from layout_ir.lowering.build import reorder_module
from layout_ir.runtime.module import compile_functions
from layout_ir.runtime.sized_kernel import SizedKernel

PAIRS = [
    ("CHWN", "NCHW", 64, "f16"),
    ("NHWC", "CHWN", 20, "f32"),
    ("onednn:nChw4c", "openvino:fyxb", 24, "i8"),
    ("CHWN", "onednn:acbd", 3, "f16"),
    ("NHWC", "onednn:abdc", 32, "i8"),
    ("openvino:bs_fs_yx_bsv16_fsv16", "openvino:yxfb", 16, "f32"),
]
SIZES = [
    (n, *image) for n, image in itertools.product((1, 2, 3, 4, 5, 7, 9), ((1, 1), (2, 3), (5, 7), (17, 4), (4, 70)))
]


@pytest.mark.usefixtures("quickest_compiler")
@pytest.mark.parametrize("threads", [None, 2])
@pytest.mark.parametrize("source, destination, channels, dtype", PAIRS)
def test_every_size_gives_the_bits_of_the_interpreter(
    source: str, destination: str, channels: int, dtype: str, threads: int | None
) -> None:
    shape = (None, channels, None, None)
    module = reorder_module(li.layout(source), li.layout(destination), shape, li.element_type(dtype))
    (kernel,) = compile_functions(module, ["reorder"], vector_bytes=64, threads=threads)
    assert isinstance(kernel, SizedKernel)
    fenced = FencedMemory(1 << 22)
    for sizes in SIZES:
        n, h, w = sizes
        whole, given = known(shape, (n, channels, h, w))
        values = noise(li.layout(source), whole, dtype)
        (expected,) = interpret(module, "reorder", [values], fill=FILL, sizes=given)
        check_run(kernel, given, values, expected, fenced, at_end=n % 2 == 0, what=(source, destination, whole))
