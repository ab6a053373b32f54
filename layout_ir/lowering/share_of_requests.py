"""Which lines of the source a tile asks for, of those that the tiles of a loop ask for together."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.ir.affine import AffineExpr


@dataclass(frozen=True)
class ShareTerm:
    """By how many elements shares lie elsewhere than what their tiles read, as far as some axes decide it."""

    elements: int
    """For every step."""

    positions: tuple[tuple[int, int], ...]
    """Axes by whose starts, so many times each, the steps are counted."""

    step: int = 1
    """By how much that number grows with a step; one that is not whole counts: the last tile may be moved back."""

    together: int = 1
    """Steps that count as one."""

    count: int | None = None
    """Steps after which it begins anew; None for never."""

    @property
    def expression(self) -> AffineExpr:
        """The elements, by the starts of axes."""
        number = AffineExpr.constant(self.step - 1)
        for axis, factor in self.positions:
            number = number + AffineExpr.dimension(axis) * factor
        number = number // (self.step * self.together)
        return (number if self.count is None else number % self.count) * self.elements

    def behind(self, count: int) -> ShareTerm:
        """The same for a box that has so many axes in front."""
        return replace(self, positions=tuple((axis + count, factor) for axis, factor in self.positions))


@dataclass(frozen=True)
class Share:
    """The lines that one tile asks for."""

    ahead: int
    """Elements between what the first tile reads and what it asks for."""

    terms: tuple[ShareTerm, ...]

    offsets: tuple[int, ...]
    """Elements from the first of the lines to each."""

    def place(self, source_index: AffineExpr) -> AffineExpr:
        """Where the share of a tile begins, by the starts of its axes, as where it reads."""
        return sum((term.expression for term in self.terms), source_index + self.ahead)

    def behind(self, count: int) -> Share:
        """The same for a box that has so many axes in front."""
        return replace(self, terms=tuple(term.behind(count) for term in self.terms))
