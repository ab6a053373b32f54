"""What tiles ask for ahead of time: lines of the source that later tiles read, lines of the destination they write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from layout_ir.layouts.panel_steps import LINE_BYTES
from layout_ir.layouts.plan import Box
from layout_ir.layouts.shuffle_network import Load, is_copy
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tiling import Tile
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.schedule import Schedule, covers_whole_lines, streamed_stores

BYTES_ON_THE_WAY = 5120
"""
Bytes of a source read forward that are asked for ahead of the loads, all its sequences of lines together.

About what memory delivers while one line is on its way, and more than a page, at whose end a processor's own prefetcher
stops: 4096 to 6144 were the fastest for 1 to 64 sequences.
"""

LEAST_LINES_AHEAD = 2
"""How far ahead a sequence of lines is asked for, at least: memory delivers one line while a tile is shuffled."""

FORWARD_DISTANCES = 4
"""How many times that a sequence of lines is long, at least."""

PREFETCHED_TILES = 2
"""How many tiles ahead the source is asked for, where it is not read forward."""

STREAMS = 16
"""Rows from which on a processor's own prefetcher does not follow them all."""

LINES_AHEAD = 64
"""Distance, in lines, in which lines of the destination are asked for that are written in parts."""

PAGE_LINES = 64
"""Lines of a page, which are also those after which the sets of a first-level cache repeat."""


def with_prefetching(
    box: Box,
    tile: Tile,
    levels: list[LoopLevel],
    schedule: Schedule,
    along_source: int | None,
    along_destination: int | None,
) -> list[LoopLevel]:
    """
    The same loops, whose tiles ask for lines of the source that later ones read.

    `along_source` and `along_destination` are the axes along which the next tile continues the lines of either side.
    """
    if not levels:
        return levels
    forward = 0 if schedule.preferences.prefetch else read_forward(box, tile, levels, schedule.lanes)
    if forward:
        return [*levels[:-1], replace(levels[-1], prefetch=forward)]
    if along_source is None or along_destination is None or along_source == along_destination:
        axis, tiles = _in_one_order(box, tile, levels, schedule, along_source, along_destination)
    else:
        axis, tiles = _between_orders(box, tile, schedule, along_source, along_destination), PREFETCHED_TILES
    ahead = schedule.preferences.prefetch_tiles or tiles
    return [
        replace(level, prefetch=ahead * level.step * box.axes[level.axis].source_stride)
        if level.axis == axis and level.is_last
        else level
        for level in levels
    ]


def read_forward(box: Box, tile: Tile, levels: Sequence[LoopLevel], lanes: int) -> int:
    """
    By how many elements ahead a tile asks for the source whose lines it and the next tiles read one after the other.

    0 where they read it in another order, or only short parts of it.
    """
    loads = [(value.offset, value.offset + value.lanes) for value in tile.network.values if isinstance(value, Load)]
    parts, unit = _joined(loads, lanes)
    mixed = _longest(parts) if len(parts) < len(loads) else 0  # what tiles read in an order of their own
    for level in reversed(levels):
        axis = box.axes[level.axis]
        step, length = level.step * axis.source_stride, _longest(parts)
        if not 0 < step < 2 * length:
            break
        if step >= length + lanes:
            unit = step
        trips = -(-(axis.extent if level.inside is None else level.inside) // level.step)
        parts = [(start, end + step * (trips - 1)) for start, end in parts]
        lines = max(BYTES_ON_THE_WAY // LINE_BYTES // len(parts), LEAST_LINES_AHEAD)
        ahead = _off_pages(-(-max(lines * lanes, mixed) // unit) * unit, unit, lanes)
        if _longest(parts) >= FORWARD_DISTANCES * ahead:
            return ahead
        before = len(parts)
        parts, pitch = _joined(parts, lanes)
        unit = max(unit, pitch)
        if len(parts) < before:
            mixed = _longest(parts)
    return 0


def _off_pages(ahead: int, unit: int, lanes: int) -> int:
    """A distance that is no number of pages: lines so far apart compete for the few places of one set."""
    page = PAGE_LINES * lanes
    return ahead if ahead % page else ahead - (-page // 2 // unit) * unit


def _longest(parts: Sequence[tuple[int, int]]) -> int:
    return max((end - start for start, end in parts), default=0)


def _joined(parts: Sequence[tuple[int, int]], lanes: int) -> tuple[list[tuple[int, int]], int]:
    """
    Parts of the source in order, as one where no line lies between them or they are no shorter than the gaps.

    And the distance that leads from a part to a part, not to a gap between them: a line where there are none.
    """
    result: list[tuple[int, int]] = []
    pitch = lanes
    for start, end in sorted(parts):
        last_start, last_end = result[-1] if result else (start, start)
        gap = start - last_end
        if result and gap < lanes:
            result[-1] = last_start, max(last_end, end)
        elif result and gap <= end - start:
            result[-1] = last_start, end
            pitch = gap + end - start
        else:
            result.append((start, end))
    return result, pitch


def _in_one_order(
    box: Box,
    tile: Tile,
    levels: Sequence[LoopLevel],
    schedule: Schedule,
    along_source: int | None,
    along_destination: int | None,
) -> tuple[int | None, int]:
    """An axis, None for no prefetching, and tiles along it, where one order of the loops suits both sides."""
    rows = sum(isinstance(value, Load) for value in tile.network.values)
    if rows < STREAMS and not schedule.preferences.prefetch:
        return None, 0
    innermost = levels[-1].axis
    follows = innermost == along_destination and box.axes[innermost].source_stride != 1
    preferred = schedule.preferred_axis(along_source, along_destination)
    is_walked = any(level.axis == preferred for level in levels)
    return preferred if is_walked else innermost, PREFETCHED_TILES if follows else 1


def _between_orders(box: Box, tile: Tile, schedule: Schedule, along_source: int, along_destination: int) -> int:
    """
    The axis where blocks of tiles serve both orders.

    Where the rows of a tile lie far from each other, it is the next block of the same rows: a row's next lines lie
    close, and its page is open. Where they lie close, it is the rows that follow.
    """
    preferred = schedule.preferred_axis(along_source, along_destination)
    if preferred is not None:
        return preferred
    has_rows = tile.extents[along_destination] > 1
    are_far = box.axes[along_destination].source_stride >= PAGE_LINES * schedule.lanes
    return along_source if has_rows and are_far else along_destination


def destination_ahead(box: Box, tile: Tile, levels: Sequence[LoopLevel], schedule: Schedule) -> int:
    """
    By how many elements ahead of its stores a tile asks for lines of the destination; 0 where it does not.

    A line of a large destination that is written in parts has to be read first, and no processor foresees which: rows
    with gaps between them are no sequence of lines.
    """
    if not schedule.streams or not is_copy(tile.network) or streamed_stores(box, tile, schedule):
        return 0
    strides = [box.axes[level.axis].destination_stride for level in levels]
    pitch = min((stride for stride in strides if stride > 1 and not is_symbolic(stride)), default=0)
    if not pitch or covers_whole_lines(box, tile, schedule.lanes):
        return 0
    return pitch * -(-LINES_AHEAD * schedule.lanes // pitch)
