"""Expressions of C as values: text with its precedence, so that parentheses stand only where they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from layout_ir.errors import LayoutError


class Precedence(IntEnum):
    """How tightly an expression binds, as in C11 6.5; comparisons of both kinds are one level."""

    CONDITIONAL = 1
    OR = 2
    AND = 3
    COMPARISON = 4
    ADDITION = 5
    MULTIPLICATION = 6
    UNARY = 7
    PRIMARY = 8


@dataclass(frozen=True)
class Expression:
    """A piece of text that is an expression."""

    text: str
    precedence: Precedence = Precedence.PRIMARY
    constant: int | None = None
    """The value of an integer literal: constants are folded as they are joined."""

    def within(self, precedence: Precedence) -> str:
        """The text as an operand of an operator that needs at least `precedence`."""
        return self.text if self.precedence >= precedence else f"({self.text})"

    def __str__(self) -> str:
        return self.text


def literal(value: int) -> Expression:
    """An integer literal; its type is int or, past its range, a longer one."""
    if value == -(2**63):
        return Expression("INT64_MIN", constant=value)  # 9223372036854775808 alone fits no signed type
    return Expression(str(value), Precedence.UNARY if value < 0 else Precedence.PRIMARY, value)


def add(left: Expression, right: Expression) -> Expression:
    """`left + right` of indices, whose sums never overflow: they need no parentheses."""
    if left.constant is not None and right.constant is not None:
        return literal(left.constant + right.constant)
    if left.constant == 0:
        return right
    if right.constant is not None:
        if right.constant == 0:
            return left
        if right.constant < 0:
            return subtract(left, literal(-right.constant))
    addition = Precedence.ADDITION
    return Expression(f"{left.within(addition)} + {right.within(addition)}", addition)


def subtract(left: Expression, right: Expression) -> Expression:
    """`left - right`."""
    if left.constant is not None and right.constant is not None:
        return literal(left.constant - right.constant)
    if right.constant is not None:
        if right.constant == 0:
            return left
        if right.constant < 0:
            return add(left, literal(-right.constant))
    text = f"{left.within(Precedence.ADDITION)} - {right.within(Precedence.MULTIPLICATION)}"
    return Expression(text, Precedence.ADDITION)


def multiply(left: Expression, right: Expression) -> Expression:
    """`left * right`, a constant first. No operand is dropped, not even by `0 *`: a local that is declared is used."""
    if left.constant is not None and right.constant is not None:
        return literal(left.constant * right.constant)
    if right.constant is not None:
        left, right = right, left
    if left.constant == 1:
        return right
    text = f"{left.within(Precedence.MULTIPLICATION)} * {right.within(Precedence.UNARY)}"
    return Expression(text, Precedence.MULTIPLICATION)


def divide(left: Expression, right: Expression) -> Expression:
    """`left / right`, both known not to be negative."""
    if left.constant is not None and right.constant:
        return literal(left.constant // right.constant)
    if right.constant == 1:
        return left
    text = f"{left.within(Precedence.MULTIPLICATION)} / {right.within(Precedence.UNARY)}"
    return Expression(text, Precedence.MULTIPLICATION)


def remainder(left: Expression, right: Expression) -> Expression:
    """`left % right`, both known not to be negative."""
    if left.constant is not None and right.constant:
        return literal(left.constant % right.constant)
    text = f"{left.within(Precedence.MULTIPLICATION)} % {right.within(Precedence.UNARY)}"
    return Expression(text, Precedence.MULTIPLICATION)


def compare(operator: str, left: Expression, right: Expression) -> Expression:
    """`left < right` and its like."""
    text = f"{left.within(Precedence.ADDITION)} {operator} {right.within(Precedence.ADDITION)}"
    return Expression(text, Precedence.COMPARISON)


def conjunction(left: Expression, right: Expression) -> Expression:
    """`left && right`."""
    return Expression(f"{left.within(Precedence.AND)} && {right.within(Precedence.AND)}", Precedence.AND)


def disjunction(left: Expression, right: Expression) -> Expression:
    """`left || right`; an `&&` inside gets parentheses, which compilers ask for."""
    texts = [
        side.text if side.precedence is Precedence.OR else side.within(Precedence.COMPARISON) for side in (left, right)
    ]
    return Expression(" || ".join(texts), Precedence.OR)


def conditional(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    """`condition ? then : otherwise`."""
    parts = [part.within(Precedence.OR) for part in (condition, then, otherwise)]
    return Expression(f"{parts[0]} ? {parts[1]} : {parts[2]}", Precedence.CONDITIONAL)


def cast(type_name: str, operand: Expression) -> Expression:
    """`(type)operand`."""
    return Expression(f"({type_name}){operand.within(Precedence.UNARY)}", Precedence.UNARY)


def affine(expr: AffineExpr, dim_count: int, operands: Sequence[Expression]) -> Expression:
    """An affine expression over `operands` (its dims, then its symbols); what is divided is never negative."""
    match expr:
        case AffineConstantExpr(value=value):
            return literal(value)
        case AffineDimExpr(position=position):
            return operands[position]
        case AffineSymExpr(position=position):
            return operands[dim_count + position]
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
            return _affine_sum(expr, dim_count, operands)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            left, right = affine(lhs, dim_count, operands), affine(rhs, dim_count, operands)
            match kind:
                case AffineBinaryOpKind.Mul:
                    return multiply(left, right)
                case AffineBinaryOpKind.FloorDiv:
                    return divide(left, right)
                case AffineBinaryOpKind.CeilDiv:
                    return divide(add(left, subtract(right, literal(1))), right)
                case _:
                    return remainder(left, right)
        case _:
            raise LayoutError(f"expected an affine expression over dims and symbols, got {expr}")


def _affine_sum(expr: AffineExpr, dim_count: int, operands: Sequence[Expression]) -> Expression:
    added: list[Expression] = []
    taken: list[Expression] = []
    for term in _terms(expr):
        match term:
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=AffineConstantExpr(value=number)) if (
                number < 0
            ):
                taken.append(multiply(literal(-number), affine(lhs, dim_count, operands)))
            case _:
                added.append(affine(term, dim_count, operands))
    constant = sum(term.constant or 0 for term in added) - sum(term.constant or 0 for term in taken)
    total = literal(0)
    for term in (term for term in added if term.constant is None):
        total = add(total, term)
    for term in (term for term in taken if term.constant is None):
        total = subtract(total, term)
    return add(total, literal(constant))  # the constant stands last


def _terms(expr: AffineExpr) -> list[AffineExpr]:
    match expr:
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=lhs, rhs=rhs):
            return [*_terms(lhs), *_terms(rhs)]
        case _:
            return [expr]
