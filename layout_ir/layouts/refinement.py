"""
Common refinement: cut every dim into digits in which the offsets of both sides are linear.

A dim c that one side blocks by 16 and the other by 4 is written `c = 16*c2 + 4*c1 + c0`; in c2, c1 and c0 both offsets
are sums of multiples, so the copy has no division. Where a dim's size is no multiple of its blocks, its range falls
into *pieces*, each a small box of digits: the full blocks, the tail, the pads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineDimExpr, AffineExpr

from layout_ir.layouts import affine
from layout_ir.layouts.symbols import is_symbolic


@dataclass(frozen=True)
class Digit:
    """One digit of a dim: `weight` is what a step adds to the dim's value."""

    weight: int
    extent: int
    """Steps, pads included."""
    valid: int
    """Steps that reach logical elements; the others are pads."""


@dataclass(frozen=True)
class Piece:
    """A part of a dim's range: the values `start + sum(weight * digit)`."""

    start: int
    digits: tuple[Digit, ...]
    """Most significant first."""

    def value(self, first: int) -> AffineExpr:
        """The dim's value as an expression over the digits, which are the dims `first`, `first + 1`, ..."""
        result: AffineExpr = AffineConstantExpr(self.start)
        for position, digit in enumerate(self.digits):
            result = result + AffineExpr.dimension(first + position) * digit.weight
        return result


def split_points(exprs: Iterable[AffineExpr], dim: int) -> set[int]:
    """The values at which divisions cut a dim: of `(d floordiv 4) mod 8` these are 4 and 32."""
    points: set[int] = set()
    for expr in exprs:
        for node in expr.dfs():
            if not (isinstance(node, AffineBinaryOpExpr) and node.kind in (affine.FLOORDIV, affine.MOD)):
                continue
            number, inner = affine.constant_value(node.rhs), node.lhs
            fine = 1
            if isinstance(inner, AffineBinaryOpExpr) and inner.kind is affine.FLOORDIV:
                fine, inner = affine.constant_value(inner.rhs), inner.lhs
            if inner == AffineDimExpr(dim):
                points |= {fine, fine * number}
            elif dim in inner.used_dims():  # ((2*d + e) floordiv 6) moves on in steps of 3, as far as d is concerned
                points |= _aligned_points(inner, dim, fine * number)
    return points - {1}


def _aligned_points(inner: AffineExpr, dim: int, number: int) -> set[int]:
    """Cuts of a dim inside a sum that is divided: where the dim's own multiples fill whole blocks."""
    factor = abs(affine.coefficient(inner, dim))
    return {number // math.gcd(number, factor)} if factor else set()


def nested_chain(points: Iterable[int]) -> tuple[int, ...]:
    """
    Numbers that divide each other, smallest first, through which every given one can be reached.

    Points that do not nest, such as 48 and 32, are replaced by their greatest common divisor and least common multiple.
    """
    chain = sorted(set(points) - {1})
    for i, low in enumerate(chain):
        for high in chain[i + 1 :]:
            if high % low:
                rest = [p for p in chain if p not in (low, high)]
                return nested_chain([*rest, math.gcd(low, high), math.lcm(low, high)])
    return tuple(chain)


def pieces(size: int, padded: int, chain: Sequence[int]) -> tuple[Piece, ...]:
    """
    The range `[0, padded)` of a dim whose values below `size` are elements and whose other values are pads.

    `chain`: block sizes that divide each other, smallest first. Together the pieces cover the range exactly once.
    """
    assert not (chain and is_symbolic(padded) and padded % chain[-1]), "expected a known extent where divisions cut it"
    weights = [1, *(block for block in chain if block < padded)]
    return tuple(_pieces(0, size, padded, weights[::-1]))


def _pieces(start: int, size: int, padded: int, weights: Sequence[int]) -> Iterator[Piece]:
    if padded == 0:
        return
    weight, lower = weights[0], weights[1:]
    if not lower:
        yield Piece(start, (Digit(1, padded, size),))
        return

    def blocks(first: int, count: int, valid: int) -> Piece:
        inner = [Digit(w, upper // w, upper // w) for w, upper in zip(lower, weights, strict=False)]
        return Piece(start + first * weight, (Digit(weight, count, valid), *inner))

    full, tail = divmod(size, weight)
    whole = end = padded // weight
    if not tail and whole:
        yield blocks(0, whole, full)
    elif tail:
        if full:
            yield blocks(0, full, full)
        last = list(_pieces(start + full * weight, tail, min(weight, padded - full * weight), lower))
        if len(last) == 1 and full + 1 < whole:  # its pads and those of the blocks behind it are the ends of two digits
            yield Piece(last[0].start, (Digit(weight, whole - full, 1), *last[0].digits))
        else:
            yield from last
            end = full + 1
    if end < whole:
        yield blocks(end, whole - end, 0)
    rest = max(end, whole) * weight
    if rest < padded:
        yield from _pieces(start + rest, 0, padded - rest, lower)
