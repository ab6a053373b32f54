"""
Regions: parts of the source without gaps that panels which follow each other take in pieces, and write without gaps.

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

LEAST_REGIONS = 4
"""Regions that follow each other at least, as what is asked for behind the last one is of no use."""


def region_axis(
    panel: Panel, walk: Sequence[int], element_bytes: int, most_bytes: int, least_bytes: int = LEAST_BYTES
) -> int | None:
    """
    The axis that leads from one region to the next, where loops over the axes `walk`, outermost first, run over panels.

    None where panels take no regions of a good size, from `least_bytes` to `most_bytes`, where each takes the lines
    behind those of the one before, and where what they write lies far apart, as that is what takes the time then.
    """
    axes = panel.group.main.axes
    for i, taken in zip(reversed(walk), _grown(panel, walk), strict=False):
        size = math.prod(taken) * element_bytes
        if is_symbolic(size) or size > most_bytes:
            return None
        if _parts(axes, taken, [axis.source_stride for axis in axes]) == 1:
            if _parts(axes, taken, [axis.destination_stride for axis in axes]) > 1:
                return None
            are_many = is_symbolic(axes[i].extent) or axes[i].extent >= LEAST_REGIONS * taken[i]
            return i if size >= least_bytes and are_many else None
    return None


def pieced_part_bytes(panel: Panel, walk: Sequence[int], element_bytes: int) -> int | None:
    """
    Size of the smallest part of the source without gaps that panels take in pieces, one after the other.

    None where a panel takes such a part at once, where pieces never make a whole one, and for unknown sizes.
    """
    axes = panel.group.main.axes
    for loops, taken in enumerate(_grown(panel, walk)):
        size = math.prod(taken) * element_bytes
        if is_symbolic(size):
            return None
        if _parts(axes, taken, [axis.source_stride for axis in axes]) == 1:
            return size if loops else None
    return None


def _grown(panel: Panel, walk: Sequence[int]) -> Iterator[list[int]]:
    """Steps of every axis of the main box in a panel, and in all panels of more and more of the loops, from inside."""
    taken = _taken(panel)
    yield taken
    for i in reversed(walk):
        taken = [*taken[:i], panel.group.main.axes[i].extent, *taken[i + 1 :]]
        yield taken


def has_whole_steps(panel: Panel, outer: int) -> bool:
    """Whether panels take steps of an axis one after the other, each of which is a part of the source without gaps."""
    axes, walk = panel.group.main.axes, panel.walked
    step = [1 if i == outer else axis.extent for i, axis in enumerate(axes)]
    in_turn = panel.steps[outer] == 1 and outer in walk[:1]
    return in_turn and _parts(axes, step, [axis.source_stride for axis in axes]) == 1


def takes_parts(panel: Panel) -> bool:
    """Whether what a panel takes of the source has gaps."""
    axes = panel.group.main.axes
    return _parts(axes, _taken(panel), [axis.source_stride for axis in axes]) > 1


def _taken(panel: Panel) -> list[int]:
    """Steps of every axis of the main box in a panel."""
    axes = enumerate(panel.group.main.axes)
    return [panel.steps[i] if i < panel.group.shared else axis.valid for i, axis in axes]


def _parts(axes: Sequence[Axis], taken: Sequence[int], strides: Sequence[int]) -> int:
    """Of how many parts without gaps so many steps of every axis consist, on the side that has these strides."""
    by_stride = {stride: i for i, stride in enumerate(strides) if taken[i] > 1}
    parts, expected = math.prod(taken), 1
    while (i := by_stride.get(expected)) is not None:
        parts //= taken[i]
        expected *= taken[i]
    return parts
