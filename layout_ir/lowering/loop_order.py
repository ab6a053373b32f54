"""The loops around a tile: their order, blocks of tiles, what threads share."""

from __future__ import annotations

import math
from dataclasses import replace

from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.shuffle_network import is_copy
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tiling import Tile
from layout_ir.lowering.line_sequences import PAGE_LINES
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.schedule import Schedule, covers_whole_lines, streamed_stores
from layout_ir.lowering.source_prefetching import with_prefetching

COLLIDING_ROWS = 64
"""Rows of a tile from which on those of a second tile push the first's out, if all belong to one set."""

FEW_ROWS = 8
"""Rows of a tile up to which those of a second one have room in the same set."""

THREAD_PARTS = 32
"""Parts into which a loop is cut for threads to share, at least where it is long; and steps of a part, at most."""


def loop_levels(box: Box, tile: Tile, schedule: Schedule) -> list[LoopLevel]:
    """
    The loops around a tile, outermost first.

    Lines that bypass the caches may be written wherever they lie. Then loops go in the order of the source, which a
    processor reads ahead by itself; else in the order of the destination, as boxes have their axes.
    """
    walked = [i for i, axis in enumerate(box.axes) if axis.extent > tile.extents[i]]
    if box.is_fill:
        levels = [LoopLevel(i, tile.extents[i]) for i in walked]
        return _parallel(box, tile, schedule, levels) if schedule.threads else levels
    if streamed_stores(box, tile, schedule):
        walked.sort(key=lambda i: -box.axes[i].source_stride)
    along_source = _continuing(box, tile, [axis.source_stride for axis in box.axes], walked)
    along_destination = _continuing(box, tile, [axis.destination_stride for axis in box.axes], walked)
    if along_source is None or along_destination is None or along_source == along_destination:
        levels = [LoopLevel(i, tile.extents[i]) for i in walked]
    else:
        others = [i for i in walked if i not in (along_source, along_destination)]
        levels = [LoopLevel(i, tile.extents[i]) for i in others]
        levels += _blocks(box, tile, schedule, along_destination, along_source)
    if schedule.prefetches:
        levels = with_prefetching(box, tile, levels, schedule, along_source, along_destination)
    return _parallel(box, tile, schedule, levels) if schedule.threads else levels


def _blocks(box: Box, tile: Tile, schedule: Schedule, along_destination: int, along_source: int) -> list[LoopLevel]:
    """
    Blocks of tiles along the destination, in them along the source; inside of a block the same once more.

    Data that stay in the caches go the other way where tiles write lines in parts: the rest follows at once then. So do
    copies of lines that compete for one set of a cache, and without blocks.
    """
    outer, inner = along_destination, along_source
    gathers = _gathers_colliding_lines(box, tile, schedule, along_destination)
    if gathers or (schedule.narrows and _leaves_parts(box, tile, schedule)):
        outer, inner = inner, outer
    levels: list[LoopLevel] = []
    inside: list[LoopLevel] = []
    block_tiles = schedule.preferences.block_tiles
    if block_tiles is None:
        is_collision = gathers or _rows_collide(box, tile, schedule.lanes, outer, inner)
        is_in_order = is_collision or _suits_one_order(box, tile, schedule, along_destination, along_source)
        block_tiles = 1 if is_in_order else schedule.block_tiles
    for i in (inner, outer) if block_tiles > 1 else (outer, inner):
        step = tile.extents[i]
        if block_tiles > 1 and box.axes[i].extent > step * block_tiles:
            levels.insert(0, LoopLevel(i, step * block_tiles, is_last=False))
            inside.append(LoopLevel(i, step, inside=step * block_tiles))
        else:
            inside.append(LoopLevel(i, step))
    return levels + inside


def _suits_one_order(box: Box, tile: Tile, schedule: Schedule, along_destination: int, along_source: int) -> bool:
    """Whether tiles that follow each other along one side suit the other as well, or blocks of rows do not stay."""
    page = PAGE_LINES * schedule.lanes
    if schedule.narrows:
        has_rows = tile.extents[along_destination] >= FEW_ROWS
        stride = box.axes[along_destination].source_stride
        may_collide = has_rows and (is_symbolic(stride) or stride % page == 0)
        return may_collide and schedule.processor.has_small_sets
    if not schedule.prefetches:
        return False
    is_read_whole = box.axes[along_source].extent <= schedule.block_tiles * tile.extents[along_source]
    return is_read_whole or (schedule.processor.reads_on and box.axes[along_source].destination_stride < page)


