"""One loop around a tile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from layout_ir.lowering.next_rows import NextRows
from layout_ir.lowering.share_of_requests import Share


@dataclass(frozen=True)
class WholeLines:
    """
    How a kernel shortens the steps of a loop that threads share, if the numbers it is called with let it.

    Steps of a length that is whole lines for any numbers may be too few for all threads: those that are for these
    numbers are as good, and steps of one element if there are too few of those as well.
    """

    lanes: int
    """Elements of a vector, which is taken for a line; it may be half of one."""
    enough: int
    """Steps from which on there are enough for all threads."""


@dataclass(frozen=True)
class EvenParts:
    """
    How a kernel lengthens the steps of a loop that threads share, so that they are no more than it takes.

    Loops inside of a step leave the rows that it goes along again and again, and return to them with the next one. On
    Emerald Rapids one image of 35 x 128 x 128 bytes, NHWC to nChw16c with two threads, is at 0.89 of the speed of a
    kernel for one size so, and at 0.76 in steps of 16 lines.
    """

    unit: int
    """Elements of whole lines."""
    count: int
    """Steps that are enough for all threads."""


@dataclass(frozen=True)
class MeetingRows:
    """
    Rows of the destination in each of which two steps of a loop that threads share meet in one line.

    Unless these begin at lines, such a loop is left whole where other loops have steps enough.
    """

    lanes: int
    apart: tuple[int, ...]
    """Elements from row to row."""


@dataclass(frozen=True)
class LoopLevel:
    """One loop over the starts of tiles (or of blocks of tiles) along an axis."""

    axis: int
    step: int
    inside: int | None = None
    """Length of the block that the loop walks, None for the whole axis."""
    longer: int = 0
    """
    Elements that the last of these blocks has beyond that.

    For the loop over the blocks: elements at the end of the axis that belong to its last block, and begin none.
    """
    is_last: bool = True
    """Whether no further loop cuts this axis."""
    is_even: bool = False
    """Whether a kernel has seen that steps divide the axis, of which the plan does not know how long it is."""
    prefetch: int = 0
    """Elements of the source ahead of which each load prefetches."""
    is_far: bool = False
    """Whether that is used so much later that it belongs into a second level cache."""
    rows_together: int = 0
    """Elements of all the rows that a tile reads, of unknown length: if they are short, loads ask behind them all."""
    together_at_most: int = 0
    """How many elements those are at most if they are short; 0: this depends on how far ahead loads ask otherwise."""
    near: int = 0
    """The same as `prefetch` for rows, pages apart, that begin at lines or their middles; 0 if it is no other."""
    near_unit: int = 0
    """What `rows_together` is a multiple of where rows do so."""
    steps_apart: int = 0
    """Elements of the source, of unknown number, that lie between a tile and the same one of the next panel."""
    parts_apart: int = 0
    """The same for the next part of a step, of a number that may be unknown; 0 where panels take whole steps."""
    step_at_most: int = 0
    """Elements of the largest step that parts ask for one step ahead; of a larger one they ask for the next part."""
    is_asked_for: bool = False
    """Whether most of it has been asked for before, so that the loads of a tile that has many ask once."""
    tiles: int = 0
    """Tiles after which the one comes whose source is asked for, in the order of all loops around it."""
    rows: NextRows | None = None
    """The rows that the tiles inside ask for together, instead."""
    share: Share | None = None
    """What each tile inside asks for of that which they ask for together, instead."""
    is_parallel: bool = False
    lines: WholeLines | None = None
    """How steps of the parallel loop are shortened; None: never."""
    even: EvenParts | None = None
    """How steps of the parallel loop are lengthened; None: never."""
    meeting: MeetingRows | None = None
    """What keeps the parallel loop from being cut into steps; None: nothing does."""
    whole_from: int = 0
    """Trips of the parallel loops around this one from which on it is not cut into steps; 0: none keep it whole."""

    @property
    def is_as_needed(self) -> bool:
        """Whether only a kernel that runs knows how long the steps are that threads take."""
        return self.lines is not None or self.whole_from > 0

    def behind(self, count: int) -> LoopLevel:
        """The same loop around a tile of a box that has so many axes in front."""
        rows = None if self.rows is None else self.rows.behind(count)
        share = None if self.share is None else self.share.behind(count)
        return replace(self, axis=self.axis + count, rows=rows, share=share)


def undivided(levels: Sequence[LoopLevel]) -> list[LoopLevel]:
    """
    Loops as they are where threads have enough of the outermost: not cut into parts that are as long as needed.

    Nor are further ones cut, in blocks as long as such a part: with those distances 11 copies between NCHW and NHWC are
    1.06 times as fast with two threads on Emerald Rapids.
    """
    as_needed = {level.axis: level.step for level in levels if level.is_as_needed}
    return [
        replace(level, inside=None) if level.inside == as_needed.get(level.axis, 0) else level
        for level in levels
        if not level.is_as_needed
    ]
