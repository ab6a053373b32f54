"""One copy as nests of parallel loops, from which device kernels are made: no step of a nest waits for another."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager

from xdsl.builder import Builder
from xdsl.dialects import arith, memref, scf
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from layout_ir.layouts.plan import Axis, Box, CopyPlan
from layout_ir.lowering.box_loops import Buffers, shifted
from layout_ir.lowering.loop_builder import LoopBuilder


class ParallelBuilder(LoopBuilder):
    """Emits nests whose every loop is parallel, and elements that may be pads."""

    def parallel(self, stack: ExitStack, extents: Sequence[int], names: Sequence[str]) -> list[SSAValue]:
        """Enter one parallel loop an extent, outermost first; their indices."""
        first = self.constant(0)
        return [
            stack.enter_context(self.loop_between(first, self.constant(extent), name, is_parallel=True))
            for extent, name in zip(extents, names, strict=True)
        ]

    @contextmanager
    def when(self, condition: SSAValue | None) -> Generator[None]:
        """What is emitted inside the `with` block happens only where a condition holds; None holds everywhere."""
        if condition is None:
            yield
            return
        body = Block()
        self.insert(scf.IfOp(condition, [], Region(body)))
        outside, self._builder = self._builder, Builder(InsertPoint.at_end(body))
        try:
            yield
            self.insert(scf.YieldOp())
        finally:
            self._builder = outside

    def compare(self, left: SSAValue, predicate: str, right: SSAValue) -> SSAValue:
        """The comparison of two indices; `predicate` as in arith.cmpi."""
        return self.insert(arith.CmpiOp(left, right, predicate)).results[0]

    def every(self, conditions: Sequence[SSAValue]) -> SSAValue | None:
        """Whether all conditions hold; None of no condition."""
        result: SSAValue | None = None
        for condition in conditions:
            result = condition if result is None else self.insert(arith.AndIOp(result, condition)).results[0]
        return result

    def select(self, condition: SSAValue, then: SSAValue, otherwise: SSAValue) -> SSAValue:
        """One of two values."""
        return self.insert(arith.SelectOp(condition, then, otherwise)).results[0]

    def load_or(
        self, condition: SSAValue | None, buffer: SSAValue, index: SSAValue, other: SSAValue | None
    ) -> SSAValue:
        """
        An element of a buffer where a condition holds, else `other`.

        Where it does not hold, the first element is read instead: work items take one path, and none reads outside.
        """
        if condition is None:
            return self.load(buffer, index)
        assert other is not None
        value = self.insert(memref.LoadOp.get(buffer, [self.select(condition, index, self.constant(0))])).results[0]
        return self.select(condition, value, other)


def emit_parallel_plan(builder: ParallelBuilder, plan: CopyPlan, buffers: Buffers) -> None:
    """The nests of a plan, in the order in which they have to run: what fills everything comes before the boxes."""
    if plan.fill_first is not None and buffers.pad is not None:
        with ExitStack() as stack:
            (cell,) = builder.parallel(stack, [plan.fill_first], ["cell"])
            builder.store(buffers.pad, buffers.destination, cell)
    for box in plan.boxes:
        emit_parallel_box(builder, box, buffers)


def emit_parallel_box(builder: ParallelBuilder, box: Box, buffers: Buffers) -> None:
    """One nest for a box: every step copies an element or, beyond the valid steps of an axis, writes a pad."""
    pads = buffers.pad is not None
    if not pads and box.is_fill:
        return
    lengths = [axis.extent if pads else axis.valid for axis in box.axes]
    regular = [i for i, axis in enumerate(box.axes) if not axis.is_irregular]
    irregular = [i for i, axis in enumerate(box.axes) if axis.is_irregular]
    with ExitStack() as stack:
        indices = builder.parallel(stack, [lengths[i] for i in regular], [box.axes[i].name for i in regular])
        values: list[SSAValue] = [builder.constant(0)] * len(box.axes)
        for i, index in zip(regular, indices, strict=True):
            values[i] = index
        partial = [] if box.is_fill or not pads else [i for i in regular if not box.axes[i].is_full]
        condition = builder.every(
            [builder.compare(values[i], "ult", builder.constant(box.axes[i].valid)) for i in partial]
        )
        for steps in itertools.product(*(range(lengths[i]) for i in irregular)):
            places = list(zip((box.axes[i] for i in irregular), steps, strict=True))
            _emit_element(builder, box, buffers, values, condition, places)


def _emit_element(
    builder: ParallelBuilder,
    box: Box,
    buffers: Buffers,
    indices: Sequence[SSAValue],
    condition: SSAValue | None,
    places: Sequence[tuple[Axis, int]],
) -> None:
    """One step; `places`: the irregular axes with their steps."""
    if box.is_fill or any(step >= axis.valid for axis, step in places):
        assert buffers.pad is not None
        value = buffers.pad
    else:
        source = shifted(box.source_index(), sum(axis.source_at(step) for axis, step in places))
        place = builder.index(source, indices)
        value = builder.load_or(condition, buffers.source, place, buffers.pad)
    destination = shifted(box.destination_index(), sum(axis.destination_at(step) for axis, step in places))
    builder.store(value, buffers.destination, builder.index(destination, indices))
