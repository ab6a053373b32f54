"""How a panel asks for the rows of the source that the next one takes: line by line, all at once or in parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_source import SourceRows
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.lowering.line_runs import begins_at_line
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.next_panel import NextPanel
from layout_ir.lowering.panel_requests import places_in_second_level
from layout_ir.lowering.picked_lines import picks_from_lines
from layout_ir.lowering.row_lines import RowLines
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.whole_units import are_multiples, products_beside


@dataclass(frozen=True)
class Requests:
    """Asks for the rows that the next panel takes."""

    builder: LoopBuilder
    panel: Panel
    rows: SourceRows
    source: SSAValue
    following: NextPanel
    schedule: Schedule

    def emit(self, part: SSAValue | None, parts: int) -> None:
        """
        Ask for one of so many parts of the rows; None for all of them at once.

        A kernel for all sizes looks whether rows begin at lines: requests for any others take longer, or come later.
        """
        axes, steps, lanes = self.panel.group.main.axes, self.panel.steps, self.schedule.lanes
        across = [axes[i].source_stride for i in self.rows.across]
        starts = [axes[i].source_stride * steps[i] for i in self.following.starts]
        places = [constant_value(self.panel.group.main.source_offset), *across, *starts]
        lines = RowLines.of(self.rows.length, min(across), places, lanes, at_line=self.schedule.at_line)
        kept = self._are_kept()
        if kept is None:
            self._emit(lines, places, part, parts)
        else:
            self.builder.choose(kept, lambda: self._emit(lines, places, part, parts), lambda: None)

    def _are_kept(self) -> SSAValue | None:
        """Whether a cache has places for as many rows as only a call tells; None where there is no need to look."""
        count = self.rows.taken[self.rows.longest_across]
        if not is_symbolic(count) or picks_from_lines(self.panel.group.main, self.schedule):
            return None
        places = places_in_second_level(self.panel, self.rows, LINE_BYTES // self.schedule.lanes)
        assert places is not None, "expected rows a known distance apart"
        return self.builder.compare(self.builder.constant(count), "ule", self.builder.constant(places))

    def _emit(self, lines: RowLines, places: Sequence[int], part: SSAValue | None, parts: int) -> None:
        conditions = self._begin_at_lines(places)
        if conditions is None:
            self._ask(lines, part, parts)
            return
        at_lines = replace(lines, begin_at_lines=True, end_alone=False)
        self.builder.choose(
            self.builder.all_hold(conditions),
            lambda: self._ask(at_lines, part, parts),
            lambda: self._ask(lines, part, parts),
        )

    def _ask(self, lines: RowLines, part: SSAValue | None, parts: int) -> None:
        axes = self.panel.group.main.axes
        most = self.rows.longest_across
        places = [(start, axes[i].source_stride) for i, start in self.following.starts.items()]
        with ExitStack() as loops:
            for i in sorted(self.rows.across, key=lambda i: (i != most, -axes[i].source_stride)):
                bounds = self.builder.constant(0), self._count(i)
                if i == most and part is not None:
                    bounds = self._share(part, parts, i)
                loop = self.builder.loop_between(*bounds, f"{axes[i].name}_ahead")
                places.append((loops.enter_context(loop), axes[i].source_stride))
            row = places, constant_value(self.panel.group.main.source_offset)
            lines.ask(self.builder, self.source, row, self._first(lines), self._length())

    def _begin_at_lines(self, places: Sequence[int]) -> list[SSAValue] | None:
        """Whether a source of unknown sizes, and all places that are sums of multiples, begin at lines; None: never."""
        if self.builder.unknown is None:
            return None
        products = products_beside(places, self.schedule.lanes, self.builder.unknown.symbols)
        if products is None:
            return None
        return [begins_at_line(self.builder, self.source), *are_multiples(self.builder, products, self.schedule.lanes)]

    def _first(self, lines: RowLines) -> SSAValue:
        """The element of a row from which on lines are asked for: where rows go on, this panel has read their first."""
        none, innermost = self.builder.constant(0), list(self.following.starts)[-1]
        goes_on = self.panel.group.main.axes[innermost].source_stride == 1 and not lines.begin_at_lines
        if not goes_on or not self.schedule.processor.asks_line_behind:
            return none
        return self.builder.select(self.following.turns, none, self.builder.constant(self.schedule.lanes))

    def _count(self, i: int) -> SSAValue:
        """Steps of an axis in the next panel."""
        return self.following.counts.get(i, self.builder.constant(self.rows.taken[i]))

    def _length(self) -> SSAValue:
        """Elements of a row in the next panel."""
        if not self.rows.along:  # what is left of blocks of channels: one of each
            return self.builder.constant(1)
        *inner, last = self.rows.along
        length = math.prod(self.rows.taken[i] for i in inner)
        return self.builder.index(AffineExpr.dimension(0) * length, [self._count(last)])

    def _share(self, part: SSAValue, parts: int, i: int) -> tuple[SSAValue, SSAValue]:
        """The steps of an axis that belong to a part."""
        steps = -(-self.rows.taken[i] // parts)
        first = self.builder.index(AffineExpr.dimension(0) * steps, [part])
        behind = self.builder.behind(first, steps)
        return first, self.builder.insert(arith.MinUIOp(behind, self._count(i))).results[0]
