"""Rows with gaps between them: copied once each, in vectors that end where lines of the destination do."""

from __future__ import annotations

import itertools

import pytest

from layout_ir import layout
from layout_ir.layouts.line_copy import aligned_pieces, copy_by_lines
from layout_ir.layouts.plan import Box
from layout_ir.layouts.planner import make_plan
from layout_ir.layouts.shuffle_network import Load

LINE, LEAST = 16, 4


def rows(count: int, length: int, pitch: int, offset: int = 0) -> Box:
    """The box that copies dense rows to rows with a pitch."""
    shape = (count, length)
    source = layout("onednn:ab").index_map(shape, "f32")
    destination = layout("strided", strides=(pitch, 1), offset=offset).index_map(shape, "f32")
    (box,) = make_plan(source, destination).boxes
    return box


@pytest.mark.parametrize(("phase", "length"), list(itertools.product((0, 1, 3, 8, 12, 15), (1, 7, 16, 56, 100))))
def test_pieces_lie_within_lines(phase: int, length: int) -> None:
    pieces = list(aligned_pieces(phase, length, LINE))
    assert [place for start, count in pieces for place in range(start, start + count)] == list(range(length))
    assert all((phase + start) % count == 0 and count <= LINE for start, count in pieces)


@pytest.mark.parametrize("offset", [0, 4, 16])
@pytest.mark.parametrize("pitch", [56 + 64, 56 + 8, 61, 57, 58, 72])
def test_every_element_is_copied_once(pitch: int, offset: int) -> None:
    box = rows(64, 56, pitch, offset)
    tile = copy_by_lines(box, LINE, LEAST, 2)
    assert tile is not None
    moved = [
        (load.offset + lane, store.offset + lane)
        for store in tile.network.stores
        for load in [tile.network.values[store.value]]
        if isinstance(load, Load)
        for lane in range(store.lanes)
    ]
    assert sorted(moved) == [(row * 56 + x, row * pitch + x) for row in range(tile.extents[0]) for x in range(56)]
    assert tile.extents[0] * pitch % LINE == 0


@pytest.mark.parametrize("offset", [0, 4, 5])
@pytest.mark.parametrize("pitch", [56 + 64, 56 + 8, 57, 60])
def test_lines_bypass_the_caches_with_all_that_they_get(pitch: int, offset: int) -> None:
    tile = copy_by_lines(rows(64, 56, pitch, offset), LINE, LEAST, 2)
    assert tile is not None
    ways: dict[tuple[int, int], set[bool]] = {}
    for store in tile.network.stores:
        row, line = store.offset // pitch, (offset + store.offset) // LINE
        ways.setdefault((row, line), set()).add(store.offset in tile.streamed)
        assert store.lanes >= LEAST or store.offset not in tile.streamed
        assert (offset + store.offset) % store.lanes == 0
    assert all(len(way) == 1 for way in ways.values())


@pytest.mark.parametrize(
    ("count", "length", "pitch"),
    [
        (64, 56, 56),  # one run
        (64, 32, 48),  # whole lines anyway
        (64, 12, 40),  # no row holds a line
        (8, 56, 57),  # fewer rows than bring the lines back to where they began
    ],
)
def test_ordinary_tiles_do(count: int, length: int, pitch: int) -> None:
    assert copy_by_lines(rows(count, length, pitch), LINE, LEAST, 2) is None
