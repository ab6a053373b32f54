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
from functools import lru_cache

from layout_ir.layouts import affine
from layout_ir.layouts.network_builder import ROWS_GATHERED, Element, build_network
from layout_ir.layouts.network_gather import power_of_two_below
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.shuffle_network import Network

ELEMENT_LIMIT = 8192
"""Elements of the largest tile, which becomes straight-line code."""

INSTRUCTION_LIMIT = 1600
"""Vector instructions of the largest tile."""

WORTHWHILE = 0.95
"""Vector instructions per element above which scalar loops are as good."""

FEW_INSTRUCTIONS = 6
"""Vector instructions up to which a tile is unrolled."""

UNROLLED_TILES = 4
"""Tiles that become one."""

TOLERATED_OVERLAP = 1.2
"""Share of cells that may be moved twice before another tile is better."""

PARTS_OF_LINES = 1.25
"""What vectors that are shorter than a line, or that overlap, cost more."""

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


@dataclass(frozen=True)
class Vectors:
    """The registers that a tile goes through, and how far their loads may reach."""

    lanes: int
    segment: int | None
    readable: int


@lru_cache(maxsize=1024)
def choose_tile(box: Box, lanes: int, source_size: int, segment: int | None = None) -> Tile | None:
    """
    The cheapest tile of a linear box for vectors of `lanes` elements; None where scalar loops are as good.

    `source_size`: elements of the source's storage, up to which a load may reach beyond what it needs. `segment`:
    elements of the parts of a vector within which shuffles are cheap; all lanes by default.
    """
    if not box.is_linear or box.is_fill:
        return None
    last = sum(axis.source_at(axis.valid - 1) if not axis.is_irregular else max(axis.source_steps) for axis in box.axes)
    readable = source_size - 1 - last - affine.constant_value(box.source_offset)
    best: Tile | None = None
    shape: tuple[Run, Run] = {}, {}
    tried: list[tuple[Run, Run]] = []
    for run in _source_runs(box.axes, lanes):
        for target, split_odd in ((lanes, False), (lanes, True), (8 * lanes, False), (lanes // 2, True)):
            rows = _rows(box.axes, run, max(target, 1), split_odd)
            if (run, rows) in tried:
                continue
            tried.append((run, rows))
            tile = _tile(box.axes, run, rows, Vectors(lanes, segment, max(readable, 0)))
            if tile is not None and (best is None or _true_cost(box, tile, lanes) < _true_cost(box, best, lanes)):
                best, shape = tile, (run, rows)
    if best is None or _true_cost(box, best, lanes) > WORTHWHILE:
        return None
    return _unrolled(box.axes, best, *shape, Vectors(lanes, segment, max(readable, 0)))


def _true_cost(box: Box, tile: Tile, lanes: int) -> float:
    """
    Vector instructions per cell of the box: where tiles do not divide an axis, the last one does cells again.

    A little of that is cheaper than the larger tiles that would avoid it, and so is a little more work than writing
    lines in parts.
    """
    stores = tile.network.stores
    writes_parts = any(store.lanes < lanes for store in stores) or len(stores) * lanes > tile.elements
    overlap = max(walked_cells(box, tile) / TOLERATED_OVERLAP, 1)
    return tile.cost * overlap * (PARTS_OF_LINES if writes_parts else 1)


def walked_cells(box: Box, tile: Tile) -> float:
    """Cells that all tiles of a box move, over the cells that it has."""
    return math.prod(
        -(-axis.extent // steps) * steps / axis.extent for axis, steps in zip(box.axes, tile.extents, strict=True)
    )


def _unrolled(axes: Sequence[Axis], tile: Tile, run: Run, rows: Run, vectors: Vectors) -> Tile:
    """A tile of few instructions made longer along the innermost loop, which would cost more than it moves."""
    walked = [i for i, axis in enumerate(axes) if axis.extent > tile.extents[i] and axis.is_full]
    if not walked or tile.network.cost > FEW_INSTRUCTIONS:
        return tile
    innermost = walked[-1]
    count = min(power_of_two_below(axes[innermost].extent // tile.extents[innermost]), UNROLLED_TILES)
    longer = _tile(axes, run, {**rows, innermost: rows.get(innermost, 1) * count}, vectors)
    return longer if longer is not None and longer.cost <= tile.cost else tile


Run = dict[int, int]
"""The part of a tile along some axes: axis to steps."""


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


def _source_runs(axes: Sequence[Axis], lanes: int) -> list[Run]:
    """Choices of the part of each axis that forms a run of the source."""
    chain = _chain(axes, [axis.source_stride for axis in axes])
    if not chain:
        return []
    runs = [_greedy_run(axes, chain, lanes, *choice) for choice in ((False, False), (True, False), (False, True))]
    first = axes[chain[0]]
    if first.destination_stride == 1 and first.is_full and first.extent > lanes:
        runs.insert(0, {chain[0]: min(power_of_two_below(first.extent), RUN_VECTORS * lanes)})
    return [run for i, run in enumerate(runs) if run not in runs[:i]]


def _greedy_run(axes: Sequence[Axis], chain: Sequence[int], lanes: int, split_odd: bool, is_short: bool) -> Run:
    """A run of whole axes: a power of two of elements, or many lines, or (`is_short`) just one line or more."""
    run: Run = {}
    length = 1
    for i in chain:
        valid = axes[i].valid
        is_power = length & (length - 1) == 0
        steps = min(valid, max(lanes // length, 1) if is_power else lanes)
        if not axes[i].is_full:  # the pads behind it end the run, and belong to the same tile
            run[i] = valid
            break
        if steps < valid or (split_odd and steps & (steps - 1)):
            run[i] = power_of_two_below(steps)
            break
        run[i] = steps
        length *= steps
        if length >= lanes and (is_short or length & (length - 1) == 0 or length >= ROWS_GATHERED * lanes):
            break
    return run


def _rows(axes: Sequence[Axis], run: Run, target: int, split_odd: bool) -> Run:
    """What completes lines of the destination outside of the run, counted in the run's own steps."""
    rows = {i: axis.extent for i, axis in enumerate(axes) if axis.is_irregular}
    length = 1
    for i in _chain(axes, [axis.destination_stride for axis in axes]):
        if length >= target:
            break
        extent, have = axes[i].extent, run.get(i, 1)
        if i in run and have == axes[i].valid:
            length *= extent
            continue
        needed = -(-target // length)
        wanted = min(extent, 1 << (needed - 1).bit_length())
        count = wanted // have
        if split_odd and count & (count - 1) and axes[i].is_full and count > ROWS_GATHERED:
            count = power_of_two_below(count)
        if count > 1:
            rows[i] = count
        length *= have * max(count, 1)
        if have * max(count, 1) < extent:
            break
    if any(axis.is_irregular for axis in axes):
        rows |= _next_steps(axes, run, target)
    return rows


def _next_steps(axes: Sequence[Axis], run: Run, target: int) -> Run:
    """Steps of the axis that continues the lines which a run and the irregular axes only begin."""
    inside = [range(axis.extent if axis.is_irregular else run.get(i, 1)) for i, axis in enumerate(axes)]
    offsets = {
        sum(axis.destination_at(step) for axis, step in zip(axes, steps, strict=True))
        for steps in itertools.product(*inside)
    }
    length = next(offset for offset in itertools.count() if offset not in offsets)
    for i, axis in enumerate(axes):
        if axis.destination_stride == length and i not in run and axis.is_full and not axis.is_irregular:
            count = min(axis.extent, target // math.gcd(target, length))
            return {i: count} if count > 1 else {}
    return {}


def _tile(axes: Sequence[Axis], run: Run, rows: Run, vectors: Vectors) -> Tile | None:
    extents = [run.get(i, 1) * rows.get(i, 1) for i in range(len(axes))]
    for i, axis in enumerate(axes):
        if not axis.is_full and i in run and run[i] == axis.valid:
            extents[i] = axis.extent  # the pads behind a run belong to its tile
        if not axis.is_full and extents[i] not in (1, axis.extent):
            return None
    if math.prod(extents) > ELEMENT_LIMIT:
        return None
    elements, pads = _elements(axes, run, rows, extents)
    network = build_network(elements, pads, vectors.lanes, vectors.readable, vectors.segment)
    if network is None or network.cost > INSTRUCTION_LIMIT:
        return None
    return Tile(tuple(extents), network)


def _elements(
    axes: Sequence[Axis], run: Run, rows: Run, extents: Sequence[int]
) -> tuple[list[list[Element]], list[int]]:
    """The rows of a tile with the offsets of their elements, and the pads that are in no row."""
    row_axes = sorted(rows, key=lambda i: -axes[i].destination_at(1) if axes[i].extent > 1 else 0)
    run_axes = sorted(run, key=lambda i: -axes[i].source_stride)
    steps_of_rows = [
        tuple(step * run.get(i, 1) for i, step in zip(row_axes, steps, strict=True))
        for steps in itertools.product(*(range(rows[i]) for i in row_axes))
    ]
    if sum(_is_valid(axes, row_axes, steps) for steps in steps_of_rows) <= ROWS_GATHERED // 2:
        steps_of_rows = [steps for steps in steps_of_rows if _is_valid(axes, row_axes, steps)]
    places = [
        (
            sum(axes[i].source_at(step) for i, step in zip(run_axes, steps, strict=True)),
            sum(axes[i].destination_at(step) for i, step in zip(run_axes, steps, strict=True)),
        )
        for steps in itertools.product(*(range(run[i]) for i in run_axes))
    ]
    elements: list[list[Element]] = []
    for row in steps_of_rows:
        source = sum(axes[i].source_at(step) for i, step in zip(row_axes, row, strict=True))
        target = sum(axes[i].destination_at(step) for i, step in zip(row_axes, row, strict=True))
        is_valid = _is_valid(axes, row_axes, row)
        elements.append([(source + inside if is_valid else None, target + behind) for inside, behind in places])
    covered = {destination for row in elements for _, destination in row}
    everything = [
        sum(axis.destination_at(step) for axis, step in zip(axes, steps, strict=True))
        for steps in itertools.product(*map(range, extents))
    ]
    return elements, [destination for destination in everything if destination not in covered]


def _is_valid(axes: Sequence[Axis], positions: Sequence[int], steps: Sequence[int]) -> bool:
    return all(step < axes[i].valid for i, step in zip(positions, steps, strict=True))
