"""Pieces of a dim: which of its digits the axes of a storage hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineDimExpr, AffineExpr

from layout_ir.layouts import affine


class Digit(NamedTuple):
    """`(d floordiv low) mod (high / low)`; `high` is None where nothing is cut off above."""

    dim: int
    low: int
    high: int | None


def digit_of(expr: AffineExpr) -> Digit | None:
    """The digit that an expression is, or None for anything else."""
    match expr:
        case AffineDimExpr(position=position):
            return Digit(position, 1, None)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=AffineConstantExpr(value=number)):
            inner = digit_of(lhs)
            if inner is None:
                return None
            split = inner.low * number
            if inner.high is not None and inner.high % split:
                return None
            if kind is affine.FLOORDIV:
                return Digit(inner.dim, split, inner.high)
            return Digit(inner.dim, inner.low, split) if kind is affine.MOD else None
        case _:
            return None


def digits_cover(coordinates: Iterable[AffineExpr], dim: int, size: int) -> bool:
    """Whether the coordinates that are single digits of `dim` determine every value below `size`."""
    digits = {digit for expr in coordinates if (digit := digit_of(expr)) is not None and digit.dim == dim}
    known = 1
    while known < size:
        highs = [digit.high for digit in digits if digit.low == known]
        if not highs:
            return False
        if None in highs:
            return True
        known = max(high for high in highs if high is not None)
    return True
