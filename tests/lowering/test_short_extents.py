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
from layout_ir.lowering.short_extents import (
    AREAS,
    LENGTHS,
    own_lengths,
    short_boxes,
    short_extent,
    with_short_loops_outside,
)

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


@pytest.mark.parametrize(
    "box, is_short",
    [
        (IMAGES, True),
        (IMAGES.with_axis(0, Axis("a", 5, 64 * AREA, 64 * AREA, 5)), False),
        (IMAGES.with_axis(1, Axis("b", N, 1, AREA, N)), False),
    ],
    ids=["a batch beside it", "nothing beside it", "two that a tile needs"],
)
def test_one_extent_may_be_short_where_another_one_is_unknown(box: Box, is_short: bool) -> None:
    tile = choose_tile(box, 16, 0, 4)
    assert tile is not None
    assert short_extent(box, tile) == (AREA if is_short else None)


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
