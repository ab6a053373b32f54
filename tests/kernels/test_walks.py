"""Kernels that copy boxes which share lines of a side together: right at every size, with threads or not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from reorder_batch import Reorder, faults, interpreted, kernels, lowered
from xdsl.dialects.builtin import ModuleOp

import layout_ir as li


def _reorder(source: str, destination: str, shape: tuple[int, ...], dtype: str, pad: float | None = 0) -> Reorder:
    return Reorder(li.layout(source), li.layout(destination), shape, dtype, pad)


TOGETHER = (
    _reorder("NHWC", "onednn:nChw16c", (2, 35, 16, 20), "f32"),
    _reorder("NHWC", "onednn:nChw16c", (3, 35, 11, 13), "i8"),  # 143 pixels: two parts, and some that are left
    _reorder("NHWC", "onednn:nChw8c", (1, 11, 40, 41), "i16", 5),
    _reorder("NHWC", "onednn:nChw32c", (2, 70, 23, 9), "f16"),
    _reorder("NHWC", "ascend:NC1HWC0", (2, 37, 12, 14), "f16"),
    _reorder("NHWC", "openvino:b_fs_yx_fsv16", (2, 19, 9, 31), "f64"),
    _reorder("onednn:ndhwc", "onednn:nCdhw16c", (1, 18, 5, 9, 11), "f32", -1),
    _reorder("onednn:nwc", "onednn:nCw16c", (2, 50, 300), "f32"),
    _reorder("NHWC", "onednn:nChw16c", (21, 35, 2, 3), "f32"),  # several images at once, and some that are left
    _reorder("NHWC", "onednn:ABcd16a16b", (35, 24, 9, 11), "i8", 2),  # all images of a block
    _reorder("NHWC", "onednn:OIhw4i16o4i", (32, 35, 7, 5), "f16"),
)
APART = (
    _reorder("NHWC", "onednn:nChw16c", (1, 35, 7, 9), "f32"),  # too few pixels
    _reorder("NHWC", "onednn:nChw16c", (2, 32, 16, 20), "f32"),  # nothing left over
    _reorder("NHWC", "onednn:nChw16c", (2, 35, 16, 20), "f32", None),  # pads are left as they are: no tile for the rest
    _reorder("NCHW", "onednn:nChw16c", (2, 35, 16, 20), "f32"),  # planes apart
    _reorder("NHWC", "onednn:nChw16c", (1, 1000, 12, 12), "f32"),  # pixels of many lines
)


CACHED = (
    _reorder("onednn:nChw16c", "NHWC", (2, 35, 30, 41), "f32"),
    _reorder("onednn:nChw16c", "NHWC", (1, 37, 64, 16), "i8"),  # nothing left of the pixels
    _reorder("ascend:NC1HWC0", "NHWC", (3, 19, 23, 31), "f16"),
    _reorder("onednn:nChw8c", "NHWC", (1, 11, 40, 41), "f64"),
    _reorder("onednn:nCw32c", "onednn:nwc", (2, 70, 900), "i16"),
    _reorder("NHWC", "onednn:nChw16c", (5, 35, 28, 32), "f16"),  # ends early: loads reach further
    _reorder("NHWC", "onednn:nChw16c", (1, 35, 43, 43), "f32", 7),
    _reorder("NHWC", "onednn:nChw8c", (1, 17, 32, 64), "f32"),  # one channel left over
    _reorder("NHWC", "onednn:nChw16c", (4, 35, 32, 32), "i8", None),  # pads are left as they are: scalar loops inside
)
"""Reorders of data that stay in the caches."""


def loops(reorders: tuple[Reorder, ...], threads: bool = False, stream_bytes: int = 0) -> ModuleOp:
    """The module of reorders whose sources count as large, or only from `stream_bytes` on."""
    return lowered(reorders, 64, threads, stream_bytes=stream_bytes)


def has_walk(module: ModuleOp) -> list[bool]:
    """Whether each function has loops that are common to several boxes."""
    return [re.search(r"%\w+_part\b", str(function)) is not None for function in module.body.block.ops]


def test_which_are_copied_together() -> None:
    assert all(has_walk(loops(TOGETHER)))
    assert not any(has_walk(loops(APART)))
    assert all(has_walk(loops(CACHED, stream_bytes=1 << 24)))
    without_pads = APART[2]  # scalar loops may be part of a walk there
    assert has_walk(loops(APART, stream_bytes=1 << 24)) == [reorder is without_pads for reorder in APART]


@pytest.mark.parametrize("threads", [False, True], ids=["one thread", "threads"])
def test_every_size(threads: bool, tmp_path: Path) -> None:
    reorders = (*TOGETHER, *APART)
    found = faults(reorders, kernels(loops(reorders, threads), tmp_path, *(["-fopenmp"] if threads else [])))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("threads", [False, True], ids=["one thread", "threads"])
def test_in_the_caches(threads: bool, tmp_path: Path) -> None:
    reorders = (*CACHED, *TOGETHER, *APART)
    module = loops(reorders, threads, stream_bytes=1 << 24)
    # with threads, not where images begin inside of lines
    kept = [not threads or i not in (0, 2, 4) for i in range(len(CACHED))]
    assert has_walk(module)[: len(CACHED)] == kept
    found = faults(reorders, kernels(module, tmp_path, *(["-fopenmp"] if threads else [])))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "reorders, stream_bytes",
    [((TOGETHER[1], TOGETHER[4]), 0), ((CACHED[0], CACHED[5]), 1 << 24)],
    ids=["large", "cached"],
)
def test_interpreted(reorders: tuple[Reorder, ...], stream_bytes: int) -> None:
    found = faults(reorders, interpreted(loops(reorders, stream_bytes=stream_bytes)))
    assert not found, "\n".join(found)


def test_threads_share_loops_that_keep_lines_apart() -> None:
    module = loops((_reorder("NHWC", "onednn:nChw16c", (1, 35, 40, 40), "f32"), TOGETHER[1]), threads=True)
    first, second = map(str, module.body.block.ops)
    assert "_part" in first[first.index("scf.parallel") :]
    # two images of two parts are too little to share: every box has its own loops
    assert "_part" not in second


def test_threads_share_no_walk_where_blocks_begin_inside_of_lines() -> None:
    # parts of 64 pixels of 16 bytes are whole lines, but blocks of 41 x 43 of them are not
    odd = (_reorder("NHWC", "onednn:nChw16c", (2, 35, 41, 43), "i8"),)
    assert has_walk(loops(odd)) == [True]
    assert has_walk(loops(odd, threads=True)) == [False]
