"""The loops around a tile: their order, and blocks of tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import Tile, walked_cells
from layout_ir.layouts.tile_costs import TOLERATED_OVERLAP
from layout_ir.lowering.cached_orders import Order
from layout_ir.lowering.destination_prefetching import destination_ahead, leaves_room
from layout_ir.lowering.line_sequences import rows_of, trips_of
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.request_model import PAGE_LINES
from layout_ir.lowering.schedule import Schedule, covers_whole_lines, streamed_stores
from layout_ir.lowering.shared_loops import parallel
from layout_ir.lowering.source_prefetching import with_prefetching
from layout_ir.lowering.tile_choice import PLACES_OF_SET
from layout_ir.lowering.tile_order import order_of_tiles

KEPT_BYTES = 192 << 10
"""Lines of the source that a near cache keeps beside all else, in bytes."""

MOST_SEQUENCES = 8
"""Steps of an axis up to which elements that follow each other in the source are written one after the other."""

MOST_CROWDED_SEQUENCES = 64
"""The same where what would be read in between leaves no place in the first cache for the lines of the source."""

FEW_SETS = 8
"""Sets of a first level cache that are few of its 64."""

PADS = 4
"""Cells for an element from which on a copy writes pads above all, and what it reads stays in a near cache."""


def loop_levels(box: Box, tile: Tile, schedule: Schedule) -> list[LoopLevel]:
    """
    The loops around a tile, outermost first.

    Lines that bypass the caches may be written wherever they lie. Then loops go in the order of the source, which a
    processor reads ahead by itself; else in the order of the destination, as boxes have their axes.
    """
    walked = [i for i, axis in enumerate(box.axes) if axis.extent > tile.extents[i]]
    if box.is_fill:
        levels = [LoopLevel(i, tile.extents[i]) for i in walked]
        return parallel(box, tile, schedule, levels) if schedule.threads else levels
    if streamed_stores(box, tile, schedule):
        walked.sort(key=lambda i: -box.axes[i].source_stride)
    along_source = _continuing(box, tile, [axis.source_stride for axis in box.axes], walked)
    along_destination = _continuing(box, tile, [axis.destination_stride for axis in box.axes], walked)
    in_one_order = along_source == along_destination or _pads_mostly(box, tile, schedule)
    if along_source is None or along_destination is None or in_one_order:
        levels = _read_once(box, tile, schedule, [LoopLevel(i, tile.extents[i]) for i in walked])
    else:
        levels = _along_two_axes(box, tile, schedule, walked, along_source, along_destination)
    if schedule.prefetches:
        levels = with_prefetching(box, tile, levels, schedule, along_source, along_destination)
    return parallel(box, tile, schedule, levels) if schedule.threads else levels


def _along_two_axes(
    box: Box, tile: Tile, schedule: Schedule, walked: Sequence[int], along_source: int, along_destination: int
) -> list[LoopLevel]:
    """
    Loops of which those along two axes, in blocks or without, are inside of all others.

    Whether they ask for lines of the destination decides, be it that threads share them or not: with those that do when
    shared ten copies would be 0.98 times as fast with two threads on Emerald Rapids.
    """
    outside = [LoopLevel(i, tile.extents[i]) for i in walked if i not in (along_source, along_destination)]
    order = order_of_tiles(box, tile, schedule, along_destination, along_source)
    tiles = schedule.preferences.block_tiles
    if tiles is not None:
        order = replace(order, block=(tiles, tiles))
    levels = _read_once(box, tile, schedule, outside + _blocks(box, tile, order))
    may_go_on = order.inner != along_destination and _may_go_on_to_ask(box, schedule)
    if not may_go_on or destination_ahead(box, tile, levels, schedule):
        return levels
    swapped = Order(order.inner, order.outer, (order.block[1], order.block[0]))
    others = _read_once(box, tile, schedule, outside + _blocks(box, tile, swapped))
    return others if destination_ahead(box, tile, others, schedule) else levels


def _may_go_on_to_ask(box: Box, schedule: Schedule) -> bool:
    """Whether tiles may go along the destination for no other reason than that they ask for its lines so."""
    is_in_caches = schedule.narrows and schedule.processor.goes_on_to_ask
    return is_in_caches and not is_symbolic(box.cells) and not leaves_room(box, schedule.lanes)


def _pads_mostly(box: Box, tile: Tile, schedule: Schedule) -> bool:
    """
    Whether tiles in the caches write so many pads that the order of the source matters little.

    In that of the destination they are 1.1 times as fast in the mean of 46 copies on Emerald Rapids, up to 1.6; but
    where the last tiles write many cells again these would be gone by then.
    """
    if not schedule.narrows or not schedule.at_line or any(is_symbolic(axis.extent) for axis in box.axes):
        return False
    return box.cells >= PADS * box.elements and walked_cells(box, tile) <= TOLERATED_OVERLAP


def _read_once(box: Box, tile: Tile, schedule: Schedule, levels: list[LoopLevel]) -> list[LoopLevel]:
    """
    Loops along axes whose tiles read other parts of the same lines, inside of all others where those would be gone.

    Not where tiles leave parts of lines of the destination.
    """
    if not schedule.narrows or not schedule.at_line:
        return levels
    if max(rows_of(tile.network.loads)) >= schedule.lanes or not covers_whole_lines(box, tile, schedule.lanes):
        return levels
    walk = [(box.axes[level.axis].source_stride * level.step, trips_of(box, level)) for level in levels]
    again = _reading_again(walk, schedule.lanes, len(rows_of(tile.network.loads)))
    moved = [level for i, level in enumerate(levels) if i in again and level.inside is None and level.is_last]
    return [*(level for level in levels if level not in moved), *moved]


def in_reading_order(box: Box, schedule: Schedule) -> Box:
    """
    The same for a box that is copied element by element: its axes, of which few steps are taken at once.

    Not where threads share the first axis, which keeps their lines apart in the order of the destination alone.
    """
    if not schedule.narrows or schedule.threads or not box.is_linear or any(axis.is_irregular for axis in box.axes):
        return box
    again = _reading_again([(axis.source_stride, axis.valid) for axis in box.axes], schedule.lanes, 1)
    moved = [i for i in again if box.axes[i].extent <= MOST_SEQUENCES] or _reading_crowded(box, schedule)
    order = [*(i for i in range(len(box.axes)) if i not in moved), *moved]
    return replace(box, axes=tuple(box.axes[i] for i in order))


def _reading_crowded(box: Box, schedule: Schedule) -> list[int]:
    """
    The axis that reads other parts of lines which no set of the first cache has a place for as long as that.

    Blocks of powers of two lie so: what one element after another is read from then takes a few sets of many.
    """
    page = PAGE_LINES * schedule.lanes
    for i, axis in reversed(list(enumerate(box.axes))):
        if not 0 < axis.source_stride < schedule.lanes or axis.extent > MOST_CROWDED_SEQUENCES:
            continue
        are_gone = any(_are_crowded(other.source_stride, other.valid, page) for other in box.axes[i + 1 :])
        if are_gone and not _are_crowded(axis.destination_stride, axis.extent, page):
            return [i]
    return []


def _are_crowded(distance: int, steps: int, page: int) -> bool:
    """Whether lines so far apart lie in few sets, and are more than these have places for."""
    if is_symbolic(distance) or is_symbolic(steps):
        return False
    sets = page // math.gcd(distance, page)
    return sets <= FEW_SETS and steps > PLACES_OF_SET * sets


def _reading_again(walk: Sequence[tuple[int, int]], lanes: int, lines: float) -> list[int]:
    """
    Of loops, outermost first, those whose steps read other parts of lines that no near cache has kept since.

    `walk`: for each how far apart its steps lie in the source, and how many there are. `lines`: those of one step.
    """
    again: list[int] = []
    for i, (distance, trips) in reversed(list(enumerate(walk))):
        apart = 0 if is_symbolic(distance) or is_symbolic(trips) else distance / lanes
        if 0 < apart < 1 and lines * LINE_BYTES >= KEPT_BYTES:
            again.append(i)
        lines *= max(trips * min(apart, 1), 1)
    return again[::-1]


def _blocks(box: Box, tile: Tile, order: Order) -> list[LoopLevel]:
    """Blocks of tiles along the outer axis, in them along the inner one; inside of a block the same once more."""
    levels: list[LoopLevel] = []
    inside: list[LoopLevel] = []
    sides = list(zip((order.outer, order.inner), order.block, strict=True))
    for i, tiles in reversed(sides) if max(order.block) > 1 else sides:
        step = tile.extents[i]
        if tiles > 1 and box.axes[i].extent > step * tiles:
            levels.insert(0, LoopLevel(i, step * tiles, is_last=False))
            inside.append(LoopLevel(i, step, inside=step * tiles))
        else:
            inside.append(LoopLevel(i, step))
    return levels + inside


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
