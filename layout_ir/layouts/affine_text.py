"""Quasi-affine expressions as text, in MLIR's notation."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineDimExpr, AffineExpr

from layout_ir.layouts.affine import ADD, CEILDIV, FLOORDIV, MOD, MUL

_PRECEDENCE = {ADD: 1, MUL: 2, FLOORDIV: 2, CEILDIV: 2, MOD: 2}
_SYMBOL = {ADD: "+", MUL: "*", FLOORDIV: "floordiv", CEILDIV: "ceildiv", MOD: "mod"}


def affine_text(expr: AffineExpr, name: Callable[[int], str] = "d{}".format) -> str:
    """`expr` in MLIR's notation without needless parentheses; `name` gives the name of a dim."""
    return _text(expr, name, 0)


def _text(expr: AffineExpr, name: Callable[[int], str], outer: int) -> str:
    match expr:
        case AffineConstantExpr(value=value):
            return str(value)
        case AffineDimExpr(position=position):
            return name(position)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            precedence = _PRECEDENCE[kind]
            left = _text(lhs, name, precedence)
            symbol = _SYMBOL[kind]
            if kind is ADD and (negated := _negated(rhs)) is not None:
                symbol, rhs = "-", negated
            right = _text(rhs, name, precedence + 1)
            result = f"{left} {symbol} {right}"
            return f"({result})" if precedence < outer or precedence == outer == _PRECEDENCE[MUL] else result
        case _:
            raise AssertionError(f"not an expression over dims: {expr}")


def _negated(expr: AffineExpr) -> AffineExpr | None:
    """The positive counterpart of a negative term."""
    match expr:
        case AffineConstantExpr(value=value) if value < 0:
            return AffineConstantExpr(-value)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=AffineConstantExpr(value=value)) if kind is MUL and value < 0:
            return lhs if value == -1 else AffineBinaryOpExpr(MUL, lhs, AffineConstantExpr(-value))
        case _:
            return None
