"""
Quasi-affine expressions over indices whose ranges are known: bounds and simplification.

xDSL's `AffineExpr` is the representation. It knows no ranges, so what needs them is here: with `0 <= d < extent` for
every dim, `(4*d0 + d1) floordiv 4` is `d0` once `d1 < 4`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeGuard

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from layout_ir.layouts.symbols import is_symbolic

ADD, MUL = AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul
FLOORDIV, CEILDIV, MOD = AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.CeilDiv, AffineBinaryOpKind.Mod

LinearSum = tuple[dict[AffineExpr, int], int]
"""Coefficient of every atom (a dim, a floordiv or a mod) and a constant."""


def constant_value(expr: AffineExpr) -> int:
    """The value of a right operand; multiplication and division are by constants only in a quasi-affine expression."""
    assert isinstance(expr, AffineConstantExpr), f"expected a constant operand, got {expr}"
    return expr.value


def bounds(expr: AffineExpr, extents: Sequence[int]) -> tuple[int, int]:
    """Inclusive range that contains every value of `expr` for `0 <= d[i] < extents[i]`."""
    match expr:
        case AffineConstantExpr(value=value):
            return value, value
        case AffineDimExpr(position=position):
            return 0, max(extents[position] - 1, 0)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            low, high = bounds(lhs, extents)
            if kind is ADD:
                other_low, other_high = bounds(rhs, extents)
                return low + other_low, high + other_high
            number = constant_value(rhs)
            if kind is MUL:
                return min(low * number, high * number), max(low * number, high * number)
            if kind is FLOORDIV:
                return low // number, high // number
            if kind is CEILDIV:
                return -(-low // number), -(-high // number)
            return (low % number, high % number) if low // number == high // number else (0, number - 1)
        case _:
            raise AssertionError(f"not an expression over dims: {expr}")


def build(linear: LinearSum) -> AffineExpr:
    """The expression of a linear sum, without zero terms or unit factors."""
    terms, constant = linear
    result: AffineExpr | None = None
    for atom, factor in terms.items():
        term = atom if factor == 1 else AffineBinaryOpExpr(MUL, atom, AffineConstantExpr(factor))
        result = term if result is None else AffineBinaryOpExpr(ADD, result, term)
    if result is None:
        return AffineConstantExpr(constant)
    return AffineBinaryOpExpr(ADD, result, AffineConstantExpr(constant)) if constant else result


def linear_sum(expr: AffineExpr, extents: Sequence[int]) -> LinearSum:
    """`expr` as a sum of simplified atoms, given the range `0 <= d[i] < extents[i]` of every dim."""
    match expr:
        case AffineConstantExpr(value=value):
            return {}, value
        case AffineDimExpr(position=position):
            return ({} if extents[position] == 1 else {expr: 1}), 0
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            if kind is ADD:
                return _add(linear_sum(lhs, extents), linear_sum(rhs, extents))
            number = constant_value(rhs)
            if kind is MUL:
                return _add(({}, 0), linear_sum(lhs, extents), number)
            if kind is CEILDIV:
                shifted = _add(linear_sum(lhs, extents), ({}, number - 1))
                return _divide(shifted, number, extents)
            dividend = linear_sum(lhs, extents)
            return _divide(dividend, number, extents) if kind is FLOORDIV else _modulo(dividend, number, extents)
        case _:
            raise AssertionError(f"not an expression over dims: {expr}")


@lru_cache(maxsize=65536)
def _simplify(expr: AffineExpr, extents: tuple[int, ...]) -> AffineExpr:
    return build(linear_sum(expr, extents))


def simplify(expr: AffineExpr, extents: Sequence[int]) -> AffineExpr:
    """An expression equal to `expr` wherever `0 <= d[i] < extents[i]`, with as few divisions as the ranges allow."""
    return _simplify(expr, tuple(extents))


def _add(left: LinearSum, right: LinearSum, factor: int = 1) -> LinearSum:
    terms = dict(left[0])
    for atom, coefficient in right[0].items():
        terms[atom] = terms.get(atom, 0) + factor * coefficient
    return _recombine({atom: c for atom, c in terms.items() if c}), left[1] + factor * right[1]


def _recombine(terms: dict[AffineExpr, int]) -> dict[AffineExpr, int]:
    """
    `k*(x mod n) + k*n*(x floordiv n)` is `k*x`, and with `(x floordiv n) mod m` it is `k*(x mod n*m)`.

    In the remainder x may be any number that leaves the same one: its factors are reduced modulo n.
    """
    for atom, factor in terms.items():
        if not _is_mod(atom):
            continue
        for other, other_factor in terms.items():
            if other_factor != factor * constant_value(atom.rhs):
                continue
            joined = _joined(atom, other)
            if joined is None or joined[1]:
                continue
            rest = {term: c for term, c in terms.items() if term not in (atom, other)}
            for term, c in joined[0].items():
                rest[term] = rest.get(term, 0) + factor * c
            return _recombine({term: c for term, c in rest.items() if c})
    return terms


def _joined(remainder: AffineBinaryOpExpr, other: AffineExpr) -> LinearSum | None:
    """A remainder and as many times another atom as its modulus says, as one sum where they are parts of one number."""
    modulus = constant_value(remainder.rhs)
    quotient = other.lhs if _is_mod(other) else other
    if not (isinstance(quotient, AffineBinaryOpExpr) and quotient.kind is FLOORDIV and quotient.rhs == remainder.rhs):
        return None
    if not _is_congruent(quotient.lhs, remainder.lhs, modulus):
        return None
    if not _is_mod(other):
        return _as_linear(quotient.lhs)
    combined = AffineConstantExpr(modulus * constant_value(other.rhs))
    return {AffineBinaryOpExpr(MOD, quotient.lhs, combined): 1}, 0


def _is_congruent(left: AffineExpr, right: AffineExpr, modulus: int) -> bool:
    """Whether two sums leave the same remainder whatever their atoms are."""
    if left == right:
        return True
    (terms, constant), (others, other_constant) = _as_linear(left), _as_linear(right)
    factors = [(terms.get(atom, 0), others.get(atom, 0)) for atom in {**terms, **others}]
    return all(
        one == other or (not is_symbolic(one) and not is_symbolic(other) and (one - other) % modulus == 0)
        for one, other in (*factors, (constant, other_constant))
    )


def _recombine_modulo(terms: dict[AffineExpr, int], number: int) -> dict[AffineExpr, int]:
    """The same where factors count modulo a number: `((x mod 7) + 3*(x floordiv 7)) mod 4` is `x mod 4`."""
    for atom, factor in terms.items():
        if not _is_mod(atom):
            continue
        quotient = AffineBinaryOpExpr(FLOORDIV, atom.lhs, atom.rhs)
        whole, given = factor * constant_value(atom.rhs), terms.get(quotient, 0)
        if given != whole and not is_symbolic(given) and (given - whole) % number == 0:
            return _recombine_modulo(_recombine({**terms, quotient: whole}), number)
    return terms


def _as_linear(expr: AffineExpr) -> LinearSum:
    """Terms of an expression that `build` made, read back."""
    match expr:
        case AffineConstantExpr(value=value):
            return {}, value
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs) if kind is ADD:
            left, right = _as_linear(lhs), _as_linear(rhs)
            return {**left[0], **right[0]}, left[1] + right[1]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs) if kind is MUL:
            return {lhs: constant_value(rhs)}, 0
        case _:
            return {expr: 1}, 0


def _divide(dividend: LinearSum, number: int, extents: Sequence[int]) -> LinearSum:
    terms, constant = dividend
    whole = {atom: c // number for atom, c in terms.items() if c % number == 0}
    rest = {atom: c for atom, c in terms.items() if c % number}
    whole_constant, rest_constant = divmod(constant, number)
    low, high = bounds(build((rest, rest_constant)), extents)
    if low // number == high // number:
        return whole, whole_constant + low // number
    # a multiple g*k plus a remainder that never reaches g does not cross a boundary of g
    if coarse := _without_fine_terms(rest, rest_constant, number, extents):
        rest, rest_constant = coarse
    if rest_constant == 0 and len(rest) == 1:
        ((atom, factor),) = rest.items()
        if factor == 1 and isinstance(atom, AffineBinaryOpExpr) and atom.kind is FLOORDIV:
            nested = _divide(linear_sum(atom.lhs, extents), constant_value(atom.rhs) * number, extents)
            return _add((whole, whole_constant), nested)
        if factor == 1 and _is_mod(atom):
            modulus = constant_value(atom.rhs)
            if modulus % number == 0:  # (x mod m*n) floordiv n = (x floordiv n) mod m
                quotient = _divide(linear_sum(atom.lhs, extents), number, extents)
                return _add((whole, whole_constant), _modulo(quotient, modulus // number, extents))
    common = math.gcd(number, *rest.values())
    inner = build(({atom: c // common for atom, c in rest.items()}, rest_constant // common))
    quotient = AffineBinaryOpExpr(FLOORDIV, inner, AffineConstantExpr(number // common))
    return _add((whole, whole_constant), ({quotient: 1}, 0))


def _without_fine_terms(
    rest: dict[AffineExpr, int], constant: int, number: int, extents: Sequence[int]
) -> LinearSum | None:
    """Drop the terms that together stay inside one step of the coarse ones: `(4*x + y) floordiv 8` with `y < 4`."""
    factors = sorted({abs(c) for c in rest.values()}, reverse=True)
    for threshold in factors:
        coarse = {atom: c for atom, c in rest.items() if abs(c) >= threshold}
        fine = {atom: c for atom, c in rest.items() if abs(c) < threshold}
        step = math.gcd(number, *coarse.values())
        if step == 1:
            return None
        coarse_constant, fine_constant = constant // step * step, constant % step
        low, high = bounds(build((fine, fine_constant)), extents)
        if (fine or fine_constant) and low >= 0 and high < step:
            return coarse, coarse_constant
    return None


def _modulo(dividend: LinearSum, number: int, extents: Sequence[int]) -> LinearSum:
    terms, constant = dividend
    rest = {atom: c % number for atom, c in terms.items() if c % number}
    rest_constant = constant % number
    low, high = bounds(build((rest, rest_constant)), extents)
    if low // number == high // number:
        return rest, rest_constant - number * (low // number)
    # the same with the original signs: (4*x - y) may stay inside one block where (4*x + 3*y) does not
    signed = {atom: c for atom, c in terms.items() if c % number}
    low, high = bounds(build((signed, constant)), extents)
    if low // number == high // number:
        return signed, constant - number * (low // number)
    joined = _recombine_modulo(terms, number)
    if joined != terms:
        return _modulo((joined, constant), number, extents)
    if rest_constant == 0 and len(rest) == 1:
        ((atom, factor),) = rest.items()
        if factor == 1 and _is_mod(atom) and constant_value(atom.rhs) % number == 0:
            return _modulo(linear_sum(atom.lhs, extents), number, extents)
    if coarse := _without_fine_terms(rest, rest_constant, number, extents):
        fine = {atom: c for atom, c in rest.items() if atom not in coarse[0]}, rest_constant - coarse[1]
        return _add(_modulo(coarse, number, extents), fine)
    common = math.gcd(number, *rest.values())
    inner = build(({atom: c // common for atom, c in rest.items()}, rest_constant // common))
    remainder = AffineBinaryOpExpr(MOD, inner, AffineConstantExpr(number // common))
    return {remainder: common}, rest_constant % common


def _is_mod(atom: AffineExpr) -> TypeGuard[AffineBinaryOpExpr]:
    return isinstance(atom, AffineBinaryOpExpr) and atom.kind is MOD


def is_linear(expr: AffineExpr) -> bool:
    """Whether no division is left in `expr`."""
    return not any(isinstance(e, AffineBinaryOpExpr) and e.kind in (FLOORDIV, CEILDIV, MOD) for e in expr.dfs())


def substitute(expr: AffineExpr, values: Sequence[AffineExpr]) -> AffineExpr:
    """`expr` with every dim `i` replaced by `values[i]`."""
    return expr.replace_dims_and_symbols(list(values), [])


def coefficient(expr: AffineExpr, dim: int) -> int:
    """The factor of a dim in the linear part of an expression; what is divided does not count."""
    match expr:
        case AffineDimExpr(position=position):
            return int(position == dim)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs) if kind is ADD:
            return coefficient(lhs, dim) + coefficient(rhs, dim)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs) if kind is MUL:
            return coefficient(lhs, dim) * constant_value(rhs)
        case _:
            return 0


def linear_parts(expr: AffineExpr, num_dims: int) -> tuple[tuple[int, ...], AffineExpr]:
    """The coefficient of every dim, and the rest: a constant where the expression is linear."""
    terms, constant = _as_linear(expr)
    factors = tuple(terms.get(AffineDimExpr(dim), 0) for dim in range(num_dims))
    rest = {atom: c for atom, c in terms.items() if not isinstance(atom, AffineDimExpr)}
    return factors, build((rest, constant))
