"""What tiles ask for ahead of time: lines of the destination that later tiles write."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel_source import STREAMS
from layout_ir.layouts.plan import Box
from layout_ir.layouts.shuffle_network import is_copy
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.line_sequences import (
    LEAST_LINES_AHEAD,
    joined,
    longest,
    shared_row,
    trips_of,
    walked,
)
from layout_ir.lowering.loop_level import LoopLevel, undivided
from layout_ir.lowering.schedule import Schedule, covers_whole_lines, streamed_stores
from layout_ir.lowering.written_sequences import (
    CACHED_LINES_AHEAD,
    MIXED_LINES,
    PLACES_FOR_GAPS,
    places_compete,
    written_ahead,
)

NEAR_BYTES = 64 << 10
"""Size of a part of the destination below which its lines come from a near cache, without being asked for."""

SMALL_BYTES = 512 << 10
"""Size of a part of the destination below which a second level cache holds both sides with room to spare."""

LINES_AHEAD = 64
"""Distance, in lines, in which lines of the destination are asked for that are written in parts."""

OWN_LINES = 4
"""
How many times as much a thread writes at a stretch as lies ahead of it, at least.

Behind that begin another thread's lines, which asking would take from that one's cache.
"""


def destination_ahead(box: Box, tile: Tile, levels: Sequence[LoopLevel], schedule: Schedule) -> int:
    """
    By how many elements ahead of its stores a tile asks for lines of the destination; 0 where it does not.

    Lines that stay in a near cache have to get there first, and a processor waits for those of a far one.
    """
    if schedule.streams:
        return _parts_ahead(box, tile, levels, schedule)
    if box.cells * LINE_BYTES < NEAR_BYTES * schedule.lanes:
        return 0
    ahead = _ahead_in_caches(box, tile, undivided(levels), schedule)
    return 0 if schedule.threads > 1 and _reaches_other_threads(box, levels, ahead, schedule) else ahead


def _ahead_in_caches(box: Box, tile: Tile, levels: Sequence[LoopLevel], schedule: Schedule) -> int:
    """The same for lines that stay in the caches, whoever writes them."""
    if schedule.processor.asks_across_gaps and is_copy(tile.network) and has_gaps(box):
        return _rows_ahead(box, levels, (CACHED_LINES_AHEAD if schedule.narrows else LINES_AHEAD) * schedule.lanes)
    if not schedule.narrows or not schedule.processor.asks_for_destination:
        return 0
    ahead = written_ahead(box, tile, levels, schedule)
    return 0 if ahead and _copies_to_crowded_sets(box, tile, levels, schedule.lanes) else ahead


def _reaches_other_threads(box: Box, levels: Sequence[LoopLevel], ahead: int, schedule: Schedule) -> bool:
    """
    Whether much of what tiles ask for so many elements ahead is another thread's.

    Two threads are 1.9 to 2.5 times as fast without on Emerald Rapids where all of it is; where a tenth is, 0.87 times.
    """
    trips = 1
    for level in itertools.takewhile(lambda level: level.is_parallel, levels):
        stride = level.step * box.axes[level.axis].destination_stride
        trips *= trips_of(box, level)
        if is_symbolic(trips) or is_symbolic(stride):
            return False
        if trips >= schedule.threads:
            return ahead * OWN_LINES > -(-trips // schedule.threads) * stride
    return False


def _copies_to_crowded_sets(box: Box, tile: Tile, levels: Sequence[LoopLevel], lanes: int) -> bool:
    """
    Whether tiles copy to sequences of lines of a small destination that push each other out of a first level cache.

    What they ask for is gone before they come back to it, and a second level cache has it anyway: 14 copies are 1.13
    times as fast without on Emerald Rapids, 1.08 to 1.23 times; larger ones of 1 MiB would be 0.92 times.
    """
    if not is_copy(tile.network) or not leaves_room(box, lanes):
        return False
    return places_compete(_written_in_turn(box, tile, levels, lanes), lanes, PLACES_FOR_GAPS)


def leaves_room(box: Box, lanes: int) -> bool:
    """Whether a second level cache holds both sides of a part with room to spare; no part of unknown size does."""
    return box.cells * LINE_BYTES < SMALL_BYTES * lanes


def _written_in_turn(box: Box, tile: Tile, levels: Sequence[LoopLevel], lanes: int) -> Sequence[int]:
    """Where the sequences of lines start that tiles write a part of each before they go on with the first one."""
    parts, _ = joined([(store.offset, store.offset + store.lanes) for store in tile.network.stores], lanes)
    starts = found = [start for start, _ in parts]
    for level in reversed(levels):
        step, trips = level.step * box.axes[level.axis].destination_stride, trips_of(box, level)
        if 0 < step < 2 * longest(parts):
            parts, found = walked(parts, step, trips), starts
        elif trips * len(starts) > MIXED_LINES:
            break
        else:
            starts = [start + step * trip for trip in range(trips) for start in starts]
    return found


def rows_written_together(box: Box, tile: Tile, levels: Sequence[LoopLevel]) -> int:
    """
    Elements of all rows that tiles write before they are done with any, where it is not known how long rows are.

    They follow each other; 0 where they do not. Short ones are one sequence of lines, written in an order of its own.
    """
    levels = undivided(levels)
    lengths = {axis.extent: i for i, axis in enumerate(box.axes) if axis.destination_stride == 1}
    for i, (axis, steps) in enumerate(zip(box.axes, tile.extents, strict=True)):
        along = lengths.get(axis.destination_stride)
        if steps > 1 and along is not None and is_symbolic(axis.destination_stride):
            walks = [level.axis for level in levels]
            inside = levels[walks.index(along) :] if along in walks else ()
            trips = math.prod(trips_of(box, level) for level in inside if level.axis == i)
            return min(steps * trips, axis.extent) * axis.destination_stride
    return 0


def asks_both_lines(box: Box, tile: Tile, schedule: Schedule) -> bool:
    """Whether a tile asks for both lines in which a vector of a later row may lie, where gaps are between rows."""
    if not schedule.processor.asks_across_gaps or not is_copy(tile.network):
        return False
    if not schedule.streams and not has_gaps(box):
        return False
    is_at_lines = all(not is_symbolic(stride) and stride % schedule.lanes == 0 for stride in _rows_apart(box))
    return not schedule.at_line or not is_at_lines


def has_gaps(box: Box) -> bool:
    """Whether there are gaps between rows that are copied."""
    return min(_rows_apart(box), default=0) > shared_row(box)


def _rows_apart(box: Box) -> list[int]:
    """How far rows of the destination lie apart along each axis that leads from row to row."""
    return [axis.destination_stride for axis in box.axes if axis.destination_stride != 1]


def _rows_ahead(box: Box, levels: Sequence[LoopLevel], least: int) -> int:
    """By how many elements, at least so many, later rows are ahead: the same part of a row. 0 where there are none."""
    strides = [(box.axes[level.axis].destination_stride, level.step) for level in levels]
    step = min((stride * step for stride, step in strides if stride > 1 and not is_symbolic(stride)), default=0)
    return step * -(-least // step) if step else 0


def _parts_ahead(box: Box, tile: Tile, levels: Sequence[LoopLevel], schedule: Schedule) -> int:
    """
    The same for lines of a large destination that are written in parts.

    They have to be read first, and no processor foresees which: rows with gaps between them are no sequence of lines.
    What is written past the caches is never asked for.
    """
    lines, stores = LINES_AHEAD, tile.network.stores
    streamed = len(streamed_stores(box, tile, schedule))
    if streamed == len(stores) or (streamed and not schedule.processor.asks_for_ends):
        return 0
    if not is_copy(tile.network):
        rows, _ = joined([(store.offset, store.offset + store.lanes) for store in stores], schedule.lanes)
        if len(rows) <= STREAMS or not schedule.processor.asks_for_ends:
            return 0  # the processor itself follows as many
        lines = LEAST_LINES_AHEAD
    return 0 if covers_whole_lines(box, tile, schedule.lanes) else _rows_ahead(box, levels, lines * schedule.lanes)
