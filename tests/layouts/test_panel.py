"""Panels: groups fill stretches, panels fit their scratch, and every cell of a group is written exactly once."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

import layout_ir as li
from layout_ir.layouts import panel_choice
from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.panel import SHARED_TRIPS, Panel
from layout_ir.layouts.panel_choice import choose_panel
from layout_ir.layouts.panel_costs import PanelCosts, overhead
from layout_ir.layouts.panel_group import Group, group_boxes
from layout_ir.layouts.panel_steps import Wanted, panel_of
from layout_ir.layouts.plan import Box
from layout_ir.layouts.planner import make_plan
from layout_ir.layouts.thread_shares import evenness
from layout_ir.layouts.tile import Tile
from layout_ir.layouts.tiling import choose_tile

CASES = [
    ("NCHW", "NHWC", (2, 100, 13, 17), "f32"),
    ("NCHW", "NHWC", (2, 35, 13, 17), "i8"),
    ("onednn:nChw16c", "NHWC", (2, 35, 7, 9), "f32"),
    ("onednn:nChw32c", "NHWC", (1, 70, 9, 9), "f16"),
    ("ascend:FRACTAL_NZ", "NC", (100, 300), "f16"),
    ("onednn:ab", "onednn:ba", (301, 203), "f32"),
    ("onednn:abc", "onednn:cba", (20, 31, 53), "i8"),
    ("onednn:abcde", "onednn:edcba", (5, 6, 7, 8, 9), "f64"),
    ("onednn:abc", "onednn:bac", (37, 5, 19), "i16"),
]


def boxes_of(source: str, destination: str, shape: tuple[int, ...], dtype: str) -> tuple[tuple[Box, ...], int]:
    left, right = (li.layout(name).index_map(shape, dtype) for name in (source, destination))
    return make_plan(left, right).boxes, left.storage_size


def panels(case: tuple[str, str, tuple[int, ...], str]) -> list[tuple[Group, Panel | None]]:
    boxes, size = boxes_of(*case)
    width = li.element_type(case[3]).bytes

    def tile_of(box: Box, source_size: int) -> Tile | None:
        return choose_tile(box, 64 // width, source_size)

    return [(group, choose_panel(group, tile_of, size, width)) for group in group_boxes(boxes, width)]


def chosen_panels(case: tuple[str, str, tuple[int, ...], str]) -> list[tuple[Group, Panel]]:
    """The groups that go through panels, with them."""
    return [(panel.group, panel) for _, panel in panels(case) if panel is not None]


def cells(box: Box) -> list[int]:
    """The places that a box writes, in the order of its steps."""
    steps = itertools.product(*(range(axis.extent) for axis in box.axes))
    strides = [axis.destination_stride for axis in box.axes]
    start = constant_value(box.destination_offset)
    return [start + sum(map(int.__mul__, point, strides)) for point in steps]


@pytest.fixture(params=[False, True], ids=["usual", "small"])
def limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual sizes of panels, and so small ones that every axis is cut."""
    if request.param:
        monkeypatch.setattr(panel_choice, "RUN_BYTES", (192,))
        monkeypatch.setattr(panel_choice, "ROW_BYTES", (32,))
        monkeypatch.setattr(panel_choice, "LEAST_RUN_BYTES", 64)


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_panel_holds_every_cell_of_its_boxes_once(case: tuple[str, str, tuple[int, ...], str]) -> None:
    found = chosen_panels(case)
    assert found
    for group, panel in found:
        boxes = [panel.scratch_box(position) for position in range(len(group.boxes))]
        assert max(place for box in boxes for place in cells(box)) < panel.size
        if group.overrun:
            inner = boxes[0].axes[-1]
            boxes[0] = boxes[0].with_axis(len(boxes[0].axes) - 1, replace(inner, extent=inner.extent - group.overrun))
        scratch = [place for box in boxes for place in cells(box)]
        assert len(set(scratch)) == len(scratch) == math.prod(panel.steps) * group.stretch
        assert min(scratch) >= 0
        assert panel.size * li.element_type(case[3]).bytes <= panel_choice.SCRATCH_BYTES


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_runs_are_as_contiguous_in_scratch_as_in_the_destination(
    case: tuple[str, str, tuple[int, ...], str],
) -> None:
    for group, panel in chosen_panels(case):
        expected = group.stretch
        for position, i in enumerate(panel.run):
            assert panel.pitches[i] == group.axes[i].destination_stride == expected
            assert panel.steps[i] == group.axes[i].extent or position == len(panel.run) - 1
            expected *= panel.steps[i]


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_last_panel_has_room_for_a_tile_or_begins_it_in_the_one_before(
    case: tuple[str, str, tuple[int, ...], str],
) -> None:
    for group, panel in chosen_panels(case):
        for i, (axis, steps, least) in enumerate(zip(group.axes, panel.steps, panel.least, strict=True)):
            assert least <= steps
            if i == panel.carried:
                assert (least - 1) * panel.pitches[i] <= panel.lead
            else:
                assert least <= (axis.extent % steps or steps)


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_steps_of_tiles_are_those_of_the_axes_that_became_one(case: tuple[str, str, tuple[int, ...], str]) -> None:
    for group, panel in chosen_panels(case):
        for position, tile in enumerate(panel.tiles):
            joined, inside = panel.joined(position), panel.scratch_box(position)
            assert sorted(i for members in joined for i in members) == list(range(len(group.boxes[position].axes)))
            assert sorted(cells(inside)) == sorted(cells(replace(inside, axes=panel.inside(position))))
            for axis, steps in zip(inside.axes, tile.extents if tile else (), strict=False):
                assert steps <= axis.extent


