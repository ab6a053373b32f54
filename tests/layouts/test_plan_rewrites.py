"""Every rewrite of a box keeps what the box does: the same cells are written with the same elements."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from plan_execution import execute
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from layout_ir.layouts.affine_text import affine_text
from layout_ir.layouts.plan import Axis, Box, CopyPlan
from layout_ir.layouts.plan_rewrites import drop_unit_axes, merge_axes, merge_pads, relinearize, sort_axes, unroll

D0, D1 = (AffineExpr.dimension(i) for i in range(2))
SOURCE = np.arange(1, 5000)


def effect(boxes: list[Box]) -> tuple[list[int], list[int]]:
    """What boxes leave behind, and how often they wrote each cell."""
    result, writes = execute(CopyPlan(tuple(boxes)), SOURCE, 6000)
    return result.tolist(), writes.tolist()


def random_box(rng: random.Random, divided: bool = False) -> Box:
    """
    Up to four axes, some of one step, some with pads, in random order; often with neighbours that could be merged.

    Destination strides are those of a dense storage, so that no cell is written twice.
    """
    rank = rng.randint(1, 4)
    axes: list[Axis] = []
    source, destination = rng.choice([1, 2, 5]), 1
    for i in range(rank):
        extent = rng.choice([1, 1, 2, 3, 4, 5])
        valid = rng.randint(0, extent) if rng.random() < 0.3 else extent
        if rng.random() < 0.3:
            source, destination = source * rng.choice([2, 3]), destination * 2
        axes.append(Axis("abcd"[i], extent, source, destination, valid))
        source, destination = source * extent, destination * extent
    rng.shuffle(axes)
    offsets: list[AffineExpr] = [AffineConstantExpr(rng.randrange(20)) for _ in range(2)]
    if divided:
        dim = rng.randrange(rank)
        offsets[0] = offsets[0] + (AffineExpr.dimension(dim) + rng.randrange(3)) // 2 * 7
        if rng.random() < 0.5:  # axis by axis in another order, still each cell once
            extent, stride = axes[dim].extent, axes[dim].destination_stride
            axes[dim] = Axis(axes[dim].name, extent, axes[dim].source_stride, 0, axes[dim].valid)
            offsets[1] = offsets[1] + (AffineExpr.dimension(dim) + 1) % max(extent, 2) * stride
    return Box(tuple(axes), offsets[0], offsets[1])


@pytest.mark.parametrize(
    "rewrite", [drop_unit_axes, sort_axes, merge_axes, merge_pads], ids=lambda rewrite: rewrite.__name__
)
@pytest.mark.parametrize("seed", range(60))
def test_a_rewrite_keeps_what_a_box_does(rewrite: Callable[[Box], Box], seed: int):
    box = random_box(random.Random(seed), divided=seed % 3 == 0)
    assert effect([rewrite(box)]) == effect([box])


@pytest.mark.parametrize("seed", range(60))
def test_all_rewrites_in_the_order_of_the_planner(seed: int):
    box = random_box(random.Random(seed), divided=seed % 2 == 0)
    rewritten = merge_axes(sort_axes(drop_unit_axes(box)))
    assert effect([rewritten]) == effect([box])
    assert len(rewritten.axes) <= len(box.axes)
    assert merge_axes(sort_axes(drop_unit_axes(rewritten))) == rewritten


@pytest.mark.parametrize("seed", range(60))
def test_unrolling_keeps_what_a_box_does(seed: int):
    rng = random.Random(seed)
    box = random_box(rng, divided=True)
    positions = sorted(rng.sample(range(len(box.axes)), rng.randint(1, len(box.axes))))
    boxes = unroll(box, positions)
    assert effect(boxes) == effect([box])
    divided = {dim for expr in (box.source_offset, box.destination_offset) for dim in expr.used_dims()}
    assert all(one.is_linear for one in boxes) or not divided <= set(positions)


def test_unit_axes_are_dropped_unless_they_are_pads():
    box = Box((Axis("a", 1, 9, 9, 1), Axis("b", 4, 2, 1, 4), Axis("c", 1, 3, 3, 0)))
    assert [axis.name for axis in drop_unit_axes(box).axes] == ["b", "c"]


def test_the_destination_is_walked_in_its_order():
    box = Box((Axis("a", 4, 1, 1, 4), Axis("b", 3, 4, 8, 3), Axis("c", 2, 40, 4, 2)))
    assert [axis.name for axis in sort_axes(box).axes] == ["b", "c", "a"]


def test_what_there_may_be_one_of_is_outside_of_all_loops():
    box = Box((Axis("a", 4, 1, 1, 4), Axis("rest", 1 << 200, 0, 0, 0), Axis("b", 3, 4, 8, 3)))
    assert [axis.name for axis in sort_axes(box).axes] == ["rest", "b", "a"]


def test_neighbours_merge_where_both_sides_are_contiguous():
    merged = merge_axes(Box((Axis("a", 4, 8, 16, 4), Axis("b", 8, 1, 2, 8))))
    assert merged.axes == (Axis("a_b", 32, 1, 2, 32),)
    assert merge_axes(Box((Axis("a", 4, 8, 17, 4), Axis("b", 8, 1, 2, 8)))).axes[0].name == "a"
    # pads of an outer axis stay behind the whole of the inner one; pads of an inner axis are in the way
    assert merge_axes(Box((Axis("a", 4, 8, 8, 3), Axis("b", 8, 1, 1, 8)))).axes == (Axis("a_b", 32, 1, 1, 24),)
    assert len(merge_axes(Box((Axis("a", 4, 8, 8, 4), Axis("b", 8, 1, 1, 7)))).axes) == 2


def test_pads_merge_wherever_the_destination_is_contiguous():
    box = Box((Axis("a", 3, 50, 40, 3), Axis("b", 2, 7, 16, 0), Axis("c", 4, 1, 4, 4), Axis("d", 4, 9, 1, 2)))
    merged = merge_pads(box)
    assert [(axis.extent, axis.destination_stride, axis.valid) for axis in merged.axes] == [(3, 40, 0), (32, 1, 0)]
    assert effect([merged]) == effect([box])


@pytest.mark.parametrize("seed", range(60))
def test_merged_pads_are_the_same_pads(seed: int):
    rng = random.Random(seed)
    box = random_box(rng)
    pads = box.with_axis(0, replace(box.axes[0], valid=0))
    merged = merge_pads(pads)
    assert effect([merged]) == effect([pads])
    assert merged.is_fill
    assert len(merged.axes) <= len(pads.axes)


def test_unrolling_a_pad_leaves_a_box_of_pads():
    box = Box((Axis("a", 3, 1, 1, 2),), D0 // 2, AffineConstantExpr(5))
    boxes = unroll(box, [0])
    assert [one.is_fill for one in boxes] == [False, False, True]
    assert boxes[2].cells == 1
    assert str(boxes[2].destination_index()) == "7"


def test_relinearize_takes_strides_out_of_offsets():
    box = Box((Axis("a", 4, 0, 0, 4), Axis("b", 5, 0, 0, 5)))
    result = relinearize(box, D0 * 20 + D1 + 3, D1 * 4 + D0 // 2)
    assert [(axis.source_stride, axis.destination_stride) for axis in result.axes] == [(20, 0), (1, 4)]
    assert result.source_offset == AffineConstantExpr(3)
    assert affine_text(result.destination_offset) == "d0 floordiv 2"
    assert not result.is_linear
