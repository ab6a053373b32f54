"""In which order large copies read their source, and how far they read on before they go elsewhere."""

from __future__ import annotations

import pytest
from xdsl.context import Context

from layout_ir.api import layout
from layout_ir.layouts.plan import Box
from layout_ir.layouts.planner import make_plan
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.explain import explain_module
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.loop_order import loop_levels
from layout_ir.lowering.schedule import choose_schedule
from layout_ir.lowering.source_sequence import source_sequence
from layout_ir.lowering.target import Target
from layout_ir.lowering.tile_choice import tile_of

Shape = tuple[int, ...]


def loops(source: str, destination: str, shape: Shape) -> tuple[Box, Tile, list[LoopLevel]]:
    """The only box of a copy of f32 with its tile and loops."""
    left, right = (layout(f"onednn:{text}").index_map(shape, "f32") for text in (source, destination))
    (box,) = make_plan(left, right).boxes
    schedule = choose_schedule(Target(64, panels=True), 4, right.cell_count, left.size)
    tile = tile_of(box, schedule, left.storage_size)
    assert tile is not None
    return box, tile, loop_levels(box, tile, schedule)


@pytest.mark.parametrize(
    ("source", "destination", "shape", "expected"),
    [
        ("abcdef", "acebdf", (12, 16, 16, 16, 16, 16), "abcde"),
        ("abcde", "adbec", (4, 48, 32, 48, 48), "abdec"),
        ("abcdef", "acebdf", (1, 4, 4, 4, 4, 16), "ceb"),  # the caches take in lines as they are written
    ],
)
def test_lines_past_the_caches_are_written_in_the_order_of_the_source(
    source: str, destination: str, shape: Shape, expected: str
):
    box, _, levels = loops(source, destination, shape)
    order = "".join(box.axes[level.axis].name for level in levels if level.inside is None)
    assert order == expected


@pytest.mark.parametrize(
    ("source", "destination", "shape", "expected"),
    [
        ("nchw", "nhwc", (64, 64, 56, 56), 32 * 56 * 56),  # half of the channels, plane by plane
        ("abcd", "dcab", (229, 32, 64, 32), 32),  # 32 elements, then those of another a and b
        ("abcde", "adbec", (4, 48, 32, 48, 48), 32 * 48 * 48),  # rows of e, the next ones behind them, and all c
    ],
)
def test_how_far_tiles_read_on(source: str, destination: str, shape: Shape, expected: int):
    assert source_sequence(*loops(source, destination, shape), 16) == expected


def test_gaps_of_a_few_lines_are_read_over():
    left = layout("onednn:nhwc").index_map((64, 35, 256, 256), "f32")
    right = layout("onednn:nChw16c").index_map((64, 35, 256, 256), "f32")
    box = make_plan(left, right).boxes[0]  # 32 of 35 channels
    schedule = choose_schedule(Target(64), 4, right.cell_count, left.size)
    tile = tile_of(box, schedule, left.storage_size)
    assert tile is not None
    assert source_sequence(box, tile, loop_levels(box, tile, schedule), 16) >= 32 * 256 * 256


@pytest.mark.parametrize(
    ("destination", "shape", "fault"),
    [
        ("dcab", (229, 32, 64, 32), "read short pieces of the source, far from each other"),
        ("cbda", (170, 24, 64, 56), "write lines in parts"),
        ("bdac", (96, 24, 64, 96), None),
    ],
)
def test_panels_tell_what_tiles_alone_would_do(destination: str, shape: Shape, fault: str | None):
    module = reorder_module(layout("onednn:abcd"), layout(f"onednn:{destination}"), shape, "f32")
    text = explain_module(Context(), module, Target(vector_bytes=64, panels=True)).split("if the destination does not")[
        0
    ]
    assert ("to a panel" in text) == (fault is not None)
    assert f"tiles alone would {fault}" in text or fault is None


def test_tiles_that_overlap_much_go_by_panels():
    module = reorder_module(layout("onednn:abcdef"), layout("onednn:cdfaeb"), (13, 8, 16, 24, 16, 24), "f32")
    text = explain_module(Context(), module, Target(vector_bytes=64, panels=True))
    assert "tiles alone would write many lines twice" in text


def test_other_starts_have_panels_of_their_own():
    module = reorder_module(layout("onednn:abcde"), layout("onednn:cedab"), (6, 48, 32, 48, 32), "f32")
    text = explain_module(Context(), module, Target(vector_bytes=64, panels=True))
    at_line, elsewhere = text.split("if the destination does not begin at a cache line:")
    assert "tiles alone would read short pieces of the source" in at_line
    assert "tiles alone would write lines in parts" in elsewhere