@pytest.mark.parametrize(
    "case, carried",
    [
        # one run is the whole destination: its lines are carried along the rows of the source
        (("onednn:ab", "onednn:ba", (25000, 3001), "i8"), 1),
        # all that is contiguous lies in one panel
        (("onednn:abc", "onednn:acb", (40, 200, 300), "i8"), None),
        # some rows at once end at lines, and longer runs are better than those that are carried to the row behind
        (("strided<[430080, 6720, 120, 1]>", "NCHW", (84, 64, 56, 56), "f32"), None),
        # runs are whole lines anyway
        (("onednn:ab", "onednn:ba", (4096, 3001), "f32"), None),
    ],
    ids=str,
)
def test_lines_are_carried_where_runs_go_on(case: tuple[str, str, tuple[int, ...], str], carried: int | None) -> None:
    (found,) = [panel for _, panel in panels(case) if panel is not None]
    assert found.carried == carried
    assert (found.written_length(threads=0) > found.run_length) == (carried is not None)
    assert found.walked[-1:] == ((carried,) if carried is not None else found.walked[-1:])


@pytest.mark.parametrize(
    "destination, shape, threads, along",
    [
        # rows of a follow each other in the order of b, and c is whole in every panel
        ("onednn:cba", (1119, 200, 300), 0, "ab"),
        # threads share b, and begin anywhere along it
        ("onednn:cba", (1119, 200, 300), 2, "a"),
        # behind every row there is a gap
        ("strided<[1, 1200, 240000]>", (1119, 200, 300), 0, "a"),
        # a panel takes several steps of b
        ("onednn:cba", (1119, 200, 30), 0, "a"),
        # the next panel takes the rest of c
        ("onednn:cba", (1119, 200, 900), 0, "a"),
    ],
)
def test_lines_are_carried_to_the_row_behind(
    destination: str, shape: tuple[int, ...], threads: int, along: str
) -> None:
    boxes, _ = boxes_of("onednn:abc", destination, shape, "i8")
    (group,) = group_boxes(boxes, 1)
    panel = panel_of(group, [1] * group.shared, Wanted(192, 300, carries=True), 1)
    extents = {panel.group.axes[i].name: panel.group.axes[i].extent for i in panel.carried_along(threads)}
    assert "".join(extents) == along
    assert panel.written_length(threads) == math.prod(extents.values())


