"""Which of the loops around a tile threads share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.thread_shares import EVEN, evenness
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.share import Share, with_shares
from layout_ir.lowering.unknown_shares import shared_as_needed

THREAD_PARTS = 32
"""Parts into which a loop is cut for threads to share, at least where it is long; and steps of a part, at most."""

SHARED_LINES = 128
"""
Lines of the destination that a loop goes through at least for threads to share it rather than another.

A processor reads ahead of what a thread writes, to the end of a page at most. Where the next lines are another
thread's, it takes them away from that one's cache: on Zen 4, two threads that each write a part of all rows of 1024
bytes are up to 4 times as slow with data in the caches as with rows of their own.
"""

EVEN_LOOP = 0.7
"""Evenness from which on threads share a loop rather than another one inside of it."""

WORTH_SEVERAL = 1.1
"""How much more evenly threads share several loops, or one whose last part is longer, to be worth it."""

EVEN_PARTS = 0.95
"""Evenness from which on a loop is not cut into smaller parts."""

LEAST_PARTS = 1.5
"""Parts of a loop, the last one short, from which on threads share it before others where they crowd each other."""


def parallel(box: Box, tile: Tile, schedule: Schedule, levels: list[LoopLevel]) -> list[LoopLevel]:
    """
    Let threads share a loop: the outermost that keeps their lines of the destination apart and pages between them, or
    else the one whose steps lie farthest from each other there.

    Where only a kernel that runs knows how many steps that has, they share parts of others as well if it has too few;
    where it is too short for so many threads, the parts of several as one.

    Its steps are grouped so that a line belongs to one group: threads that write parts of one line take it from each
    other again and again. Inside of a group the loops keep their order. Where no loop has two such groups, threads
    share the steps of one that has them far apart: a line for two of them where their parts meet, not one in each row.
    """
    loops = _Loops(box, tile, schedule, levels)
    wanted = loops.roomy or loops.apart or loops.farthest[:1]
    if any(is_symbolic(loops.extent(position)) for position in wanted):
        lengths = {position: loops.usual_part(position).length for position in loops.outer}
        return shared_as_needed(box, schedule, levels, lengths, wanted)
    chosen = loops.chosen
    share = max((loops.evenness(*one) for one in chosen.items()), default=1 / schedule.threads)
    if share < EVEN_LOOP:
        parts, share_of_several = loops.several()
        if share_of_several >= WORTH_SEVERAL * share:
            return with_shares(levels, parts)
    return with_shares(levels, chosen)


@dataclass(frozen=True)
class _Loops:
    """The loops around a tile of which threads may share some, each known by its position."""

    box: Box
    tile: Tile
    schedule: Schedule
    levels: Sequence[LoopLevel]

    @cached_property
    def outer(self) -> list[int]:
        """Those that are not inside of a block."""
        return [position for position, level in enumerate(self.levels) if level.inside is None]

    @cached_property
    def apart(self) -> list[int]:
        """Those that keep the lines of threads apart."""
        lanes = self.schedule.lanes
        return [position for position in self.outer if keeps_lines_apart(self.box, self.levels[position].axis, lanes)]

    @cached_property
    def roomy(self) -> list[int]:
        """Those of them that keep pages between the threads as well."""
        return [position for position in self.apart if not self._crowds(position)]

    @cached_property
    def farthest(self) -> list[int]:
        """All, those first whose steps lie farthest from each other in the destination."""
        axes = {position: self.box.axes[self.levels[position].axis] for position in self.outer}
        return sorted(self.outer, key=lambda position: -axes[position].destination_stride)

    @cached_property
    def candidates(self) -> dict[int, list[Share]]:
        """The parts of each that threads may share, the longest first."""
        lanes = self.schedule.lanes
        return {position: _parts(self.box, self.tile, self.levels[position], lanes) for position in self.outer}

    @cached_property
    def parts(self) -> dict[int, Share]:
        """What a thread takes at once of each that is the only one that they share."""
        return {position: self._part(position) for position in self.outer}

    @cached_property
    def chosen(self) -> dict[int, Share]:
        """The one that threads share if it is one, and its parts; none where all are too short."""
        chosen = self._first([*self.roomy, *self.apart], 2, self.parts)
        chosen = chosen or self._first(self.farthest, 2, {i: self._part_that_meets(i) for i in self.outer})
        if not chosen or any(self._crowds(position) for position in chosen):
            chosen = self._first(self.roomy, LEAST_PARTS, self.parts) or chosen
        return chosen

    def several(self) -> tuple[dict[int, Share], float]:
        """The parts of those that threads share evenly as one, no more than it takes, and how evenly they do so."""
        parts: dict[int, Share] = {}
        share = 0.0
        for position in [*self.roomy, *(i for i in self.apart if i not in self.roomy)]:
            least = min(self.candidates[position], key=lambda part: part.length)
            if share < EVEN and least.trips(self.extent(position)) > 1:
                parts[position] = least
                trips = math.prod(part.trips(self.extent(i)) for i, part in parts.items())
                share = evenness(trips, self.schedule.threads)
        return {i: parts[i] for i in self.farthest if i in parts}, share

    def extent(self, position: int) -> int:
        """Elements along the axis of a loop."""
        return self.box.axes[self.levels[position].axis].extent

    def usual_part(self, position: int) -> Share:
        """What a thread takes of a loop at once that has no longer last part."""
        parts = [part for part in self.candidates[position] if not part.longer]
        evenness_of = partial(self.evenness, position)
        return next((part for part in parts if evenness_of(part) >= EVEN_PARTS), max(parts, key=evenness_of))

    def _part(self, position: int) -> Share:
        usual = self.usual_part(position)
        best = max(self.candidates[position], key=partial(self.evenness, position))
        return best if self.evenness(position, best) >= WORTH_SEVERAL * self.evenness(position, usual) else usual

    def _part_that_meets(self, position: int) -> Share:
        """What a thread takes of a loop if none keeps lines apart: one of its steps, if too few are whole lines."""
        part, one = self.parts[position], Share(1)
        is_even = self.levels[position].step == 1 and self.evenness(position, one) >= EVEN
        return one if is_even and self.extent(position) < 2 * part.length else part

    def _first(self, candidates: Sequence[int], least: float, parts: Mapping[int, Share]) -> dict[int, Share]:
        """The first loop that has so many parts and is shared evenly, or else the one that is shared most evenly."""
        whole = {i: parts[i] for i in candidates if self.extent(i) >= least * parts[i].length}
        shares = {i: self.evenness(i, part) for i, part in whole.items()}
        best = max(whole, key=shares.__getitem__, default=None)
        first = next((i for i in whole if shares[i] >= EVEN_LOOP), best)
        return {} if first is None else {first: whole[first]}

    def evenness(self, position: int, part: Share) -> float:
        """How evenly threads share a loop in such parts; an unknown one is taken for evenly shared."""
        extent = self.extent(position)
        return 1 if is_symbolic(extent) else part.evenness(extent, self.schedule.threads)

    def _crowds(self, position: int) -> bool:
        return _crowds_threads(self.box, self.levels[position].axis, self.schedule.lanes)


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


def _parts(box: Box, tile: Tile, level: LoopLevel, lanes: int) -> list[Share]:
    """
    The parts of a loop that threads may share, the longest first.

    Whole lines of the destination, as many for each; for the last thread more than a tile that is moved back, be it as
    a longer part.
    """
    axis, tile_steps = box.axes[level.axis], tile.extents[level.axis]
    whole = level.step * (lanes // math.gcd(lanes, axis.destination_stride * level.step))
    if is_symbolic(axis.extent):
        return [Share(whole)]
    most = max(min(axis.extent // (whole * THREAD_PARTS), THREAD_PARTS), 1)
    rest = axis.extent % tile_steps

    def leaves_one(part: int) -> bool:
        return rest != 0 and (axis.extent // tile_steps) % (part // tile_steps) == 0 and axis.extent > part

    parts = [Share(length, rest if leaves_one(length) else 0) for length in range(whole * most, 0, -whole)]
    if all(part.longer for part in parts):
        length = whole * most
        while leaves_one(length):
            length += whole
        parts.insert(0, Share(length))
    return parts
