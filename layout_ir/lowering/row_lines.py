"""Requests for the lines in which a row of the source lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from layout_ir.layouts.symbols import is_multiple
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.prefetch_attribute import SECOND_LEVEL, request


@dataclass(frozen=True)
class RowLines:
    """How the lines of rows that are alike are asked for."""

    lanes: int
    """Elements of a line."""

    begin_at_lines: bool
    """Whether rows begin at lines, if the source does so."""

    end_alone: bool
    """Whether rows end in lines of their own, which no multiple of a line from their beginnings leads to."""

    times: int = 1
    """How many times each line is asked for."""

    @staticmethod
    def of(length: int, nearest: int, starts: Sequence[int], lanes: int, *, at_line: bool, times: int = 1) -> RowLines:
        """
        For rows of so many elements, the nearest of which are so far apart.

        `starts`: numbers of elements of which where rows begin are sums of multiples. `at_line`: whether the source may
        begin at a line.
        """
        begin_at_lines = at_line and all(is_multiple(start, lanes) for start in starts)
        end_alone = not begin_at_lines and length >= lanes // 2 and nearest >= length + lanes
        return RowLines(lanes, begin_at_lines, end_alone, times)

    def ask(
        self,
        builder: LoopBuilder,
        source: SSAValue,
        row: tuple[Sequence[tuple[SSAValue, int]], int],
        first: SSAValue,
        length: SSAValue,
    ) -> None:
        """Ask for the lines of so many elements from the element `first` of a row on, which begins at a place."""
        terms, offset = row
        last = builder.place([(length, 1)], -1) if self.end_alone else length
        end = builder.place([(last, 1)], self.lanes) if self.end_alone else length
        with builder.loop_between(first, end, "ahead", self.lanes) as ahead:
            element = ahead
            if self.end_alone:
                element = builder.insert(arith.MinUIOp(ahead, last)).results[0]
            place = builder.place([*terms, (element, 1)], offset)
            builder.insert(request(source, place, SECOND_LEVEL, self.times))
