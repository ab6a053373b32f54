"""What panels of steps of unknown size take: all of a step, or how many channels of every image, or blocks of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel_group import Group
from layout_ir.layouts.panel_of_step import LONG_PART_BYTES, MOST_BYTES, SHORT_PART_BYTES, axes_inside
from layout_ir.layouts.panel_source import places_apart
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.lowering.panel_requests import PLACES_OF_SET, SETS_BYTES
from layout_ir.lowering.schedule import Schedule


def most_bytes_of_last(group: Group, outer: int, schedule: Schedule) -> int:
    """The size of the largest step of `outer` that is moved as one panel where no panels within it ask ahead."""
    return _most_of_rows(_rows_apart(group, axes_inside(group, outer)), schedule)


def lengths_of_parts(group: Group, outer: int, schedule: Schedule) -> list[tuple[int, int]]:
    """
    Steps of the outermost axis inside of a step of `outer` that a panel takes, and its most bytes; the shortest first.

    Of blocks of channels that lie side by side in the source, as many at once as fill so many lines of it as are best,
    or the most that divide all of them; none where these would fill less than a line.
    """
    inside, processor = axes_inside(group, outer), schedule.processor
    axis = group.axes[inside[-1]] if inside else None
    if processor.block_part_bytes and axis is not None and axis.source_stride != 1:
        most = processor.block_part_lines * schedule.lanes // axis.source_stride if axis.source_stride > 0 else 1
        steps = next((n for n in range(min(most, axis.extent // 2), 1, -1) if axis.extent % n == 0), 1)
        if not is_symbolic(axis.extent) and 0 < steps * axis.source_stride < schedule.lanes:
            return []  # every line of the source would be read several times
        return [(steps, _most_of_blocks(group, inside, schedule))]
    long_row = processor.long_row_bytes * schedule.lanes // LINE_BYTES
    return [(schedule.lanes, _most_of_lines(group, inside, schedule)), (long_row, LONG_PART_BYTES)]


def _rows_apart(group: Group, inside: Sequence[int]) -> list[int]:
    """The numbers, where they are known, of rows of the destination that are an unknown length apart."""
    axes = (group.axes[i] for i in inside if is_symbolic(group.axes[i].destination_stride))
    return [axis.extent for axis in axes if not is_symbolic(axis.extent)]


def _most_of_rows(rows: Sequence[int], schedule: Schedule) -> int:
    """Size of the largest panel of rows of the destination that is not better taken in pieces of them."""
    processor = schedule.processor
    return min(max(processor.largest_step_bytes, math.prod(rows) * processor.whole_row_bytes), MOST_BYTES)


def _most_of_blocks(group: Group, inside: Sequence[int], schedule: Schedule) -> int:
    """Size of the largest panel of blocks that lie side by side in the source, or of one block that becomes rows."""
    processor, rows = schedule.processor, _rows_apart(group, inside[:-1])
    if not is_symbolic(group.axes[inside[-1]].source_stride):
        return processor.side_by_side_bytes
    most = processor.block_part_bytes
    return min(most, _most_of_rows(rows, schedule)) if rows else most


def _most_of_lines(group: Group, inside: list[int], schedule: Schedule) -> int:
    """Size of the largest panel that takes a line of each row: as many lines as a second level cache keeps, at most."""
    width = LINE_BYTES // schedule.lanes
    most = {1: schedule.processor.byte_part_bytes, 2: schedule.processor.half_part_bytes}.get(width, 0)
    apart = [group.axes[i].source_stride for i in inside[:-1]]
    if any(map(is_symbolic, apart)):
        return SHORT_PART_BYTES
    kept = places_apart(math.gcd(*apart), SETS_BYTES // width, PLACES_OF_SET) * LINE_BYTES
    return max(SHORT_PART_BYTES, min(most, kept))
