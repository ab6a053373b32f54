"""Adds operations at a place: constants made once, and indices as affine.apply."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TypeVar

from xdsl.dialects import affine, arith
from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from layout_ir.layouts.affine import ADD, MUL, build, substitute
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.lowering.constants import Constants, ScalarConstant
from layout_ir.lowering.quantities import Unknown

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


class IndexBuilder:
    """Adds operations at a place."""

    def __init__(self, place: InsertPoint, constants: Constants, unknown: Unknown | None = None) -> None:
        self._place = place
        self._constants = constants
        self.unknown = unknown
        """What the stand-ins in the copy's plan are; None where all extents are known."""

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
