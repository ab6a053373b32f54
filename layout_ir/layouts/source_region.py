"""
Regions: parts of the source without gaps that panels which follow each other take as a whole, in pieces.

A cache has room for the region that is taken and for the next one. So each piece can be asked for one region ahead: all
of it has come by then, whatever the order of the pieces is, while memory only ever sees one sequence of lines.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from layout_ir.layouts.panel import Panel
from layout_ir.layouts.plan import Axis
from layout_ir.layouts.symbols import is_symbolic

LEAST_BYTES = 16 << 10
"""Size of the smallest region: two smaller ones would fit into a first level cache, and need no other care."""

MOST_BYTES = 96 << 10
"""Size of the largest: two larger ones, and the scratch, would fill too much of a second level cache."""

LEAST_REGIONS = 4
"""Regions that follow each other at least, as what is asked for behind the last one is of no use."""


def region_axis(panel: Panel, walk: Sequence[int], element_bytes: int) -> int | None:
    """
    The axis that leads from one region to the next, where loops over the axes `walk`, outermost first, run over panels.

    None where panels take no regions of a good size, or each the lines that follow those of the one before.
    """
    axes = panel.group.main.axes
    taken = [panel.steps[i] if i < panel.group.shared else axis.valid for i, axis in enumerate(axes)]
    for i in reversed(walk):
        size = math.prod(taken) * element_bytes
        if is_symbolic(size) or size > MOST_BYTES:
            return None
        if _is_contiguous(axes, taken):
            are_many = is_symbolic(axes[i].extent) or axes[i].extent >= LEAST_REGIONS * taken[i]
            return i if size >= LEAST_BYTES and are_many else None
        taken[i] = axes[i].extent
    return None


def _is_contiguous(axes: Sequence[Axis], taken: Sequence[int]) -> bool:
    """Whether so many steps of every axis, taken together, are a part of the source without gaps."""
    left = {i for i, steps in enumerate(taken) if steps > 1}
    for i in _chain(axes):
        left.discard(i)
        if taken[i] < axes[i].valid:
            break
    return not left


def _chain(axes: Sequence[Axis]) -> Iterator[int]:
    """The axes that follow each other in the source without a gap, innermost first."""
    by_stride = {axis.source_stride: i for i, axis in enumerate(axes) if axis.extent > 1}
    expected = 1
    while (i := by_stride.get(expected)) is not None:
        yield i
        expected *= axes[i].valid
