"""Offsets of a tile's destination, brought into one form for all tiles that differ in how far its runs lie apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from operator import sub

from layout_ir.layouts.network_gather import PAD, runs_of
from layout_ir.layouts.network_loads import Element, Row

DISTANCE = 1 << 40
"""From one run to the next in that form; no run is as long."""


@dataclass(frozen=True)
class Form:
    """The rows of a tile and its pads, with offsets in the destination that many tiles have in common."""

    rows: tuple[tuple[Element, ...], ...]
    pads: tuple[int, ...]

    @cached_property
    def wanted(self) -> list[int]:
        """All offsets that are written."""
        return [destination for row in self.rows for _, destination in row if destination != PAD] + list(self.pads)

    @cached_property
    def _hash(self) -> int:
        return hash((self.rows, self.pads))

    def __hash__(self) -> int:
        """Known from the first time on: networks are looked up by forms of thousands of elements."""
        return self._hash


@dataclass(frozen=True)
class Formed:
    """A tile whose offsets in the destination are in one form."""

    form: Form

    offsets: Mapping[int, int]
    """What stands for each offset of the form: those of the tile, or those of one whose runs lie `DISTANCE` apart."""

    distance: int = DISTANCE
    """From one run of the tile to the next, if it is such a one."""

    def offset(self, place: int) -> int:
        """The tile's own offset for one of its form."""
        runs, rest = divmod(self.offsets[place], DISTANCE)
        return runs * self.distance + rest


def formed(rows: Sequence[Row], pads: Sequence[int], lowest: int = 0) -> Formed:
    """
    The rows of a tile and its pads in one form.

    `lowest`: the offset from which theirs are counted, none of which is negative, as `PAD` is.
    """
    form = in_one_form([[destination for _, destination in row] for row in rows], pads)
    return Formed(
        Form(
            tuple(tuple((source, form[destination]) for source, destination in row) for row in rows),
            tuple(form[offset] for offset in pads),
        ),
        {place: offset + lowest for offset, place in form.items() if place != PAD},
    )


def in_one_form(rows: Sequence[Sequence[int]], pads: Sequence[int]) -> dict[int, int]:
    """
    Another offset for every one of a tile: run after run in their order, each as it is.

    `rows`: the destination offsets of every row, or `PAD`. Networks depend on what follows what, and on what is the sum
    of one weight for every bit of a number. Where something else would become such a sum, the offsets stay as they are.
    """
    offsets = sorted({offset for row in rows for offset in row if offset != PAD} | set(pads))
    form = {PAD: PAD}
    for number, (start, length) in enumerate(runs_of(offsets)):
        form |= {start + i: number * DISTANCE + i for i in range(length)}
    formed = [[form[offset] for offset in row] for row in rows]
    starts = [row[0] for row in rows], [row[0] for row in formed]
    is_alike = _keeps_sums(*starts) and _keeps_sums(rows[0], formed[0]) and are_shifted(rows) == are_shifted(formed)
    return form if is_alike else {offset: offset for offset in form}


def _keeps_sums(before: Sequence[int], after: Sequence[int]) -> bool:
    """Whether positions a power of two apart have equal differences in one sequence where they have in the other."""
    if _is_regular(before) and _is_regular(after):
        return True
    copies = [offset != PAD for offset in before]
    for step in (1 << bit for bit in range((len(before) - 1).bit_length())):
        apart = zip(map(sub, before[step:], before), map(sub, after[step:], after), strict=False)
        pairs = set(compress(apart, [one and other for one, other in zip(copies, copies[step:], strict=False)]))
        if any(len({pair[side] for pair in pairs}) != len(pairs) for side in (0, 1)):
            return False
    return True


def _is_regular(offsets: Sequence[int]) -> bool:
    """Whether each of some offsets is as far from the next: all such sequences have the same sums."""
    apart = offsets[1] - offsets[0] if len(offsets) > 1 else 1
    return apart > 0 and list(offsets) == list(range(offsets[0], offsets[0] + apart * len(offsets), apart))


def are_shifted(rows: Sequence[Sequence[int]]) -> bool:
    """Whether all rows have the differences of the first one."""
    if len(rows) == 1:
        return True
    first = rows[0]
    expected = [offset if offset == PAD else offset - first[0] for offset in first]
    return all([offset if offset == PAD else offset - row[0] for offset in row] == expected for row in rows)
