"""
Which steps of a box's axes a tile takes: runs of the source, and the rows that make lines of the destination of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from layout_ir.layouts.network_gather import power_of_two_below
from layout_ir.layouts.network_search import ROWS_GATHERED
from layout_ir.layouts.plan import Axis

ELEMENT_LIMIT = 4096
"""Elements of the largest tile, which becomes straight-line code."""

LEAST_RUN = 8
"""Steps of a run down to which it is shortened for a tile that pads make too large."""

RUN_VECTORS = 4
"""Vectors that one tile copies where both sides share a long run."""

LEAST_SHARE = 4
"""Of how many short runs a vector is made, at most."""

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


def _chain_over_holes(axes: Sequence[Axis], lanes: int) -> list[int]:
    """
    The axes that follow each other in the source with holes of at most half a vector before the next step.

    Steps are powers of two, which return to the same lanes, or so short that one vector holds many.
    """
    order: list[int] = []
    expected = 1
    for i in sorted(range(len(axes)), key=lambda i: axes[i].source_stride):
        stride = axes[i].source_stride
        if stride < expected:
            continue
        returns = stride & (stride - 1) == 0 or stride <= ROWS_GATHERED
        if stride > expected and (stride - expected > lanes // 2 or not returns):
            break
        order.append(i)
        expected = stride * axes[i].valid
    return order


def source_runs(axes: Sequence[Axis], lanes: int) -> list[Run]:
    """Choices of the part of each axis that forms a run of the source."""
    chain = _chain(axes, [axis.source_stride for axis in axes])
    if not chain:
        return []
    runs = _greedy_runs(axes, _until_pads(axes, chain), lanes)
    first = axes[chain[0]]
    if first.destination_stride == 1 and first.is_full and first.extent > lanes:
        runs.insert(0, {chain[0]: min(power_of_two_below(first.extent), RUN_VECTORS * lanes)})
    return runs


def runs_over_holes(axes: Sequence[Axis], lanes: int) -> list[Run]:
    """The same for runs with holes: what follows the valid channels of a block, or lies between every other element."""
    chain = _chain_over_holes(axes, lanes)
    return _greedy_runs(axes, chain, lanes) if chain else []


def _until_pads(axes: Sequence[Axis], chain: Sequence[int]) -> Sequence[int]:
    """The axes of a chain up to the first one with pads, which end a run."""
    padded = (position for position, i in enumerate(chain, 1) if not axes[i].is_full)
    return chain[: next(padded, len(chain))]


def _greedy_runs(axes: Sequence[Axis], chain: Sequence[int], lanes: int) -> list[Run]:
    runs = [_greedy_run(axes, chain, lanes, *choice) for choice in ((False, False), (True, False), (False, True))]
    return [run for i, run in enumerate(runs) if run not in runs[:i]]


def _greedy_run(axes: Sequence[Axis], chain: Sequence[int], lanes: int, split_odd: bool, is_short: bool) -> Run:
    """A run of whole axes: a power of two of elements, or many lines, or (`is_short`) just one line or more."""
    run: Run = {}
    for i in chain:
        length = axes[i].source_stride
        valid = axes[i].valid
        is_power = length & (length - 1) == 0
        steps = min(valid, max(lanes // length, 1) if is_power else lanes)
        if not axes[i].is_full:  # the pads behind it belong to the same tile
            run[i] = valid
            continue
        if steps < valid or (split_odd and steps & (steps - 1)):
            run[i] = power_of_two_below(steps)
            break
        run[i] = steps
        length *= steps
        if length >= lanes and (is_short or length & (length - 1) == 0 or length >= ROWS_GATHERED * lanes):
            break
    return run


def fitting_run(axes: Sequence[Axis], lanes: int) -> Run:
    """A run of as many steps as fit into one vector; but no part of an axis along which rows make lines."""
    run: Run = {}
    for i in _chain(axes, [axis.source_stride for axis in axes]):
        axis = axes[i]
        steps = min(axis.valid, lanes // axis.source_stride)
        is_part = steps < axis.valid
        if steps < 2 or (is_part and run and axis.destination_stride == 1):
            break
        run[i] = steps
        if is_part:
            break
    return run


def short_runs(axes: Sequence[Axis], lanes: int) -> list[Run]:
    """Runs shorter than a vector, of whole axes without pads: their rows are cheap to exchange."""
    run: Run = {}
    length, found = 1, list[Run]()
    for i in _chain(axes, [axis.source_stride for axis in axes]):
        run[i] = axes[i].extent
        length *= axes[i].extent
        if length >= lanes:
            break
        if length * LEAST_SHARE >= lanes and length & (length - 1) == 0:
            found.append(dict(run))
    return found


def read_together(axes: Sequence[Axis], extents: Sequence[int]) -> int:
    """Elements of the source that a tile takes of what follows each other there."""
    length = 1
    for i in _chain(axes, [axis.source_stride for axis in axes]):
        length *= min(extents[i], axes[i].valid)
        if extents[i] < axes[i].extent or not axes[i].is_full:
            break
    return length


def half_runs(runs: Sequence[Run], lanes: int) -> list[Run]:
    """Runs of half a vector instead of a whole one, of which the last tile does fewer steps again."""
    halves = [{i: lanes // 2 if steps == lanes else steps for i, steps in run.items()} for run in runs]
    return [half for half in halves if half not in runs]


def within_limit(axes: Sequence[Axis], run: Run, rows: Run) -> Run:
    """A run with half as many steps, or fewer, where a tile with it would be too large because of its pads."""
    shorter = dict(run)
    while math.prod(extents_of(axes, shorter, rows)) > ELEMENT_LIMIT:
        longest = max((i for i in shorter if axes[i].is_full), key=lambda i: shorter[i], default=None)
        if longest is None or shorter[longest] <= LEAST_RUN:
            return run
        shorter[longest] = power_of_two_below(shorter[longest] - 1)
    return shorter


def extents_of(axes: Sequence[Axis], run: Run, rows: Run) -> list[int]:
    """The steps that a tile of a run and rows takes of every axis; the pads behind a run belong to it."""
    return [
        axis.extent if not axis.is_full and run.get(i) == axis.valid else run.get(i, 1) * rows.get(i, 1)
        for i, axis in enumerate(axes)
    ]


def destination_rows(axes: Sequence[Axis], run: Run, target: int, split_odd: bool, is_most: bool) -> Run:
    """
    What completes lines of the destination outside of the run, counted in the run's own steps.

    `target`: how many elements of it should follow each other, at least or (`is_most`) at most. `split_odd`: whether
    axes of odd extents take a power of two of their steps.
    """
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
        wanted = min(extent, target // length if is_most else 1 << (needed - 1).bit_length())
        if not axes[i].is_full:
            wanted = extent  # the pads of an axis belong to one tile
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
