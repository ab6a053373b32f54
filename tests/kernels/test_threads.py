"""Any number of threads writes the same bytes, and the right ones."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache

import numpy as np
import pytest
from reorder_batch import module_of
from varied_reorders import VARIED, all_streamed, placed, reorder, small_panels, source_and_expected

from layout_ir.runtime.kernel import Kernel
from layout_ir.runtime.module import compile_functions

THREADS = (None, 1, 2, 7, 0)
REORDERS = VARIED[1::2] + VARIED[:1]
"""Odd shapes, and one whose tiles fill it."""
SHORT_LOOPS = (
    reorder("onednn:ab", "onednn:ba", (256, 128), "f32"),
    reorder("onednn:ab", "onednn:ba", (199, 330), "i8"),
    reorder("onednn:ab", "onednn:ba", (99, 100), "f32"),
    reorder("NHWC", "NCHW", (1, 100, 25, 25), "f32"),
    reorder("NCHW", "NHWC", (2, 128, 14, 14), "f16"),
    reorder("onednn:nChw32c", "NCHW", (2, 64, 16, 17), "f32"),
    reorder("openvino:bfyx", "openvino:bs_fs_yx_bsv16_fsv16", (32, 35, 7, 7), "f32"),
    reorder("onednn:abcd", "onednn:dcba", (6, 20, 15, 20), "i8"),
)
"""No loop around a tile is long enough for 16 threads, but several are together, or one whose last part is longer."""


@cache
def kernels(threads: int | None, vector_bytes: int, streams: bool, panels: bool) -> list[Kernel]:
    names = [f"case_{number}" for number in range(len(REORDERS))]
    with all_streamed() if streams else nullcontext(), small_panels():
        return compile_functions(module_of(REORDERS), names, threads=threads, vector_bytes=vector_bytes, panels=panels)


@pytest.mark.usefixtures("quick_compiler", "all_shared")
@pytest.mark.parametrize(
    "vector_bytes, streams, panels",
    [(0, False, False), (16, False, False), (64, False, False), (64, True, False), (64, True, True)],
)
@pytest.mark.parametrize("threads", THREADS)
def test_any_number_of_threads(threads: int | None, vector_bytes: int, streams: bool, panels: bool) -> None:
    runs = kernels(threads, vector_bytes, streams, panels)
    text = runs[0].source.partition("void case_0")[2]
    assert ("#pragma omp parallel" in text) == (threads is not None)
    assert ("LAYOUT_STREAM" in text) == streams
    assert any("panel[" in run.source for run in runs) == panels
    for number, (case, run) in enumerate(zip(REORDERS, runs, strict=True)):
        values, expected = source_and_expected(case, number)
        source = placed(values.size, values, 0)
        source[:] = values
        destination = placed(expected.size, expected, number % 2)
        run(source, destination)
        assert np.array_equal(destination, expected), case


@pytest.mark.usefixtures("quick_compiler", "all_shared")
@pytest.mark.parametrize("threads", [2, 5, 16])
def test_threads_that_share_several_loops(threads: int) -> None:
    names = [f"case_{number}" for number in range(len(SHORT_LOOPS))]
    runs = compile_functions(module_of(SHORT_LOOPS), names, threads=threads)
    assert "#pragma omp parallel" in runs[0].source
    assert threads < 16 or "collapse(2)" in runs[0].source
    for number, (case, run) in enumerate(zip(SHORT_LOOPS, runs, strict=True)):
        values, expected = source_and_expected(case, number)
        for start in (0, 1):
            destination = placed(expected.size, expected, start)
            run(values, destination)
            assert np.array_equal(destination, expected), case
