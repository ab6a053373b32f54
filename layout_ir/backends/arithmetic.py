"""Integer arithmetic of the arith dialect as expressions of C."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, i1, i64
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from layout_ir.backends import expressions
from layout_ir.backends.expressions import Expression

_Binary = Callable[[Expression, Expression], Expression]

_INDEX_OPERATIONS: dict[type[Operation], _Binary] = {
    arith.AddiOp: expressions.add,
    arith.SubiOp: expressions.subtract,
    arith.MuliOp: expressions.multiply,
    arith.DivUIOp: expressions.divide,
    arith.DivSIOp: expressions.divide,
    arith.FloorDivSIOp: expressions.divide,
    arith.RemUIOp: expressions.remainder,
    arith.RemSIOp: expressions.remainder,
}
"""On indices, which the lowering keeps from being negative where they are divided; signed and unsigned are then one."""

_EXTREMA: dict[type[Operation], str] = {
    arith.MinUIOp: "<",
    arith.MinSIOp: "<",
    arith.MaxUIOp: ">",
    arith.MaxSIOp: ">",
}

_WRAPPING: dict[type[Operation], str] = {arith.AddiOp: "+", arith.SubiOp: "-", arith.MuliOp: "*"}
"""On integers of fixed width, modulo their size: made in 64 unsigned bits, as signed overflow is undefined in C."""

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
"""By the predicate of arith.cmpi: eq, ne, four signed ones, four unsigned ones."""

_EQUALITIES, _UNSIGNED = range(2), range(6, 10)


_OTHERS: set[type[Operation]] = {arith.SelectOp, arith.IndexCastOp, arith.CmpiOp, arith.AndIOp, arith.OrIOp}

ARITHMETIC = frozenset({*_INDEX_OPERATIONS, *_EXTREMA, *_OTHERS})
"""The operations that there are rules for."""


def combine(op: Operation, operands: Sequence[Expression], type_name: Callable[[Attribute], str]) -> Expression | None:
    """
    The expression of an operation on indices, i1 or whole-byte integers; None if there is no rule.

    `type_name` names the type of a value, for the casts that keep narrow integers wrapping as in the IR.
    """
    if isinstance(op, arith.SelectOp):
        return expressions.conditional(operands[0], operands[1], operands[2])
    if isinstance(op, arith.IndexCastOp):
        return expressions.cast(type_name(op.result.type), operands[0])
    if len(op.operands) != 2:
        return None
    kind, left, right = op.operands[0].type, operands[0], operands[1]
    if isinstance(op, arith.CmpiOp):
        return _comparison(op.predicate.value.data, kind, left, right, type_name)
    if kind == i1:
        if isinstance(op, arith.AndIOp):
            return expressions.conjunction(left, right)
        return expressions.disjunction(left, right) if isinstance(op, arith.OrIOp) else None
    if isinstance(kind, IndexType):
        if sign := _EXTREMA.get(type(op)):
            return expressions.conditional(expressions.compare(sign, left, right), left, right)
        rule = _INDEX_OPERATIONS.get(type(op))
        return rule(left, right) if rule else None
    if isa(kind, IntegerType) and (symbol := _WRAPPING.get(type(op))):
        widest = _unsigned(type_name(i64))
        sides = [expressions.cast(widest, side).text for side in (left, right)]
        return expressions.cast(type_name(kind), Expression(f"({sides[0]} {symbol} {sides[1]})"))
    return None


def _comparison(
    predicate: int, kind: Attribute, left: Expression, right: Expression, type_name: Callable[[Attribute], str]
) -> Expression | None:
    if predicate in _UNSIGNED and isa(kind, IntegerType):
        unsigned = _unsigned(type_name(kind))
        left, right = expressions.cast(unsigned, left), expressions.cast(unsigned, right)
    elif not (isinstance(kind, IndexType | IntegerType) and (kind != i1 or predicate in _EQUALITIES)):
        return None
    return expressions.compare(_COMPARISONS[predicate], left, right)


def _unsigned(type_name: str) -> str:
    return type_name if type_name.startswith("u") else f"u{type_name}"