@pytest.mark.parametrize(
    "rows, evenly, steps",
    [(560, False, 256), (560, True, 280), (280, True, 280), (700, True, 234), (1119, True, 256)],
)
def test_few_panels_between_which_lines_are_carried_are_about_equally_large(
    rows: int, evenly: bool, steps: int
) -> None:
    boxes, _ = boxes_of("onednn:abc", "onednn:cba", (rows, 200, 300), "f32")
    (group,) = group_boxes(boxes, 4)
    panel = panel_of(group, [1] * group.shared, Wanted(1024, 1000, carries=True, evenly=evenly), 4)
    taken = {axis.name: steps for axis, steps in zip(group.axes, panel.steps, strict=False)}
    assert taken["a"] == steps


def test_threads_have_panels_to_share() -> None:
    boxes, size = boxes_of("onednn:ab", "onednn:ba", (25000, 3001), "i8")
    (group,) = group_boxes(boxes, 1)
    chosen = choose_panel(group, lambda box, elements: choose_tile(box, 64, elements), size, 1, threads=2)
    assert chosen is not None
    apart = [i for i in chosen.walked if i != chosen.carried]
    assert max(group.axes[i].extent // chosen.steps[i] for i in apart) >= SHARED_TRIPS


@pytest.mark.parametrize(
    "steps, threads, divided",
    [
        ((64, 4, 32), 0, ""),
        ((64, 4, 32), 2, "b"),  # 50 steps, of which each takes 25
        ((64, 4, 32), 16, "cb"),  # 10 and 50 alone are uneven, 500 together are not
        ((64, 40, 32), 2, "c"),  # too few steps of b
        ((64, 200, 32), 16, "c"),
    ],
)
def test_threads_share_panels_evenly(steps: tuple[int, ...], threads: int, divided: str) -> None:
    boxes, _ = boxes_of("onednn:abc", "onednn:cba", (64, 200, 320), "i8")
    (group,) = group_boxes(boxes, 1)
    taken = dict(zip("abc", steps, strict=True))
    panel = Panel(group, tuple(taken[axis.name] for axis in group.axes), (0,) * group.shared, (), 1 << 12)
    assert {group.axes[i].name for i in panel.divided(threads)} == set(divided)
    shares = [len(range(0, group.axes[i].extent, panel.steps[i])) for i in panel.divided(threads)]
    assert panel.evenness(threads) == (evenness(math.prod(shares), threads) if threads else 1)


@pytest.mark.parametrize(
    "case, members, stretch",
    [
        (("onednn:nChw16c", "NHWC", (2, 35, 7, 9), "f32"), [2], 35),
        (("ascend:FRACTAL_NZ", "NC", (100, 300), "f16"), [2], 300),
        # the tail's planes lie behind those of the whole blocks
        (("onednn:nChw16c", "NCHW", (2, 35, 90, 90), "f32"), [1, 1], 1),
        (("NCHW", "NHWC", (2, 100, 13, 17), "f32"), [1], 1),
        # whole blocks and the tail lie in different ones
        (("NCHW", "onednn:nChw16c", (2, 35, 90, 90), "f32"), [1, 1], 1),
    ],
    ids=str,
)
def test_boxes_that_interleave_are_grouped(
    case: tuple[str, str, tuple[int, ...], str], members: list[int], stretch: int
) -> None:
    boxes, _ = boxes_of(*case)
    groups = group_boxes(boxes, li.element_type(case[3]).bytes)
    assert [len(group.boxes) for group in groups] == members
    assert {group.stretch for group in groups} == {stretch}
    assert sorted(cell for group in groups for box in group.boxes for cell in cells(box)) == sorted(
        cell for box in boxes for cell in cells(box)
    )


@pytest.mark.parametrize(
    "case, overrun",
    [
        (("onednn:nChw16c", "NHWC", (2, 35, 70, 90), "f32"), 13),
        (("onednn:nChw32c", "NHWC", (2, 35, 70, 90), "f32"), 29),  # more than a line
        (("onednn:nChw16c", "NHWC", (2, 35, 70, 90), "i8"), 13),
        (("onednn:nChw16c", "NHWC", (2, 40, 70, 90), "f32"), 0),  # what is left is half a vector
        (("onednn:nChw16c", "NHWC", (2, 3, 70, 90), "f32"), 0),  # nothing comes afterwards
    ],
    ids=str,
)
def test_what_is_left_of_blocks_reaches_into_the_next_stretch(
    case: tuple[str, str, tuple[int, ...], str], overrun: int
) -> None:
    boxes, _ = boxes_of(*case)
    found = [panel for _, panel in panels(case) if panel is not None]
    assert {panel.group.overrun for panel in found} == {overrun}
    for panel in found:
        assert panel.carried is None or not overrun
        first, *others = (set(cells(box)) for box in panel.group.boxes)
        expected = {cell for box in boxes for cell in cells(box)}
        assert expected - set().union(*others) <= first  # what is written too much is so by the first, and again


@pytest.mark.parametrize(
    "shape, strides",
    [((40, 40), (104, 1)), ((300, 7), (8, 1)), ((100, 100), (200, 2))],
    ids=["short rows", "gaps", "every other element"],
)
def test_no_panel_for_short_runs(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    source = li.layout("onednn:ab").index_map(shape, "f32")
    destination = li.StridedLayout(strides).index_map(shape, "f32")
    (group,) = group_boxes(make_plan(source, destination).boxes, 4)
    assert choose_panel(group, lambda box, size: choose_tile(box, 16, size), source.storage_size, 4) is None


@pytest.mark.parametrize("columns, groups", [(1000, 1), (3000, 2)])
def test_long_stretches_are_not_shared(columns: int, groups: int):
    """Whole blocks of columns and what is left of them, in rows of 2000 and of 6000 bytes."""
    boxes, _ = boxes_of("ascend:FRACTAL_NZ", "NC", (64, columns), "f16")
    assert len(boxes) == 2
    assert len(group_boxes(boxes, 2)) == groups


def test_long_stretches_are_shared_by_boxes_that_read_the_same_lines():
    """Whole blocks of the channels of a pixel, and what is left of them, in rows of 8064 bytes."""
    boxes, _ = boxes_of("onednn:abcd", "mace:IN_OUT_CHANNEL", (2, 56, 56, 35), "f32")
    assert len(boxes) == 2
    assert len(group_boxes(boxes, 4)) == 1


@pytest.mark.parametrize(
    "source, destination, shape, sequence_bytes, groups",
    [
        ("onednn:nChw16c", "NCHW", (8, 35, 14, 14), 32 << 10, 1),  # images of 27 KB
        ("onednn:nChw16c", "NCHW", (8, 35, 14, 14), 26 << 10, 2),
        ("onednn:nChw16c", "NCHW", (8, 35, 14, 14), 0, 2),
        ("onednn:nChw16c", "NCHW", (8, 40, 8, 8), 32 << 10, 2),  # all planes are whole lines
        ("onednn:ABcd32a16b", "NCHW", (64, 35, 7, 7), 32 << 10, 2),  # pixels of 32 images lie side by side
    ],
)
def test_boxes_that_follow_each_other_share_stretches_up_to_a_limit(
    source: str, destination: str, shape: tuple[int, ...], sequence_bytes: int, groups: int
) -> None:
    boxes, _ = boxes_of(source, destination, shape, "f32")
    assert len(boxes) == 2
    assert len(group_boxes(boxes, 4, sequence_bytes)) == groups


@pytest.mark.parametrize("rows, costs_less", [(8, False), (16, True), (64, True)])
def test_visits_to_many_rows_cost_less_where_they_are_asked_for(rows: int, costs_less: bool) -> None:
    boxes, _ = boxes_of("onednn:ab", "onednn:ba", (1009, 3001), "i8")
    (group,) = group_boxes(boxes, 1)
    panel = panel_of(group, [1] * group.shared, Wanted(rows, 300, carries=False), 1)
    asked, alone = (overhead(panel, PanelCosts(many_rows=share), 1, at_lines=True, threads=0) for share in (0.5, 1))
    assert (asked < alone) == costs_less
