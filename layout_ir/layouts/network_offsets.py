"""Offsets of a tile's destination, brought into one form for all tiles that differ in how far its runs lie apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from layout_ir.layouts.network_gather import PAD, runs_of
from layout_ir.layouts.network_loads import Element, Row

DISTANCE = 1 << 40
"""From one run to the next in that form; no run is as long."""


@dataclass(frozen=True)
class Formed:
    """A tile whose offsets in the destination are in one form."""

    rows: tuple[tuple[Element, ...], ...]
    pads: tuple[int, ...]

    offsets: Mapping[int, int]
    """What stood for each of them."""


def formed(rows: Sequence[Row], pads: Sequence[int], lowest: int = 0) -> Formed:
    """
    The rows of a tile and its pads in one form.

    `lowest`: the offset from which theirs are counted, none of which is negative, as `PAD` is.
    """
    form = in_one_form([[destination for _, destination in row] for row in rows], pads)
    return Formed(
        tuple(tuple((source, form[destination]) for source, destination in row) for row in rows),
        tuple(form[offset] for offset in pads),
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
    for step in (1 << bit for bit in range((len(before) - 1).bit_length())):
        apart = zip(before, before[step:], after, after[step:], strict=False)
        pairs = {(end - start, later - first) for start, end, first, later in apart if start != PAD != end}
        if any(len({pair[side] for pair in pairs}) != len(pairs) for side in (0, 1)):
            return False
    return True


def are_shifted(rows: Sequence[Sequence[int]]) -> bool:
    """Whether all rows have the differences of the first one."""
    first = rows[0]
    expected = [offset if offset == PAD else offset - first[0] for offset in first]
    return all([offset if offset == PAD else offset - row[0] for offset in row] == expected for row in rows)
