"""
Rows that are cut into parts inside of vectors, each of which is exchanged as a row of its own.

Filters as OIhw8i16o2i have two input channels side by side: of a vector, every other element belongs to the same one.
Between the two lie all pixels of a filter in the destination, whose number is seldom a power of two, so that rows by
themselves make no long runs there, and parts of rows do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from layout_ir.layouts.network_arrangement import sums, weights_of
from layout_ir.layouts.network_gather import PAD, Builder, Place, runs_of
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

    segment: int
    """Lanes within which shuffles are cheap, no more than a row has."""


def parts_of(rows: Sequence[Row], segment: int) -> Parts | None:
    """
    The parts that make longer runs in the destination than whole rows; None where there are none.

    `segment`: lanes within which shuffles are cheap, no more than a vector has. There are no parts of rows with pads or
    holes, of rows that are not alike, and of those whose length is no power of two.
    """
    length = len(rows[0])
    contents = [[destination for _, destination in row] for row in rows]
    if length & (length - 1) or PAD in contents[0] or any(source is None for row in rows for source, _ in row):
        return None
    weights = weights_of(contents[0])
    if weights is None or not are_shifted(contents):
        return None
    starts = [content[0] for content in contents]
    segment = min(segment, length)
    inside = sorted(range((segment - 1).bit_length()), key=lambda bit: abs(weights[bit]))
    best, fewest = None, len(runs_of(sorted(starts)))
    for count in range(1, min(len(inside) - 1, MOST_PART_BITS) + 1):  # of every part, a segment has two lanes at least
        bits = tuple(inside[:count])
        steps = sums(0, [weights[bit] for bit in bits])
        places = {start + step: (row, part) for row, start in enumerate(starts) for part, step in enumerate(steps)}
        runs = len(runs_of(sorted(places)))
        if runs < fewest:
            best, fewest = Parts(rows, bits, tuple(places[place] for place in sorted(places)), segment), runs
    return best


@dataclass
class PartLoader:
    """Reads rows of which parts are taken, each once, and puts parts together in vectors."""

    builder: Builder
    parts: Parts
    lanes: int

    read: dict[int, list[int]] = field(default_factory=dict[int, list[int]], init=False)
    """The vectors of rows that have been read, in each of whose segments the lanes of every part are together."""

    @property
    def width(self) -> int:
        """Lanes of the vectors."""
        return min(self.lanes, len(self.parts.rows[0]))

    def load(self, start: int, count: int) -> list[list[int]]:
        """
        Vectors of several parts each, which follow one another; for every piece of a row, those of `count` parts.

        `count`: a power of two, and more than there are parts in a row.
        """
        chosen = self.parts.order[start : start + count]
        pieces = range(len(self._values(chosen[0][0])))
        return [self._put_together([(self._values(row)[piece], part) for row, part in chosen]) for piece in pieces]

    def _values(self, row: int) -> list[int]:
        """The vectors of a row."""
        if row not in self.read:
            loaded = load(self.builder, [self.parts.rows[row]], self.lanes)
            inside = [bit for bit in range((self.parts.segment - 1).bit_length()) if bit not in self.parts.bits]
            lanes = sums(0, [1 << bit for bit in (*inside, *self.parts.bits)])
            mask = [begin + lane for begin in range(0, self.width, self.parts.segment) for lane in lanes]
            self.read[row] = [self.builder.shuffle(value, value, mask) for (value,) in loaded]
        return self.read[row]

    def _put_together(self, values: Sequence[tuple[int, int]]) -> list[int]:
        """
        Vectors of as many parts as one holds. `values`: for every part a vector, and which of the parts in it that is.

        Parts that follow each other are interleaved, since lanes between them are exchanged by cheap shuffles.
        """
        length = self.parts.segment >> len(self.parts.bits)  # of a part in a segment
        placed = [(value, part * length) for value, part in values]
        unit = 1
        while length < self.parts.segment:
            pairs = zip(placed[::2], placed[1::2], strict=True)
            placed = [self._interleaved(left, right, length, unit) for left, right in pairs]
            length, unit = 2 * length, 2 * unit
        return [value for value, _ in placed]

    def _interleaved(self, left: Place, right: Place, length: int, unit: int) -> Place:
        """
        A vector of `length` lanes of each of two in every segment, `unit` at a time, and the lane where they begin.

        `left`, `right`: a vector and the lane from which on they are taken.
        """
        half = self.parts.segment // 2
        (one, first), (other, second) = left, right
        if first == second:  # a cheap shuffle takes half a segment of both
            begin = first - first % half
            return self._shuffled(one, other, begin, begin, half, unit), 2 * (first % half)
        return self._shuffled(one, other, first, second, length, unit), 0

    def _shuffled(self, left: int, right: int, first: int, second: int, count: int, unit: int) -> int:
        """In every segment `count` lanes of each of two vectors, `unit` at a time, again and again until it is full."""
        taken = [
            begin + at + i
            for at in range(0, count, unit)
            for begin in (first, self.width + second)
            for i in range(unit)
        ] * (self.parts.segment // (2 * count))
        mask = [begin + lane for begin in range(0, self.width, self.parts.segment) for lane in taken]
        return self.builder.shuffle(left, right, mask)
