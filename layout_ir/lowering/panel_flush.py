"""From the scratch buffer of a panel to the destination, in whole cache lines past the caches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import BoolAttr, MemRefType, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.dialects.types import element_type_of
from layout_ir.layouts import affine
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_choice import LINE_BYTES
from layout_ir.lowering.loop_builder import LoopBuilder


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
            source = self._sum(rows, self.panel.pitches)
            # a row and a start of the same axis are two values
            places = [*self.starts.items(), *rows.items()]
            target = self._weighted([(value, strides[i]) for i, value in places], self.panel.group.offset)
            self._run(source, target, self._run_length())

    def _sum(self, values: Mapping[int, SSAValue], strides: Sequence[int]) -> SSAValue:
        return self._weighted([(value, strides[i]) for i, value in values.items()], 0)

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
        kind = cast("MemRefType[Attribute]", self.destination.type)
        width = element_type_of(kind).bytes
        lanes = LINE_BYTES // width
        pointer = memref.ExtractAlignedPointerAsIndexOp.get(self.destination)
        self.builder.insert(pointer)
        address, place, end = map(AffineExpr.dimension, (0, 0, 1))
        position = address // width + AffineExpr.dimension(1)  # in elements, from a line on
        to_line = AffineExpr.constant(lanes - 1) - (position + (lanes - 1)) % lanes
        before = self.builder.index(to_line, [pointer.aligned_pointer, target])
        head = self.builder.insert(arith.MinUIOp(before, length)).results[0]
        tail = self.builder.index(place + (end - place) // lanes * lanes, [head, length])
        self._elements(source, target, self.builder.constant(0), head)
        with self.builder.loop_between(head, tail, "i", lanes) as i:
            line = vector.LoadOp(self.scratch, [self._behind(source, i)], VectorType(kind.element_type, [lanes]))
            line.result.name_hint = "line"
            self.builder.insert(line)
            nontemporal = BoolAttr.from_bool(True)
            place_of_line = [self._behind(target, i)]
            self.builder.insert(vector.StoreOp(line.result, self.destination, place_of_line, nontemporal=nontemporal))
        self._elements(source, target, tail, length)

    def _elements(self, source: SSAValue, target: SSAValue, first: SSAValue, end: SSAValue) -> None:
        with self.builder.loop_between(first, end, "i") as i:
            value = self.builder.load(self.scratch, self._behind(source, i))
            self.builder.store(value, self.destination, self._behind(target, i))

    def _behind(self, start: SSAValue, i: SSAValue) -> SSAValue:
        return self._weighted([(start, 1), (i, 1)], 0)
