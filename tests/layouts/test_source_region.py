"""Regions of the source: which axis leads from one to the next, and where panels take none."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from xdsl.ir.affine import AffineConstantExpr

import layout_ir as li
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_costs import DEFAULT_COSTS, PanelCosts, next_region, overhead
from layout_ir.layouts.panel_group import Group
from layout_ir.layouts.panel_steps import Wanted, panel_of
from layout_ir.layouts.planner import make_plan
from layout_ir.layouts.source_region import LEAST_BYTES, LEAST_REGIONS, pieced_part_bytes, region_axis

MANY, FEW = 9, LEAST_REGIONS - 1

PLANES = "NHWC", "NCHW"


@pytest.mark.parametrize(
    "source, destination, shape, dtype, expected",
    [
        ("onednn:abc", "onednn:acb", (MANY, 200, 300), "i8", "a"),  # a plane of 60000 bytes, in several panels
        ("onednn:abc", "onednn:acb", (MANY, 77, 100), "f32", "a"),
        ("NCHW", "NHWC", (MANY, 50, 28, 28), "f16", "a"),
        ("NHWC", "NCHW", (MANY, 7, 7, 200), "f16", "a"),
        ("onednn:abcd", "onednn:bacd", (5, MANY, 6, 2000), "i8", None),  # panels without gaps, one behind the other
        ("onednn:abc", "onednn:acb", (MANY, 50, 100), "i8", None),  # two planes fit into a first level cache
        ("onednn:abc", "onednn:acb", (MANY, 1000, 300), "i8", None),  # not even one leaves room in a second level one
        ("onednn:abc", "onednn:acb", (FEW, 200, 300), "i8", None),
        ("onednn:abc", "onednn:cba", (MANY, 200, 300), "i8", None),  # read far apart
        ("onednn:abc", "onednn:bac", (MANY * 64, 64, 96), "i8", None),  # written far apart
        ("onednn:abcd", "onednn:acbd", (MANY, 40, 60, 10), "f32", "a"),
    ],
)
def test_axis(source: str, destination: str, shape: tuple[int, ...], dtype: str, expected: str | None):
    panel, width = panel_between((source, destination), shape, dtype, Wanted(4096, 128, carries=False))
    found = region_axis(panel, panel.walked, width, DEFAULT_COSTS.region_bytes)
    assert (None if found is None else panel.group.axes[found].name) == expected
    if found is not None:
        inside = panel.walked[panel.walked.index(found) + 1 :]
        taken = [axis.extent if i in inside else panel.steps[i] for i, axis in enumerate(panel.group.axes)]
        assert LEAST_BYTES <= math.prod(taken) * width <= DEFAULT_COSTS.region_bytes


@pytest.mark.parametrize(
    "shape, row_bytes, expected",
    [
        ((MANY, 100, 300), 64, "a"),  # both regions fit beside a panel
        ((MANY, 200, 300), 64, "a"),  # rows are too short to go on with
        ((MANY, 200, 300), 128, None),  # the next panel goes on with rows
        ((MANY, 200, 300), 300, "a"),  # too much is moved until then
        ((MANY, 300, 300), 64, None),
    ],
)
def test_large_regions_are_for_panels_that_do_not_go_on_with_rows(
    shape: tuple[int, ...], row_bytes: int, expected: str | None
):
    panel, _ = panel_between(("onednn:abc", "onednn:acb"), shape, "i8", Wanted(256, row_bytes, carries=False))
    costs = PanelCosts(near_bytes=40 << 10, kept_region_bytes=40_000, region_bytes=80_000)
    found = next_region(panel, panel.walked, 1, costs)
    assert (None if found is None else panel.group.axes[found].name) == expected


@pytest.mark.parametrize(
    "channels, size, dtype, row_bytes, expected",
    [
        (128, 15, "f32", 128, "a"),
        (256, 15, "f16", 64, "a"),
        (128, 15, "f32", 64, None),  # of wide elements single lines are no good pieces
        (64, 19, "f32", 128, None),  # two pieces are no good ones either
        (100, 15, "f32", 128, None),  # which end inside of lines
        (128, 11, "f32", 128, None),  # small images are taken at once
        (128, 19, "f32", 128, None),  # two of 185 KB are too large
    ],
)
def test_pieces_of_whole_lines_are_asked_for_in_larger_regions(
    channels: int, size: int, dtype: str, row_bytes: int, expected: str | None
):
    panel, width = panel_between(PLANES, (MANY, channels, size, size), dtype, Wanted(4096, row_bytes, carries=False))
    costs = PanelCosts(region_bytes=28 << 10, kept_region_bytes=28 << 10, pieced_region_bytes=(76 << 10, 160 << 10))
    found = next_region(panel, panel.walked, width, costs)
    assert (None if found is None else panel.group.axes[found].name) == expected
    others = replace(costs, pieced_region_bytes=(0, 0))
    assert next_region(panel, panel.walked, width, others) is None


@pytest.mark.parametrize(
    "source, destination, shape, dtype, wanted, expected",
    [
        ("NHWC", "NCHW", (MANY, 64, 15, 15), "f32", Wanted(320, 128, carries=True), 64 * 15 * 15 * 4),  # an image
        ("NHWC", "NCHW", (MANY, 512, 15, 15), "f16", Wanted(4096, 128, carries=False), 512 * 15 * 15 * 2),
        ("NHWC", "NCHW", (MANY, 64, 15, 15), "f32", Wanted(4096, 256, carries=False), None),  # taken at once
        ("onednn:ab", "onednn:ba", (300, 500), "i8", Wanted(128, 64, carries=True), 300 * 500),  # all of it
        ("onednn:abcd", "onednn:acbd", (MANY, 8, 6, 50), "f32", Wanted(400, 200, carries=True), 8 * 6 * 50 * 4),
    ],
)
def test_parts_of_which_panels_take_pieces(
    source: str, destination: str, shape: tuple[int, ...], dtype: str, wanted: Wanted, expected: int | None
):
    panel, width = panel_between((source, destination), shape, dtype, wanted)
    assert pieced_part_bytes(panel, panel.walked, width) == expected


@pytest.mark.parametrize(
    "channels, size, dtype, run_bytes, row_bytes, is_cheap",
    [
        (96, 27, "f32", 320, 128, True),
        (512, 15, "f16", 4096, 128, True),
        (96, 27, "f32", 320, 64, False),  # of a pair of lines one has to be brought again
        (100, 27, "f32", 320, 128, False),  # so have parts of lines
        (512, 57, "f32", 320, 128, False),  # images of 6 MB are gone by then
    ],
)
def test_pieces_of_whole_lines_of_what_stays_in_a_cache_cost_less(
    channels: int, size: int, dtype: str, run_bytes: int, row_bytes: int, is_cheap: bool
):
    wanted = Wanted(run_bytes, row_bytes, carries=True)
    gone, kept = overheads((MANY, channels, size, size), dtype, wanted)
    assert kept < gone if is_cheap else kept == gone


@pytest.mark.parametrize("images, is_shared", [(MANY, False), (1, True)])
def test_threads_that_share_an_image_do_not_find_its_pieces_in_their_caches(images: int, is_shared: bool):
    gone, kept = overheads((images, 96, 27, 27), "f32", Wanted(320, 128, carries=True), threads=2)
    assert kept == gone if is_shared else kept < gone


@pytest.mark.parametrize("start, is_cheap", [(0, True), (32, True), (8, False)])
def test_pieces_of_a_box_that_begins_inside_of_a_line_end_inside_of_lines(start: int, is_cheap: bool):
    gone, kept = overheads((MANY, 96, 27, 27), "f32", Wanted(320, 128, carries=True), start=start)
    assert kept < gone if is_cheap else kept == gone


@pytest.mark.parametrize(
    "carries, kept_bytes, is_cheaper", [(True, 3 << 19, True), (False, 3 << 19, False), (True, 0, False)]
)
def test_ends_of_planes_cost_less_where_lines_are_carried_in_a_kept_part(
    carries: bool, kept_bytes: int, is_cheaper: bool
):
    panel, width = panel_between(PLANES, (MANY, 96, 27, 27), "f32", Wanted(320, 128, carries=carries))
    costs = (PanelCosts(end_bytes=900, kept_source_bytes=kept_bytes, kept_end_bytes=end) for end in (300, 900))
    less, more = (overhead(panel, one, width, at_lines=True, threads=0) for one in costs)
    assert less < more if is_cheaper else less == more


def overheads(
    shape: tuple[int, ...], dtype: str, wanted: Wanted, *, threads: int = 0, start: int = 0
) -> tuple[float, float]:
    """
    What panels from NHWC to NCHW cost where a cache keeps nothing, and where it keeps 1.5 MB.

    `start`: elements of the source in front of what they take.
    """
    panel, width = panel_between(PLANES, shape, dtype, wanted, start)
    costs = (PanelCosts(kept_source_bytes=most) for most in (0, 3 << 19))
    gone, kept = (overhead(panel, one, width, at_lines=True, threads=threads) for one in costs)
    return gone, kept


def panel_between(
    names: tuple[str, str], shape: tuple[int, ...], dtype: str, wanted: Wanted, start: int = 0
) -> tuple[Panel, int]:
    """Panels of a copy whose source begins after so many elements, and the width of an element in bytes."""
    width = li.element_type(dtype).bytes
    left, right = (li.layout(name).index_map(shape, dtype) for name in names)
    (box,) = make_plan(left, right).boxes
    group = Group.of([replace(box, source_offset=AffineConstantExpr(start))])
    return panel_of(group, [1] * group.shared, wanted, width), width
