"""What a panel asks for while it is written: the rows of the source that the next one takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.layouts import affine
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_source import SourceRows, source_rows
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.lowering.line_sequences import STREAMS
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.prefetch_attribute import with_prefetch

SETS_BYTES, PLACES_OF_SET = 128 << 10, 8
"""Bytes after which the sets of a second level cache repeat, and lines of each: 1 MiB on Zen 4."""


def next_rows(panel: Panel, following: int, element_bytes: int) -> SourceRows | None:
    """
    The rows that are worth to be asked for ahead, where the next panel follows along the axis `following`.

    None where they are so few that a processor's own prefetcher follows them, where so many belong to one set of a
    second level cache that they drive each other out, and where it is not known how far away the next ones are.
    """
    rows = source_rows(panel)
    axes = panel.group.main.axes
    if is_symbolic(axes[following].source_stride) or any(map(is_symbolic, rows.taken)):
        return None
    if any(not axis.is_full for axis in axes) or math.prod(rows.taken[i] for i in rows.across) < STREAMS:
        return None
    most = longest_across(rows)
    stride = axes[most].source_stride
    if is_symbolic(stride):
        return rows
    places = PLACES_OF_SET * SETS_BYTES // math.gcd(stride * element_bytes, SETS_BYTES)
    return rows if rows.taken[most] <= places else None


def longest_across(rows: SourceRows) -> int:
    """The axis across rows with the most steps."""
    return max(rows.across, key=lambda i: rows.taken[i])


@dataclass(frozen=True)
class Requests:
    """Asks for the rows that the next panel takes."""

    builder: LoopBuilder
    panel: Panel
    rows: SourceRows
    source: SSAValue
    starts: Mapping[int, SSAValue]
    """First step of the shared axes that are cut into panels."""
    counts: Mapping[int, SSAValue]
    """Steps in this panel of the shared axes that have several."""
    lanes: int

    def emit(self, part: SSAValue | None, parts: int) -> None:
        """Ask for one of so many parts of the rows; None for all of them at once."""
        axes = self.panel.group.main.axes
        most = longest_across(self.rows)
        places = [(start, axes[i].source_stride) for i, start in self.starts.items()]
        with ExitStack() as loops:
            for i in sorted(self.rows.across, key=lambda i: (i != most, -axes[i].source_stride)):
                bounds = self.builder.constant(0), self._count(i)
                if i == most and part is not None:
                    bounds = self._share(part, parts, i)
                loop = self.builder.loop_between(*bounds, f"{axes[i].name}_ahead")
                places.append((loops.enter_context(loop), axes[i].source_stride))
            loop = self.builder.loop_between(self.builder.constant(0), self._length(), "ahead", self.lanes)
            places.append((loops.enter_context(loop), 1))
            self._ask(places)

    def _ask(self, places: list[tuple[SSAValue, int]]) -> None:
        """Ask for what the next panel takes in place of the element there."""
        weights: dict[AffineExpr, int] = {
            AffineExpr.dimension(position): stride for position, (_, stride) in enumerate(places)
        }
        offset = affine.constant_value(self.panel.group.main.source_offset)
        place = self.builder.index(affine.build((weights, offset)), [value for value, _ in places])
        following = list(self.starts)[-1]
        ahead = self.panel.steps[following] * self.panel.group.main.axes[following].source_stride
        kind = VectorType(cast("MemRefType[Attribute]", self.source.type).element_type, [1])
        self.builder.insert(with_prefetch(vector.LoadOp(self.source, [place], kind), ahead, is_far=True))

    def _count(self, i: int) -> SSAValue:
        """Steps of an axis in this panel."""
        return self.counts.get(i, self.builder.constant(self.rows.taken[i]))

    def _length(self) -> SSAValue:
        """Elements of a row in this panel."""
        if not self.rows.along:  # what is left of blocks of channels: one of each
            return self.builder.constant(1)
        *inner, last = self.rows.along
        length = math.prod(self.rows.taken[i] for i in inner)
        return self.builder.index(AffineExpr.dimension(0) * length, [self._count(last)])

    def _share(self, part: SSAValue, parts: int, i: int) -> tuple[SSAValue, SSAValue]:
        """The steps of an axis that belong to a part."""
        steps = -(-self.rows.taken[i] // parts)
        first = self.builder.index(AffineExpr.dimension(0) * steps, [part])
        behind = self.builder.index(AffineExpr.dimension(0) + steps, [first])
        return first, self.builder.insert(arith.MinUIOp(behind, self._count(i))).results[0]
