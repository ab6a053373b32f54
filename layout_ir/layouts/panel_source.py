"""What a panel takes of the source: rows without gaps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_group import contiguous
from layout_ir.layouts.symbols import is_symbolic

STREAMS = 16
"""Rows from which on a processor's own prefetcher does not follow them all."""


@dataclass(frozen=True)
class SourceRows:
    """The rows of the source that the main box of a panel takes."""

    taken: tuple[int, ...]
    """Steps of every axis of the box in a whole panel."""

    along: tuple[int, ...]
    """The axes along a row, innermost first: all whole but the last. None where rows are single elements."""

    @property
    def length(self) -> int:
        """Elements of a row."""
        return math.prod(self.taken[i] for i in self.along)

    @property
    def across(self) -> tuple[int, ...]:
        """The axes that lead from row to row."""
        return tuple(i for i, steps in enumerate(self.taken) if steps > 1 and i not in self.along)

    @property
    def count(self) -> int:
        """How many rows there are."""
        return math.prod(self.taken[i] for i in self.across)

    @property
    def longest_across(self) -> int:
        """The axis across the rows with the most steps."""
        return max(self.across, key=lambda i: self.taken[i])


def source_rows(panel: Panel) -> SourceRows:
    """The rows that a panel takes: as long as they are without gaps."""
    axes = panel.group.main.axes
    taken = tuple(panel.steps[i] if i < panel.group.shared else axis.extent for i, axis in enumerate(axes))
    along: list[int] = []
    for i in contiguous(axes, [axis.source_stride for axis in axes]):
        along.append(i)
        if taken[i] < axes[i].extent:
            break
    return SourceRows(taken, tuple(along))


def is_read_on(panel: Panel, walk: Sequence[int]) -> bool:
    """Whether the next panel, of a walk along these axes, goes on with the rows of the source where this one stops."""
    axes, main = panel.group.axes, panel.group.main
    chain = contiguous(main.axes, [axis.source_stride for axis in main.axes])
    ends = (i for i in chain if i < len(axes) and panel.steps[i] < axes[i].extent)
    return bool(walk) and next(ends, None) == walk[-1]


def places_of_rows(panel: Panel, rows: SourceRows, repeat: int, places: int) -> int | None:
    """
    How many of the rows along the longest axis across them a cache has places for, by where they begin.

    `repeat`: elements after which the sets of the cache repeat; `places`: those of a set. None for an unknown distance.
    """
    stride = panel.group.main.axes[rows.longest_across].source_stride
    return None if is_symbolic(stride) else places_apart(stride, repeat, places)


def places_apart(distance: int, repeat: int, places: int) -> int:
    """How many lines that are so far apart a cache has places for, whose sets, of so many places, repeat after that."""
    return places * repeat // math.gcd(distance, repeat)
