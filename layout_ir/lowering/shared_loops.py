"""Which of the loops around a tile threads share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.thread_shares import evenness
from layout_ir.layouts.tiling import Tile
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.schedule import Schedule

THREAD_PARTS = 32
"""Parts into which a loop is cut for threads to share, at least where it is long; and steps of a part, at most."""

UNKNOWN_PARTS = 4
"""Steps of a part of a loop inside of others of which only a kernel that runs knows how long it is."""

STEPS_EACH = 4
"""Steps for each thread from which on they share a loop evenly enough."""

SHARED_LINES = 128
"""
Lines of the destination that a loop goes through at least for threads to share it rather than another.

A processor reads ahead of what a thread writes, to the end of a page at most. Where the next lines are another
thread's, it takes them away from that one's cache: on Zen 4, two threads that each write a part of all rows of 1024
bytes are up to 4 times as slow with data in the caches as with rows of their own.
"""

EVEN_LOOP = 0.7
"""Evenness from which on threads share a loop rather than another one inside of it."""

EVEN_PARTS = 0.95
"""Evenness from which on a loop is not cut into smaller parts."""

LEAST_PARTS = 1.5
"""Parts of a loop, the last one short, from which on threads share it before others where they crowd each other."""


def parallel(box: Box, tile: Tile, schedule: Schedule, levels: list[LoopLevel]) -> list[LoopLevel]:
    """
    Let threads share a loop: the outermost that keeps their lines of the destination apart and pages between them, or
    else the one whose steps lie farthest from each other there.

    Where only a kernel that runs knows how many steps that has, they share parts of others as well if it has too few.

    Its steps are grouped so that a line belongs to one group: threads that write parts of one line take it from each
    other again and again. Inside of a group the loops keep their order.
    """
    outer = [position for position, level in enumerate(levels) if level.inside is None]
    lengths = {position: _part(box, tile, levels[position], schedule) for position in outer}

    def first(candidates: list[int], parts: float) -> int | None:
        """The first loop that has so many parts and is shared evenly, or else the one that is shared most evenly."""
        whole = [i for i in candidates if box.axes[levels[i].axis].extent >= parts * lengths[i]]
        return next((i for i in whole if shares(i) >= EVEN_LOOP), max(whole, key=shares, default=None))

    def shares(position: int) -> float:
        extent = box.axes[levels[position].axis].extent
        return 1 if is_symbolic(extent) else evenness(extent, schedule.threads, lengths[position])

    def crowds(position: int) -> bool:
        return _crowds_threads(box, levels[position].axis, schedule.lanes)

    apart = [position for position in outer if keeps_lines_apart(box, levels[position].axis, schedule.lanes)]
    roomy = [position for position in apart if not crowds(position)]
    farthest = sorted(outer, key=lambda position: -box.axes[levels[position].axis].destination_stride)
    several = roomy or apart or farthest[:1]
    if any(is_symbolic(box.axes[levels[position].axis].extent) for position in several):
        return _shared_as_needed(box, schedule, levels, lengths, several)
    chosen = first([*roomy, *apart], 2)
    chosen = first(farthest, 2) if chosen is None else chosen
    if chosen is None or crowds(chosen):
        uneven = first(roomy, LEAST_PARTS)
        chosen = chosen if uneven is None else uneven
    return levels if chosen is None else _shared(levels, chosen, lengths[chosen])


def _shared_as_needed(
    box: Box, schedule: Schedule, levels: Sequence[LoopLevel], lengths: Mapping[int, int], apart: Sequence[int]
) -> list[LoopLevel]:
    """
    Loops of unknown length of which threads share the first, and parts of the others if that has too few steps.

    `lengths`: of the least parts of each loop, by its position. `apart`: those that had better be shared, which are cut
    as soon as the steps of the others are not many for each thread; any other loop only if some have no step at all.
    """

    def part(position: int) -> int:
        is_long = position > 0 and is_symbolic(box.axes[levels[position].axis].extent)
        return lengths[position] * (UNKNOWN_PARTS if is_long else 1)

    first, *others = [*apart, *(position for position in lengths if position not in apart)]
    result = _shared(levels, first, part(first))
    count = 1
    for position in others:
        level, extent, length = levels[position], box.axes[levels[position].axis].extent, part(position)
        if is_symbolic(extent) or extent > length:
            steps = schedule.threads * (STEPS_EACH if position in apart else 1)
            shared = LoopLevel(level.axis, length, is_last=False, is_parallel=True, whole_from=steps)
            own = [replace(one, inside=length) if one is level else one for one in result[count:]]
            result = [*result[:count], shared, *own]
            count += 1
    return result


def _shared(levels: Sequence[LoopLevel], position: int, length: int) -> list[LoopLevel]:
    """Loops of which threads share one, as one around all where it is inside of others or has longer parts."""
    level = levels[position]
    if position == 0 and length == level.step:
        return [replace(level, is_parallel=True), *levels[1:]]
    shared = LoopLevel(level.axis, length, is_last=False, is_parallel=True)
    return [shared, *levels[:position], replace(level, inside=length), *levels[position + 1 :]]


def _crowds_threads(box: Box, shared: int, lanes: int) -> bool:
    """Whether threads that share an axis write between each other's lines of few pages, again and again."""
    axis = box.axes[shared]
    return axis.extent * axis.destination_stride < SHARED_LINES * lanes


def keeps_lines_apart(box: Box, shared: int, lanes: int) -> bool:
    """Whether what lies between the steps of an axis are whole lines, or less than one of its steps."""
    step = box.axes[shared].destination_stride
    return all(
        axis.destination_stride < step or axis.destination_stride % lanes == 0
        for i, axis in enumerate(box.axes)
        if i != shared
    )


def _part(box: Box, tile: Tile, level: LoopLevel, schedule: Schedule) -> int:
    """
    Elements along its axis that a thread takes of a loop at once.

    Whole lines of the destination, for the last thread more than a tile that is moved back, and as many for each.
    """
    axis, tile_steps, lanes = box.axes[level.axis], tile.extents[level.axis], schedule.lanes
    whole = level.step * (lanes // math.gcd(lanes, axis.destination_stride * level.step))
    if is_symbolic(axis.extent):
        return whole
    most = max(min(axis.extent // (whole * THREAD_PARTS), THREAD_PARTS), 1)
    tiles = -(-axis.extent // tile_steps)

    def leaves_one(part: int) -> bool:
        return axis.extent % tile_steps != 0 and (tiles - 1) % (part // tile_steps) == 0 and axis.extent > part

    parts = [whole * lines for lines in range(most, 0, -1) if not leaves_one(whole * lines)]
    shares = {part: evenness(axis.extent, schedule.threads, part) for part in parts}
    if parts:
        return next((part for part in parts if shares[part] >= EVEN_PARTS), max(parts, key=shares.__getitem__))
    part = whole * most
    while leaves_one(part):
        part += whole
    return part
