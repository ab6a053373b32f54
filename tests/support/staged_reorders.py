"""Reorders whose tiles put lines together row by row where the destination begins inside of a line."""

from __future__ import annotations

import pytest
from reorder_batch import Reorder

import layout_ir as li
from layout_ir.lowering import staged_lines


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


def allow_short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tensors of the size of these have rows that are worth it."""
    monkeypatch.setattr(staged_lines, "LEAST_LINES", 2)
    monkeypatch.setattr(staged_lines, "QUEUE_BYTES", 0)
