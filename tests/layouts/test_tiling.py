"""Tiles: the network of a tile does what its part of the box says, reads nothing that is not there, and is worth it."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from network_execution import execute_network
from plan_execution import fused_layout, random_layout

from layout_ir.layouts import affine
from layout_ir.layouts.blocked import blocked_layout
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.planner import make_plan
from layout_ir.layouts.tiling import WORTHWHILE, Tile, choose_tile

PAD = -7


def check(box: Box, lanes: int, source_size: int) -> Tile | None:
    """The tile of a box, if it has one, executed at the box's origin and compared with the box's definition."""
    tile = choose_tile(box, lanes, source_size)
    if tile is None:
        return None
    assert tile.cost <= WORTHWHILE
    assert len(tile.extents) == len(box.axes)
    elements: dict[int, int | None] = {}
    for steps in itertools.product(*map(range, tile.extents)):
        pairs = list(zip(box.axes, steps, strict=True))
        is_valid = all(step < axis.valid for axis, step in pairs)
        target = sum(axis.destination_at(step) for axis, step in pairs)
        assert target not in elements
        elements[target] = sum(axis.source_at(step) for axis, step in pairs) if is_valid else None
    for axis, extent in zip(box.axes, tile.extents, strict=True):
        assert 1 <= extent <= axis.extent
        # tiles along a padded axis would not all be alike, unless they are cut apart step by step
        assert axis.is_full or extent in (1, axis.extent)
    base = affine.constant_value(box.source_offset)
    # the same code runs for the tile that is last along every axis
    last = base + sum(
        max((axis.source_at(step) for step in range(axis.valid - min(extent, axis.valid) + 1)), default=0)
        for axis, extent in zip(box.axes, tile.extents, strict=True)
    )
    source = np.arange(100, 100 + source_size)
    written = execute_network(tile.network, source, set(range(source_size - last)), PAD, lanes)
    assert written == {to: PAD if place is None else place + 100 for to, place in elements.items()}
    return tile


@pytest.mark.parametrize("seed", range(150))
def test_tiles_of_random_plans(seed: int):
    rng = random.Random(seed)
    rank = rng.randint(1, 4)
    shape = tuple(rng.choice([1, 2, 3, 5, 8, 13, 16, 17, 32]) for _ in range(rank))
    layouts = [random_layout(rng, rank) for _ in range(2)]
    if rank >= 3 and rng.random() < 0.3:
        layouts[rng.randrange(2)] = fused_layout(rng, shape)
    source, destination = (layout.index_map(shape) for layout in layouts)
    for box in make_plan(source, destination).boxes:
        check(box, rng.choice([4, 8, 16, 32]), source.storage_size)


def plan_box(source_outer: list[int], destination_outer: list[int], shape: tuple[int, ...], block: int = 0) -> Box:
    """The first box from one order of the dims to another, the last dim blocked at the destination."""
    blocks = [(len(shape) - 1, block)] if block else []
    source = blocked_layout(len(shape), source_outer).index_map(shape)
    return make_plan(source, blocked_layout(len(shape), destination_outer, blocks).index_map(shape)).boxes[0]


@pytest.mark.parametrize("lanes", [8, 16, 32])
def test_a_transpose_goes_by_whole_vectors_on_both_sides(lanes: int):
    tile = check(plan_box([0, 1], [1, 0], (128, 128)), lanes, 128 * 128)
    assert tile is not None
    assert all(extent >= lanes for extent in tile.extents)


def test_what_is_contiguous_on_both_sides_is_copied_in_runs():
    tile = check(plan_box([0, 1, 2], [1, 0, 2], (8, 9, 256)), 16, 8 * 9 * 256)
    assert tile is not None
    assert tile.cost <= 2 / 16


def test_planes_to_pixels():
    box = Box((Axis("p", 224, 1, 3, 224), Axis("c", 3, 224, 1, 3)))
    tile = check(box, 16, 3 * 224)
    assert tile is not None
    assert tile.extents[1] == 3


@pytest.mark.parametrize(
    "box",
    [
        Box((Axis("a", 64, 3, 5, 64),)),
        Box((Axis("a", 64, 1, 1, 0),)),
        Box((Axis("a", 2, 1, 1, 2),)),
        Box(()),
        Box((Axis("a", 64, 0, 1, 64),), affine.AffineExpr.dimension(0) // 2),
    ],
    ids=["strides", "pads", "two elements", "one element", "divisions"],
)
def test_nothing_to_gain(box: Box):
    assert choose_tile(box, 16, 1000) is None