def _leaves_parts(box: Box, tile: Tile, schedule: Schedule) -> bool:
    """Whether tiles write parts of lines, of which the next ones write the rest."""
    is_trusted = schedule.trusts_lines and all(store.lanes == schedule.lanes for store in tile.network.stores)
    if not is_trusted and not covers_whole_lines(box, tile, schedule.lanes):
        return True
    return not schedule.at_line and not is_copy(tile.network)  # a copy's loads are as many lines in parts


def _gathers_colliding_lines(box: Box, tile: Tile, schedule: Schedule, along_destination: int) -> bool:
    """
    Whether a copy in the caches puts whole lines next to each other that all belong to one set of a cache.

    No line is read twice, so that nothing is gained by blocks; in the order of the destination that is one sequence.
    """
    stride = box.axes[along_destination].source_stride
    is_colliding = stride > 0 and stride % (PAGE_LINES * schedule.lanes) == 0
    gathers = schedule.narrows and schedule.processor.gathers_colliding_lines
    return gathers and is_copy(tile.network) and _shared_row(box) >= schedule.lanes and is_colliding


def _shared_row(box: Box) -> int:
    """Elements that follow each other on both sides."""
    return max((axis.extent for axis in box.axes if axis.source_stride == axis.destination_stride == 1), default=1)


def _rows_collide(box: Box, tile: Tile, lanes: int, outer: int, inner: int) -> bool:
    """Whether the rows of more than one tile compete, on both sides, for the few places of one set of a cache."""
    far = (box.axes[outer].source_stride, box.axes[inner].destination_stride)
    return max(tile.extents[outer], tile.extents[inner]) >= COLLIDING_ROWS and all(
        stride % (PAGE_LINES * lanes) == 0 for stride in far
    )


def _continuing(box: Box, tile: Tile, strides: list[int], walked: list[int]) -> int | None:
    """The axis along which the next tile continues this tile's lines."""
    candidates = [i for i in walked if tile.extents[i] > 1 and strides[i] > 0]
    expected = 1
    while True:
        following = next((i for i, stride in enumerate(strides) if stride == expected), None)
        if following is None:
            return min(candidates, key=lambda i: strides[i], default=None)
        if following in walked:
            return following
        if box.axes[following].extent == 1:
            return None
        expected *= box.axes[following].extent


def _parallel(box: Box, tile: Tile, schedule: Schedule, levels: list[LoopLevel]) -> list[LoopLevel]:
    """
    Let threads share a loop: the outermost that keeps their lines of the destination apart, or else the one whose steps
    lie farthest from each other there.

    Its steps are grouped so that a line belongs to one group: threads that write parts of one line take it from each
    other again and again. Inside of a group the loops keep their order.
    """
    outer = [position for position, level in enumerate(levels) if level.inside is None]
    farthest = sorted(outer, key=lambda position: -box.axes[levels[position].axis].destination_stride)
    apart = [position for position in outer if keeps_lines_apart(box, levels[position].axis, schedule.lanes)]
    for position in [*apart, *farthest]:
        level = levels[position]
        axis = box.axes[level.axis]
        length = level.step * _group(axis, tile.extents[level.axis], level.step, schedule.lanes)
        if axis.extent < 2 * length:
            continue
        if position == 0 and length == level.step:
            return [replace(level, is_parallel=True), *levels[1:]]
        shared = LoopLevel(level.axis, length, is_last=False, is_parallel=True)
        return [shared, *levels[:position], replace(level, inside=length), *levels[position + 1 :]]
    return levels


def keeps_lines_apart(box: Box, shared: int, lanes: int) -> bool:
    """Whether what lies between the steps of an axis are whole lines, or less than one of its steps."""
    step = box.axes[shared].destination_stride
    return all(
        axis.destination_stride < step or axis.destination_stride % lanes == 0
        for i, axis in enumerate(box.axes)
        if i != shared
    )


def _group(axis: Axis, tile_steps: int, step: int, lanes: int) -> int:
    """Steps of a loop for one thread: whole lines of the destination, and for the last more than a moved-back tile."""
    whole = lanes // math.gcd(lanes, axis.destination_stride * step)
    group = whole * max(min(axis.extent // (step * whole * THREAD_PARTS), THREAD_PARTS), 1)
    tiles = -(-axis.extent // tile_steps)
    while (
        axis.extent % tile_steps and (tiles - 1) % (group * step // tile_steps) == 0 and axis.extent >= 2 * group * step
    ):
        group += whole
    return group
