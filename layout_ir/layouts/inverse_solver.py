"""
Solving the coordinates of a map for its dims, symbolically.

Every storage axis is an equation `coordinate(dims) = y`. A sum whose terms do not run into each other is taken apart
(`n*H + h = y` gives `n = y floordiv H` and `h = y mod H`); the digits of one expression are put together again
(`c floordiv 16 = y1` and `c mod 16 = y4` give `c = 16*y1 + y4`), where that expression may itself be a sum. Every step
is an implication, so a dim that is solved for is right for every cell that holds an element.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineDimExpr, AffineExpr

from layout_ir.layouts import affine
from layout_ir.layouts.affine import LinearSum
from layout_ir.layouts.proof_digits import fields


def spelled_sum(expr: AffineExpr, extents: Sequence[int]) -> LinearSum:
    """
    An expression as a sum of atoms whose dividends are left whole, so that the digits of one dividend can be matched.

    (`affine.linear_sum` splits them: `(20*y + x) mod 16` is `(4*y + x) mod 16` there.)
    """
    match expr:
        case AffineConstantExpr(value=value):
            return {}, value
        case AffineDimExpr(position=position):
            return ({} if extents[position] == 1 else {expr: 1}), 0
        case AffineBinaryOpExpr(kind=affine.ADD, lhs=lhs, rhs=rhs):
            return _add(spelled_sum(lhs, extents), spelled_sum(rhs, extents), 1)
        case AffineBinaryOpExpr(kind=affine.MUL, lhs=lhs, rhs=rhs):
            return _add(({}, 0), spelled_sum(lhs, extents), affine.constant_value(rhs))
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            number = affine.constant_value(rhs)
            dividend = spelled_sum(lhs, extents)
            if kind is affine.CEILDIV:
                dividend, kind = (dividend[0], dividend[1] + number - 1), affine.FLOORDIV
            return _divided(dividend, number, kind is affine.MOD, extents)
        case _:
            raise AssertionError(f"not an expression over dims: {expr}")


def _add(left: LinearSum, right: LinearSum, factor: int) -> LinearSum:
    terms = dict(left[0])
    for atom, coefficient in right[0].items():
        terms[atom] = terms.get(atom, 0) + factor * coefficient
    return {atom: c for atom, c in terms.items() if c}, left[1] + factor * right[1]


def _divided(dividend: LinearSum, number: int, is_mod: bool, extents: Sequence[int]) -> LinearSum:
    base = affine.build(dividend)
    low, high = affine.bounds(base, extents)
    if low // number == high // number:
        quotient = low // number
        return (dividend[0], dividend[1] - quotient * number) if is_mod else ({}, quotient)
    kind = affine.MOD if is_mod else affine.FLOORDIV
    if isinstance(base, AffineBinaryOpExpr) and base.kind is affine.FLOORDIV and not is_mod:
        return _atom(affine.FLOORDIV, base.lhs, affine.constant_value(base.rhs) * number)
    if isinstance(base, AffineBinaryOpExpr) and base.kind is affine.MOD:
        modulus = affine.constant_value(base.rhs)
        if modulus % number == 0 and is_mod:
            return _atom(affine.MOD, base.lhs, number)
        if modulus % number == 0:
            ((quotient, _),) = _atom(affine.FLOORDIV, base.lhs, number)[0].items()
            return _atom(affine.MOD, quotient, modulus // number)
    return _atom(kind, base, number)


def _atom(kind: affine.AffineBinaryOpKind, base: AffineExpr, number: int) -> LinearSum:
    return {AffineBinaryOpExpr(kind, base, AffineConstantExpr(number)): 1}, 0


@dataclass(frozen=True)
class _Digit:
    """`(base floordiv divisor) mod modulus`, without a modulus where none is written."""

    base: AffineExpr
    divisor: int
    modulus: int | None


def _digit(atom: AffineExpr) -> _Digit:
    base, divisor, modulus = atom, 1, None
    if isinstance(base, AffineBinaryOpExpr) and base.kind is affine.MOD:
        base, modulus = base.lhs, affine.constant_value(base.rhs)
    if isinstance(base, AffineBinaryOpExpr) and base.kind is affine.FLOORDIV:
        base, divisor = base.lhs, affine.constant_value(base.rhs)
    return _Digit(base, divisor, modulus)


@dataclass
class _Solver:
    """What is known so far, as expressions over the storage axes."""

    shape: Sequence[int]
    extents: Sequence[int]
    dims: dict[int, AffineExpr] = field(default_factory=dict[int, AffineExpr])
    digits: dict[AffineExpr, dict[_Digit, AffineExpr]] = field(
        default_factory=dict[AffineExpr, dict[_Digit, AffineExpr]]
    )
    put_together: set[AffineExpr] = field(default_factory=set[AffineExpr])

    def add(self, expr: AffineExpr, value: AffineExpr) -> None:
        """Learn that an expression over the dims has a value."""
        terms, constant = spelled_sum(expr, self.shape)
        rest, unit = value - constant, 1
        groups = fields((terms, 0), self.shape)
        for position, group in enumerate(groups):
            following = [factor for later in groups[position + 1 :] for factor in later.values()]
            field_value = rest
            if following:
                low = sum(
                    min(factor * end for end in affine.bounds(atom, self.shape)) for atom, factor in group.items()
                )
                step = math.gcd(*following)
                shifted = rest - low // unit
                field_value = self._simplified(shifted % (step // unit) + low // unit)
                rest, next_unit = self._simplified(shifted // (step // unit)), step
            else:
                next_unit = unit
            if len(group) == 1:
                ((atom, factor),) = group.items()
                self._learn(atom, self._quotient(field_value, factor // unit))
            unit = next_unit

    def _quotient(self, value: AffineExpr, factor: int) -> AffineExpr:
        if factor < 0:
            value, factor = value * -1, -factor
        return self._simplified(value if factor == 1 else value // factor)

    def _simplified(self, expr: AffineExpr) -> AffineExpr:
        return affine.simplify(expr, self.extents)

    def _learn(self, atom: AffineExpr, value: AffineExpr) -> None:
        if isinstance(atom, AffineDimExpr):
            self.dims.setdefault(atom.position, value)
            return
        digit = _digit(atom)
        known = self.digits.setdefault(digit.base, {})
        known.setdefault(digit, value)
        if digit.base in self.put_together:
            return
        low, high = affine.bounds(digit.base, self.shape)
        if low < 0:
            return
        chain = next(_chains(list(known), 1, high + 1), None)
        if chain is not None:
            self.put_together.add(digit.base)
            total: AffineExpr = AffineConstantExpr(0)
            for part in chain:
                total = total + known[part] * part.divisor
            self.add(digit.base, self._simplified(total))


def _chains(digits: Sequence[_Digit], divisor: int, count: int) -> Iterator[tuple[_Digit, ...]]:
    """Choices of digits that follow each other from `divisor` on until `count` values are told apart."""
    if divisor >= count:
        yield ()
        return
    for digit in digits:
        if digit.divisor != divisor or digit.modulus == 1:
            continue
        if digit.modulus is None:
            yield (digit,)
        else:
            yield from ((digit, *rest) for rest in _chains(digits, divisor * digit.modulus, count))


def solve_for_dims(
    coordinates: Sequence[AffineExpr], shape: Sequence[int], extents: Sequence[int]
) -> tuple[AffineExpr, ...] | None:
    """
    Every dim as an expression over the storage axes `d0, d1, ...`, or None where the equations do not give it.

    The expressions are right for every cell that holds an element, and say nothing about pads.
    """
    solver = _Solver(shape, extents)
    for axis, coordinate in enumerate(coordinates):
        solver.add(coordinate, AffineExpr.dimension(axis))
    for dim, size in enumerate(shape):
        if size <= 1:
            solver.dims.setdefault(dim, AffineConstantExpr(0))
    if len(solver.dims) < len(shape):
        return None
    return tuple(solver.dims[dim] for dim in range(len(shape)))
