"""
Steps with rows of a common length that no tile fits into, and few of the next shorter ones: loops of their own.

Planes of 7 x 7, as whole ones do not hold many of the longest tiles. On Granite Rapids 3 and 35 channels of bytes are
copied to blocks of 16 and 32 1.13 to 1.6 times as fast so, and 3 of them to pixels 1.2 times; where pixels become
planes others are hardly any better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import Symbols, is_symbolic
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.schedule import Schedule, in_caches
from layout_ir.lowering.short_extents import ShortBox, short_boxes, unknown_lengths
from layout_ir.lowering.tile_choice import is_worth_own_loops, shorter_tiles, tile_of
from layout_ir.lowering.whole_steps import WholeSteps

COMMON_LENGTH = 49
"""Pixels of what is left of most images at last. Every other length would take its time to compile."""

FEW_ROWS = 8
"""Rows of a step up to which tiles for the common length are looked for without pads: the search takes its time."""


@dataclass(frozen=True)
class CommonLength:
    """What steps and their buffers are where an unknown extent has the common length."""

    extent: int
    boxes: tuple[Box, ...]
    buffers: Buffers


def of_common_length(steps: WholeSteps, buffers: Buffers, schedule: Schedule, symbols: Symbols) -> CommonLength | None:
    """The boxes of steps for rows of the common length; None where they are as good by the loops for every length."""
    if schedule.register_lanes or schedule.most_steps is not None:
        return None  # tiles do not compare
    found: list[tuple[int, ShortBox, bool]] = []
    for box in (box for part in steps.parts for box in part.group.boxes):
        tile = tile_of(box, schedule, buffers.source_size)
        needed = [] if tile is None else unknown_lengths(box, tile)
        if tile is None or len(needed) != 1 or sum(is_symbolic(axis.extent) for axis in box.axes) != 2:
            return None  # one other is unknown: with none the box is small
        (extent,) = needed
        short = next(short_boxes(box, buffers, extent, symbols, (COMMON_LENGTH,)), None)
        if short is None:
            return None
        found.append((extent, short, _is_worth_it(box, tile, extent, short, buffers, schedule)))
    extents = {extent for extent, _, _ in found}
    if len(extents) != 1 or not any(is_worth_it for _, _, is_worth_it in found):
        return None
    return CommonLength(extents.pop(), tuple(short.box for _, short, _ in found), found[0][1].buffers)


def _is_worth_it(box: Box, tile: Tile, extent: int, short: ShortBox, buffers: Buffers, schedule: Schedule) -> bool:
    """Whether a box of rows of the source that hold no tile takes far fewer instructions so."""
    rows = [i for i, axis in enumerate(box.axes) if (axis.extent, axis.source_stride) == (extent, 1)]
    count = math.prod(axis.extent for axis in box.axes if not is_symbolic(axis.extent))
    if not rows or tile.extents[rows[0]] <= COMMON_LENGTH or not (box.is_padded or count <= FEW_ROWS):
        return False
    shorter = shorter_tiles(box, tile, schedule, buffers.source_size)
    others = tile_of(box, shorter, buffers.source_size) if shorter else None
    if others is None:
        return False
    usual = replace(in_caches(schedule), cells=short.buffers.cells)
    return is_worth_own_loops(short.box, others, usual, short.buffers.source_size)
