"""Shared walks: which boxes are copied together, and that they still copy what they did."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import layout_ir as li
from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.plan import Box
from layout_ir.layouts.planner import make_plan
from layout_ir.layouts.shared_walk import MOST_PART_BYTES, Sharing, Side, sharing, walk_together


def boxes_of(blocks: str, shape: tuple[int, ...], side: Side = Side.SOURCE) -> tuple[Box, ...]:
    """The boxes from pixels to blocks, whose pixels are the source; or from blocks to pixels."""
    layouts = [li.layout("NHWC"), li.layout(blocks)]
    if side is Side.DESTINATION:
        layouts.reverse()
    return make_plan(*(layout.index_map(shape, "f32") for layout in layouts)).boxes


def copies(box: Box) -> list[tuple[int, int]]:
    """Where each element is read and written, -1 for a pad."""
    sources, targets = np.array([constant_value(box.source_offset)]), np.array([constant_value(box.destination_offset)])
    is_read = np.array([True])
    for axis in box.axes:
        steps = range(axis.extent)
        sources = np.add.outer(sources, [axis.source_at(step) for step in steps]).ravel()
        targets = np.add.outer(targets, [axis.destination_at(step) for step in steps]).ravel()
        is_read = np.logical_and.outer(is_read, [step < axis.valid for step in steps]).ravel()
    return list(zip(np.where(is_read, sources, -1).tolist(), targets.tolist(), strict=True))


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("leaving", [0, 1])
@pytest.mark.parametrize("blocks", ["nChw{0}c", "ABcd4a{0}b", "ABcd{0}b8a"])
def test_walks_copy_what_their_boxes_do(blocks: str, leaving: int, side: Side) -> None:
    rng = random.Random(leaving)
    walks = 0
    for _ in range(12):
        block = rng.choice([4, 8, 16])
        channels = block * rng.randint(1, 2) + rng.randint(1, block - 1)
        shape = (rng.choice([1, 2, 8, 24]), channels, rng.randint(1, 16), rng.randint(2, 16))
        boxes = boxes_of("onednn:" + blocks.format(block), shape, side)
        together = sharing(boxes, 4, side)
        assert sorted(str(box) for one in together for box in one.boxes) == sorted(map(str, boxes))
        walks += sum(check_walk(one, leaving) for one in together)
    assert walks >= 4


def check_walk(together: Sharing, leaving: int) -> bool:
    """Whether boxes have a walk, which then copies what they do in parts that a cache holds."""
    found = walk_together(together, 4, leaving)
    if found is None:
        return False
    (walk, rest), side = found, together.side
    before = sorted(copy for box in together.boxes for copy in copies(box))
    assert sorted(copy for box in (*walk.boxes, *rest) for copy in copies(box)) == before
    common = [[(axis.extent, side.stride(axis)) for axis in box.axes[: walk.shared]] for box in walk.boxes]
    assert common[0]
    assert all(axes == common[0] for axes in common)
    assert len(rest) == (len(walk.boxes) if rest or leaving else 0)
    others = [side.other.stride(axis) for box in walk.boxes for axis in box.axes[: walk.shared - 1]]
    assert all(stride * 4 > LINE_BYTES for stride in others)
    for position in range(len(walk.boxes)):
        steps = [axis.valid for axis in walk.inner(position).axes if side.stride(axis) >= together.stride]
        assert math.prod(steps) * together.stride * 4 <= MOST_PART_BYTES
    return True


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize(
    "blocks, shape, loops, steps",
    [
        ("nChw16c", (2, 35, 56, 56), [2, 49], 64),
        ("nChw16c", (1, 35, 56, 56), [49], 64),
        ("nChw16c", (2, 200, 28, 28), [2, 49], 16),  # pixels of 800 bytes
        ("nChw16c", (64, 35, 8, 8), [64], 64),  # an image is a part
        ("nChw16c", (64, 200, 4, 5), [64], 20),
        ("nChw16c", (64, 35, 2, 2), [4], 64),  # and so are 16 images
        ("ABcd16a16b", (64, 35, 56, 56), [4, 196], 16 * 16),  # of 16 images, which lie in the same lines
        ("ABcd16a16b", (64, 35, 3, 3), [4], 16 * 9),
        ("ABcd32a16b", (64, 35, 3, 3), [2], 32 * 9),
    ],
)
def test_parts_are_as_large_as_a_cache_holds(
    blocks: str, shape: tuple[int, ...], loops: list[int], steps: int, side: Side
) -> None:
    (together,) = sharing(boxes_of(f"onednn:{blocks}", shape, side), 4, side)
    found = walk_together(together, 4)
    assert found is not None
    walk, rest = found
    assert not rest
    for position, box in enumerate(walk.boxes):
        assert [axis.extent for axis in box.axes[: walk.shared]] == loops
        outer = [axis.valid for axis in walk.inner(position).axes if side.stride(axis) >= together.stride]
        assert math.prod(outer) == steps


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


def test_images_that_would_fill_a_cache_are_not_side_by_side() -> None:
    (together,) = sharing(boxes_of("onednn:ABcd32a16b", (32, 200, 56, 56)), 4, Side.SOURCE)
    assert walk_together(together, 4) is None  # 16 pixels of 32 images, of 800 bytes each
    (together,) = sharing(boxes_of("onednn:ABcd32a16b", (32, 100, 56, 56)), 4, Side.SOURCE)
    assert walk_together(together, 4) is not None


def test_short_axes_are_left_alone() -> None:
    (together,) = sharing(boxes_of("onednn:nChw16c", (1, 35, 7, 9)), 4, Side.SOURCE)
    assert walk_together(together, 4) is None
    (together,) = sharing(boxes_of("onednn:nChw16c", (2, 35, 7, 9)), 4, Side.SOURCE)
    assert walk_together(together, 4) is not None
    assert walk_together(together, 4, leaving=1) is None
