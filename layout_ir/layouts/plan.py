"""
CopyPlan: a reorder as boxes of strided copies, the form from which loops are made.

A box walks its axes; every step of an axis moves the source by one stride and the destination by another. Steps beyond
an axis's `valid` count reach no logical element: there the destination gets the pad value. Nothing in here knows about
layouts' names, vectors or threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from layout_ir.layouts import affine
from layout_ir.layouts.affine_text import affine_text
from layout_ir.layouts.symbols import Symbols


@dataclass(frozen=True)
class Axis:
    """One loop of a box."""

    name: str
    """For names in IR and C: a dim's name and the position of the digit."""

    extent: int
    """Steps of the destination, pads included."""

    source_stride: int
    """Elements of the source per step."""

    destination_stride: int
    """Elements of the destination per step."""

    valid: int
    """Steps that copy; the steps from `valid` to `extent` write pads."""

    source_steps: tuple[int, ...] = ()
    """Where each step lies in the source, for an axis that has no stride; empty for one that has."""

    destination_steps: tuple[int, ...] = ()
    """Where each step lies in the destination, likewise."""

    @property
    def is_irregular(self) -> bool:
        """Whether the steps lie at listed places instead of multiples of a stride."""
        return bool(self.destination_steps)

    def source_at(self, step: int) -> int:
        """Elements of the source between the first step and this one."""
        return self.source_steps[step] if self.is_irregular else self.source_stride * step

    def destination_at(self, step: int) -> int:
        """Elements of the destination between the first step and this one."""
        return self.destination_steps[step] if self.is_irregular else self.destination_stride * step

    @property
    def is_full(self) -> bool:
        """Whether every step copies."""
        return self.valid == self.extent

    def __str__(self) -> str:
        valid = "" if self.is_full else f" valid {self.valid}"
        if self.is_irregular:
            steps = " ".join(f"{s}->{d}" for s, d in zip(self.source_steps, self.destination_steps, strict=True))
            return f"[{self.name}: {self.extent}{valid}, {steps}]"
        return f"[{self.name}: {self.extent}{valid}, {self.source_stride} -> {self.destination_stride}]"


@dataclass(frozen=True)
class Box:
    """A strided copy: `destination[...] = source[...]` over all steps of the axes, outermost first."""

    axes: tuple[Axis, ...]

    source_offset: AffineExpr = AffineConstantExpr(0)  # noqa: RUF009 - frozen value
    """Where the source starts: a constant, or what is not linear in the axes (dim i is axis i)."""

    destination_offset: AffineExpr = AffineConstantExpr(0)  # noqa: RUF009 - frozen value
    """Where the destination starts, likewise."""

    @property
    def is_linear(self) -> bool:
        """Whether no division is left in the offsets."""
        return affine.is_linear(self.source_offset) and affine.is_linear(self.destination_offset)

    @property
    def is_fill(self) -> bool:
        """Whether the box writes pads only."""
        return any(axis.valid == 0 for axis in self.axes)

    @property
    def is_padded(self) -> bool:
        """Whether the box writes pads at all."""
        return any(not axis.is_full for axis in self.axes)

    @property
    def source_span(self) -> tuple[int, int]:
        """The lowest and the highest place that is read, from where the source starts: strides may be negative."""
        ends = [axis.source_steps or (0, axis.source_at(max(axis.valid - 1, 0))) for axis in self.axes]
        return sum(map(min, ends)), sum(map(max, ends))

    def with_axis(self, position: int, axis: Axis) -> Box:
        """The box with one axis replaced."""
        return replace(self, axes=(*self.axes[:position], axis, *self.axes[position + 1 :]))

    @property
    def cells(self) -> int:
        """Cells of the destination that the box writes."""
        return math.prod(axis.extent for axis in self.axes)

    @property
    def elements(self) -> int:
        """Elements that the box copies."""
        return math.prod(axis.valid for axis in self.axes)

    def source_index(self) -> AffineExpr:
        """Source offset as an expression over the axes, without what irregular axes add."""
        return self._index([axis.source_stride for axis in self.axes], self.source_offset)

    def destination_index(self) -> AffineExpr:
        """Destination offset as an expression over the axes, without what irregular axes add."""
        return self._index([axis.destination_stride for axis in self.axes], self.destination_offset)

    def _index(self, strides: list[int], offset: AffineExpr) -> AffineExpr:
        terms: dict[AffineExpr, int] = {AffineExpr.dimension(i): stride for i, stride in enumerate(strides) if stride}
        linear = affine.build((terms, 0))
        if isinstance(offset, AffineConstantExpr):
            return affine.build((terms, offset.value))
        return linear + offset if terms else offset

    def __str__(self) -> str:
        def name(i: int) -> str:
            return self.axes[i].name

        axes = " ".join(map(str, self.axes)) or "[one element]"
        if self.is_fill:
            return f"pad  {axes} at {affine_text(self.destination_offset, name)}"
        places = f"{affine_text(self.source_offset, name)} -> {affine_text(self.destination_offset, name)}"
        return f"copy {axes} at {places}"


@dataclass(frozen=True)
class CopyPlan:
    """All boxes of one reorder. Together they write every cell of the destination at most once."""

    boxes: tuple[Box, ...]

    fill_first: int | None = None
    """Elements of the destination that get the pad value before the copies; None where the boxes write all pads."""

    unknown: Symbols | None = None
    """What the stand-ins in all these numbers are, where an extent is not known."""

    @property
    def is_linear(self) -> bool:
        """Whether no division is left anywhere."""
        return all(box.is_linear for box in self.boxes)

    def __str__(self) -> str:
        lines = [f"fill {self.fill_first} elements"] if self.fill_first is not None else []
        return "\n".join([*lines, *map(str, self.boxes)])
