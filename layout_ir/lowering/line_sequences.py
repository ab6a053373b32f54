"""The sequences of lines that tiles read or write one after the other, on their way around loops."""

from __future__ import annotations

from collections.abc import Sequence

from layout_ir.layouts.plan import Box
from layout_ir.layouts.shuffle_network import Load, Store
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.loop_level import LoopLevel

BYTES_ON_THE_WAY = 5120
"""
Bytes of a source read forward that are asked for ahead of the loads, all its sequences of lines together.

About what memory delivers while one line is on its way, and more than a page, at whose end a processor's own prefetcher
stops: 4096 to 6144 were the fastest for 1 to 64 sequences.
"""

LEAST_LINES_AHEAD = 2
"""How far ahead a sequence of lines is asked for, at least: memory delivers one line while a tile is shuffled."""


def rows_of(accesses: Sequence[Load] | Sequence[Store]) -> list[int]:
    """The numbers of elements that follow each other in what a tile reads or writes."""
    return [length for _, length in _stretches(accesses)] or [0]


def _stretches(accesses: Sequence[Load] | Sequence[Store]) -> list[tuple[int, int]]:
    """Where what a tile reads or writes follows each other: the first offset, and how many elements there are."""
    found: list[tuple[int, int]] = []
    for start, end in sorted((access.offset, access.offset + access.lanes) for access in accesses):
        begin, length = found[-1] if found else (start, -1)
        if start <= begin + length:
            found[-1] = begin, max(length, end - begin)
        else:
            found.append((start, end - start))
    return found


def trips_of(box: Box, level: LoopLevel) -> int:
    """How often a loop goes round."""
    return -(-_length(box, level) // level.step)


def _length(box: Box, level: LoopLevel) -> int:
    return box.axes[level.axis].extent if level.inside is None else level.inside


def walked(parts: Sequence[tuple[int, int]], step: int, trips: int) -> list[tuple[int, int]]:
    """The parts that a loop touches, where each continues."""
    return [(start, end + step * (trips - 1)) for start, end in parts]


def moved_back(box: Box, tile: Tile, level: LoopLevel) -> int:
    """By how many steps the last tile of a loop is moved back, as it would reach over the end."""
    return max(level.step * (trips_of(box, level) - 1) + tile.extents[level.axis] - _length(box, level), 0)


def longest(parts: Sequence[tuple[int, int]]) -> int:
    """Elements of the longest part."""
    return max((end - start for start, end in parts), default=0)


def joined(parts: Sequence[tuple[int, int]], lanes: int) -> tuple[list[tuple[int, int]], int]:
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


def shared_row(box: Box) -> int:
    """Elements that follow each other on both sides."""
    return max((axis.extent for axis in box.axes if axis.source_stride == axis.destination_stride == 1), default=1)


def places_asked(loads: Sequence[Load], lanes: int) -> dict[int, int]:
    """
    What each load of a tile asks for, both by their offsets: its own place, but for loads that overlap.

    Where none of those begins in a line of what they read together, they ask for one line after the other instead, and
    if there are more of them for its end, which may lie in one line more.
    """
    offsets = sorted({load.offset for load in loads})
    asked = {offset: offset for offset in offsets}
    for start, length in _stretches(loads):
        inside = [offset for offset in offsets if start <= offset < start + length]
        begins = {(offset - start) // lanes for offset in inside}
        lines = range(start, start + length, lanes)
        if len(begins) < len(lines):
            asked.update(zip(inside, (*lines, start + length - 1), strict=False))
    return asked
