"""What tiles ask for ahead of time: lines of the source that later tiles read, lines of the destination they write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

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

ROW_DISTANCES, FORWARD_DISTANCES = 2, 4
"""How many times that a sequence of lines is long, at least: one that is read, and one that is written."""

PREFETCHED_TILES = 2
"""How many tiles ahead the source is asked for, where it is not read forward."""

STREAMS = 16
"""Rows from which on a processor's own prefetcher does not follow them all."""

NEAR_BYTES = 64 << 10
"""Size of a part of the destination below which its lines come from a near cache, without being asked for."""

PLACES_OF_SET = 3
"""Lines of one set of a first-level cache, of 8 or 12 that it has, that a tile may ask for ahead of writing them."""

PLACES_FOR_GAPS = 10
"""The same for lines that the very next tiles write. Measured where a set has 12."""

MIXED_LINES = 256
"""Lines that tiles write in an order of their own, up to which the next ones are asked for ahead."""

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
    is_open = schedule.preferences.prefetch is None and schedule.preferences.prefetch_tiles is None
    if is_open and (forward := read_forward(box, tile, levels, schedule.lanes)):
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
        step, length = level.step * box.axes[level.axis].source_stride, _longest(parts)
        if not 0 < step < 2 * length:
            break
        if step >= length + lanes:
            unit = step
        parts = _walked(parts, step, _trips(box, level))
        lines = max(BYTES_ON_THE_WAY // LINE_BYTES // len(parts), LEAST_LINES_AHEAD)
        ahead = _off_pages(-(-max(lines * lanes, mixed) // unit) * unit, unit, lanes)
        if _longest(parts) >= ROW_DISTANCES * ahead:
            return ahead
        before = len(parts)
        parts, pitch = _joined(parts, lanes)
        unit = max(unit, pitch)
        if len(parts) < before:
            mixed = _longest(parts)
    return 0


def written_ahead(box: Box, tile: Tile, levels: Sequence[LoopLevel], lanes: int) -> int:
    """
    By how many elements ahead of its stores a tile asks for what the next ones write.

    In one sequence of lines or several, or else between those of the tile itself.
    """
    stores = [(store.offset, store.offset + store.lanes) for store in tile.network.stores]
    parts, _ = _joined(stores, lanes)
    if _longest(parts) < MIXED_LINES // 2 * lanes:  # a longer one reaches as far itself as would be asked for
        ahead = _written_forward(box, parts, levels, lanes) or _written_apart(box, parts, levels, lanes)
        if ahead:
            return ahead
    return _gap_filled_next(box, stores, levels, lanes)


def _gap_filled_next(box: Box, stores: Sequence[tuple[int, int]], levels: Sequence[LoopLevel], lanes: int) -> int:
    """
    By how many elements ahead a tile asks for the lines between its own, where the next tiles write them at once.

    0 where it leaves no such lines, or so many of one set of a cache that they do not stay.
    """
    starts = sorted(start for start, _ in stores)
    pitch = min((after - before for before, after in pairwise(starts)), default=0)
    step = levels[-1].step * box.axes[levels[-1].axis].destination_stride if levels else 0
    is_filled = step == lanes and step * _trips(box, levels[-1]) == pitch
    is_regular = is_filled and all((start - starts[0]) % pitch == 0 for start in starts)
    return step if is_regular and not _compete(starts, lanes, PLACES_FOR_GAPS) else 0


def _written_forward(box: Box, parts: Sequence[tuple[int, int]], levels: Sequence[LoopLevel], lanes: int) -> int:
    """
    By how many elements ahead, where tiles write one sequence of lines.

    In between they may take an order of their own, in short parts; 0 where they do so in long ones, or write several.
    """
    most, ahead = MIXED_LINES * lanes, BYTES_ON_THE_WAY // LINE_BYTES * lanes
    waiting: list[LoopLevel] = []
    for level in reversed(levels):
        waiting.append(level)
        while waiting:
            steps = {one: one.step * box.axes[one.axis].destination_stride for one in waiting}
            following = next((one for one in waiting if 0 < steps[one] < 2 * _longest(parts)), None)
            if following is None:
                break
            waiting.remove(following)
            sequences = _walked(parts, steps[following], _trips(box, following))
            if len(sequences) == 1 and not waiting and _longest(sequences) >= FORWARD_DISTANCES * ahead:
                return ahead if following is level else 0
            parts, _ = _joined(sequences, lanes)
            if len(parts) < len(sequences) and _longest(parts) > most:
                return 0
        if waiting and _longest(parts) > most:
            break
    return 0


def _written_apart(box: Box, parts: Sequence[tuple[int, int]], levels: Sequence[LoopLevel], lanes: int) -> int:
    """The same for several sequences; 0 where all that is on its way would not stay in a near cache."""
    starts = [start for start, _ in parts]
    ahead = LEAST_LINES_AHEAD * lanes
    for level in reversed(levels):
        step, trips = level.step * box.axes[level.axis].destination_stride, _trips(box, level)
        if 0 < step < 2 * _longest(parts):
            parts = _walked(parts, step, trips)
            if _longest(parts) >= FORWARD_DISTANCES * ahead:
                return 0 if _compete(starts, lanes) else ahead
        elif trips * len(starts) > MIXED_LINES // 2:
            return 0
        else:
            starts = [start + step * trip for trip in range(trips) for start in starts]
    return 0


def _compete(places: Sequence[int], lanes: int, most: int = PLACES_OF_SET) -> bool:
    """Whether more than so many places belong to one set of a first-level cache, so that it does not keep them all."""
    sets = Counter(place // lanes % PAGE_LINES for place in places)
    return max(sets.values()) > most


def _trips(box: Box, level: LoopLevel) -> int:
    """How often a loop goes round."""
    return -(-(box.axes[level.axis].extent if level.inside is None else level.inside) // level.step)


def _walked(parts: Sequence[tuple[int, int]], step: int, trips: int) -> list[tuple[int, int]]:
    """The parts that a loop touches, where each continues."""
    return [(start, end + step * (trips - 1)) for start, end in parts]


def _off_pages(ahead: int, unit: int, lanes: int) -> int:
    """A distance that is no number of pages: lines so far apart compete for the few places of one set."""
    page = PAGE_LINES * lanes
    return ahead if ahead % page else ahead - (-page // 2 // unit) * unit


def _longest(parts: Sequence[tuple[int, int]]) -> int:
    return max((end - start for start, end in parts), default=0)


def _joined(parts: Sequence[tuple[int, int]], lanes: int) -> tuple[list[tuple[int, int]], int]:
    """
    Parts of one side in order, as one where no line lies between them or they are no shorter than the gaps.

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
    close, and its page is open. Where they lie close, end before that, or soon and with a gap, it is the rows that
    follow.
    """
    preferred = schedule.preferred_axis(along_source, along_destination)
    if preferred is not None:
        return preferred
    has_rows = tile.extents[along_destination] > 1
    are_far = box.axes[along_destination].source_stride >= PAGE_LINES * schedule.lanes
    row = box.axes[along_source]
    has_gap = all(axis.source_stride != row.source_stride * row.extent for axis in box.axes)
    ends = row.extent <= PREFETCHED_TILES * tile.extents[along_source] * (2 if has_gap else 1)
    if ends and schedule.processor.asks_second_level:  # which keeps what is used that much later
        return along_destination
    return along_source if has_rows and are_far else along_destination


def destination_ahead(box: Box, tile: Tile, levels: Sequence[LoopLevel], schedule: Schedule) -> int:
    """
    By how many elements ahead of its stores a tile asks for lines of the destination; 0 where it does not.

    Lines that stay in a near cache have to get there first, and a processor waits for those of a far one. A line of a
    large destination that is written in parts has to be read first, and no processor foresees which: rows with gaps
    between them are no sequence of lines. What is written past the caches is never asked for.
    """
    if schedule.narrows:
        if not schedule.processor.asks_for_destination:
            return 0
        is_near = box.cells * LINE_BYTES < NEAR_BYTES * schedule.lanes
        return 0 if is_near else written_ahead(box, tile, levels, schedule.lanes)
    if not schedule.streams or not is_copy(tile.network):
        return 0
    streamed = len(streamed_stores(box, tile, schedule))
    if streamed == len(tile.network.stores) or (streamed and not schedule.processor.asks_for_ends):
        return 0
    strides = [(box.axes[level.axis].destination_stride, level.step) for level in levels]
    step = min((stride * step for stride, step in strides if stride > 1 and not is_symbolic(stride)), default=0)
    if not step or covers_whole_lines(box, tile, schedule.lanes):
        return 0
    return step * -(-LINES_AHEAD * schedule.lanes // step)  # which leads from a part of a line to such a part
