"""Builds nests of parallel loops, with conditions and with elements that may be pads."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager

from xdsl.dialects import memref, scf, vector
from xdsl.dialects.builtin import UnitAttr, VectorType
from xdsl.ir import Block, Region, SSAValue

from layout_ir.dialects.aligned import ALIGNED
from layout_ir.dialects.types import is_buffer, is_vector
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
        with self.inside(body):
            yield
            self.insert(scf.YieldOp())

    def every(self, conditions: Sequence[SSAValue]) -> SSAValue | None:
        """Whether all conditions hold; None of no condition."""
        return self.all_hold(conditions) if conditions else None

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

    def load_vector(self, buffer: SSAValue, index: SSAValue, lanes: int) -> SSAValue:
        """Neighbouring elements of a buffer that lie at a multiple of their size."""
        assert is_buffer(buffer.type)
        load = self.insert(vector.LoadOp(buffer, [index], VectorType(buffer.type.element_type, [lanes])))
        load.attributes[ALIGNED] = UnitAttr()
        return load.result

    def store_vector(self, value: SSAValue, buffer: SSAValue, index: SSAValue) -> None:
        """Write neighbouring elements of a buffer, at a multiple of their size."""
        self.insert(vector.StoreOp(value, buffer, [index])).attributes[ALIGNED] = UnitAttr()

    def vector_of(self, elements: Sequence[SSAValue]) -> SSAValue:
        """A vector of elements."""
        result = self.insert(vector.BroadcastOp(elements[0], VectorType(elements[0].type, [len(elements)]))).results[0]
        for lane, element in enumerate(elements[1:], start=1):
            result = self.insert(vector.InsertOp(element, result, [lane])).results[0]
        return result

    def lane(self, value: SSAValue, lane: int) -> SSAValue:
        """An element of a vector."""
        assert is_vector(value.type)
        return self.insert(vector.ExtractOp(value, [lane], value.type.element_type)).results[0]
