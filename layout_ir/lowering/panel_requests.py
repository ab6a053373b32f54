"""
What panels ask for ahead of time.

The next region of the source while one is moved, or the rows of the next panel while one is written; and of the
destination the lines at the ends of later runs.
"""

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
from layout_ir.layouts.panel_costs import has_ends, next_region
from layout_ir.layouts.panel_source import STREAMS, SourceRows, places_of_rows, source_rows
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.lowering.line_runs import begins_at_line
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.next_panel import NextPanel
from layout_ir.lowering.picked_lines import picks_from_lines
from layout_ir.lowering.request_model import PAGE_LINES
from layout_ir.lowering.row_lines import RowLines
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.source_prefetching import MANY_ROWS
from layout_ir.lowering.whole_units import are_multiples, products_beside

ENDS_AHEAD_BYTES = 4096
"""What is written between asking for the lines at the ends of runs and writing them, at least."""

SETS_BYTES, PLACES_OF_SET = 128 << 10, 8
"""Bytes after which the sets of a second level cache repeat, and lines of each, as in the first: 1 MiB on Zen 4."""

PANELS_READ_ON = 8
"""Panels that a sequence of lines goes on for, at least, where each asks for what the next one reads."""


def asked_region(panel: Panel, walk: Sequence[int], schedule: Schedule) -> int | None:
    """The axis of which a panel asks for the next region; None where there are none, or it asks in another way."""
    if not schedule.prefetches or schedule.preferences.prefetch_tiles:
        return None
    costs = schedule.processor.costs_of_panels(at_lines=schedule.at_line)
    return next_region(panel, walk, LINE_BYTES // schedule.lanes, costs)


def asked_rows(panel: Panel, walk: Sequence[int], schedule: Schedule) -> SourceRows | None:
    """The rows of the next panel that a panel asks for while it is written; None where there are none, or no need."""
    if not walk or not schedule.prefetches or not schedule.processor.asks_for_next_panel:
        return None
    if schedule.processor.follows_one_sequence and _next_in_sequence(panel, walk, schedule.lanes):
        return None
    if panel.region is not None:
        asks = picks_from_lines(panel.group.main, schedule) or _follows_along_rows(panel, walk[-1], schedule)
        return source_rows(panel) if asks else None
    if asked_region(panel, walk, schedule) is not None:
        return None
    return _next_rows(panel, walk[-1], LINE_BYTES // schedule.lanes)


def _follows_along_rows(panel: Panel, following: int, schedule: Schedule) -> bool:
    """
    Whether the next panel is another part of the same step: of rows of unknown number, a known distance apart.

    Bytes are 0.62 to 1.05 times as fast on Granite Rapids where those are asked for.
    """
    if not schedule.processor.asks_for_next_part or schedule.lanes == LINE_BYTES or following == panel.region:
        return False
    axes, rows = panel.group.main.axes, source_rows(panel)
    if axes[following].source_stride != 1 or not rows.across or not all(axis.is_full for axis in axes):
        return False
    return is_symbolic(rows.taken[rows.longest_across]) and not is_symbolic(axes[rows.longest_across].source_stride)


def _next_rows(panel: Panel, following: int, element_bytes: int) -> SourceRows | None:
    """
    The rows that are worth to be asked for ahead, where the next panel follows along the axis `following`.

    None where they are so few that a processor's own prefetcher follows them, where so many belong to one set of a
    second level cache that they drive each other out, and where it is not known how far away the next ones are.
    """
    rows = source_rows(panel)
    axes = panel.group.main.axes
    if is_symbolic(axes[following].source_stride) or any(map(is_symbolic, rows.taken)):
        return None
    if any(not axis.is_full for axis in axes) or rows.count < STREAMS:
        return None
    places = _places_in_second_level(panel, rows, element_bytes)
    return rows if places is None or rows.taken[rows.longest_across] <= places else None


def _places_in_second_level(panel: Panel, rows: SourceRows, element_bytes: int) -> int | None:
    """How many of the rows a second level cache has places for; None for rows an unknown distance apart."""
    return places_of_rows(panel, rows, SETS_BYTES // element_bytes, PLACES_OF_SET)


def is_asked_before(panel: Panel, walk: Sequence[int], rows_of_tile: int, schedule: Schedule) -> bool:
    """
    Whether what tiles ask for within a panel has been asked for before, so that they need not ask again and again.

    Measured on Zen 4, for tiles of many rows where lines are carried: with requests that are repeated they take 1.05
    times as long, but where a first level cache has no places for the rows of a tile, 0.9 times. Those that pick few
    elements of lines, of 1 and 2 bytes, take 1.05 to 1.15 times as long with them.
    """
    rows = asked_rows(panel, walk, schedule)
    if rows is None:
        return False
    if picks_from_lines(panel.group.main, schedule):
        return True
    if panel.region is not None or panel.carried is None or rows_of_tile < MANY_ROWS:
        return False
    places = places_of_rows(panel, rows, PAGE_LINES * schedule.lanes, PLACES_OF_SET)
    return places is not None and places >= rows_of_tile


def sequence_ahead(panel: Panel, walk: Sequence[int], schedule: Schedule) -> int:
    """
    How many elements behind what a panel reads the next one does, where all of them read one sequence of lines; else 0.

    A panel reads nothing while it is written, and then faster than memory delivers: what is asked for only a few lines
    ahead comes too late. Half a line further than where the next panel begins, loads inside of lines lead to lines that
    the last ones left out. On Zen 4 three or four channels out of blocks of 16 are taken 1.1 to 1.8 times as fast so,
    and most other sequences up to 1.2 times.
    """
    if not schedule.processor.asks_for_next_panel or schedule.processor.follows_one_sequence:
        return 0
    return _next_in_sequence(panel, walk, schedule.lanes)


def _next_in_sequence(panel: Panel, walk: Sequence[int], lanes: int) -> int:
    """
    How many elements behind what a panel reads of one sequence of lines the next one does, and half a line.

    0 where they read several sequences, or too short a one.
    """
    if sum(not box.is_fill for box in panel.group.boxes) > 1:
        return 0
    axes, rows = panel.group.main.axes, source_rows(panel)
    length, ahead = rows.length, 0
    for i in sorted(rows.across, key=lambda i: axes[i].source_stride):
        if not 0 < axes[i].source_stride < length + lanes:
            return 0
        length += axes[i].source_stride * (rows.taken[i] - 1)
    for i in reversed(walk):
        step = axes[i].source_stride * panel.steps[i]
        if not 0 < step < length + lanes:
            break
        ahead = ahead or step
        length += step * (-(-axes[i].extent // panel.steps[i]) - 1)
    reads_on = length >= PANELS_READ_ON * ahead and not is_symbolic(ahead)
    return ahead + lanes // 2 if ahead and reads_on else 0


def line_behind(schedule: Schedule) -> int:
    """
    Elements by which a panel asks for more than where the next one begins along the rows of the source.

    Where rows begin inside of lines, the line there is this panel's last.
    """
    return schedule.lanes if schedule.processor.asks_line_behind else 0


def ends_ahead(panel: Panel, walk: Sequence[int], schedule: Schedule) -> int:
    """
    How many elements behind the runs of a panel those of a later one are whose ends it asks for; 0: it does not.

    A part of a line is an ordinary store, for which the line has to come from memory first, and all stores behind it
    wait. Where lines are carried there are next to none.
    """
    if not walk or panel.carried is not None or not schedule.processor.asks_for_ends:
        return 0
    if not has_ends(panel, LINE_BYTES // schedule.lanes, at_lines=schedule.at_line):
        return 0
    if panel.region is not None:
        return 0  # how far away later runs are is not known
    panels = -(-ENDS_AHEAD_BYTES * schedule.lanes // (panel.size * LINE_BYTES))
    return panels * panel.steps[walk[-1]] * panel.group.axes[walk[-1]].destination_stride


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
        places = _places_in_second_level(self.panel, self.rows, LINE_BYTES // self.schedule.lanes)
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
