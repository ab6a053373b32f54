"""Reorders whose tiles put lines together row by row where the destination begins inside of a line."""

from __future__ import annotations

import pytest
from varied_reorders import reorder

from layout_ir.lowering import staged_lines

STAGED = (
    reorder("NC", "ascend:FRACTAL_NZ", (64, 160), "f32"),
    reorder("NC", "ascend:FRACTAL_NZ", (96, 100), "f16", 3),
    reorder("ascend:FRACTAL_NZ", "NC", (64, 320), "f32"),
    reorder("NCHW", "ascend:FRACTAL_Z", (48, 64, 3, 3), "f32"),
    reorder("onednn:OIhw4i16o4i", "OIHW", (64, 64, 3, 3), "f32"),
    reorder("NHWC", "NCHW", (2, 64, 16, 16), "f32"),
    reorder("NHWC", "NCHW", (2, 64, 32, 32), "f16"),
    reorder("onednn:nChw32c", "NCHW", (2, 64, 16, 16), "f32"),
    reorder("onednn:abc", "onednn:bac", (6, 5, 64), "f32"),
    reorder("onednn:abcd", "onednn:acbd", (2, 24, 6, 64), "f64"),
    reorder("onednn:ab", "onednn:ba", (512, 128), "f64"),
    reorder("onednn:ab", "onednn:ba", (512, 132), "f64"),  # rows of the last tile overlap
    reorder("ascend:FRACTAL_NZ", "NC", (64, 336), "f32"),  # the ends of rows are less than a tile
    reorder("onednn:OIhw4i16o4i", "OIHW", (64, 80, 3, 3), "f32"),
    reorder("onednn:ab", "onednn:ba", (1024, 128), "i8"),
)
"""Rows of whole lines of which tiles write a few, then some of another row."""


def allow_short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tensors of the size of these have rows that are worth it."""
    monkeypatch.setattr(staged_lines, "LEAST_LINES", 2)
    monkeypatch.setattr(staged_lines, "QUEUE_BYTES", 0)
