"""
Where the elements of a tile are in the source and in the destination.

Tiles of many boxes are alike but for what they do not walk, and are asked for again and again: those of the last boxes
are remembered.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from layout_ir.layouts.network_gather import PAD
from layout_ir.layouts.network_loads import Element
from layout_ir.layouts.network_offsets import DISTANCE, Formed, formed
from layout_ir.layouts.network_search import NETWORKS_REMEMBERED
from layout_ir.layouts.plan import Axis
from layout_ir.layouts.tile_runs import Run


@dataclass(frozen=True)
class _Walk:
    """An axis with the steps that a tile takes of it, in a run of the source and in rows of runs."""

    axis: Axis
    run: int
    rows: int
    steps: int
    """The pads behind a run are steps too."""

    def is_valid(self, row: int) -> bool:
        """Whether a row of the tile copies."""
        return row * self.run < self.axis.valid


def tile_elements(axes: Sequence[Axis], run: Run, rows: Run, extents: Sequence[int]) -> Formed:
    """The elements of a tile row by row, and the pads that are in no row."""
    walks: list[_Walk] = []
    for i, (axis, steps) in enumerate(zip(axes, extents, strict=True)):
        if steps > 1 or not axis.is_full:
            of_tile = replace(axis, name="", extent=steps, valid=steps) if axis.is_full else replace(axis, name="")
            walks.append(_Walk(of_tile, run.get(i, 1), rows.get(i, 1), steps))
    apart = _apart(walks)
    if apart is None:
        return _elements(tuple(walks))
    walk = walks[apart]
    walks[apart] = replace(walk, axis=replace(walk.axis, destination_stride=DISTANCE))
    return replace(_elements(tuple(walks)), distance=walk.axis.destination_stride)


def _apart(walks: Sequence[_Walk]) -> int | None:
    """
    The axis along which the runs of a tile lie apart, so far that it makes no difference to its form how far.

    All others make one run in the destination. No distance of two elements within two runs may be that of two others:
    the runs lie further apart than two of them are long.
    """
    if any(walk.axis.is_irregular for walk in walks):
        return None
    order = sorted(range(len(walks)), key=lambda i: walks[i].axis.destination_stride)
    length = 1
    for i in order[:-1]:
        if walks[i].axis.destination_stride != length:
            return None
        length *= walks[i].steps
    return next((i for i in order[-1:] if walks[i].axis.destination_stride > 2 * length), None)


@lru_cache(maxsize=NETWORKS_REMEMBERED)
def _elements(walks: tuple[_Walk, ...]) -> Formed:
    # counted from the lowest offset: where an axis goes backwards, -1 would be an element, and it stands for pads
    along = [[walk.axis.destination_at(step) for step in range(walk.steps)] for walk in walks]
    lowest = sum(map(min, along))
    rows, covered = _rows(walks, lowest)
    if len(covered) == math.prod(walk.steps for walk in walks):
        return formed(rows, [], lowest)
    everything = [sum(offsets) - lowest for offsets in itertools.product(*along)]
    return formed(rows, [destination for destination in everything if destination not in covered], lowest)


def _rows(walks: Sequence[_Walk], lowest: int) -> tuple[list[list[Element]], set[int]]:
    """The elements of every row, and the offsets in the destination that they have, from the lowest one."""
    outer = sorted(walks, key=lambda walk: -walk.axis.destination_at(1) if walk.axis.extent > 1 else 0)
    numbers = list(itertools.product(*(range(walk.rows) for walk in outer)))
    copies = {row for row in numbers if all(walk.is_valid(step) for walk, step in zip(outer, row, strict=True))}
    inside = _run_of(walks)
    elements: list[list[Element]] = []
    covered: set[int] = set()
    for row in numbers:
        steps = [step * walk.run for walk, step in zip(outer, row, strict=True)]
        source = sum(walk.axis.source_at(step) for walk, step in zip(outer, steps, strict=True))
        target = sum(walk.axis.destination_at(step) for walk, step in zip(outer, steps, strict=True)) - lowest
        places = [PAD if place is None else target + place for place in inside]
        covered.update(places)
        is_copy = row in copies
        elements.append([(source + number if is_copy else None, place) for number, place in enumerate(places)])
    return elements, covered - {PAD}


def _run_of(walks: Sequence[_Walk]) -> list[int | None]:
    """The offset in the destination of every element of a run, from the first one; None for holes of the source."""
    inner = sorted(walks, key=lambda walk: -walk.axis.source_stride)
    sources = ([walk.axis.source_at(step) for step in range(walk.run)] for walk in inner)
    destinations = ([walk.axis.destination_at(step) for step in range(walk.run)] for walk in inner)
    sums = (map(sum, itertools.product(*along)) for along in (sources, destinations))
    offsets: dict[int, int] = dict(zip(*sums, strict=True))
    return [offsets.get(place) for place in range(max(offsets) + 1)]  # holes are elements too
