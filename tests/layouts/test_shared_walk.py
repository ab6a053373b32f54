"""Shared walks: which boxes are copied together, and that they still copy what they did."""

from __future__ import annotations

import itertools
import random

import pytest

import layout_ir as li
from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.plan import Box
from layout_ir.layouts.planner import make_plan
from layout_ir.layouts.shared_walk import PART_BYTES, Side, sharing, walk_together


def boxes_of(blocks: str, shape: tuple[int, ...], side: Side = Side.SOURCE) -> tuple[Box, ...]:
    """The boxes from pixels to blocks, whose pixels are the source; or from blocks to pixels."""
    layouts = [li.layout("NHWC"), li.layout(blocks)]
    if side is Side.DESTINATION:
        layouts.reverse()
    return make_plan(*(layout.index_map(shape, "f32") for layout in layouts)).boxes


def copies(box: Box) -> list[tuple[int, int]]:
    """Where each element is read and written, -1 for a pad."""
    found: list[tuple[int, int]] = []
    for steps in itertools.product(*(range(axis.extent) for axis in box.axes)):
        pairs = list(zip(box.axes, steps, strict=True))
        source = constant_value(box.source_offset) + sum(axis.source_at(step) for axis, step in pairs)
        target = constant_value(box.destination_offset) + sum(axis.destination_at(step) for axis, step in pairs)
        found.append((source if all(step < axis.valid for axis, step in pairs) else -1, target))
    return found


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("leaving", [0, 1])
@pytest.mark.parametrize("seed", range(20))
def test_walks_copy_what_their_boxes_do(seed: int, leaving: int, side: Side) -> None:
    rng = random.Random(seed)
    block = rng.choice([4, 8, 16])
    channels = block * rng.randint(1, 2) + rng.randint(1, block - 1)
    shape = (rng.randint(1, 2), channels, rng.randint(12, 16), rng.randint(12, 16))
    boxes = boxes_of(f"onednn:nChw{block}c", shape, side)
    seen: list[Box] = []
    walks = 0
    for together in sharing(boxes, 4, side):
        seen += together.boxes
        found = walk_together(together, 4, leaving)
        if found is None:
            continue
        walks += 1
        walk, rest = found
        before = sorted(copy for box in together.boxes for copy in copies(box))
        assert sorted(copy for box in (*walk.boxes, *rest) for copy in copies(box)) == before
        common = [[(axis.extent, side.stride(axis)) for axis in box.axes[: walk.shared]] for box in walk.boxes]
        assert all(axes == common[0] for axes in common)
        for position in range(len(walk.boxes)):
            axes = walk.inner(position).axes
            assert sum((axis.valid - 1) * side.stride(axis) for axis in axes) * 4 < PART_BYTES
        assert len(rest) == (len(walk.boxes) if rest or leaving else 0)
    assert sorted(map(str, seen)) == sorted(map(str, boxes))
    assert walks == 1


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize(("leaving", "parts", "left"), [(0, 4, 0), (1, 3, 64)])
def test_steps_are_left_behind_the_last_part(leaving: int, parts: int, left: int, side: Side) -> None:
    (together,) = sharing(boxes_of("onednn:nChw16c", (2, 35, 16, 16), side), 4, side)
    found = walk_together(together, 4, leaving)
    assert found is not None
    walk, rest = found
    assert [box.axes[walk.shared - 1].extent for box in walk.boxes] == [parts, parts]
    assert [max(axis.extent for axis in box.axes) for box in rest] == ([left, left] if left else [])


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize(
    "blocks, shape, sizes",
    [
        ("onednn:nChw16c", (2, 35, 16, 16), [2]),
        ("onednn:nChw16c", (2, 32, 16, 16), [1]),
        ("onednn:nChw16c", (1, 1000, 16, 16), [1, 1]),  # a pixel has many lines: few of them are common
        ("NCHW", (2, 35, 16, 16), [1]),
    ],
)
def test_boxes_that_share_pixels_are_together(
    blocks: str, shape: tuple[int, ...], sizes: list[int], side: Side
) -> None:
    assert [len(together.boxes) for together in sharing(boxes_of(blocks, shape, side), 4, side)] == sizes


def test_short_axes_are_left_alone() -> None:
    (together,) = sharing(boxes_of("onednn:nChw16c", (2, 35, 7, 9)), 4, Side.SOURCE)
    assert walk_together(together, 4) is None
