"""The plan of every pair copies what the two index maps define, writes every pad once and touches nothing else."""

from __future__ import annotations

import random

import numpy as np
import pytest
from plan_execution import execute, expected, fused_layout, random_layout
from xdsl.ir.affine import AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.layouts.blocked import blocked_layout
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.planner import make_plan
from layout_ir.layouts.strided import StridedLayout
from layout_ir.layouts.tiled import TiledLayout


def check(source: IndexMap, destination: IndexMap, write_pads: bool = True) -> None:
    plan = make_plan(source, destination, write_pads)
    data = np.arange(1, source.storage_size + 1)
    result, writes = execute(plan, data, destination.storage_size)
    assert np.array_equal(result, expected(source, destination, data, write_pads)), str(plan)
    assert writes.max(initial=0) <= 1, str(plan)


@pytest.mark.parametrize("seed", range(300))
def test_random_pairs(seed: int):
    rng = random.Random(seed)
    rank = rng.randint(1, 4)
    shape = tuple(rng.choice([1, 2, 3, 5, 7, 8, 9, 13]) for _ in range(rank))
    layouts = [random_layout(rng, rank) for _ in range(2)]
    if rank >= 3 and rng.random() < 0.4:
        layouts[rng.randrange(2)] = fused_layout(rng, shape)
    source, destination = (layout.index_map(shape) for layout in layouts)
    check(source, destination, write_pads=rng.random() < 0.8)


def test_blocks_that_nest_leave_no_division():
    for blocks in ([(1, 16)], [(0, 4), (1, 8), (0, 2)], [(1, 2), (1, 8)]):
        source = blocked_layout(4, [0, 2, 3, 1]).index_map((9, 35, 5, 7))
        destination = blocked_layout(4, [1, 0, 2, 3], blocks).index_map((9, 35, 5, 7))
        assert make_plan(source, destination).is_linear
        assert make_plan(destination, source).is_linear


@pytest.mark.parametrize("block", [4, 8, 16])
@pytest.mark.parametrize("size", [(14, 14), (56, 56), (7, 5), (3, 150)])
def test_pixels_that_are_blocked_together_are_one_dim(block: int, size: tuple[int, int]):
    """Whatever the factor of a row leaves modulo a block, pixels are cut where they fill one, and not rows."""
    n, c, h, w = (AffineExpr.dimension(dim) for dim in range(4))
    pixel = h * size[1] + w
    blocks = TiledLayout(4, (n, c // 2, pixel // block, c % 2, pixel % block))
    for shape in ((2, 4, *size), (3, 5, *size)):
        source, destination = blocked_layout(4, [0, 1, 2, 3]).index_map(shape), blocks.index_map(shape)
        plan = make_plan(source, destination)
        assert plan.is_linear, str(plan)
        assert not any(axis.is_irregular for box in plan.boxes for axis in box.axes), str(plan)
        check(source, destination)
        check(destination, source)


def test_all_of_an_image_in_cells_of_four_is_one_run():
    n, c, h, w = (AffineExpr.dimension(dim) for dim in range(4))
    element = c * 35 + h * 7 + w
    cells = TiledLayout(4, (n, element // 4, element % 4))
    source, destination = blocked_layout(4, [0, 1, 2, 3]).index_map((3, 8, 5, 7)), cells.index_map((3, 8, 5, 7))
    for pair in ((source, destination), (destination, source)):
        (box,) = make_plan(*pair).boxes
        assert [(axis.extent, axis.source_stride, axis.destination_stride) for axis in box.axes] == [(840, 1, 1)]


def test_pads_beside_mirrored_elements_are_written_with_them():
    o, x = AffineExpr.dimension(0), AffineExpr.dimension(1)
    mirrored = TiledLayout(2, (o // 4, x * -1 + 6, o % 4)).index_map((6, 7))
    plan = make_plan(blocked_layout(2, [0, 1]).index_map((6, 7)), mirrored)
    assert plan.fill_first is None
    check(blocked_layout(2, [0, 1]).index_map((6, 7)), mirrored)


def test_a_mirrored_dim_has_no_pads_in_front_of_its_elements():
    """Three rows less than none would be the pads of a dim that counts down from 4."""
    rows, columns = AffineExpr.dimension(0), AffineExpr.dimension(1)
    mirrored = TiledLayout(2, (rows * -1 + 4, columns + 3), (4, 1)).index_map((5, 5))
    check(blocked_layout(2, [0, 1]).index_map((5, 5)), mirrored)


def test_blocks_that_do_not_nest_are_unrolled_over_their_period():
    source = blocked_layout(2, [0, 1], [(0, 48)]).index_map((200, 5))
    destination = blocked_layout(2, [0, 1], [(0, 32)]).index_map((200, 5))
    plan = make_plan(source, destination)
    assert plan.is_linear
    check(source, destination)


def test_gaps_of_a_strided_destination_are_untouched():
    source = blocked_layout(2, [0, 1]).index_map((3, 5))
    check(source, StridedLayout((8, 1), 2).index_map((3, 5)))
    check(StridedLayout((1, 4)).index_map((3, 5)), StridedLayout((7, 1)).index_map((3, 5)))


def test_a_broadcast_source_is_read_and_a_broadcast_destination_refused():
    broadcast = StridedLayout((0, 1)).index_map((3, 5))
    plain = blocked_layout(2, [1, 0]).index_map((3, 5))
    check(broadcast, plain)
    with pytest.raises(LayoutError, match="destination without broadcast"):
        make_plan(plain, broadcast)


def test_an_empty_tensor_copies_nothing():
    empty = blocked_layout(2, [0, 1], [(1, 4)]).index_map((0, 3))
    assert make_plan(empty, empty).boxes == ()


def test_the_text_of_a_plan():
    source = blocked_layout(4, [0, 1, 2, 3]).index_map((2, 35, 5, 7))
    destination = blocked_layout(4, [0, 1, 2, 3], [(1, 16)]).index_map((2, 35, 5, 7))
    assert str(make_plan(source, destination, dim_names="nchw")).splitlines() == [
        "copy [n: 2, 1225 -> 1680] [c1: 2, 560 -> 560] [h_w: 35, 1 -> 16] [c0: 16, 35 -> 1] at 0 -> 0",
        "copy [n: 2, 1225 -> 1680] [h_w: 35, 1 -> 16] [c: 16 valid 3, 35 -> 1] at 1120 -> 1120",
    ]


def test_a_pixel_and_its_pads_are_one_box():
    """A second box for the pads would go through the destination once more."""
    source = blocked_layout(4, [0, 1, 2, 3], [(1, 4)]).index_map((2, 8, 5, 7))
    destination = blocked_layout(4, [0, 1, 2, 3], [(1, 16)]).index_map((2, 8, 5, 7))
    assert str(make_plan(source, destination, dim_names="nchw")) == (
        "copy [n: 2, 280 -> 560] [h_w: 35, 4 -> 16] [c1: 4 valid 2, 140 -> 4] [c0: 4, 1 -> 1] at 0 -> 0"
    )
