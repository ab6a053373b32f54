"""Builds loop nests: constants made once, indices as affine.apply, loops as Python `with` blocks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TypeVar, cast

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import (
    AffineMapAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from layout_ir.layouts.affine import ADD, MUL, build, substitute
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.lowering.constants import Constants, ScalarConstant
from layout_ir.lowering.private_functions import PrivateFunctions
from layout_ir.lowering.quantities import Unknown

NO_WAIT = "nowait"
"""Attribute of a parallel loop: threads that are done with it may begin the next parallel loop of its block."""

OperationT = TypeVar("OperationT", bound=Operation)


def _terms(expr: AffineExpr) -> list[AffineExpr]:
    if isinstance(expr, AffineBinaryOpExpr) and expr.kind is ADD:
        return [*_terms(expr.lhs), *_terms(expr.rhs)]
    return [expr]


_SUM = AffineMapAttr(AffineMap(2, 0, (AffineExpr.dimension(0) + AffineExpr.dimension(1),)))


@lru_cache(maxsize=4096)
def _map_behind(offset: int) -> AffineMapAttr:
    """The attribute of an offset, of which tiles have many but few different ones."""
    return AffineMapAttr(AffineMap(1, 0, (AffineExpr.dimension(0) + offset,)))


@lru_cache(maxsize=4096)
def _map_steps_behind(count: int) -> AffineMapAttr:
    """The attribute of a number of steps."""
    return AffineMapAttr(AffineMap(2, 0, (AffineExpr.dimension(0) + AffineExpr.dimension(1) * count,)))


class LoopBuilder:
    """Emits the loops of one copy at a place."""

    def __init__(
        self,
        place: InsertPoint,
        constants: Constants,
        unknown: Unknown | None = None,
        functions: PrivateFunctions | None = None,
    ) -> None:
        self._place = place
        self._constants = constants
        self.unknown = unknown
        """What the stand-ins in the copy's plan are; None where all extents are known."""
        self.functions = functions
        """Functions that what is emitted may call; None where all has to stand in one."""
        self._parallel_loops: list[scf.ParallelOp] = []

    def insert(self, operation: OperationT) -> OperationT:
        """Add an operation at the current place."""
        if self._place.insert_before is None:
            self._place.block.add_op(operation)
        else:
            self._place.block.insert_op_before(operation, self._place.insert_before)
        return operation

    @contextmanager
    def inside(self, body: Block) -> Generator[None]:
        """What is emitted inside the `with` block stands in a block."""
        outside, self._place = self._place, InsertPoint.at_end(body)
        try:
            yield
        finally:
            self._place = outside

    def constant(self, value: int) -> SSAValue:
        """An index constant, or what a number with stand-ins stands for."""
        if self.unknown is not None and is_symbolic(value):
            return self.unknown.value(value)
        return self._constants.get(IntegerAttr(value, IndexType()))

    def scalar(self, value: ScalarConstant) -> SSAValue:
        """A constant of an element type."""
        return self._constants.get(value)

    def index(self, expr: AffineExpr, dims: Sequence[SSAValue]) -> SSAValue:
        """The value of a quasi-affine expression over index values; a constant or a dim needs no operation."""
        if isinstance(expr, AffineConstantExpr):
            return self.constant(expr.value)
        if isinstance(expr, AffineDimExpr):
            return dims[expr.position]
        if self.unknown is not None:
            expr, dims = self._without_stand_ins(expr, dims)
        used = sorted(expr.used_dims())
        values: list[AffineExpr] = [AffineConstantExpr(0)] * len(dims)
        for position, dim in enumerate(used):
            values[dim] = AffineExpr.dimension(position)
        compact = AffineMap(len(used), 0, (substitute(expr, values),))
        operation = affine.ApplyOp([dims[dim] for dim in used], AffineMapAttr(compact))
        return self.insert(operation).result

    def behind(self, base: SSAValue, offset: int) -> SSAValue:
        """The index so many elements behind another one."""
        if offset == 0:
            return base
        if self.unknown is not None and is_symbolic(offset):
            operands, added = [base, self.unknown.value(offset)], _SUM
        else:
            operands, added = [base], _map_behind(offset)
        operation = affine.ApplyOp.create(operands=operands, result_types=[IndexType()], properties={"map": added})
        return self.insert(operation).result

    def steps_behind(self, base: SSAValue, count: int, step: SSAValue) -> SSAValue:
        """The index so many steps behind another one, each as long as a value says."""
        if count == 0:
            return base
        return self.insert(
            affine.ApplyOp.create(
                operands=[base, step], result_types=[IndexType()], properties={"map": _map_steps_behind(count)}
            )
        ).result

    def place(self, terms: Sequence[tuple[SSAValue, int]], offset: int) -> SSAValue:
        """The index `offset` plus every value of `terms` as often as its stride says."""
        weights = {AffineExpr.dimension(position): stride for position, (_, stride) in enumerate(terms)}
        return self.index(build((weights, offset)), [value for value, _ in terms])

    def _without_stand_ins(self, expr: AffineExpr, dims: Sequence[SSAValue]) -> tuple[AffineExpr, list[SSAValue]]:
        """The expression over more dims, those that are products with what stand-ins stand for."""
        known: AffineExpr = AffineConstantExpr(0)
        values = list(dims)
        for term in _terms(expr):
            match term:
                case AffineConstantExpr(value=value) if is_symbolic(value):
                    product = self.constant(value)
                case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=AffineConstantExpr(value=value)) if (
                    kind is MUL and is_symbolic(value)
                ):
                    product = self.insert(arith.MuliOp(self.index(lhs, dims), self.constant(value))).result
                case _:
                    known = known + term
                    continue
            known = known + AffineExpr.dimension(len(values))
            values.append(product)
        return known, values

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
        self, first: SSAValue, end: SSAValue, name: str, step: int = 1, is_parallel: bool = False
    ) -> Generator[SSAValue]:
        """A loop between two index values, whose iterations may run at the same time if it is parallel."""
        if is_parallel:
            with self.parallel_loops([first], [end], [name], [self.constant(step)]) as (index,):
                yield index
            return
        body = Block(arg_types=[IndexType()])
        body.args[0].name_hint = name
        self.insert(scf.ForOp(first, end, self.constant(step), [], Region(body)))
        with self.inside(body):
            yield body.args[0]
            self.insert(scf.YieldOp())

    @contextmanager
    def parallel_loops(
        self, firsts: Sequence[SSAValue], ends: Sequence[SSAValue], names: Sequence[str], steps: Sequence[SSAValue]
    ) -> Generator[Sequence[SSAValue]]:
        """Loops inside of each other, outermost first, all iterations of which may run at the same time."""
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
