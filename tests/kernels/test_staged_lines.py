"""Tiles that write whole lines of a destination which begins anywhere: right at every alignment, and interpreted."""

from __future__ import annotations

from pathlib import Path

import pytest
from alignments import check_alignments
from reorder_batch import Reorder, faults, interpreted, lowered
from xdsl.dialects.builtin import ModuleOp

import layout_ir as li
from layout_ir.backends.c import emit_c
from layout_ir.lowering import staged_lines
from layout_ir.lowering.processor_model import ZEN_4


def _reorder(source: str, destination: str, shape: tuple[int, ...], dtype: str, pad: float | None = 0) -> Reorder:
    return Reorder(li.layout(source), li.layout(destination), shape, dtype, pad)


STAGED = (
    _reorder("NC", "ascend:FRACTAL_NZ", (64, 160), "f32"),
    _reorder("NC", "ascend:FRACTAL_NZ", (96, 100), "f16", 3),
    _reorder("ascend:FRACTAL_NZ", "NC", (64, 320), "f32"),
    _reorder("NCHW", "ascend:FRACTAL_Z", (48, 64, 3, 3), "f32"),
    _reorder("onednn:OIhw4i16o4i", "OIHW", (64, 64, 3, 3), "f32"),
    _reorder("NHWC", "NCHW", (2, 64, 16, 16), "f32"),
    _reorder("NHWC", "NCHW", (2, 64, 32, 32), "f16"),
    _reorder("onednn:nChw32c", "NCHW", (2, 64, 16, 16), "f32"),
    _reorder("onednn:abc", "onednn:bac", (6, 5, 64), "f32"),
    _reorder("onednn:abcd", "onednn:acbd", (2, 24, 6, 64), "f64"),
    _reorder("onednn:ab", "onednn:ba", (512, 128), "f64"),
    _reorder("onednn:ab", "onednn:ba", (512, 132), "f64"),  # rows of the last tile overlap
    _reorder("ascend:FRACTAL_NZ", "NC", (64, 336), "f32"),  # the ends of rows are less than a tile
    _reorder("onednn:OIhw4i16o4i", "OIHW", (64, 80, 3, 3), "f32"),
    _reorder("onednn:ab", "onednn:ba", (1024, 128), "i8"),
)
"""Rows of whole lines of which tiles write a few, then some of another row."""


@pytest.fixture(autouse=True)
def short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors need not be large to have rows that are worth it."""
    monkeypatch.setattr(staged_lines, "LEAST_LINES", 2)
    monkeypatch.setattr(staged_lines, "QUEUE_BYTES", 0)


def staged_module(
    reorders: tuple[Reorder, ...], processor: str = ZEN_4, threads: bool = False, panels: bool = True
) -> ModuleOp:
    return lowered(reorders, 64, threads, panels=panels, stream_bytes=0, processor=processor)


@pytest.mark.parametrize(
    "threads, room, count",
    [(False, None, 15), (False, 4096, 14), (True, None, 6), (True, 4096, 10)],
    ids=["all rows", "some rows at a time", "threads", "threads, some rows at a time"],
)
def test_every_alignment(
    threads: bool, room: int | None, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if room is not None:
        monkeypatch.setattr(staged_lines, "STAGE_BYTES", room)
        monkeypatch.setattr(staged_lines, "LINES_OF_BLOCK", 1)
    module = staged_module(STAGED, threads=threads)
    assert sum("%rows = memref.alloca" in str(function) for function in module.ops) == count
    check_alignments(STAGED, emit_c(module), tmp_path, *(["-fopenmp"] if threads else ["-Wno-unknown-pragmas"]))


def test_interpreted() -> None:
    small = tuple(case for case in STAGED if case.shape[0] < 100)
    assert not faults(small, interpreted(staged_module(small)))
