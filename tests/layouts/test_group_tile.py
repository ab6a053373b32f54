"""Tiles for groups of work items: runs on both sides, within local memory, and columns in different banks."""

from __future__ import annotations

import math

import pytest

import layout_ir as li
from layout_ir.layouts.group_tile import BANK_BYTES, GroupTile, choose_group_tile, most_bytes
from layout_ir.layouts.planner import make_plan

SIDE = 32


def tile_of(source: str, destination: str, shape: tuple[int, ...], dtype: str = "f32") -> GroupTile | None:
    maps = [li.layout(name).index_map(shape, dtype) for name in (source, destination)]
    (box, *_) = make_plan(*maps).boxes
    return choose_group_tile(box, SIDE, li.element_type(dtype).bytes)


def known_tile(source: str, destination: str, shape: tuple[int, ...], dtype: str = "f32") -> GroupTile:
    tile = tile_of(source, destination, shape, dtype)
    assert tile is not None
    return tile


@pytest.mark.parametrize("names, shape, dtype, runs", [
    (("NC", "CN"), (512, 512), "f32", (32, 32)),
    (("NC", "CN"), (512, 512), "i8", (64, 64)),
    (("NCHW", "NHWC"), (2, 3, 56, 56), "f32", (512, 1536)),
    (("NCHW", "onednn:nChw16c"), (2, 64, 56, 56), "f32", (64, 1024)),
    (("onednn:nChw8c", "NCHW"), (2, 64, 56, 56), "f32", (1024, 128)),
    (("onednn:oihw", "onednn:OIhw4i16o4i"), (64, 64, 3, 3), "f32", (72, 128)),
])  # fmt: skip
def test_runs_cover_several_axes(
    names: tuple[str, str], shape: tuple[int, ...], dtype: str, runs: tuple[int, int]
) -> None:
    tile = known_tile(*names, shape, dtype)
    assert (tile.source.length, tile.destination.length) == runs
    assert tile.size * tile.element_bytes <= most_bytes(SIDE)


@pytest.mark.parametrize("dtype", ["i8", "f16", "f32", "f64"])
@pytest.mark.parametrize("names", [("NC", "CN"), ("NCHW", "NHWC"), ("NHWC", "NCHW"), ("onednn:nChw16c", "NCHW")])
def test_what_neighbours_write_lies_in_different_banks(names: tuple[str, str], dtype: str) -> None:
    tile = known_tile(*names, (64, 64) if len(names[0]) == 2 else (2, 64, 56, 56), dtype)
    stride = tile.strides[tile.destination.axes[0]] * tile.element_bytes
    word = max(BANK_BYTES, tile.element_bytes)
    assert stride % word == 0
    assert math.gcd(stride // word, 32) == 1


@pytest.mark.parametrize(
    "shape, lanes", [((128, 128), (4, 4)), ((70, 135), (1, 2)), ((35, 9), (1, 1)), ((36, 9), (4, 4))]
)
def test_short_elements_are_moved_by_words_where_runs_lie_at_multiples_of_one(
    shape: tuple[int, int], lanes: tuple[int, int]
) -> None:
    tile = known_tile("NC", "CN", shape, "i8")
    assert (tile.source.lanes, tile.destination.lanes) == lanes


def test_no_tile_where_both_sides_run_along_one_axis_or_nowhere() -> None:
    assert tile_of("NHWC", "onednn:nChw16c", (2, 64, 8, 8)) is None
    maps = [li.layout(name).index_map((512, 512), "f32") for name in ("NC", "CN")]
    assert choose_group_tile(make_plan(*maps).boxes[0], 0, 4) is None
