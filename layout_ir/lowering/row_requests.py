"""
What tiles ask for ahead of time where rows of the source end soon: the rows that the next tiles take.

The rows of all tiles that one step of an outer loop has, in the order in which they lie, and each tile asks for a share
of them. Tiles that ask for what lies behind their own loads ask for parts of lines, and several times for one line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.plan import Box
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.next_rows import NextRows
from layout_ir.lowering.next_step import LoopAround, next_step
from layout_ir.lowering.row_lines import RowLines
from layout_ir.lowering.schedule import Schedule


@dataclass(frozen=True)
class RowRequests:
    """Asks for the rows of the next tiles."""

    builder: LoopBuilder
    box: Box
    tile: Tile
    rows: NextRows
    schedule: Schedule

    def emit(self, source: SSAValue, starts: Mapping[int, SSAValue], levels: Sequence[LoopLevel]) -> None:
        """Ask for the share of the tile that starts there."""
        axes = self.box.axes
        steps = {level.axis: level.step for level in levels if level.is_last}
        here = [LoopAround(i, starts[i], steps[i], axes[i].extent) for i in self.rows.following]
        following = next_step(self.builder, here)
        terms = [(start, axes[i].source_stride) for i, start in following.items()]
        with ExitStack() as loops:
            for i in (self.rows.shared, *self.rows.others):
                bounds = self.builder.constant(0), self.builder.constant(axes[i].valid)
                if i == self.rows.shared:
                    bounds = self._share(starts)
                loop = self.builder.loop_between(*bounds, f"{axes[i].name}_ahead")
                terms.append((loops.enter_context(loop), axes[i].source_stride))
            row = terms, constant_value(self.box.source_offset)
            length = self.builder.constant(self._length)
            self._lines(steps).ask(self.builder, source, row, self.builder.constant(0), length)

    @property
    def _length(self) -> int:
        """Elements of a row."""
        return math.prod(self.box.axes[i].valid for i in self.rows.along)

    def _lines(self, steps: Mapping[int, int]) -> RowLines:
        axes, lanes = self.box.axes, self.schedule.lanes
        across = [axes[i].source_stride for i in (self.rows.shared, *self.rows.others)]
        places = [axes[i].source_stride * steps[i] for i in self.rows.following]
        starts = [constant_value(self.box.source_offset), *across, *places]
        times = self.schedule.asks_times
        return RowLines.of(self._length, min(across), starts, lanes, at_line=self.schedule.at_line, times=times)

    def _share(self, starts: Mapping[int, SSAValue]) -> tuple[SSAValue, SSAValue]:
        """The steps of the shared axis whose rows a tile asks for: a part of those that it takes itself."""
        shared, among = self.rows.shared, self.rows.among
        step, steps = self.tile.extents[among], self.tile.extents[shared]
        share = -(-steps // -(-self.box.axes[among].extent // step))
        start, position = AffineExpr.dimension(0), AffineExpr.dimension(1)
        at = [starts.get(shared, self.builder.constant(0)), starts[among]]
        first = self.builder.index(start + (position + (step - 1)) // step * share, at)
        behind = self.builder.behind(first, share)
        end = self.builder.behind(at[0], steps)
        own = self.builder.insert(arith.MinUIOp(behind, end)).results[0]
        return first, self.builder.minimum(own, self.box.axes[shared].valid)
