"""
Equality for all shapes: by structure where two layouts are one, by a small counterexample where they are not.

A layout of digits is brought to a form in which spelling plays no part: blocks of 1 are dropped, neighbours that are
pieces of one dim are joined (`c floordiv 16`, `c mod 16` side by side are c, rounded up to 16), and what every dim is
rounded up to is stated once. Two layouts of one form agree on every shape. Two of different forms are tried on shapes
around their block sizes; the shape on which they differ is made as small as it gets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import lcm

from xdsl.ir.affine import AffineBinaryOpExpr, AffineDimExpr, AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.layouts import affine
from layout_ir.layouts.proof import Equality, equality
from layout_ir.layouts.strided import StridedLayout
from layout_ir.layouts.tiled import TiledLayout

Explicit = TiledLayout | StridedLayout

LARGEST_TRIAL = 2**40
"""Elements of a shape that a counterexample may have."""


@dataclass(frozen=True)
class Digit:
    """`(d floordiv divisor) mod modulus`; the leading digit of a dim has no modulus."""

    dim: int
    divisor: int = 1
    modulus: int | None = None

    def joined(self, lower: Digit) -> Digit | None:
        """This digit and its right neighbour as one, where the neighbour continues it."""
        if lower.modulus is None or self.dim != lower.dim or self.divisor != lower.divisor * lower.modulus:
            return None
        modulus = None if self.modulus is None else self.modulus * lower.modulus
        return Digit(self.dim, lower.divisor, modulus)


@dataclass(frozen=True)
class CanonicalForm:
    """What a tiled layout is for every shape. Layouts of equal forms are equal on all shapes."""

    num_dims: int
    axes: tuple[Digit | AffineExpr, ...]
    """Slowest first; what is no digit stays as it is spelled."""
    rounding: tuple[tuple[int, ...], ...]
    """The sizes that every dim is rounded up to a multiple of, one after the other."""
    is_image: bool


def digit_of(expr: AffineExpr) -> Digit | None:
    """An expression as a digit of one dim, or None."""
    modulus: int | None = None
    divisor = 1
    if isinstance(expr, AffineBinaryOpExpr) and expr.kind is affine.MOD:
        expr, modulus = expr.lhs, affine.constant_value(expr.rhs)
    if isinstance(expr, AffineBinaryOpExpr) and expr.kind is affine.FLOORDIV:
        expr, divisor = expr.lhs, affine.constant_value(expr.rhs)
    return Digit(expr.position, divisor, modulus) if isinstance(expr, AffineDimExpr) else None


@lru_cache(maxsize=8192)
def canonical_form(layout: TiledLayout) -> CanonicalForm:
    """The form of a layout that does not depend on its spelling."""
    axes = [digit_of(expr) or expr for expr in layout.coordinates]
    rounding: list[tuple[int, ...]] = []
    for dim, unit in enumerate(layout.round_up):
        leading = [a for a in axes if isinstance(a, Digit) and a.dim == dim and a.modulus is None]
        spelled = any(not isinstance(a, Digit) and dim in a.used_dims() for a in axes)
        divisor = leading[0].divisor if len(leading) == 1 and not spelled else 1
        rounding.append(_rounding(unit, divisor))
    joined: list[Digit | AffineExpr] = []
    for axis in axes:
        if isinstance(axis, Digit) and axis.modulus == 1 and not layout.is_image:
            continue
        if isinstance(axis, Digit) and joined and isinstance(joined[-1], Digit) and not layout.is_image:
            together = joined[-1].joined(axis)
            whole = together is not None and _is_whole(axes, axis.dim)
            if together is not None and (together.modulus is not None or whole):
                joined[-1] = together
                continue
        joined.append(axis)
    return CanonicalForm(layout.num_dims, tuple(joined), tuple(rounding), layout.is_image)


def _rounding(unit: int, divisor: int) -> tuple[int, ...]:
    if divisor % unit == 0:
        return (divisor,) if divisor > 1 else ()
    return (unit,) if unit % divisor == 0 else (unit, divisor)


def _is_whole(axes: Sequence[Digit | AffineExpr], dim: int) -> bool:
    """Whether a dim has one leading digit and occurs in digits only, so that its rounding is known."""
    digits = [a for a in axes if isinstance(a, Digit) and a.dim == dim]
    others = any(not isinstance(a, Digit) and dim in a.used_dims() for a in axes)
    return not others and sum(d.modulus is None for d in digits) == 1


# -- equality ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def equality_for_all_shapes(left: Explicit, right: Explicit) -> Equality:
    """
    Decide whether two layouts that do not depend on the shape are equal on every shape of their rank.

    On failure the result names a small shape and its first element that lies elsewhere. Raises `LayoutError` where
    the forms differ and yet no shape tells the layouts apart.
    """
    if left.rank != right.rank:
        return Equality(f"the ranks are {left.rank} and {right.rank}")
    if left == right or _form(left) == _form(right):
        return Equality()
    for shape in _trial_shapes(left, right):
        if not (found := _on_shape(left, right, shape)):
            return _smallest(left, right, shape, found)
    raise LayoutError(
        f"cannot decide whether two layouts are equal for all shapes: {left} and {right} are spelled differently, "
        "and no shape was found that tells them apart"
    )


def _form(layout: Explicit) -> CanonicalForm | StridedLayout:
    if isinstance(layout, StridedLayout):
        return layout
    return canonical_form(layout)


def _on_shape(left: Explicit, right: Explicit, shape: tuple[int, ...]) -> Equality:
    try:
        found = equality(left.index_map(shape), right.index_map(shape))
    except LayoutError:  # a shape that one of them cannot have, or that cannot be decided, tells nothing
        return Equality()
    return found if found else replace(found, difference=f"with shape {list(shape)}, {found.difference}", shape=shape)


def _blocks(layout: Explicit) -> tuple[int, ...]:
    return layout.blocks if isinstance(layout, TiledLayout) else (1,) * len(layout.strides)


def _trial_shapes(left: Explicit, right: Explicit) -> Iterator[tuple[int, ...]]:
    blocks = [lcm(a, b) for a, b in zip(_blocks(left), _blocks(right), strict=True)]
    rank = len(blocks)
    yield tuple(2 for _ in blocks)
    yield tuple(2 * block + 1 for block in blocks)
    yield tuple((2 + dim) * block for dim, block in enumerate(blocks))
    yield tuple((2 + rank - dim) * block + 1 + dim for dim, block in enumerate(blocks))
    for dim, block in enumerate(blocks):
        for size in (block - 1, block, block + 1, 3 * block + 1):
            yield tuple(max(size, 1) if other == dim else 2 for other in range(rank))
            yield tuple(max(size, 1) if other == dim else 1 for other in range(rank))


def _smallest(left: Explicit, right: Explicit, shape: tuple[int, ...], found: Equality) -> Equality:
    """The same refutation with every size as small as it can be, one dim after the other; dims of 1 mean the most."""
    shrunk = True
    while shrunk:
        shrunk = False
        for dim, size in enumerate(shape):
            for smaller in range(1, min(size, 70)):
                trial = (*shape[:dim], smaller, *shape[dim + 1 :])
                if not (result := _on_shape(left, right, trial)) and (result.index is not None or found.index is None):
                    shape, found, shrunk = trial, result, True
                    break
    return found
