"""Parts of the range of a dim whose extent is not known, and the dims that take the place of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from layout_ir.layouts.refinement import nested_chain


def meeting_points(points: Collection[int]) -> tuple[int, ...]:
    """
    Block sizes that divide each other, smallest first, at whose multiples every other one begins or goes on.

    Each given one divides the last of them, and of each of them and each given one, one divides the other.
    """
    chain = nested_chain(points)
    return tuple(block for block in chain if all(point % block == 0 or block % point == 0 for point in points))


@dataclass(frozen=True)
class Digit:
    """A piece of a dim: its steps, or the one step at which a part holds it."""

    count: int
    """How many steps, or which one."""
    weight: int
    """What a step adds to the dim."""
    limit: int
    """A known number that the count does not exceed; the count itself where there is none."""


@dataclass(frozen=True)
class Part:
    """
    A part of the range of a dim.

    Its values are `start`, plus `sum(weight * count)` of what is held, plus those of the digits.
    """

    held: tuple[Digit, ...]
    digits: tuple[Digit, ...]
    """New dims in place of the old one."""
    start: int = 0
    is_pad: bool = False
    """Whether no element is in it."""


@dataclass(frozen=True)
class Held:
    """What a part holds of a dim."""

    dim: int
    digit: Digit
    upper: int | None
    """The block size of what is held in front of it, which its counts fill at most; None for the largest blocks."""


@dataclass
class NewDims:
    """The dims of a problem while they are collected."""

    names: list[str]
    shape: list[int]
    padded: list[int]
    limits: list[int]

    def add(self, name: str, size: int, padded: int, limit: int) -> AffineExpr:
        """One more dim; its value."""
        self.names.append(name)
        self.shape.append(size)
        self.padded.append(padded)
        self.limits.append(limit)
        return AffineExpr.dimension(len(self.names) - 1)

    def add_part(self, name: str, part: Part, limited: bool) -> AffineExpr:
        """The digits of a part; the value of the dim that they replace, without what is held."""
        value: AffineExpr = AffineConstantExpr(0)
        for position, digit in enumerate(part.digits):
            label = f"{name}{len(part.digits) - 1 - position}" if len(part.digits) > 1 else name
            count = digit.limit if limited else digit.count
            step = self.add(label, 0 if part.is_pad and position == 0 else count, count, digit.limit)
            value = value + step * digit.weight
        return value
