"""Kernels for unknown sizes that take pieces of images which a second level cache keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fenced_memory import FencedMemory
from sized_runs import check_run, noise
from varied_reorders import all_streamed, placed

import layout_ir as li
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.processor_families import EMERALD_RAPIDS, GRANITE_RAPIDS, MODELS
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

KEPT = MODELS[EMERALD_RAPIDS]

Shape = tuple[int | None, ...]


def c_text(
    shape: Shape,
    dtype: str,
    pair: tuple[str, str] = ("NHWC", "NCHW"),
    processor: str = EMERALD_RAPIDS,
    *,
    threads: bool = False,
) -> str:
    module = reorder_module(*map(li.layout, pair), shape, dtype)
    return lower_to_c(module, Target(64, panels=True, processor=processor, threads=threads))[1]


def takes_pieces(text: str, dtype: str) -> bool:
    """Whether a kernel looks how large a step is, how long the rows that it becomes are, and where both sides begin."""
    width = li.element_type(dtype).bytes
    limits = KEPT.panel_costs.kept_source_bytes // width, KEPT.kept_row_bytes // width
    sides = (f"(int64_t)(uintptr_t){side} % 64 == 0" for side in ("source", "destination"))
    choice = text.partition("\nvoid reorder(")[2]
    seen = [words in choice for words in (f"<= {limits[0]})", f">= {limits[1]} &&", " && ".join(sides))]
    assert len(set(seen)) == 1, "expected all conditions or none"
    return all(seen)


@pytest.mark.usefixtures("quick_compiler")
@pytest.mark.parametrize("channels, dtype", [(64, "f32"), (128, "f16"), (256, "i8")])
def test_pieces_give_what_numpy_does(channels: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = reorder_module(li.layout("NHWC"), li.layout("NCHW"), (None, channels, None, None), dtype)
    monkeypatch.setenv(PROCESSOR_VARIABLE, EMERALD_RAPIDS)
    with all_streamed():
        (kernel,) = compile_functions(module, ["reorder"], vector_bytes=64, panels=True)
    assert isinstance(kernel, SizedKernel)
    assert takes_pieces(kernel.source, dtype)
    fenced = FencedMemory(1 << 22)
    for sizes in SIZES:
        n, h, w = sizes
        values = noise(li.layout("NHWC"), (n, channels, h, w), dtype)
        expected = np.ascontiguousarray(values.reshape(n, h, w, channels).transpose(0, 3, 1, 2)).reshape(-1)
        for behind_line in (0, 16):
            what = (channels, dtype, sizes, behind_line)
            check_run(kernel, sizes, values, expected, fenced, at_end=True, what=what, behind_line=behind_line)
            source = placed(values.size, values, behind_line // values.itemsize)
            source[:] = values
            result = placed(expected.size, expected, 0)
            kernel(source, result, sizes=sizes)
            assert np.array_equal(result.view(np.uint8), expected.view(np.uint8)), what


@pytest.mark.parametrize(
    "shape, dtype, processor, threads, is_taken",
    [
        ((None, 64, None, None), "f32", EMERALD_RAPIDS, False, True),
        ((None, 512, None, None), "f16", EMERALD_RAPIDS, False, True),
        ((None, 256, None, None), "i8", EMERALD_RAPIDS, False, True),
        ((None, 32, None, None), "f32", EMERALD_RAPIDS, False, False),  # whose rows are taken at once
        ((None, 100, None, None), "f32", EMERALD_RAPIDS, False, False),  # which begin inside of lines
        ((1, 64, None, None), "f32", EMERALD_RAPIDS, False, False),  # all planes are one part of the source
        ((None, 64, None, None), "f32", EMERALD_RAPIDS, True, False),  # threads share the pieces of an image
        ((None, 64, None, None), "f32", GRANITE_RAPIDS, False, False),
    ],
)
def test_pieces_are_of_whole_lines_for_one_thread(
    shape: Shape, dtype: str, processor: str, threads: bool, is_taken: bool
) -> None:
    text = c_text(shape, dtype, processor=processor, threads=threads)
    assert takes_pieces(text, dtype) == is_taken


@pytest.mark.parametrize(
    "pair, shape",
    [(("onednn:ab", "onednn:ba"), (None, 64)), (("NCHW", "NHWC"), (None, 20, None, None))],
)
def test_other_steps_are_not_kept(pair: tuple[str, str], shape: Shape) -> None:
    """A column of a matrix is no part without gaps of it, and rows of unknown length are no whole lines."""
    assert not takes_pieces(c_text(shape, "f32", pair), "f32")


@pytest.mark.parametrize("channels, dtype, asks", [(128, "f16", True), (256, "i8", True), (128, "f32", False)])
def test_pieces_ask_in_the_order_of_all_loops(
    channels: int, dtype: str, asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiles of fewer rows do not."""
    text = c_text((None, channels, None, None), dtype)
    monkeypatch.setitem(MODELS, EMERALD_RAPIDS, replace(KEPT, asks_in_order=False))
    assert (c_text((None, channels, None, None), dtype) != text) == asks
