"""Tiles: the network of a tile does what its part of the box says, reads nothing that is not there, and is worth it."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest
from network_execution import execute_network
from plan_execution import fused_layout, random_layout
from xdsl.ir.affine import AffineConstantExpr

from layout_ir.layouts import affine
from layout_ir.layouts.blocked import blocked_layout
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.planner import make_plan
from layout_ir.layouts.register_instructions import further_instructions
from layout_ir.layouts.shuffle_network import Load, Shuffle
from layout_ir.layouts.tile import WORTHWHILE, Tile
from layout_ir.layouts.tile_runs import ELEMENT_LIMIT, fitting_run
from layout_ir.layouts.tiling import choose_tile

PAD = -7


def check(box: Box, lanes: int, source_size: int) -> Tile | None:
    """The tile of a box, if it has one, executed where the box starts and ends and compared with its definition."""
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
    # the same code runs for the tiles that lie lowest and highest along every axis
    places = [
        [axis.source_at(step) for step in range(axis.valid - min(extent, axis.valid) + 1)] or [0]
        for axis, extent in zip(box.axes, tile.extents, strict=True)
    ]
    source = np.arange(100, 100 + source_size)
    for origin in {base, base + sum(map(min, places)), base + sum(map(max, places))}:
        readable = set(range(-origin, source_size - origin))
        written = execute_network(tile.network, source, readable, PAD, lanes, origin)
        assert written == {to: PAD if place is None else origin + place + 100 for to, place in elements.items()}
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


@pytest.mark.parametrize(
    "axes, expected",
    [
        ([(7, 1, 7168), (7, 7, 1024), (32, 49, 1)], {0: 7, 1: 7}),
        ([(20, 1, 1), (60, 20, 1200), (60, 1200, 20)], {0: 20, 1: 3}),
        ([(9, 1, 16), (32, 9, 1)], {0: 9}),  # along the second one, rows make lines
        ([(100, 1, 32), (32, 100, 1)], {0: 64}),
        ([(60, 1, 32), (32, 64, 1)], {0: 60}),
        ([(32, 2, 1)], {}),
    ],
)
def test_runs_that_fit_into_a_vector(axes: list[tuple[int, int, int]], expected: dict[int, int]):
    assert fitting_run([Axis("d", extent, *strides, extent) for extent, *strides in axes], 64) == expected


def test_short_axes_are_read_together():
    axes = [(7, 1, 7168), (7, 7, 1024), (32, 3136, 32), (32, 49, 1)]
    box = Box(
        tuple(Axis("d", extent, *strides, extent) for extent, *strides in axes),
        AffineConstantExpr(0),
        AffineConstantExpr(0),
    )
    tile = check(box, 64, 32 * 3136)
    assert tile is not None
    assert tile.extents == (7, 7, 2, 32)
    assert all(store.lanes == 64 for store in tile.network.stores)
    in_caches = choose_tile(box, 64, 32 * 3136, in_caches=True, fits_runs=False)
    assert in_caches is not None
    assert tile.cost < in_caches.cost / 2


@pytest.mark.parametrize("lanes", [8, 16, 32])
@pytest.mark.parametrize(
    "axes",
    [
        [(16, 15, 1), (5, 3, -16), (3, 1, -80)],  # the last element of a run lies in front of the first one of all
        [(17, 1, 16), (16, 17, -1)],
        [(8, 20, 1), (20, 1, -8)],
    ],
)
def test_axes_that_go_backwards_in_the_destination(axes: list[tuple[int, int, int]], lanes: int):
    box = Box(
        tuple(Axis("d", extent, *strides, extent) for extent, *strides in axes),
        AffineConstantExpr(0),
        AffineConstantExpr(500),
    )
    check(box, lanes, 1 + sum((extent - 1) * stride for extent, stride, _ in axes))


def test_planes_to_pixels():
    box = Box((Axis("p", 224, 1, 3, 224), Axis("c", 3, 224, 1, 3)))
    tile = check(box, 16, 3 * 224)
    assert tile is not None
    assert tile.extents[1] == 3


def last_channels(channels: int, block: int, pixels: int, destination_block: int = 0) -> Box:
    """The last block of channels, to planes, or with pads to blocks of another size."""
    if destination_block:
        channel = Axis("c", destination_block, 1, 1, channels)
        return Box((Axis("p", pixels, block, destination_block, pixels), channel))
    return Box((Axis("c", channels, 1, pixels, channels), Axis("p", pixels, block, 1, pixels)))


@pytest.mark.parametrize(("lanes", "taps", "inputs"), [(64, 9, 7), (64, 25, 2)])
def test_filters_fill_vectors_with_whole_steps(lanes: int, taps: int, inputs: int):
    outputs, count = 4 * lanes, 40
    axes = [(outputs, 1, count * taps), (count, outputs, taps), (taps, count * outputs, 1)]
    box = Box(tuple(Axis("d", extent, *strides, extent) for extent, *strides in axes))
    tile = check(box, lanes, outputs * count * taps)
    assert tile is not None
    assert tile.extents == (lanes, inputs, taps)


@pytest.mark.parametrize("segment", [4, 8, 16])
@pytest.mark.parametrize("block", [2, 4, 8, 16, 32])
def test_the_last_channels_are_loaded_with_the_holes_behind_them(block: int, segment: int):
    lanes, channels, pixels = 4 * segment, min(3, block - 1), 4 * 4 * segment
    size = block * pixels
    box = last_channels(channels, block, pixels)
    tile = choose_tile(box, lanes, size, segment)
    assert tile is not None
    loads = [value for value in tile.network.values if isinstance(value, Load)]
    if block <= lanes // 2:
        assert {load.lanes for load in loads} == {lanes}
        assert len(loads) == tile.extents[1] * block // lanes
    check(box, lanes, size)


@pytest.mark.parametrize("stride", [2, 3, 4, 5, 7, 8])
def test_steps_of_a_small_stride_are_loaded_with_what_is_between_them(stride: int):
    box = Box((Axis("a", 1000, stride, 1, 1000),))
    tile = check(box, 64, 999 * stride + 1)
    assert tile is not None
    assert tile.extents[0] >= 64


@pytest.mark.parametrize("seed", range(100))
def test_holes_anywhere(seed: int):
    """Runs with holes of any size, sources with nothing or little around them, pads at the destination."""
    rng = random.Random(seed)
    lanes, block = rng.choice([4, 8, 16, 32, 64]), rng.choice([2, 3, 4, 5, 8, 12, 16, 32])
    channels, pixels, outer = rng.randint(1, block), rng.choice([5, 16, 49, 64]), rng.randint(1, 3)
    padded = rng.choice([0, 0, channels, channels + 1, 8])
    box = last_channels(channels, block, pixels, max(padded, channels) if padded else 0)
    cells = box.cells
    box = Box((Axis("n", outer, block * pixels, cells, outer), *box.axes), AffineConstantExpr(rng.choice([0, 1, 40])))
    last = sum(axis.source_at(axis.valid - 1) for axis in box.axes) + affine.constant_value(box.source_offset)
    check(box, lanes, last + 1 + rng.choice([0, 1, block - channels, 100]))


def backwards(box: Box, position: int) -> Box:
    """The box with one axis walked from its other end in the source, as in rotated weights."""
    axis = box.axes[position]
    end = affine.constant_value(box.source_offset) + axis.source_at(axis.valid - 1)
    turned = box.with_axis(position, replace(axis, source_stride=-axis.source_stride))
    return replace(turned, source_offset=AffineConstantExpr(end))


@pytest.mark.parametrize("behind", [0, 1, 30])
@pytest.mark.parametrize("before", [0, 1, 30])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_nothing_before_the_source_is_read_where_axes_go_backwards(position: int, before: int, behind: int):
    for block, lanes, pixels, channels in itertools.product((4, 8, 16), (8, 32), (7, 64), (2, 3, 4)):
        inner = last_channels(channels, block, pixels).axes
        images = Axis("n", 3, block * pixels, channels * pixels, 3)
        box = backwards(Box((images, *inner), AffineConstantExpr(before)), position)
        check(box, lanes, before + 2 * block * pixels + (pixels - 1) * block + channels + behind)


@pytest.mark.parametrize("behind", [0, 1, 4, 5, 13])
@pytest.mark.parametrize("before", [0, 1, 4, 40])
def test_no_load_of_any_tile_reaches_beyond_the_source(before: int, behind: int):
    for block, lanes, pixels in itertools.product((4, 8), (8, 32), (49, 64)):
        box = replace(last_channels(3, block, pixels), source_offset=AffineConstantExpr(before))
        size = before + (pixels - 1) * block + 3 + behind
        tile = check(box, lanes, size)
        if tile is None:
            continue
        starts = {min(start, pixels - tile.extents[1]) for start in range(0, pixels, tile.extents[1])}
        for start, load in itertools.product(starts, tile.network.values):
            if isinstance(load, Load):
                assert 0 <= before + start * block + load.offset <= size - load.lanes


def test_one_element_and_pads_are_a_run_whatever_their_stride():
    """The only channel of a last block, which no axis of the source continues."""
    box = Box((Axis("d", 73, 256, 1024, 73), Axis("c", 32, 16, 32, 32), Axis("b", 32, 0, 1, 1)))
    tile = check(box, 16, 1 << 15)
    assert tile is not None
    assert tile.extents == (1, 4, 32)


def test_runs_are_shortened_where_pads_would_make_a_tile_too_large():
    box = Box((Axis("d", 84, 1, 3072, 84), Axis("c", 32, 0, 4, 1), Axis("b", 4, 84, 1, 4)))
    tile = check(box, 64, 84 * 4)
    assert tile is not None
    assert tile.extents[1:] == (32, 4)
    assert 8 <= tile.extents[0] <= 32
    assert tile.elements <= ELEMENT_LIMIT


def test_a_run_is_half_a_vector_where_a_whole_one_would_do_many_steps_again():
    """Of 17 columns two tiles of 16 do 15 twice, three of 8 do 7 twice."""
    box = Box((Axis("a", 17, 1, 4096, 17), Axis("b", 4096, 17, 1, 4096)))
    tiles = [choose_tile(box, 16, 17 * 4096, 4, in_caches=in_caches) for in_caches in (False, True)]
    assert [tile.extents[0] for tile in tiles if tile] == [16, 8]


def test_vectors_of_nothing_but_pads_take_no_shuffles():
    """7 of 48 channels: their rows are exchanged in two groups of 16, and of ten more that are pads nothing is made."""
    box = Box((Axis("a", 32, 1, 5376, 32), Axis("b", 48, 2240, 4, 7), Axis("c", 4, 448, 1, 4)))
    tile = check(box, 16, 2240 * 8)
    assert tile is not None
    assert tile.extents == (16, 48, 4)
    assert sum(isinstance(value, Shuffle) for value in tile.network.values) <= 5 * 2 * 16


@pytest.mark.parametrize(
    "box",
    [
        Box((Axis("a", 64, 3, 5, 64),)),
        Box((Axis("a", 64, 1, 3, 0),)),
        Box((Axis("a", 2, 1, 1, 2),)),
        Box(()),
        Box((Axis("a", 64, 0, 1, 64),), affine.AffineExpr.dimension(0) // 2),
    ],
    ids=["strides", "pads apart", "two elements", "one element", "divisions"],
)
def test_nothing_to_gain(box: Box):
    assert choose_tile(box, 16, 1000) is None


@pytest.mark.parametrize("lanes", [32, 64])
def test_filters_in_blocks_of_bytes_are_read_in_rows_that_are_shorter_than_a_vector(lanes: int):
    box = Box((Axis("o", 16, 1, 3024, 16), Axis("i", 16, 16, 9, 16), Axis("hw", 9, 256, 1, 9)))
    tile = choose_tile(box, lanes, 2304, 16, register_lanes=32)
    assert tile is not None
    assert tile.extents == (16, 16, 9)
    assert all(load.lanes == 16 for load in tile.network.loads)
    assert further_instructions(tile.network, 32) < len(tile.network.values) / 4


def test_short_rows_are_of_no_use_where_others_lie_between_them():
    """16 bytes of each line, as many lines apart as there are rows: a tile would read a quarter of every line."""
    box = Box((Axis("a", 64, 4096, 1, 64), Axis("b", 64, 16, 4096, 64), Axis("c", 16, 1, 64, 16)))
    tile = choose_tile(box, 64, 1 << 20, 16, past_caches=True, register_lanes=32)
    assert tile is not None
    assert tile.extents[1] * tile.extents[2] >= 64


@pytest.mark.parametrize(("inner", "outer"), [(2, 8), (4, 4)])
def test_filters_with_input_channels_side_by_side_are_exchanged_by_parts_of_rows(inner: int, outer: int):
    """Whole rows of bytes would take general shuffles; parts of them take cheap ones, of single registers."""
    axes = (
        Axis("o", 16, inner, 3024, 16),
        Axis("i1", outer, 16 * inner, 9 * inner, outer),
        Axis("i0", inner, 1, 9, inner),
        Axis("hw", 9, 16 * inner * outer, 1, 9),
    )
    tile = choose_tile(Box(axes), 32, 2304, 16, register_lanes=32)
    assert tile is not None
    assert further_instructions(tile.network, 32) < len(tile.network.values) / 4
