"""Panels: groups fill stretches, panels fit their scratch, and every cell of a group is written exactly once."""

from __future__ import annotations

import itertools
import math

import pytest

import layout_ir as li
from layout_ir.layouts import panel_choice
from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.panel import Group, Panel, group_boxes
from layout_ir.layouts.panel_choice import choose_panel
from layout_ir.layouts.plan import Box
from layout_ir.layouts.planner import make_plan
from layout_ir.layouts.tiling import Tile, choose_tile

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
    found = [(group, panel) for group, panel in panels(case) if panel is not None]
    assert found
    for group, panel in found:
        scratch = [place for position in range(len(group.boxes)) for place in cells(panel.scratch_box(position))]
        assert len(set(scratch)) == len(scratch) == math.prod(panel.steps) * group.stretch
        assert min(scratch) >= 0
        assert max(scratch) < panel.size
        assert panel.size * li.element_type(case[3]).bytes <= panel_choice.SCRATCH_BYTES


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_runs_are_as_contiguous_in_scratch_as_in_the_destination(
    case: tuple[str, str, tuple[int, ...], str],
) -> None:
    for group, panel in panels(case):
        if panel is None:
            continue
        expected = group.stretch
        for position, i in enumerate(panel.run):
            assert panel.pitches[i] == group.axes[i].destination_stride == expected
            assert panel.steps[i] == group.axes[i].extent or position == len(panel.run) - 1
            expected *= panel.steps[i]


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_last_panel_has_room_for_a_tile(case: tuple[str, str, tuple[int, ...], str]) -> None:
    for group, panel in panels(case):
        if panel is None:
            continue
        lasts = [axis.extent % steps or steps for axis, steps in zip(group.axes, panel.steps, strict=True)]
        for tile in filter(None, panel.tiles):
            assert all(size <= last for size, last in zip(tile.extents, lasts, strict=False))


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
    "shape, strides",
    [((40, 40), (104, 1)), ((300, 7), (8, 1)), ((100, 100), (200, 2))],
    ids=["short rows", "gaps", "every other element"],
)
def test_no_panel_for_short_runs(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    source = li.layout("onednn:ab").index_map(shape, "f32")
    destination = li.StridedLayout(strides).index_map(shape, "f32")
    (group,) = group_boxes(make_plan(source, destination).boxes, 4)
    assert choose_panel(group, lambda box, size: choose_tile(box, 16, size), source.storage_size, 4) is None
