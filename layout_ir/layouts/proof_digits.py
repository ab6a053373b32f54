"""
A map's offset taken apart: fields that do not run into each other, parts that share no dim, boxes without a division.

The offset is a sum of atoms (a dim, a floordiv, a mod). Where the smaller terms together never reach the step of the
larger ones, the sum determines both: these are *fields*. Dims that no field brings together act independently: they
belong to different *parts*, and a question about the map is a question about each part. Inside a part every dim is cut
at its block sizes into pieces; in a *box*, one piece of every dim, the offset is linear in the digits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir.affine import AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.layouts import affine
from layout_ir.layouts.affine import LinearSum
from layout_ir.layouts.index_map import evaluate
from layout_ir.layouts.refinement import Digit, Piece, nested_chain, pieces, split_points

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

BOX_LIMIT = 64
"""Boxes of one part; beyond it the part is enumerated."""

ENUMERATION_LIMIT = 2**24
"""Elements of one part whose offsets may be held in memory at once."""


def fields(linear: LinearSum, extents: Sequence[int]) -> list[dict[AffineExpr, int]]:
    """The terms of a sum in groups, lowest first, each of which the sum's value determines."""
    terms = sorted(linear[0].items(), key=lambda term: abs(term[1]))
    result: list[dict[AffineExpr, int]] = [{}]
    reach = 0
    for position, (atom, factor) in enumerate(terms):
        step = math.gcd(*(f for _, f in terms[position:]))
        if result[-1] and reach < step:
            result.append({})
        result[-1][atom] = factor
        low, high = affine.bounds(atom, extents)
        reach += abs(factor) * (high - low)
    return result if terms else []


@dataclass(frozen=True)
class Part:
    """A summand of the offset, over dims that no other summand mentions."""

    dims: tuple[int, ...]
    """The dims that it depends on, in order."""

    expr: AffineExpr
    """Over the map's own dims."""

    extents: tuple[int, ...]
    """Extents of all dims of the map."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Extents of this part's dims."""
        return tuple(self.extents[dim] for dim in self.dims)

    def index(self, values: Iterable[int]) -> tuple[int, ...]:
        """A full index that has `values` in this part's dims and 0 elsewhere."""
        result = [0] * len(self.extents)
        for dim, value in zip(self.dims, values, strict=True):
            result[dim] = value
        return tuple(result)

    def boxes(self) -> list[LinearBox] | None:
        """Boxes that cover the part once and in which it is linear, or None where divisions remain."""
        cuts = [nested_chain(split_points([self.expr], dim)) for dim in self.dims]
        per_dim = [pieces(size, size, chain) for size, chain in zip(self.sizes, cuts, strict=True)]
        if math.prod(map(len, per_dim)) > BOX_LIMIT:
            return None
        boxes = [self._box(choice) for choice in itertools.product(*per_dim)]
        return [box for box in boxes if box is not None] if all(boxes) else None

    def _box(self, choice: Sequence[Piece]) -> LinearBox | None:
        values: list[AffineExpr] = [AffineExpr.constant(0)] * len(self.extents)
        digits: list[tuple[int, Digit]] = []
        for position, (dim, piece) in enumerate(zip(self.dims, choice, strict=True)):
            values[dim] = piece.value(len(digits))
            digits += [(position, digit) for digit in piece.digits]
        extents = [digit.extent for _, digit in digits]
        expr = affine.simplify(affine.substitute(self.expr, values), extents)
        strides, rest = affine.linear_parts(expr, len(digits))
        if not affine.is_linear(rest):
            return None
        starts = tuple(piece.start for piece in choice)
        return LinearBox(starts, tuple(digits), strides, rest.eval([0] * len(digits), []))

    def chunks(self, limit: int = ENUMERATION_LIMIT) -> Iterator[npt.NDArray[np.int64]]:
        """The part's values at all its indices in row-major order, flat, at most `limit` at a time."""
        position = {dim: i for i, dim in enumerate(self.dims)}
        renamed = [AffineExpr.dimension(position.get(dim, 0)) for dim in range(len(self.extents))]
        expr, (first, *rest) = affine.substitute(self.expr, renamed), self.sizes
        rows = max(limit // max(math.prod(rest), 1), 1)
        for start in range(0, first, rows):
            shifted = [AffineExpr.dimension(i) + (start if i == 0 else 0) for i in range(len(self.dims))]
            yield evaluate(affine.substitute(expr, shifted), (min(rows, first - start), *rest)).ravel()

    def check_size(self, limit: int, question: str) -> None:
        """Raise `LayoutError` for a part of too many elements to look at each."""
        if math.prod(self.sizes) > limit:
            raise LayoutError(
                f"cannot decide {question}: dims {list(self.dims)} of sizes {list(self.sizes)} are entangled by "
                f"divisions, and to look at each of their elements at most {limit} may be there"
            )

    def unravel(self, position: int) -> tuple[int, ...]:
        """The full index of the element at a position of `chunks`."""
        values: list[int] = []
        for size in reversed(self.sizes):
            position, value = divmod(position, size)
            values.append(value)
        return self.index(reversed(values))


@dataclass(frozen=True)
class LinearBox:
    """A box of digits in which an offset is `base + sum(strides * digits)`."""

    starts: tuple[int, ...]
    """The first value of every dim of the part."""

    digits: tuple[tuple[int, Digit], ...]
    """Position of the dim in the part, and its digit."""

    strides: tuple[int, ...]
    base: int

    @property
    def extents(self) -> tuple[int, ...]:
        """Number of values of every digit."""
        return tuple(digit.extent for _, digit in self.digits)

    def values(self, digits: Iterable[int]) -> tuple[int, ...]:
        """The values of the part's dims for the values of the digits."""
        result = list(self.starts)
        for (position, digit), value in zip(self.digits, digits, strict=True):
            result[position] += digit.weight * value
        return tuple(result)


def parts(groups: Iterable[dict[AffineExpr, int]], extents: Sequence[int]) -> list[Part]:
    """Groups of terms put together where they share a dim."""
    found: list[tuple[set[int], dict[AffineExpr, int]]] = []
    for group in groups:
        dims = {dim for atom in group for dim in atom.used_dims()}
        terms = dict(group)
        for other in [entry for entry in found if entry[0] & dims]:
            found.remove(other)
            dims |= other[0]
            terms |= other[1]
        found.append((dims, terms))
    return [Part(tuple(sorted(dims)), affine.build((terms, 0)), tuple(extents)) for dims, terms in found]
