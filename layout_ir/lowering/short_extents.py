"""
Boxes with an unknown extent of few steps, as what pooling leaves of images: one for each length.

No tile fits into so short an extent, or none so well; where its length is known others do, along all axes inside of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from xdsl.ir.affine import AffineConstantExpr

from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.plan_rewrites import drop_unit_axes
from layout_ir.layouts.symbols import Symbols, Undecodable, is_symbolic
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.schedule import Schedule

LENGTHS = 1, 2, 4
"""Steps of one dim that have loops of their own. Others are rare, and each takes its time to compile."""

AREAS = *LENGTHS, 9
"""
The same of several dims: images of up to 3 x 3.

On Granite Rapids images of 3 x 3 are 1.1 to 3.5 times as fast so in the caches, most of them 1.6 times and more.
"""


@dataclass(frozen=True)
class ShortBox:
    """What a box and its buffers are where an unknown extent has one length."""

    length: int
    box: Box
    buffers: Buffers


def unknown_lengths(box: Box, tile: Tile) -> list[int]:
    """The unknown extents that decide whether a tile fits in."""
    return [
        axis.extent
        for axis, steps in zip(box.axes, tile.extents, strict=True)
        if is_symbolic(axis.extent) and steps > 1
    ]


def deciding_extent(box: Box, tile: Tile, long: Collection[int], symbols: Symbols) -> int | None:
    """
    The unknown extent that most often is too short for a tile; None where none is, or all that is unknown.

    `long`: those that never are. Products of several dims seldom are where others decide too: images of few pixels come
    in batches. Of single dims it is the first, as batches are short more often than rows of images.
    """
    needed = [extent for extent in unknown_lengths(box, tile) if extent not in long]
    singles = [extent for extent in needed if not symbols.has_several_dims(extent)]
    first = min(singles or needed, key=lambda extent: symbols.first_dim(extent), default=None)
    is_all = all(axis.extent == first for axis in box.axes if is_symbolic(axis.extent))
    return None if is_all else first


def for_short_extents(box: Box, tile: Tile, schedule: Schedule, symbols: Symbols) -> Schedule:
    """The schedule where a tile does not fit into a box, for which shorter ones are looked for."""
    extents = [axis.extent for axis in box.axes if is_symbolic(axis.extent)]
    long = frozenset(extent for extent in extents if symbols.unit(extent) >= schedule.lanes)
    short = deciding_extent(box, tile, long, symbols)
    if short is not None and symbols.has_several_dims(short):
        short = None
    return replace(schedule, long_extents=long, short_extent=short)


def own_lengths(extent: int, symbols: Symbols) -> Sequence[int]:
    """The lengths of an unknown extent that have loops of their own."""
    return AREAS if symbols.has_several_dims(extent) else LENGTHS


def short_boxes(
    box: Box, buffers: Buffers, extent: int, symbols: Symbols, lengths: Sequence[int]
) -> Iterator[ShortBox]:
    """The boxes for some lengths of an unknown extent; none from where on their numbers do not follow."""
    offsets = box.source_offset, box.destination_offset
    if any(axis.is_irregular for axis in box.axes) or not all(isinstance(at, AffineConstantExpr) for at in offsets):
        return
    for length in lengths:
        known = partial(symbols.at_length, extent=extent, length=length)
        try:
            short = _with_numbers(box, known)
            source, destination = known(buffers.source_size), known(buffers.destination_size)
            cells = known(buffers.cells)
        except Undecodable:
            return
        sized = replace(buffers, source_size=source, destination_size=destination, cells=cells)
        yield ShortBox(length, short, sized)


def emit_by_length(
    builder: LoopBuilder,
    extent: int,
    boxes: list[ShortBox],
    emit: Callable[[ShortBox], None],
    longer: Callable[[], None],
) -> None:
    """The loops of one of the boxes, by the length that an extent has, or else what is for longer ones."""
    if not boxes:
        longer()
        return
    first, *others = boxes
    is_so_long = builder.compare(builder.constant(extent), "eq", builder.constant(first.length))
    builder.choose(is_so_long, lambda: emit(first), lambda: emit_by_length(builder, extent, others, emit, longer))


def with_short_loops_outside(box: Box, tile: Tile) -> Box:
    """A linear box that a tile does not fit into, with a last axis that is too short for it outside of known ones."""
    *others, last = box.axes
    known = len(list(itertools.takewhile(lambda axis: not is_symbolic(axis.extent), reversed(others))))
    at = max(len(others) - known, 1)  # the first one is what threads share
    if not is_symbolic(last.extent) or tile.extents[-1] == 1 or at >= len(others):
        return box
    return replace(box, axes=(*others[:at], last, *others[at:]))


def _with_numbers(box: Box, known: Callable[[int], int]) -> Box:
    """A box with its numbers replaced by what they are known to be."""

    def axis_of(axis: Axis) -> Axis:
        return replace(
            axis,
            extent=known(axis.extent),
            valid=known(axis.valid),
            source_stride=known(axis.source_stride),
            destination_stride=known(axis.destination_stride),
        )

    offsets = (AffineConstantExpr(known(constant_value(at))) for at in (box.source_offset, box.destination_offset))
    return drop_unit_axes(Box(tuple(map(axis_of, box.axes)), *offsets))
