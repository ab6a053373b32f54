"""
The start of a shuffle network: the rows of a tile are read in vectors, whole ones where that is allowed.

A row may have holes, elements of the source that nobody wants: the unused channels of a last block, or those between
the steps of a stride. Loads reach over them, and what they bring of them is dropped by the first shuffle.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from layout_ir.layouts.network_gather import PAD, Builder, chunks
from layout_ir.layouts.shuffle_network import Load, Splat

SHARE_OF_OTHER_LINES = 1 / 8
"""How many more lines than those of a tile are read, at most, where they come from memory."""

Element = tuple[int | None, int]
"""Source offset (None: the pad value) and destination offset (`PAD`: a hole of the source, which nobody wants)."""

Row = Sequence[Element]
"""Elements whose source offsets are consecutive, or all None."""


@dataclass(frozen=True)
class Reach:
    """What may be read although no tile needs it; everything between the elements of a tile may be."""

    before: int = 0
    """Elements before the first one of a tile, whose source offset is 0."""

    behind: int = 0
    """Elements behind every row."""

    keeps_to_lines: bool = False
    """Whether vectors, which are as long as lines, may reach into few lines that hold nothing of the tile."""


Blends = Sequence[tuple[int, int]]
"""Pairs of a bit of the rows' numbers and a bit of the lanes' numbers, which takes its place."""

Reading = tuple[Sequence[Row], Blends]
"""The rows as vectors read them, and what is blended."""


def readings(rows: Sequence[Row], lanes: int, reach: Reach, is_exchanged: bool) -> Iterator[Reading]:
    """
    The rows as vectors read them, with more of the source around them, and what is blended; best first.

    A short row is one vector of the next power of two, and again one of all lanes; rows stay as they are where no
    vectors are within reach. `is_exchanged`: whether rows are exchanged all together, so that some can be blended.
    """
    end = _end(rows, reach)

    def is_within(choice: Reading) -> bool:
        firsts = [row[0][0] for row in choice[0]]
        if _overrun(choice, end) > 0 or not all(first is None or -reach.before <= first for first in firsts):
            return False
        return not reach.keeps_to_lines or _other_lines(choice[0], lanes) <= SHARE_OF_OTHER_LINES

    found = False
    for width in _widths(rows, lanes):
        begin_at_rows = list(_vectors(rows, width, lanes, is_exchanged))
        overruns = sorted({_overrun(choice, end) for choice in begin_at_rows} - {0})
        for before in (0, *overruns):  # vectors that would reach too far begin before their rows
            choices = begin_at_rows if before == 0 else _vectors(rows, width, lanes, is_exchanged, before)
            within = list(filter(is_within, choices))
            apart = [choice for choice in within if choice[1]]
            yield from apart or within
            if within:
                found = True
                break
    if not found:
        yield rows, ()


def _vectors(rows: Sequence[Row], width: int, lanes: int, is_exchanged: bool, before: int = 0) -> Iterator[Reading]:
    """The rows as vectors of a width read them that begin so many elements before."""
    behind = width - before - len(rows[0])
    if behind >= 0:
        wide = [_extended(row, before, behind) for row in rows]
        if is_exchanged:
            yield from _moved_apart(wide, lanes)
        yield wide, ()


def _overrun(reading: Reading, end: int) -> int:
    """How many elements behind the last one that may be read vectors reach."""
    return max(0, *((row[-1][0] or 0) - end for row in reading[0]))


def least_loads(rows: Sequence[Row], is_exchanged: bool) -> int:
    """How many vectors any reading of rows takes at least; where some are blended, one may hold the elements of two."""
    return 0 if is_exchanged else len({row[0][0] for row in rows} - {None})


def vectors_read(rows: Sequence[Row], lanes: int) -> int:
    """How many vectors it takes to read rows as they are; rows may share them."""
    starts = [start for start, _ in chunks(len(rows[0]), lanes)]
    return len({row[start][0] for row in rows for start in starts} - {None})


def useful_reach(rows: Sequence[Row], lanes: int, reach: Reach) -> Reach:
    """What `readings` can make use of."""
    if reach == Reach():
        return reach
    has_holes = any(destination == PAD for row in rows for _, destination in row)
    if len(rows[0]) >= lanes and not has_holes:
        return Reach()
    near = replace(reach, before=min(reach.before, lanes), behind=min(reach.behind, lanes))
    return replace(near, keeps_to_lines=reach.keeps_to_lines and _may_leave_lines(rows, lanes, near))


def _may_leave_lines(rows: Sequence[Row], lanes: int, reach: Reach) -> bool:
    """Whether there is a way to read that reaches into too many lines without an element of the tile."""
    wanted = len(_wanted_lines(rows, lanes))
    within = _end(rows, reach) // lanes + 1 - -reach.before // lanes
    return within - wanted > SHARE_OF_OTHER_LINES * wanted


def _end(rows: Sequence[Row], reach: Reach) -> int:
    """The last element that may be read."""
    return max((row[-1][0] or 0 for row in rows), default=0) + reach.behind


def _wanted_lines(rows: Sequence[Row], lanes: int) -> set[int]:
    """The lines that hold an element of the tile, if it begins at one."""
    return {source // lanes for row in rows for source, to in row if source is not None and to != PAD}


def _widths(rows: Sequence[Row], lanes: int) -> list[int]:
    """Elements that are read of a row."""
    length = len(rows[0])
    whole = 1 << (length - 1).bit_length()
    if length <= lanes:
        return [whole] if whole == lanes else [whole, lanes]
    has_holes = any(destination == PAD for row in rows for _, destination in row)
    return [-(-length // lanes) * lanes if has_holes else length]


def _other_lines(rows: Sequence[Row], lanes: int) -> float:
    """Lines that rows reach into without an element of theirs, for every line with one, if the tile begins at one."""
    read = {source // lanes for row in rows for source, _ in row if source is not None}
    wanted = _wanted_lines(rows, lanes)
    return len(read - wanted) / max(len(wanted), 1)


def _extended(row: Row, before: int, behind: int) -> Row:
    """A row with so many elements more on either side."""
    first, last = row[0][0], row[-1][0]
    left = _holes(None if first is None else first - before, before)
    return [*left, *row, *_holes(None if last is None else last + 1, behind)]


def _holes(first: int | None, count: int) -> Iterator[Element]:
    """Elements of the source from `first` on, or of pads, that nobody wants."""
    sources = itertools.repeat(None) if first is None else itertools.count(first)
    return zip(sources, itertools.repeat(PAD, count), strict=False)


def _moved_apart(rows: Sequence[Row], lanes: int) -> Iterator[Reading]:
    """
    Rows with holes moved apart, so that one vector can hold the elements of one row in the holes of another.

    A row that is read a little earlier has its elements in higher lanes. Bits of the lanes' numbers that only holes
    have set then say which row a lane is of: the last bits of the rows' numbers, or the first.
    """
    length = len(rows[0])
    has_whole_vectors = length & (length - 1) == 0 or length % lanes == 0
    positions = range((min(length, lanes) - 1).bit_length() if has_whole_vectors else 0)
    empty = [bit for bit in positions if all(_is_hole(row, bit) for row in rows)]
    bits = len(rows).bit_length() - 1
    count = min(len(empty), bits)
    for first in dict.fromkeys((0, bits - count)) if count else ():
        chosen = [(first + number, empty[number]) for number in range(count)]
        moves = [sum((number >> bit & 1) << lane for bit, lane in chosen) for number in range(len(rows))]
        yield [_extended(row, move, 0)[:length] for row, move in zip(rows, moves, strict=True)], chosen[::-1]


def _is_hole(row: Row, bit: int) -> bool:
    """Whether nobody wants the elements of a row in the lanes that have a bit set."""
    return all(destination == PAD for lane, (_, destination) in enumerate(row) if lane >> bit & 1)


def blend(builder: Builder, columns: Sequence[Sequence[int]], blends: Blends) -> list[list[int]]:
    """The columns with rows that have been moved apart in one vector."""
    result = [list(column) for column in columns]
    for row, lane in blends:
        for position, column in enumerate(result):
            width = len(builder.contents[column[0]])
            mask = [i + (i >> lane & 1) * width for i in range(width)]
            lower = [number for number in range(len(column)) if not number >> row & 1]
            result[position] = [builder.shuffle(column[i], column[i | 1 << row], mask) for i in lower]
    return result


def load(builder: Builder, rows: Sequence[Row], lanes: int) -> list[list[int]]:
    """Read every row in vectors: for every piece of a row, the values of all rows."""
    columns: list[list[int]] = []
    for start, count in chunks(len(rows[0]), lanes):
        column: list[int] = []
        for row in rows:
            part = row[start : start + count]
            source = part[0][0]
            value = Splat(count) if source is None else Load(source, count)
            column.append(builder.add(value, [destination for _, destination in part]))
        columns.append(column)
    return columns


def join(builder: Builder, columns: list[list[int]], lanes: int) -> int:
    """Join short vectors of two rows into one, as often as that fits; returns how often."""
    joined = 0
    while len(columns[0]) > 1 and 2 * len(builder.contents[columns[0][0]]) <= lanes:
        width = len(builder.contents[columns[0][0]])
        half = len(columns[0]) // 2
        for position, column in enumerate(columns):
            columns[position] = [builder.shuffle(column[i], column[i + half], range(2 * width)) for i in range(half)]
        joined += 1
    return joined
