"""The storage order of an OpenVINO name: digits of dims, slowest first, with what is padded and mirrored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from layout_ir.layouts.tiled import TiledLayout


@dataclass(frozen=True)
class Digit:
    """`(d / divisor) % modulus` of one dim, or of several fused ones."""

    letters: str
    """One dim, or spatial dims that are fused to one, as `yx` for `y*X + x`."""

    divisor: int = 1

    modulus: int | None = None
    """None for the leading digit, which has no upper bound."""

    def of(self, value: AffineExpr) -> AffineExpr:
        """This digit of the value of its dims."""
        quotient = value if self.divisor == 1 else value // self.divisor
        return quotient if self.modulus is None else quotient % self.modulus

    def __str__(self) -> str:
        quotient = self.letters if self.divisor == 1 else f"{self.letters}/{self.divisor}"
        if self.modulus is None:
            return quotient
        return f"{quotient}%{self.modulus}" if self.divisor == 1 else f"({quotient})%{self.modulus}"


@dataclass(frozen=True)
class StorageOrder:
    """Digits from the slowest to the fastest. A dim that has digits is padded to the product of their moduli."""

    dims: tuple[str, ...]
    """Names of the logical dims."""

    digits: tuple[Digit, ...]

    padding: tuple[tuple[str, int], ...] = ()
    """Dims that are rounded up although they are not split, or further than their blocks ask for."""

    mirrored: str = ""
    """Dims that run backwards."""

    def layout(self, shape: tuple[int, ...]) -> TiledLayout:
        """The explicit layout; `shape` in the order of `dims`."""
        sizes = dict(zip(self.dims, shape, strict=True))
        coordinates = tuple(digit.of(self._value(digit.letters, sizes)) for digit in self.digits)
        padding = dict(self.padding)
        return TiledLayout(len(self.dims), coordinates, tuple(padding.get(dim, 1) for dim in self.dims))

    def _value(self, letters: str, sizes: Mapping[str, int]) -> AffineExpr:
        exprs = [self._dim(letter, sizes[letter]) for letter in letters]
        return mixed_radix(list(zip(exprs, (sizes[letter] for letter in letters), strict=True)))

    def _dim(self, letter: str, size: int) -> AffineExpr:
        expr = AffineExpr.dimension(self.dims.index(letter))
        return expr * -1 + (size - 1) if letter in self.mirrored else expr

    def __str__(self) -> str:
        """Slowest first, as in `o/16, i, y, x, o%16; i to 8; y, x backwards`."""
        padding = "; " + ", ".join(f"{dim} to {size}" for dim, size in self.padding) if self.padding else ""
        mirrored = f"; {', '.join(self.mirrored)} backwards" if self.mirrored else ""
        return ", ".join(map(str, self.digits)) + padding + mirrored


def mixed_radix(digits: list[tuple[AffineExpr, int]]) -> AffineExpr:
    """The number whose digits are given as pairs (digit, number of its values), the most significant first."""
    result: AffineExpr = AffineConstantExpr(0)
    for position, (expr, count) in enumerate(digits):
        result = expr if position == 0 else result * max(count, 1) + expr  # an empty tensor has no index at all
    return result
