"""Kernels for unknown sizes that take pieces of images which a second level cache keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fenced_memory import FencedMemory
from sized_runs import check_run, noise
from varied_reorders import all_streamed

import layout_ir as li
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.panel_guards import KEPT_ROW_BYTES
from layout_ir.lowering.processor_families import GRANITE_RAPIDS, MODELS, SAPPHIRE_RAPIDS
from layout_ir.lowering.target import Target
from layout_ir.runtime.module import compile_functions, lower_to_c
from layout_ir.runtime.processor import PROCESSOR_VARIABLE
from layout_ir.runtime.sized_kernel import SizedKernel

SIZES = (
    (3, 19, 19),
    (2, 27, 26),  # short last pieces
    (1, 25, 50),
    (5, 15, 15),  # planes too short for pieces
    (1, 92, 91),  # images of which a cache keeps too little
    (4, 1, 1),
)


def c_text(channels: int, dtype: str, processor: str = SAPPHIRE_RAPIDS, *, threads: bool = False) -> str:
    module = reorder_module(li.layout("NHWC"), li.layout("NCHW"), (None, channels, None, None), dtype)
    return lower_to_c(module, Target(64, panels=True, processor=processor, threads=threads))[1]


@pytest.mark.usefixtures("quick_compiler")
@pytest.mark.parametrize("channels, dtype", [(64, "f32"), (128, "f16"), (256, "i8")])
def test_pieces_give_what_numpy_does(channels: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = reorder_module(li.layout("NHWC"), li.layout("NCHW"), (None, channels, None, None), dtype)
    monkeypatch.setenv(PROCESSOR_VARIABLE, SAPPHIRE_RAPIDS)
    with all_streamed():
        (kernel,) = compile_functions(module, ["reorder"], vector_bytes=64, panels=True)
    assert isinstance(kernel, SizedKernel)
    fenced = FencedMemory(1 << 22)
    for sizes in SIZES:
        n, h, w = sizes
        values = noise(li.layout("NHWC"), (n, channels, h, w), dtype)
        expected = np.ascontiguousarray(values.reshape(n, h, w, channels).transpose(0, 3, 1, 2)).reshape(-1)
        for behind_line in (0, 16):
            for at_end in (False, True):
                what = (channels, dtype, sizes, behind_line)
                check_run(kernel, sizes, values, expected, fenced, at_end=at_end, what=what, behind_line=behind_line)


@pytest.mark.parametrize(
    "channels, dtype, processor, threads, is_taken",
    [
        (64, "f32", SAPPHIRE_RAPIDS, False, True),
        (512, "f16", SAPPHIRE_RAPIDS, False, True),
        (256, "i8", SAPPHIRE_RAPIDS, False, True),
        (32, "f32", SAPPHIRE_RAPIDS, False, False),  # whose rows are taken at once
        (100, "f32", SAPPHIRE_RAPIDS, False, False),  # which begin inside of lines
        (64, "f32", SAPPHIRE_RAPIDS, True, False),  # threads share the pieces of an image
        (64, "f32", GRANITE_RAPIDS, False, False),
    ],
)
def test_pieces_are_of_whole_lines_for_one_thread(
    channels: int, dtype: str, processor: str, threads: bool, is_taken: bool
) -> None:
    width = li.element_type(dtype).bytes
    text = c_text(channels, dtype, processor, threads=threads)
    assert (f"h_w >= {KEPT_ROW_BYTES // width}" in text) == is_taken


@pytest.mark.parametrize("channels, dtype, asks", [(128, "f16", True), (256, "i8", True), (128, "f32", False)])
def test_pieces_ask_in_the_order_of_all_loops(
    channels: int, dtype: str, asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiles of fewer rows do not."""
    text = c_text(channels, dtype)
    monkeypatch.setitem(MODELS, SAPPHIRE_RAPIDS, replace(MODELS[SAPPHIRE_RAPIDS], asks_in_order=False))
    assert (c_text(channels, dtype) != text) == asks
