"""What tiles ask for ahead of time: lines of the source that later tiles read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel_source import STREAMS
from layout_ir.layouts.plan import Box
from layout_ir.layouts.shuffle_network import is_copy
from layout_ir.layouts.symbols import is_multiple, is_symbolic
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.line_sequences import (
    BYTES_ON_THE_WAY,
    LEAST_LINES_AHEAD,
    joined,
    longest,
    moved_back,
    shared_row,
    trips_of,
    walked,
)
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.next_rows import NextRows, next_rows
from layout_ir.lowering.request_model import PAGE_LINES
from layout_ir.lowering.schedule import Schedule, axes_of_tile
from layout_ir.lowering.shared_requests import share_of_next_part

PREFETCHED_TILES = 2
"""How many tiles ahead the source is asked for, where it is not read forward."""

ROW_DISTANCES = 2
"""How many distances ahead a sequence of lines that is read is long, at least."""

MANY_ROWS = 64
"""Rows of a tile from which on the processor's own prefetcher follows none of them."""

FEW_ROWS = 2
"""Rows that are asked for so far ahead anyway that it makes no difference what lies behind their ends."""

MIXED_BYTES = 256 << 10
"""Size of the rows that are read together up to which those that follow stay in a second level cache meanwhile."""


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
    share = share_of_next_part(box, tile, levels, schedule) if is_open and schedule.processor.asks_by_shares else None
    if share is not None:
        return [*levels[:-1], replace(levels[-1], share=share)]
    rows = _rows_that_end(box, tile, levels, schedule, along_source, along_destination) if is_open else None
    forward = read_forward(box, tile, levels, schedule) if is_open else 0
    if rows is not None and (rows.are_alone or not forward):
        return [*levels[:-1], replace(levels[-1], rows=rows)]
    if forward:
        together = rows_together(box, tile, box)
        return [*levels[:-1], replace(levels[-1], prefetch=forward, rows_together=together)]
    if along_source is None or along_destination is None or along_source == along_destination:
        axis, tiles = _in_one_order(box, tile, levels, schedule, along_source, along_destination)
    else:
        axis, tiles = _between_orders(box, tile, levels, schedule, along_source, along_destination)
    ahead = schedule.preferences.prefetch_tiles or tiles
    is_along_rows = is_open and axis == along_source is not None
    block = _rows_of_block(box, tile, levels, schedule) if is_along_rows else _Rows(0)
    is_near = block.count > 0 and ahead > 1 and _has_few_rows(tile, schedule)
    return [
        replace(
            level,
            prefetch=ahead * level.step * box.axes[level.axis].source_stride,
            rows_together=block.together,
            together_at_most=block.most,
            near=level.step * box.axes[level.axis].source_stride if is_near else 0,
            near_unit=block.count * schedule.lanes // 2 if is_near else 0,
        )
        if level.axis == axis and level.is_last
        else level
        for level in levels
    ]


@dataclass(frozen=True)
class _Rows:
    """Rows that follow each other, of which it is not known how long they are."""

    count: int
    together: int = 0
    """Their elements."""
    most: int = 0
    """How many elements those are at most if rows are short."""


