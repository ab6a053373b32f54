"""From the scratch buffer of a panel to the destination, in whole cache lines past the caches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import BoolAttr, MemRefType, VectorType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.dialects.types import element_type_of
from layout_ir.layouts import affine
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_steps import LINE_BYTES
from layout_ir.lowering.loop_builder import LoopBuilder


@dataclass(frozen=True)
class _Ends:
    """The parts of a run."""

    head: SSAValue
    """Elements before the first whole line."""
    first: SSAValue
    """Where the whole lines begin."""
    last: SSAValue
    """Where they end."""
    tail: SSAValue
    """Elements behind them that are written now."""


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

    def emit(self) -> None:
        """The loops over the runs of the panel."""
        axes = self.panel.group.axes
        rows: dict[int, SSAValue] = {}
        with ExitStack() as loops:
            for i in sorted(self.panel.rows, key=lambda i: -axes[i].destination_stride):
                loop = self.builder.loop_between(self.builder.constant(0), self.counts[i], axes[i].name)
                rows[i] = loops.enter_context(loop)
            strides = [axis.destination_stride for axis in axes]
            source = self._weighted([(value, self.panel.pitches[i]) for i, value in rows.items()], self.panel.lead)
            # a row and a start of the same axis are two values
            places = [*self.starts.items(), *rows.items()]
            target = self._weighted([(value, strides[i]) for i, value in places], self.panel.group.offset)
            self._run(source, target, self._run_length())

    def _weighted(self, terms: Sequence[tuple[SSAValue, int]], offset: int) -> SSAValue:
        weights: affine.LinearSum = (
            {AffineExpr.dimension(position): stride for position, (_, stride) in enumerate(terms)},
            offset,
        )
        return self.builder.index(affine.build(weights), [value for value, _ in terms])

    def _run_length(self) -> SSAValue:
        """Elements of a run; its last axis may have fewer steps in the last panel."""
        if not self.panel.run or self.panel.run[-1] not in self.counts:
            return self.builder.constant(self.panel.run_length)
        *inner, last = self.panel.run
        length = math.prod((self.panel.steps[i] for i in inner), start=self.panel.group.stretch)
        return self._weighted([(self.counts[last], length)], 0)

    def _run(self, source: SSAValue, target: SSAValue, length: SSAValue) -> None:
        """One run: the elements before the first whole line, whole lines, what is left."""
        ends = self._ends(target, length)
        self._part(source, target, ends.head)
        with self.builder.loop_between(ends.first, ends.last, "i", self.lanes) as i:
            place = [self._behind(target, i)]
            line = self._line(self._behind(source, i))
            nontemporal = BoolAttr.from_bool(True)
            self.builder.insert(vector.StoreOp(line, self.destination, place, nontemporal=nontemporal))
        self._part(self._behind(source, ends.last), self._behind(target, ends.last), ends.tail)
        if self.panel.carried is not None:
            place, end = map(AffineExpr.dimension, (0, 1))
            left = self._line(self.builder.index(place + end - self.lanes, [source, length]))
            before = self.builder.index(place - self.lanes, [source])
            self.builder.insert(vector.StoreOp(left, self.scratch, [before]))

    def _ends(self, target: SSAValue, length: SSAValue) -> _Ends:
        """
        Where the whole lines of a run begin and end, and how many elements there are before and behind them.

        Where lines are carried from panel to panel, the first whole line begins before the run; only the first panel
        has elements before it, and only the last one writes those behind. Numbers below zero mean none.
        """
        pointer = memref.ExtractAlignedPointerAsIndexOp.get(self.destination)
        self.builder.insert(pointer)
        address, place = map(AffineExpr.dimension, (0, 1))
        position = address // element_type_of(self._kind).bytes + place  # in elements, from a line on
        start, end, begun = map(AffineExpr.dimension, (0, 1, 2))
        carried = self.panel.carried
        if carried is None:
            to_line = AffineExpr.constant(self.lanes - 1) - (position + (self.lanes - 1)) % self.lanes
            before = self.builder.index(to_line, [pointer.aligned_pointer, target])
            first = self.builder.insert(arith.MinUIOp(before, length)).results[0]
        else:
            has_begun = self.builder.minimum(self.starts[carried], 1)
            to_line = AffineExpr.constant(self.lanes) - position % self.lanes - begun * self.lanes
            first = self.builder.index(to_line, [pointer.aligned_pointer, target, has_begun])
        last = self.builder.index(start + (end - start) // self.lanes * self.lanes, [first, length])
        tail = end - start
        operands = [last, length]
        if carried is not None:
            panels_left = AffineExpr.dimension(2) + AffineExpr.dimension(3) - self.panel.group.axes[carried].extent
            tail = tail + panels_left * self.lanes
            operands += [self.starts[carried], self.counts[carried]]
        return _Ends(head=first, first=first, last=last, tail=self.builder.index(tail, operands))

    def _part(self, source: SSAValue, target: SSAValue, count: SSAValue) -> None:
        """Some elements, less than a line, or none."""
        mask = vector.CreateMaskOp([count], VectorType(i1, [self.lanes]))
        line = self._line(source)
        self.builder.insert(mask)
        self.builder.insert(vector.MaskedStoreOp(self.destination, [target], mask.mask_vector, line))

    def _line(self, place: SSAValue) -> SSAValue:
        """A line of the scratch."""
        line = vector.LoadOp(self.scratch, [place], VectorType(self._kind.element_type, [self.lanes]))
        line.result.name_hint = "line"
        self.builder.insert(line)
        return line.result

    @property
    def lanes(self) -> int:
        """Elements of a line."""
        return LINE_BYTES // element_type_of(self._kind).bytes

    @property
    def _kind(self) -> MemRefType[Attribute]:
        return cast("MemRefType[Attribute]", self.destination.type)

    def _behind(self, start: SSAValue, i: SSAValue) -> SSAValue:
        return self._weighted([(start, 1), (i, 1)], 0)
