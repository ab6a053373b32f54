"""Which loops of unknown length threads share, and what only a kernel that runs knows of how."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.lowering.loop_level import EvenParts, LoopLevel, MeetingRows, WholeLines
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.share import Share, with_shares

UNKNOWN_PARTS = 4
"""Steps of a part of a loop inside of others of which only a kernel that runs knows how long it is."""

STEPS_EACH = 4
"""Steps for each thread from which on they share a loop evenly enough."""

LEAST_EACH = 2
"""Parts of whole lines for each thread below which threads share lines where their parts meet, but work evenly."""

MANY_MEETING_ROWS = 32
"""
Rows of the destination, in each of which two threads write a line where their parts meet, from which on it shows.

On Emerald Rapids 64 channels of 75 x 75 in f16 take NHWC to NCHW, with data in the caches, at 0.65 of the speed of a
kernel for one size if parts of planes meet in all of them, and at 0.92 if each thread has planes of its own.
"""


def axes_across(box: Box, along: Axis, others: Collection[Axis]) -> list[Axis]:
    """The axes of a box, but for others, that lead from row to row of the destination across one of them."""
    return [axis for axis in box.axes if axis not in others and axis.destination_stride > along.destination_stride]


def shared_as_needed(
    box: Box, schedule: Schedule, levels: Sequence[LoopLevel], lengths: Mapping[int, int], apart: Sequence[int]
) -> list[LoopLevel]:
    """
    Loops of unknown length of which threads share the first, and parts of the others if that has too few steps.

    `lengths`: of the parts of each loop, by its position. `apart`: those that had better be shared, which are cut
    as soon as the steps of those before are not many for each thread; any other loop only if some have no step at all.
    Whichever they are, those come first whose parts are the longest stretches of both sides.
    """
    loops = _Loops(box, schedule, levels, lengths, apart)
    result = with_shares(levels, {loops.first: Share(loops.length(loops.first))})
    if levels[loops.first].step == 1 < result[0].step:
        result[0] = replace(result[0], lines=WholeLines(schedule.lanes, LEAST_EACH * schedule.threads))
    count = 1
    for position in loops.others:
        level, extent, length = levels[position], loops.axis(position).extent, loops.length(position)
        if is_symbolic(extent) or extent > length:
            own = [replace(one, inside=length) if one is level else one for one in result[count:]]
            result = [*result[:count], loops.part(position), *own]
            count += 1
    return result


@dataclass(frozen=True)
class _Loops:
    """The loops that threads may share parts of, each known by its position."""

    box: Box
    schedule: Schedule
    levels: Sequence[LoopLevel]
    lengths: Mapping[int, int]
    apart: Sequence[int]

    @cached_property
    def _in_order(self) -> list[int]:
        """Those that had better be shared, and then all others."""
        return [*self.apart, *(position for position in self.lengths if position not in self.apart)]

    @property
    def first(self) -> int:
        """The outermost of them."""
        return self._in_order[0]

    @cached_property
    def others(self) -> list[int]:
        """The others, in the order in which they are around each other."""
        return sorted(self._in_order[1:], key=self._stretch, reverse=True)

    def axis(self, position: int) -> Axis:
        """What a loop goes along."""
        return self.box.axes[self.levels[position].axis]

    def length(self, position: int) -> int:
        """Elements of a part."""
        is_long = position > 0 and is_symbolic(self.axis(position).extent)
        return self.lengths[position] * (UNKNOWN_PARTS if is_long else 1)

    def part(self, position: int) -> LoopLevel:
        """The parallel loop over the parts of one."""
        length, unit, threads = self.length(position), self.lengths[position], self.schedule.threads
        return LoopLevel(
            self.levels[position].axis,
            length,
            is_last=False,
            is_parallel=True,
            whole_from=threads * (STEPS_EACH if position in self.apart else 1),
            even=EvenParts(unit, threads) if length > unit else None,
            meeting=self._meeting(position),
        )

    def _stretch(self, position: int) -> int:
        """
        Elements between the beginnings of two parts on the side where those are fewer: of few, threads use one page.

        Unknown ones are taken for many.
        """
        axis = self.axis(position)
        return self.length(position) * min(axis.source_stride, axis.destination_stride)

    def _meeting(self, position: int) -> MeetingRows | None:
        """The rows in which parts of a loop meet, if they are many, and threads have parts enough of other loops."""
        cut = math.prod(self._known_trips(i) for i in self.others if not self._meets(i))
        if not self._meets(position) or cut < self.schedule.threads:
            return None
        return MeetingRows(self.schedule.lanes, tuple(axis.destination_stride for axis in self._rows_across(position)))

    def _meets(self, position: int) -> bool:
        """Whether parts of a loop may meet in lines of many rows; an unknown number is taken for many."""
        rows = math.prod(axis.extent for axis in self._rows_across(position))
        return position not in self.apart and rows >= MANY_MEETING_ROWS

    def _rows_across(self, position: int) -> list[Axis]:
        """The axes that lead from row to row of a step of the outermost loop, all of which a loop goes along."""
        return axes_across(self.box, self.axis(position), [self.axis(self.first)])

    def _known_trips(self, position: int) -> int:
        """The parts of a loop, if their number is known; else one."""
        extent = self.axis(position).extent
        return 1 if is_symbolic(extent) else -(-extent // self.length(position))