def times_asked(box: Box, tile: Tile, schedule: Schedule) -> int:
    """
    How many times each load of a tile asks: all that read one line together as often as the processor does best.

    Copies of rows that begin anywhere within lines ask once.
    """
    reads_on = schedule.streams and _has_near_rows(box, tile, schedule)
    times, lanes = schedule.processor.asks_times if reads_on else schedule.asks_times, schedule.lanes
    loads = tile.network.loads
    copies_rows = is_copy(tile.network) or shared_row(box) >= lanes // 2
    if not loads or (copies_rows and not _reads_at_lines(box, tile, schedule, schedule.multiples)):
        return 1
    known = [load for load in loads if not is_symbolic(load.offset)]
    lines = {line for load in known for line in range(load.offset // lanes, -(-(load.offset + load.lanes) // lanes))}
    return max(min(times * (len(lines) + len(loads) - len(known)) // len(loads), times), 1)


def _has_near_rows(box: Box, tile: Tile, schedule: Schedule) -> bool:
    """Whether the rows that a tile reads lie less than a page apart, so that tiles read one sequence."""
    rows = [axis.source_stride for axis in axes_of_tile(box, tile)]
    return all(not is_symbolic(row) and abs(row) < PAGE_LINES * schedule.lanes for row in rows)


def asks_near(box: Box, tile: Tile, schedule: Schedule) -> bool:
    """Whether a tile of many rows far apart asks for no more than the next line of each, in a second level cache."""
    is_open = schedule.preferences.prefetch_tiles is None
    if not is_open or not schedule.processor.asks_near_in_far_rows or len(tile.network.loads) < MANY_ROWS:
        return False
    rows = [axis.source_stride for axis in axes_of_tile(box, tile)]
    return max(rows) >= PAGE_LINES * schedule.lanes and _reads_at_lines(box, tile, schedule)


def _asks_for_next(box: Box, tile: Tile, schedule: Schedule, rows: int) -> bool:
    """
    Whether a tile of few rows that begin at lines or their middles asks for the next tile's part of them alone.

    `rows`: the axis from one row to the next, which are pages apart.
    """
    if box.axes[rows].source_stride < PAGE_LINES * schedule.lanes:
        return False
    strides = [axis.source_stride for axis in box.axes if axis.source_stride != 1]
    return _has_few_rows(tile, schedule) and all(is_multiple(stride, schedule.lanes // 2) for stride in strides)


def _has_few_rows(tile: Tile, schedule: Schedule) -> bool:
    """Whether a tile has so few rows that it asks for less where they begin at lines."""
    return schedule.processor.asks_for_next_tile and len(tile.network.loads) < MANY_ROWS


def _reads_at_lines(box: Box, tile: Tile, schedule: Schedule, multiples: Collection[int] = ()) -> bool:
    """
    Whether a tile's loads begin at lines, and those of the next tiles at lines or their middles.

    `multiples`: unknown distances that are multiples of a line.
    """
    strides = [axis.source_stride for axis in box.axes if axis.source_stride != 1]
    return (
        schedule.at_line
        and all(is_multiple(load.offset, schedule.lanes) for load in tile.network.loads)
        and all(is_multiple(stride, schedule.lanes // 2) or stride in multiples for stride in strides)
    )


def read_forward(box: Box, tile: Tile, levels: Sequence[LoopLevel], schedule: Schedule) -> int:
    """
    By how many elements ahead a tile asks for the source whose lines it and the next tiles read one after the other.

    0 where they read it in another order, or only short parts of it. Where the rows that a tile reads follow each
    other, what is asked for may be as far ahead as all of them are long: the beginnings of the next rows as well.
    """
    lanes = schedule.lanes
    loads = [(load.offset, load.offset + load.lanes) for load in tile.network.loads]
    parts, unit = joined(loads, lanes)
    mixed = longest(parts) if len(parts) < len(loads) else 0  # what tiles read in an order of their own
    along_rows = 0
    for level in reversed(levels):
        step, length = level.step * box.axes[level.axis].source_stride, longest(parts)
        if not 0 < step < 2 * length or (along_rows and mixed * LINE_BYTES > MIXED_BYTES * lanes):
            break
        if step >= length + lanes:
            unit = step
        parts = walked(parts, step, trips_of(box, level))
        on_the_way = schedule.processor.one_sequence_bytes if len(parts) == 1 else None
        lines = max((on_the_way or BYTES_ON_THE_WAY) // LINE_BYTES // len(parts), LEAST_LINES_AHEAD)
        ahead = _off_pages(-(-max(lines * lanes, mixed) // unit) * unit, unit, lanes)
        length = longest(parts) - moved_back(box, tile, level) * box.axes[level.axis].source_stride
        if length >= ROW_DISTANCES * ahead:
            if len(parts) <= FEW_ROWS or length >= schedule.processor.row_distances * ahead:
                return ahead
            along_rows = along_rows or ahead
        before = len(parts)
        parts, pitch = joined(parts, lanes)
        unit = max(unit, pitch)
        if len(parts) < before:
            mixed = longest(parts)
    return along_rows


def rows_together(box: Box, tile: Tile, whole: Box) -> int:
    """
    Elements of all rows that a tile of a box reads, where they follow each other and it is not known how long they are.

    0 where they do not. `whole`: the box of which this is a panel, or the box itself. A panel of more rows than those
    of a tile reads the others first.
    """
    across = _axis_of_rows(box, tile, whole)
    if across is None:
        return 0
    axis, steps = box.axes[across], tile.extents[across]
    follows = any(outer.source_stride == axis.valid * axis.source_stride for outer in whole.axes)
    return (min(steps, axis.valid) if follows else steps) * axis.source_stride  # pads are not read


def _rows_of_block(box: Box, tile: Tile, levels: Sequence[LoopLevel], schedule: Schedule) -> _Rows:
    """
    The rows that a block of tiles reads, as in `rows_together`.

    None of them where the processor does better to ask for what lies behind a tile along its rows.
    """
    across = _axis_of_rows(box, tile, box)
    if across is None or schedule.processor.row_distances <= ROW_DISTANCES:
        return _Rows(0)
    count = max([tile.extents[across], *(level.step for level in levels if level.axis == across)])
    far = count * schedule.processor.far_row_lines * schedule.lanes
    most = min(MIXED_BYTES * schedule.lanes // LINE_BYTES, far - 1)
    return _Rows(count, count * box.axes[across].source_stride, most)


def _axis_of_rows(box: Box, tile: Tile, whole: Box) -> int | None:
    """The axis from row to row of a tile, where rows follow each other and it is not known how long they are."""
    lengths = [axis.extent for axis in whole.axes if axis.source_stride == 1 and is_symbolic(axis.extent)]
    for i, (axis, steps) in enumerate(zip(box.axes, tile.extents, strict=True)):
        if steps > FEW_ROWS and axis.source_stride in lengths and (whole is box or axis.extent == steps):
            return i
    return None


def _off_pages(ahead: int, unit: int, lanes: int) -> int:
    """A distance that is no number of pages: lines so far apart compete for the few places of one set."""
    page = PAGE_LINES * lanes
    return ahead if ahead % page else ahead - (-page // 2 // unit) * unit


def _in_one_order(
    box: Box,
    tile: Tile,
    levels: Sequence[LoopLevel],
    schedule: Schedule,
    along_source: int | None,
    along_destination: int | None,
) -> tuple[int | None, int]:
    """An axis, None for no prefetching, and tiles along it, where one order of the loops suits both sides."""
    rows = len(tile.network.loads)
    if rows < STREAMS and not schedule.preferences.prefetch:
        return None, 0
    innermost = levels[-1].axis
    follows = innermost == along_destination and box.axes[innermost].source_stride != 1
    preferred = schedule.preferred_axis(along_source, along_destination)
    is_walked = any(level.axis == preferred for level in levels)
    return preferred if is_walked else innermost, PREFETCHED_TILES if follows else 1


def _between_orders(
    box: Box,
    tile: Tile,
    levels: Sequence[LoopLevel],
    schedule: Schedule,
    along_source: int,
    along_destination: int,
) -> tuple[int, int]:
    """
    The axis, and tiles along it, where blocks of tiles serve both orders.

    Where the rows of a tile lie far from each other, it is the next block of the same rows: a row's next lines lie
    close, and its page is open. Where they lie close, end before that, or soon and with a gap, it is the rows that
    follow; and the loop outside of both where those end as well.
    """
    preferred = schedule.preferred_axis(along_source, along_destination)
    if preferred is not None:
        return preferred, PREFETCHED_TILES
    has_rows = tile.extents[along_destination] > 1
    are_far = box.axes[along_destination].source_stride >= schedule.processor.far_row_lines * schedule.lanes
    if _ends_soon(box, tile, along_source) and schedule.processor.asks_second_level:
        return along_destination, PREFETCHED_TILES  # the cache keeps what is used that much later
    if has_rows and are_far:
        return along_source, 1 if _asks_for_next(box, tile, schedule, along_destination) else PREFETCHED_TILES
    return along_destination, PREFETCHED_TILES


def _rows_that_end(
    box: Box,
    tile: Tile,
    levels: Sequence[LoopLevel],
    schedule: Schedule,
    along_source: int | None,
    along_destination: int | None,
) -> NextRows | None:
    """The rows of the next tiles, where rows end soon: what lies behind one is none that this tile's loads lead to."""
    if along_source is None or along_destination is None:
        return None
    if not schedule.processor.asks_second_level or not _ends_soon(box, tile, along_source):
        return None
    return next_rows(box, [level.axis for level in levels], schedule, along_source, along_destination)


def _ends_soon(box: Box, tile: Tile, along_source: int) -> bool:
    """Whether rows end before what tiles ask for, or soon behind it and with a gap."""
    row = box.axes[along_source]
    has_gap = all(axis.source_stride != row.source_stride * row.extent for axis in box.axes)
    return row.extent <= PREFETCHED_TILES * tile.extents[along_source] * (2 if has_gap else 1)
