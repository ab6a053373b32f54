"""
Panels: parts of a copy that are put together in a small buffer, and from there written in whole cache lines.

A line that is written in parts is first read and later written once more. Where tiles end inside of lines, a panel of
tiles is moved to a *scratch* buffer that stays in the cache. Every contiguous *run* of the panel's place in the
destination then goes there line by line, and only its two ends are parts of lines.

Boxes that share lines, such as whole blocks of channels and what is left of them, fill the same panel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir.affine import AffineConstantExpr

from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.symbols import is_multiple
from layout_ir.layouts.tiling import Tile

STRETCH_BYTES = 32 << 10
"""Longest stretch of the destination that boxes which interleave fill together."""


@dataclass(frozen=True)
class Group:
    """Boxes that together fill stretches of the destination, and the axes that lead from one stretch to the next."""

    boxes: tuple[Box, ...]
    """The first axes of every box are the shared ones, in the same order."""

    shared: int
    """How many axes the boxes share: in extents and in the destination's strides."""

    stretch: int
    """Cells that follow each other and are all written, by one box or another; 1 for a box alone."""

    offset: int
    """Where the destination starts."""

    @staticmethod
    def of(boxes: Sequence[Box], stretch: int = 1) -> Group:
        """The group of boxes that fill stretches; one box alone keeps its axes in their order."""
        if len(boxes) == 1:
            return Group(tuple(boxes), len(boxes[0].axes), 1, _start(boxes[0]))
        ordered: list[Box] = []
        shared = 0
        for box in boxes:
            outer = [axis for axis in box.axes if axis.destination_stride >= stretch]
            own = [axis for axis in box.axes if axis.destination_stride < stretch]
            ordered.append(replace(box, axes=(*sorted(outer, key=lambda axis: -axis.destination_stride), *own)))
            shared = len(outer)
        return Group(tuple(ordered), shared, stretch, min(map(_start, boxes)))

    @property
    def main(self) -> Box:
        """The box that copies the most."""
        return max(self.boxes, key=lambda box: box.elements)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The shared axes, with the source's strides of the main box."""
        return self.main.axes[: self.shared]

    @property
    def run_axes(self) -> list[int]:
        """The shared axes that continue a stretch of the destination, innermost first."""
        return contiguous(self.axes, [axis.destination_stride for axis in self.axes], self.stretch)


@dataclass(frozen=True)
class Panel:
    """How a group of boxes is cut into panels."""

    group: Group

    steps: tuple[int, ...]
    """Steps of every shared axis in a panel; the last panel of an axis may have fewer."""

    pitches: tuple[int, ...]
    """Elements of scratch from one step to the next."""

    run: tuple[int, ...]
    """The shared axes that continue the runs, innermost first: all whole but the last."""

    size: int
    """Elements of the scratch buffer."""

    tiles: tuple[Tile | None, ...] = ()
    """How each box is moved to scratch; None for scalar loops."""

    @property
    def run_length(self) -> int:
        """Elements of a run in a whole panel."""
        return math.prod((self.steps[i] for i in self.run), start=self.group.stretch)

    @property
    def least(self) -> tuple[int, ...]:
        """Steps of every shared axis that the tiles need; an unknown extent has to be as long."""
        tiles = [tile for tile in self.tiles if tile is not None]
        return tuple(max([tile.extents[i] for tile in tiles], default=1) for i in range(self.group.shared))

    def is_even(self, i: int) -> bool:
        """Whether all panels have the same steps of a shared axis."""
        return is_multiple(self.group.axes[i].extent, self.steps[i])

    @property
    def rows(self) -> tuple[int, ...]:
        """The shared axes that lead from one run of a panel to another."""
        return tuple(i for i, steps in enumerate(self.steps) if steps > 1 and i not in self.run)

    @property
    def walked(self) -> tuple[int, ...]:
        """
        The axes of the loops over panels, outermost first.

        The next panel continues the rows of the source: their pages are open, and what is written makes no reads wait.
        """
        axes = self.group.axes
        cut = [i for i, axis in enumerate(axes) if axis.extent > self.steps[i]]
        return tuple(sorted(cut, key=lambda i: -axes[i].source_stride))

    def scratch_box(self, position: int) -> Box:
        """One box as a copy from the source to the scratch of a whole panel."""
        box = self.group.boxes[position]
        shared = [
            replace(axis, extent=steps, valid=min(axis.valid, steps), destination_stride=pitch)
            for axis, steps, pitch in zip(box.axes, self.steps, self.pitches, strict=False)
        ]
        offset = AffineConstantExpr(_start(box) - self.group.offset)
        return Box((*shared, *box.axes[self.group.shared :]), box.source_offset, offset)


def contiguous(axes: Sequence[Axis], strides: Sequence[int], first: int = 1) -> list[int]:
    """The axes that follow each other without a gap, from the stride `first` outwards."""
    order: list[int] = []
    expected = first
    while True:
        following = [i for i, stride in enumerate(strides) if stride == expected and i not in order]
        if not following:
            return order
        order.append(following[0])
        expected *= axes[following[0]].extent


def is_regular(box: Box) -> bool:
    """Whether every axis of the box has strides, and its offsets are numbers."""
    return box.is_linear and not any(axis.is_irregular for axis in box.axes)


def _start(box: Box) -> int:
    return constant_value(box.destination_offset) if box.is_linear else 0


# -- boxes that interleave ---------------------------------------------------------------------------------------------


def group_boxes(boxes: Sequence[Box], element_bytes: int) -> list[Group]:
    """All boxes in groups; a box that interleaves with no other is a group of its own."""
    left = list(boxes)
    groups: list[Group] = []
    while left:
        group, taken = _interleaved(left, element_bytes) or (Group.of([left[0]]), [0])
        groups.append(group)
        left = [box for i, box in enumerate(left) if i not in taken]
    return groups


def _interleaved(boxes: Sequence[Box], element_bytes: int) -> tuple[Group, list[int]] | None:
    """The boxes that fill stretches together with the first one, and their positions; None if there are none."""
    if not is_regular(boxes[0]):
        return None
    for stretch in sorted({axis.destination_stride for axis in boxes[0].axes}):
        if stretch * element_bytes > STRETCH_BYTES:
            break
        wanted = _signature(boxes[0], stretch)
        members = [i for i, box in enumerate(boxes) if is_regular(box) and _signature(box, stretch) == wanted]
        chosen = [boxes[i] for i in members]
        if len(members) > 1 and _fill_stretches(chosen, stretch):
            return Group.of(chosen, stretch), members
    return None


def _signature(box: Box, stretch: int) -> list[tuple[int, int, int]]:
    """What boxes of one group have in common: the axes that lead from one stretch to another."""
    return sorted(
        (axis.destination_stride, axis.extent, axis.valid) for axis in box.axes if axis.destination_stride >= stretch
    )


def _fill_stretches(boxes: Sequence[Box], stretch: int) -> bool:
    """Whether inside of the shared axes every cell of a stretch is written; no cell is written twice in a plan."""
    inner = [[axis for axis in box.axes if axis.destination_stride < stretch] for box in boxes]
    ends = [
        _start(box) + 1 + sum((axis.extent - 1) * axis.destination_stride for axis in axes)
        for box, axes in zip(boxes, inner, strict=True)
    ]
    cells = sum(math.prod(axis.extent for axis in axes) for axes in inner)
    return cells == stretch and max(ends) - min(map(_start, boxes)) == stretch
