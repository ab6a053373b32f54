"""
Exact search: whether bounded whole numbers exist that solve one linear equation.

Two elements share a place if and only if such an equation has a solution, so the search decides injectivity where
strides do not nest. It goes from the largest coefficient to the smallest and tries only values that the rest can still
make up for, by range and by greatest common divisor; with strides that nest no more than two values are left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

STEP_LIMIT = 200_000
"""Values that one search tries before it gives up."""


class Undecided(Exception):
    """A search needed more steps than it may take."""


@dataclass(frozen=True)
class Unknown:
    """A whole number between `low` and `high`, both included, that counts `factor` times."""

    factor: int
    low: int
    high: int


@dataclass
class _Search:
    """One equation, its unknowns by falling size of the factor."""

    unknowns: Sequence[Unknown]
    lows: list[int] = field(default_factory=list[int])
    highs: list[int] = field(default_factory=list[int])
    divisors: list[int] = field(default_factory=list[int])
    dead: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    """Positions and rests that were found to have no solution."""
    steps: int = 0

    def __post_init__(self) -> None:
        low = high = divisor = 0
        self.lows, self.highs, self.divisors = [0], [0], [0]
        for unknown in reversed(self.unknowns):
            ends = unknown.factor * unknown.low, unknown.factor * unknown.high
            low, high, divisor = low + min(ends), high + max(ends), math.gcd(divisor, unknown.factor)
            self.lows.append(low)
            self.highs.append(high)
            self.divisors.append(divisor)
        for suffixes in (self.lows, self.highs, self.divisors):
            suffixes.reverse()

    def solve(self, position: int, rest: int) -> tuple[int, ...] | None:
        """Values of the unknowns from `position` on whose sum is `rest`."""
        if not self.lows[position] <= rest <= self.highs[position]:
            return None
        if position == len(self.unknowns):
            return ()
        if (position, rest) in self.dead:
            return None
        for value in self._candidates(position, rest):
            self.steps += 1
            if self.steps > STEP_LIMIT:
                raise Undecided
            values = self.solve(position + 1, rest - self.unknowns[position].factor * value)
            if values is not None:
                return value, *values
        self.dead.add((position, rest))
        return None

    def _candidates(self, position: int, rest: int) -> Iterator[int]:
        """The values of one unknown that leave the others a sum in their range and a multiple of their divisor."""
        unknown = self.unknowns[position]
        factor, divisor = unknown.factor, self.divisors[position + 1]
        ends = rest - self.lows[position + 1], rest - self.highs[position + 1]
        if factor < 0:
            factor, rest, ends = -factor, -rest, (-ends[0], -ends[1])
        low = max(unknown.low, -(-min(ends) // factor))
        high = min(unknown.high, max(ends) // factor)
        if divisor == 0:  # nothing follows
            if rest % factor == 0 and low <= rest // factor <= high:
                yield rest // factor
            return
        common = math.gcd(factor, divisor)
        if rest % common:
            return
        step = divisor // common
        first = rest // common * pow(factor // common, -1, step) % step if step > 1 else 0
        yield from range(low + (first - low) % step, high + 1, step)


def solve(unknowns: Sequence[Unknown], total: int) -> tuple[int, ...] | None:
    """
    Values of the unknowns with `sum(factor * value) == total`, or None where there are none.

    Raises `Undecided` after `STEP_LIMIT` steps.
    """
    order = sorted(range(len(unknowns)), key=lambda i: -abs(unknowns[i].factor))
    idle = [i for i in order if unknowns[i].factor == 0]
    active = [i for i in order if unknowns[i].factor]
    found = _Search([unknowns[i] for i in active]).solve(0, total)
    if found is None:
        return None
    values = dict(zip(active, found, strict=True)) | {i: unknowns[i].low for i in idle}
    return tuple(values[i] for i in range(len(unknowns)))


def null_difference(strides: Sequence[int], extents: Sequence[int]) -> tuple[int, ...] | None:
    """
    A difference of two different digit vectors, `0 <= digit[i] < extents[i]`, that `strides` do not tell apart.

    None where every two vectors differ in `sum(stride * digit)`. Raises `Undecided` as `solve`.
    """
    for i, (stride, extent) in enumerate(zip(strides, extents, strict=True)):
        if stride == 0 and extent > 1:
            return tuple(int(j == i) for j in range(len(strides)))
    order = sorted((i for i, extent in enumerate(extents) if extent > 1), key=lambda i: -abs(strides[i]))
    for position, first in enumerate(order):  # the largest stride in which they differ, by a positive step
        rest = order[position + 1 :]
        unknowns = [Unknown(strides[first], 1, extents[first] - 1)]
        unknowns += [Unknown(strides[i], 1 - extents[i], extents[i] - 1) for i in rest]
        found = solve(unknowns, 0)
        if found is not None:
            values = dict(zip((first, *rest), found, strict=True))
            return tuple(values.get(i, 0) for i in range(len(strides)))
    return None
