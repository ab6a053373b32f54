"""
Tiles: which part of a box goes through vector registers at once.

A good tile reads whole cache lines of the source and writes whole cache lines of the destination. So it takes, of the
axes that are contiguous in the source, as many elements as a line has, and as *rows* as much of the axes that are
contiguous in the destination as its lines need.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.shuffle_network import ROWS_GATHERED, Element, Network, build_network, power_of_two_below

ELEMENT_LIMIT = 8192
"""Elements of the largest tile, which becomes straight-line code."""

INSTRUCTION_LIMIT = 1600
"""Vector instructions of the largest tile."""

WORTHWHILE = 0.7
"""Vector instructions per element above which scalar loops are as good."""

RUN_VECTORS = 4
"""Vectors that one tile copies where both sides share a long run."""


@dataclass(frozen=True)
class Tile:
    """A part of a box: `extents[i]` steps of axis i, moved by a network."""

    extents: tuple[int, ...]
    network: Network

    @property
    def elements(self) -> int:
        """Cells of the destination that one tile writes."""
        return math.prod(self.extents)

    @property
    def cost(self) -> float:
        """Vector instructions per cell."""
        return self.network.cost / self.elements


def choose_tile(box: Box, lanes: int) -> Tile | None:
    """The cheapest tile of a linear box for vectors of `lanes` elements; None where scalar loops are as good."""
    if not box.is_linear or box.is_fill:
        return None
    tiles: list[Tile] = []
    for run in _source_runs(box.axes, lanes):
        for target in (lanes, max(lanes // 2, 1)):
            rows = _rows(box.axes, run, target)
            tile = _tile(box.axes, run, rows, lanes)
            if tile is not None and tile not in tiles:
                tiles.append(tile)
    best = min(tiles, key=lambda tile: tile.cost, default=None)
    return best if best is not None and best.cost <= WORTHWHILE else None


def _chain(axes: Sequence[Axis], strides: Sequence[int]) -> list[int]:
    """The axes that follow each other without a gap, from stride 1 outwards."""
    order: list[int] = []
    expected = 1
    while True:
        candidates = [i for i in range(len(axes)) if strides[i] == expected and i not in order]
        if not candidates:
            return order
        order.append(candidates[0])
        expected *= axes[candidates[0]].extent


def _source_runs(axes: Sequence[Axis], lanes: int) -> list[dict[int, int]]:
    """Choices of the part of each axis that forms a run of the source: axis to steps."""
    chain = _chain(axes, [axis.source_stride for axis in axes])
    if not chain:
        return []
    runs = [_greedy_run(axes, chain, lanes, split_odd=False), _greedy_run(axes, chain, lanes, split_odd=True)]
    first = axes[chain[0]]
    if first.destination_stride == 1 and first.is_full and first.extent > lanes:
        runs.insert(0, {chain[0]: min(power_of_two_below(first.extent), RUN_VECTORS * lanes)})
    return [run for i, run in enumerate(runs) if run not in runs[:i]]


def _greedy_run(axes: Sequence[Axis], chain: Sequence[int], lanes: int, split_odd: bool) -> dict[int, int]:
    run: dict[int, int] = {}
    length = 1
    for i in chain:
        valid = axes[i].valid
        is_power = length & (length - 1) == 0
        needed = max(lanes // length, 1) if is_power else lanes
        steps = min(valid, needed)
        if steps < valid or not axes[i].is_full:  # the run ends inside this axis
            run[i] = steps if not axes[i].is_full and steps == valid else power_of_two_below(steps)
            break
        if split_odd and steps & (steps - 1):
            run[i] = power_of_two_below(steps)
            break
        run[i] = steps
        length *= steps
        if (length >= lanes and length & (length - 1) == 0) or length >= ROWS_GATHERED * lanes:
            break
    return run


def _rows(axes: Sequence[Axis], run: dict[int, int], lanes: int) -> dict[int, int]:
    """The part of each axis outside of the run that completes lines of the destination: axis to steps."""
    rows: dict[int, int] = {}
    length = 1
    for i in _chain(axes, [axis.destination_stride for axis in axes]):
        if length >= lanes:
            break
        extent = axes[i].extent
        if i in run:
            length *= run[i]
            if run[i] < axes[i].valid:
                break
            length = length // run[i] * extent
            continue
        needed = -(-lanes // length)
        steps = min(extent, 1 << (needed - 1).bit_length())
        count = math.prod(rows.values()) * steps
        if count > ROWS_GATHERED and count & (count - 1) and axes[i].is_full:
            steps = power_of_two_below(steps)
        rows[i] = steps
        length *= steps
        if steps < extent:
            break
    return rows


def _tile(axes: Sequence[Axis], run: dict[int, int], rows: dict[int, int], lanes: int) -> Tile | None:
    extents = [run.get(i, rows.get(i, 1)) for i in range(len(axes))]
    for i, axis in enumerate(axes):
        if not axis.is_full and i in run and run[i] == axis.valid:
            extents[i] = axis.extent  # the pads behind a run belong to its tile
        if not axis.is_full and extents[i] != axis.extent:
            return None
    if math.prod(extents) > ELEMENT_LIMIT:
        return None
    elements, pads = _elements(axes, run, rows, extents)
    network = build_network(elements, pads, lanes)
    if network is None or network.cost > INSTRUCTION_LIMIT:
        return None
    return Tile(tuple(extents), network)


def _elements(
    axes: Sequence[Axis], run: dict[int, int], rows: dict[int, int], extents: Sequence[int]
) -> tuple[list[list[Element]], list[int]]:
    """The rows of a tile with the offsets of their elements, and the pads that are in no row."""
    row_axes = sorted(rows, key=lambda i: -axes[i].destination_stride)
    run_axes = sorted(run, key=lambda i: -axes[i].source_stride)
    steps_of_rows = list(itertools.product(*(range(rows[i]) for i in row_axes)))
    if sum(_is_valid(axes, row_axes, steps) for steps in steps_of_rows) <= ROWS_GATHERED // 2:
        steps_of_rows = [steps for steps in steps_of_rows if _is_valid(axes, row_axes, steps)]
    elements: list[list[Element]] = []
    for row in steps_of_rows:
        source = sum(axes[i].source_stride * step for i, step in zip(row_axes, row, strict=True))
        target = sum(axes[i].destination_stride * step for i, step in zip(row_axes, row, strict=True))
        is_valid = _is_valid(axes, row_axes, row)
        elements.append([])
        for place in itertools.product(*(range(run[i]) for i in run_axes)):
            inside = sum(axes[i].source_stride * step for i, step in zip(run_axes, place, strict=True))
            behind = sum(axes[i].destination_stride * step for i, step in zip(run_axes, place, strict=True))
            elements[-1].append((source + inside if is_valid else None, target + behind))
    covered = {destination for row in elements for _, destination in row}
    everything = [
        sum(axis.destination_stride * step for axis, step in zip(axes, steps, strict=True))
        for steps in itertools.product(*map(range, extents))
    ]
    return elements, [destination for destination in everything if destination not in covered]


def _is_valid(axes: Sequence[Axis], positions: Sequence[int], steps: Sequence[int]) -> bool:
    return all(step < axes[i].valid for i, step in zip(positions, steps, strict=True))
