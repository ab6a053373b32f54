"""Builds loop nests: loops as Python `with` blocks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import cast

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    MemRefType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.rewriter import InsertPoint
from xdsl.transforms.canonicalization_patterns.utils import const_evaluate_operand

from layout_ir.layouts.symbols import is_symbolic
from layout_ir.lowering.constants import Constants
from layout_ir.lowering.index_builder import IndexBuilder
from layout_ir.lowering.private_functions import PrivateFunctions
from layout_ir.lowering.quantities import Unknown
from layout_ir.lowering.worth_threads import WorthThreads

NO_WAIT = "nowait"
"""Attribute of a parallel loop: threads that are done with it may begin the next parallel loop of its block."""


class LoopBuilder(IndexBuilder):
    """Emits the loops of one copy at a place."""

    def __init__(
        self,
        place: InsertPoint,
        constants: Constants,
        unknown: Unknown | None = None,
        functions: PrivateFunctions | None = None,
        worth_threads: WorthThreads | None = None,
    ) -> None:
        super().__init__(place, constants, unknown)
        self.functions = functions
        """Functions that what is emitted may call; None where all has to stand in one."""
        self.worth_threads = worth_threads
        """When threads share parallel loops; None where they always do."""
        self._parallel_loops: list[scf.ParallelOp] = []

    def choose(self, condition: SSAValue, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """What `then` emits where a condition holds, else what `otherwise` does."""
        regions: list[Region] = []
        for emit in (then, otherwise):
            body = Block()
            with self.inside(body):
                emit()
                self.insert(scf.YieldOp())
            regions.append(Region(body))
        self.insert(scf.IfOp(condition, [], regions[0], regions[1]))

    def compare(self, left: SSAValue, predicate: str, right: SSAValue) -> SSAValue:
        """The comparison of two indices; `predicate` as in arith.cmpi."""
        return self.insert(arith.CmpiOp(left, right, predicate)).result

    def all_hold(self, conditions: Sequence[SSAValue]) -> SSAValue:
        """Whether all of some conditions hold; there has to be one."""
        result = conditions[0]
        for condition in conditions[1:]:
            result = self.insert(arith.AndIOp(result, condition)).result
        return result

    def any_holds(self, conditions: Sequence[SSAValue]) -> SSAValue:
        """Whether any of some conditions holds; there has to be one."""
        result = conditions[0]
        for condition in conditions[1:]:
            result = self.insert(arith.OrIOp(result, condition)).result
        return result

    def negated(self, condition: SSAValue) -> SSAValue:
        """Whether a condition does not hold."""
        return self.compare(condition, "eq", self.insert(arith.ConstantOp.from_int_and_width(0, 1)).result)

    def trips(self, extent: int, step: int | SSAValue) -> SSAValue:
        """How many steps of so many elements, maybe only known at run time, an extent takes; the last may be short."""
        if isinstance(step, SSAValue):
            last = self.place([(self.constant(extent), 1), (step, 1)], -1)
            return self.insert(arith.DivUIOp(last, step)).results[0]
        if not is_symbolic(extent):
            return self.constant(-(-extent // step))
        if step == 1:
            return self.constant(extent)
        return self.index((AffineExpr.dimension(0) + (step - 1)) // step, [self.constant(extent)])

    def minimum(self, value: SSAValue, limit: int) -> SSAValue:
        """The smaller of an index and a constant."""
        return self.insert(arith.MinUIOp(value, self.constant(limit))).result

    def maximum(self, value: SSAValue, other: SSAValue) -> SSAValue:
        """The larger of two index values; a constant where both are."""
        number, limit = const_evaluate_operand(value), const_evaluate_operand(other)
        if number is not None and limit is not None:
            return self.constant(max(number, limit))
        return self.insert(arith.MaxUIOp(value, other)).results[0]

    def select(self, condition: SSAValue, then: SSAValue, otherwise: SSAValue) -> SSAValue:
        """One of two values."""
        return self.insert(arith.SelectOp(condition, then, otherwise)).results[0]

    def splat(self, scalar: SSAValue, lanes: int) -> SSAValue:
        """A vector whose lanes all hold a constant."""
        return self._constants.splat(scalar, lanes)

    @contextmanager
    def loop(self, first: int, end: int, name: str) -> Generator[SSAValue]:
        """A loop over `first, first + 1, ... < end`; what is emitted inside the `with` block is its body."""
        with self.loop_between(self.constant(first), self.constant(end), name) as index:
            yield index

    def skip_waits(self) -> None:
        """Let threads go on from each parallel loop to the next one, as none needs what another one wrote."""
        for loop, following in itertools.pairwise(self._parallel_loops):
            if loop.parent is following.parent:
                loop.attributes[NO_WAIT] = UnitAttr()

    @contextmanager
    def loop_between(
        self,
        first: SSAValue,
        end: SSAValue,
        name: str,
        step: int = 1,
        is_parallel: bool = False,
        *,
        by_elements: bool = False,
    ) -> Generator[SSAValue]:
        """A loop between two index values, whose iterations may run at the same time if it is parallel."""
        bounds, steps = ([first], [end], [name]), [self.constant(step)]
        loops = partial(self.parallel_loops, by_elements=by_elements) if is_parallel else self._loops_inside
        with loops(*bounds, steps) as (index,):
            yield index

    @contextmanager
    def _loops_inside(
        self, firsts: Sequence[SSAValue], ends: Sequence[SSAValue], names: Sequence[str], steps: Sequence[SSAValue]
    ) -> Generator[Sequence[SSAValue]]:
        """Loops inside of each other, outermost first, that run one iteration after the other."""
        with ExitStack() as loops:
            indices: list[SSAValue] = []
            for first, end, name, step in zip(firsts, ends, names, steps, strict=True):
                body = Block(arg_types=[IndexType()])
                body.args[0].name_hint = name
                self.insert(scf.ForOp(first, end, step, [], Region(body)))
                loops.enter_context(self.inside(body))
                loops.callback(lambda: self.insert(scf.YieldOp()))
                indices.append(body.args[0])
            yield indices

    @contextmanager
    def parallel_loops(
        self,
        firsts: Sequence[SSAValue],
        ends: Sequence[SSAValue],
        names: Sequence[str],
        steps: Sequence[SSAValue],
        *,
        by_elements: bool = False,
    ) -> Generator[Sequence[SSAValue]]:
        """
        Loops inside of each other, outermost first, all iterations of which may run at the same time.

        Where threads do not share so small a copy, they have one iteration each, with loops in it that have all others.
        `by_elements`: whether they are around elements, and not tiles, which makes a difference to when that is.
        """
        if self.worth_threads is None:
            with self._parallel(firsts, ends, names, steps) as indices:
                yield indices
            return
        is_small = self.worth_threads.are_few(self, by_elements=by_elements)
        whole = [self.maximum(*pair) for pair in zip(ends, steps, strict=True)]
        shares = [self.select(is_small, *pair) for pair in zip(whole, steps, strict=True)]
        with self._parallel(firsts, ends, [f"{name}_share" for name in names], shares) as starts:
            behind = [self.insert(arith.AddiOp(*pair)).results[0] for pair in zip(starts, shares, strict=True)]
            own_ends = [self.insert(arith.MinUIOp(*pair)).results[0] for pair in zip(behind, ends, strict=True)]
            with self._loops_inside(starts, own_ends, names, steps) as indices:
                yield indices

    @contextmanager
    def large(self) -> Generator[None]:
        """What is emitted inside the `with` block is for large copies, which threads always share."""
        usual, self.worth_threads = self.worth_threads, None
        try:
            yield
        finally:
            self.worth_threads = usual

    @contextmanager
    def _parallel(
        self, firsts: Sequence[SSAValue], ends: Sequence[SSAValue], names: Sequence[str], steps: Sequence[SSAValue]
    ) -> Generator[Sequence[SSAValue]]:
        body = Block(arg_types=[IndexType()] * len(firsts))
        for index, name in zip(body.args, names, strict=True):
            index.name_hint = name
        loop = scf.ParallelOp(firsts, ends, steps, Region(body))
        self._parallel_loops.append(loop)
        self.insert(loop)
        with self.inside(body):
            yield body.args
            self.insert(scf.ReduceOp())

    def scratch(self, like: Attribute, size: int, alignment: int, name: str) -> SSAValue:
        """A buffer of so many elements of a memref's type on the stack, which begins at a multiple of so many bytes."""
        kind = cast("MemRefType[Attribute]", like)
        operation = memref.AllocaOp.get(kind.element_type, IntegerAttr(alignment, i64), [size])
        operation.memref.name_hint = name
        return self.insert(operation).memref

    def load(self, buffer: SSAValue, index: SSAValue) -> SSAValue:
        """One element of a flat buffer."""
        assert isinstance(buffer.type, MemRefType)
        return self.insert(memref.LoadOp.get(buffer, [index])).res

    def store(self, value: SSAValue, buffer: SSAValue, index: SSAValue) -> None:
        """Write one element of a flat buffer."""
        self.insert(memref.StoreOp.get(value, buffer, [index]))
