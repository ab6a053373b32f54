"""
Rows that are cut into parts inside of vectors, each of which is exchanged as a row of its own.

Filters as OIhw8i16o2i have two input channels side by side: of a vector, every other element belongs to the same one.
Between the two lie all pixels of a filter in the destination, whose number is seldom a power of two, so that rows by
themselves make no long runs there, and parts of rows do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layout_ir.layouts.network_arrangement import sums, weights_of
from layout_ir.layouts.network_gather import Builder, Place, runs_of
from layout_ir.layouts.network_loads import Row, load
from layout_ir.layouts.network_offsets import are_shifted

MOST_PART_BITS = 2
"""Bits of the lanes' numbers that say which part of a row a lane is of: parts are put together in as many steps."""


@dataclass(frozen=True)
class Parts:
    """The parts of rows, in the order of the destination."""

    rows: Sequence[Row]

    bits: tuple[int, ...]
    """Of the lanes' numbers, those that say which part a lane is of; all within the segments of a vector."""

    order: tuple[tuple[int, int], ...]
    """A row and the number of one of its parts."""


def parts_of(rows: Sequence[Row], segment: int) -> Parts | None:
    """The parts that make longer runs in the destination than whole rows; None where there are none."""
    length = len(rows[0])
    if length & (length - 1) or any(source is None for row in rows for source, _ in row):
        return None
    contents = [[destination for _, destination in row] for row in rows]
    weights = weights_of(contents[0])
    if weights is None or 0 in weights or not are_shifted(contents):
        return None
    starts = [content[0] for content in contents]
    inside = sorted(range((min(segment, length) - 1).bit_length()), key=lambda bit: weights[bit])
    best, fewest = None, len(runs_of(sorted(starts)))
    for count in range(1, min(len(inside) - 1, MOST_PART_BITS) + 1):
        bits = tuple(inside[:count])
        steps = sums(0, [weights[bit] for bit in bits])
        places = {start + step: (row, part) for row, start in enumerate(starts) for part, step in enumerate(steps)}
        runs = len(runs_of(sorted(places)))
        if runs < fewest:
            best, fewest = Parts(rows, bits, tuple(places[place] for place in sorted(places))), runs
    return best


def load_parts(builder: Builder, parts: Parts, start: int, count: int, lanes: int, segment: int) -> list[list[int]]:
    """
    Vectors of several parts each, which follow one another; for every piece of a row, those of `count` parts.

    `count`: a power of two, and at least as many as there are in a row.
    """
    chosen = parts.order[start : start + count]
    numbers = list(dict.fromkeys(row for row, _ in chosen))
    columns: list[list[int]] = []
    for column in load(builder, [parts.rows[row] for row in numbers], lanes):
        width = len(builder.contents[column[0]])
        mask = _parts_together(width, min(segment, width), parts.bits)
        sorted_values = {row: builder.shuffle(value, value, mask) for row, value in zip(numbers, column, strict=True)}
        columns.append(_put_together(builder, [(sorted_values[row], part) for row, part in chosen], parts, segment))
    return columns


def _parts_together(width: int, segment: int, bits: Sequence[int]) -> list[int]:
    """The lanes of a vector, those of each part together within every segment."""
    inside = [bit for bit in range((segment - 1).bit_length()) if bit not in bits]
    lanes = sums(0, [1 << bit for bit in (*inside, *bits)])
    return [start + lane for start in range(0, width, segment) for lane in lanes]


def _put_together(builder: Builder, values: Sequence[tuple[int, int]], parts: Parts, segment: int) -> list[int]:
    """
    Vectors of as many parts as one holds. `values`: for every part a vector, and which of the parts in it that is.

    Parts that follow each other are interleaved, as lanes are between which others are exchanged by cheap shuffles.
    """
    segment = min(segment, len(builder.contents[values[0][0]]))
    length = segment >> len(parts.bits)  # of a part in a segment
    placed = [(value, part * length) for value, part in values]
    unit = 1
    while length < segment and len(placed) > 1:
        placed = [
            _interleave(builder, *pair, segment, length, unit) for pair in zip(placed[::2], placed[1::2], strict=True)
        ]
        length, unit = 2 * length, 2 * unit
    return [value for value, _ in placed]


def _interleave(builder: Builder, left: Place, right: Place, segment: int, length: int, unit: int) -> Place:
    """
    A vector of `length` lanes of each of two in every segment, `unit` at a time, and the lane where they begin.

    `left`, `right`: a vector and the lane from which on they are taken.
    """
    width = len(builder.contents[left[0]])
    begins = left[1], right[1]
    count, at = length, 0
    if left[1] == right[1]:  # a cheap shuffle takes half a segment of both
        count = segment // 2
        begins = (left[1] // count * count,) * 2
        at = 2 * (left[1] % count)
    units = zip(*(range(begin, begin + count, unit) for begin in begins), strict=True)
    taken = [lane + i for one, other in units for lane in (one, width + other) for i in range(unit)]
    mask = [start + lane for start in range(0, width, segment) for lane in taken * (segment // len(taken))]
    return builder.shuffle(left[0], right[0], mask), at
