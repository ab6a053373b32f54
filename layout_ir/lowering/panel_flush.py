"""From the scratch buffer of a panel to the destination, in whole cache lines past the caches."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from xdsl.dialects import vector
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.layouts.panel import Panel
from layout_ir.lowering.line_runs import LineRuns
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.next_panel_requests import Requests


@dataclass(frozen=True)
class Flush:
    """Writes the present panel."""

    builder: LoopBuilder
    panel: Panel
    scratch: SSAValue
    destination: SSAValue
    starts: Mapping[int, SSAValue]
    """First step of the shared axes that are cut into panels."""
    counts: Mapping[int, SSAValue]
    """Steps in this panel of the shared axes that have several."""
    along: tuple[int, ...]
    """The axes along which parts of lines are carried; none where they are not."""
    requests: Requests | None
    """Asks for the source of the next panel meanwhile."""
    ahead: int
    """How many elements behind the ends of this panel's runs are those that it asks for."""
    part: tuple[SSAValue, SSAValue] | None = None
    """Where steps begin and end of the axis along which lines are carried; None where all of it is moved in order."""

    def emit(self) -> None:
        """The loops over the runs of the panel."""
        axes = self.panel.group.axes
        rows: dict[int, SSAValue] = {}
        with ExitStack() as loops:
            for i in sorted(self.panel.rows, key=lambda i: -axes[i].destination_stride):
                loop = self.builder.loop_between(self.builder.constant(0), self.counts[i], axes[i].name)
                rows[i] = loops.enter_context(loop)
                if len(rows) == 1 and self.requests is not None:
                    self.requests.emit(rows[i], self.panel.steps[i])
            if not rows and self.requests is not None:
                self.requests.emit(None, 1)
            strides = [axis.destination_stride for axis in axes]
            source = self.builder.place([(value, self.panel.pitches[i]) for i, value in rows.items()], self.panel.lead)
            # a row and a start of the same axis are two values
            places = [*self.starts.items(), *rows.items()]
            target = self.builder.place([(value, strides[i]) for i, value in places], self.panel.group.offset)
            self._run(source, target, self._run_length())

    def _run_length(self) -> SSAValue:
        """Elements of a run; its last axis may have fewer steps in the last panel."""
        if not self.panel.run or self.panel.run[-1] not in self.counts:
            return self.builder.constant(self.panel.run_length)
        *inner, last = self.panel.run
        length = math.prod((self.panel.steps[i] for i in inner), start=self.panel.group.stretch)
        return self.builder.place([(self.counts[last], length)], 0)

    def _run(self, source: SSAValue, target: SSAValue, length: SSAValue) -> None:
        """One run; what is left of its last line goes where the next panel begins."""
        runs = LineRuns(self.builder, self.scratch, self.destination, self.ahead)
        if not self.along:
            runs.copy(source, target, runs.ends(target, length))
            return
        has_begun = self.builder.minimum(self._steps_behind(), 1)
        runs.copy(source, target, runs.carried_ends(target, length, has_begun, self._steps_left()))
        place, end = map(AffineExpr.dimension, (0, 1))
        left = runs.line(self.builder.index(place + end - runs.lanes, [source, length]))
        before = self.builder.index(place - runs.lanes, [source])
        self.builder.insert(vector.StoreOp(left, self.scratch, [before]))

    def _steps_behind(self) -> SSAValue:
        """Steps of the axes along which lines are carried that have been moved: of all axes together."""
        if self.part is not None:
            (i,) = self.along
            return self.builder.index(AffineExpr.dimension(0) - AffineExpr.dimension(1), [self.starts[i], self.part[0]])
        return self.builder.place([(self.starts[i], 1) for i in self.along], 0)

    def _steps_left(self) -> SSAValue:
        """The same that are behind this panel."""
        axes = self.panel.group.axes
        left, values = AffineExpr.constant(0), list[SSAValue]()
        if self.part is not None:
            (i,) = self.along
            left, values = AffineExpr.dimension(0) - axes[i].extent, [self.part[1]]
        for i in self.along:
            start, count = AffineExpr.dimension(len(values)), AffineExpr.constant(1)
            values.append(self.starts[i])
            if i in self.counts:
                count = AffineExpr.dimension(len(values))
                values.append(self.counts[i])
            left = left + axes[i].extent - start - count
        return self.builder.index(left, values)
