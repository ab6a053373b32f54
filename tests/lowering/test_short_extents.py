"""Boxes for very short unknown extents: what their numbers are then, and where they do not follow."""

from __future__ import annotations

from dataclasses import replace

import pytest
from xdsl.dialects.builtin import MemRefType, f32
from xdsl.ir import Block
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.symbols import Symbol, Symbols
from layout_ir.layouts.tiling import choose_tile
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.schedule import choose_schedule, in_caches, of_shorter_tiles
from layout_ir.lowering.short_extents import (
    AREAS,
    LENGTHS,
    deciding_extent,
    for_short_extents,
    own_lengths,
    short_boxes,
    with_short_loops_outside,
)
from layout_ir.lowering.target import Target
from layout_ir.lowering.tile_choice import tile_of

BATCH, HEIGHT, WIDTH = Symbol(0), Symbol(2), Symbol(3)
SYMBOLS = Symbols(((BATCH,), (HEIGHT,), (WIDTH,)))
N, H, W = (SYMBOLS.stand_ins[symbol] for symbol in (BATCH, HEIGHT, WIDTH))
AREA = H * W
IMAGES = Box((Axis("a", N, 64 * AREA, 64 * AREA, N), Axis("b", 64, 1, AREA, 64), Axis("c", AREA, 64, 1, AREA)))
SIDE = Block(arg_types=[MemRefType(f32, [-1])]).args[0]
BUFFERS = Buffers(SIDE, SIDE, None, 64 * N * AREA, 64 * N * AREA, 64 * N * AREA)


def test_every_length_has_a_box_of_its_own() -> None:
    found = {short.length: short for short in short_boxes(IMAGES, BUFFERS, AREA, SYMBOLS, AREAS)}
    assert tuple(found) == AREAS
    for length, short in found.items():
        known = [Axis("a", N, 64 * length, 64 * length, N), Axis("b", 64, 1, length, 64)]
        assert short.box.axes == (*known, *([Axis("c", length, 64, 1, length)] if length > 1 else []))
        size = 64 * N * length
        assert short.buffers == replace(BUFFERS, source_size=size, destination_size=size, cells=size)


@pytest.mark.parametrize("extent, lengths", [(N, LENGTHS), (W, LENGTHS), (AREA, AREAS)], ids=["batch", "row", "image"])
def test_images_have_more_such_lengths_than_what_has_one_dim(extent: int, lengths: tuple[int, ...]) -> None:
    assert own_lengths(extent, SYMBOLS) == lengths


@pytest.mark.parametrize(
    "box",
    [
        IMAGES.with_axis(1, Axis("b", 4, 0, 0, 4, (0, 1, 5, 6), (0, 2, 4, 6))),
        replace(IMAGES, source_offset=AffineExpr.dimension(0) // 3),
    ],
    ids=["irregular steps", "a division"],
)
def test_what_has_no_strides_has_no_such_boxes(box: Box) -> None:
    assert not list(short_boxes(box, BUFFERS, AREA, SYMBOLS, AREAS))


def test_a_pitch_of_one_side_of_an_image_is_known_for_images_of_one_pixel_alone() -> None:
    box = replace(IMAGES, destination_offset=AffineConstantExpr(3 * H))
    (short,) = short_boxes(box, BUFFERS, AREA, SYMBOLS, AREAS)
    assert short.length == 1
    assert short.box.destination_offset == AffineConstantExpr(3)


ROWS = Box((Axis("a", N, 64 * AREA, 64 * AREA, N), Axis("b", H, 64 * W, 1, H), Axis("c", W, 64, 64 * H, W)))


@pytest.mark.parametrize(
    "box, steps, extent",
    [
        (IMAGES, (1, 16, 16), AREA),
        (IMAGES.with_axis(0, Axis("a", 5, 64 * AREA, 64 * AREA, 5)), (1, 16, 16), None),  # a small box
        (IMAGES, (16, 1, 16), N),  # images seldom are as small as batches
        (IMAGES.with_axis(2, Axis("c", 64 * AREA, 1, N, 64 * AREA)), (16, 1, 64), N),  # never shorter than the tile
        (ROWS, (1, 16, 1), H),
        (ROWS, (16, 16, 1), N),
        (ROWS, (1, 16, 16), H),
        (ROWS, (1, 1, 1), None),
    ],
)
def test_which_extent_decides_whether_a_tile_fits_in(box: Box, steps: tuple[int, ...], extent: int | None) -> None:
    some = choose_tile(IMAGES, 16, 0, 4)
    assert some is not None
    tile = replace(some, extents=steps)
    schedule = for_short_extents(box, tile, choose_schedule(Target(64), 4, 0, 0), SYMBOLS)
    assert deciding_extent(box, tile, schedule.long_extents, SYMBOLS) == extent
    assert schedule.short_extent == (None if extent == AREA else extent)
    assert schedule.long_extents == {axis.extent for axis in box.axes if axis.extent == 64 * AREA}


def test_a_batch_of_a_few_has_tiles_that_take_as_many_pixels_as_others() -> None:
    box = Box((Axis("a", N, 1, 64 * AREA, N), Axis("b", AREA, N, 1, AREA), Axis("c", 64, N * AREA, AREA, 64)))
    schedule = in_caches(choose_schedule(Target(64), 2, 0, 0))
    tile = tile_of(box, schedule, 64 * N * AREA)
    assert tile is not None
    shorter = of_shorter_tiles(for_short_extents(box, tile, schedule, SYMBOLS))
    found = [tile, *(tile_of(box, one, 64 * N * AREA) for one in shorter)]
    assert [one and one.extents[:2] for one in found] == [(32, 32), (32, 32), (16, 16), (8, 8), (4, 16)]


@pytest.mark.parametrize(
    "order, loops",
    [("abc", "acb"), ("bac", "bac"), ("acb", "acb"), ("ba", "ba"), ("bc", "bc")],
    ids=["known inside", "unknown inside", "in order", "few", "what threads share"],
)
def test_short_loops_go_outside_of_known_ones_but_for_the_first(order: str, loops: str) -> None:
    axes = {axis.name: axis for axis in IMAGES.axes}
    box = Box(tuple(axes[name] for name in order))
    tile = choose_tile(IMAGES, 16, 0, 4)
    assert tile is not None
    fitting = replace(tile, extents=(*[1] * (len(order) - 1), 16))
    assert "".join(axis.name for axis in with_short_loops_outside(box, fitting).axes) == loops
    others = replace(tile, extents=(16, *[1] * (len(order) - 1)))  # it is another one that is too short
    assert with_short_loops_outside(box, others) == box
