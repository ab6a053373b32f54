"""
Groups of boxes that are written together: those that share cache lines of the destination.

Whole blocks of channels and what is left of them are one example: alone neither fills the lines of a pixel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.plan import Axis, Box

STRETCH_BYTES = 4 << 10
"""
Longest stretch of the destination that boxes which interleave fill together.

In a longer one few lines belong to two boxes, and panels that need not hold a whole stretch are better ones.
"""

STRETCH_READ_TOGETHER_BYTES = 32 << 10
"""The same for boxes that read the same lines as well, which each of them alone would read again."""

STEP_BYTES = 1 << 10
"""Distance of neighbouring steps above which boxes that take parts of every step have few lines in common."""


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

    overrun: int = 0
    """Cells behind a stretch that the first box writes too, before the others do."""

    @staticmethod
    def of(boxes: Sequence[Box], stretch: int = 1) -> Group:
        """The group of boxes that fill stretches; one box alone keeps its axes in their order."""
        if len(boxes) == 1:
            return Group(tuple(boxes), len(boxes[0].axes), 1, start_of(boxes[0]))
        ordered: list[Box] = []
        shared = 0
        for box in boxes:
            outer = [axis for axis in box.axes if axis.destination_stride >= stretch]
            own = [axis for axis in box.axes if axis.destination_stride < stretch]
            ordered.append(replace(box, axes=(*sorted(outer, key=lambda axis: -axis.destination_stride), *own)))
            shared = len(outer)
        return Group(tuple(ordered), shared, stretch, min(map(start_of, boxes)))

    @cached_property
    def main(self) -> Box:
        """The box that copies the most."""
        return max(self.boxes, key=lambda box: box.elements)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The shared axes, with the source's strides of the main box."""
        return self.main.axes[: self.shared]

    @cached_property
    def run_axes(self) -> list[int]:
        """The shared axes that continue a stretch of the destination, innermost first."""
        return contiguous(self.axes, [axis.destination_stride for axis in self.axes], self.stretch)


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


def start_of(box: Box) -> int:
    """Where a box starts in the destination; 0 where that is no constant."""
    return constant_value(box.destination_offset) if box.is_linear else 0


# -- boxes that interleave ---------------------------------------------------------------------------------------------


def group_boxes(boxes: Sequence[Box], element_bytes: int, sequence_bytes: int = 0) -> list[Group]:
    """
    All boxes in groups; a box that interleaves with no other is a group of its own.

    `sequence_bytes`: longest stretch of boxes that do not interleave, but follow each other inside of lines.
    """
    left = list(boxes)
    groups: list[Group] = []
    while left:
        group, taken = _interleaved(left, element_bytes, sequence_bytes) or (Group.of([left[0]]), [0])
        groups.append(group)
        left = [box for i, box in enumerate(left) if i not in taken]
    return groups


def _interleaved(boxes: Sequence[Box], element_bytes: int, sequence_bytes: int) -> tuple[Group, list[int]] | None:
    """The boxes that fill stretches together with the first one, and their positions; None if there are none."""
    if not is_regular(boxes[0]):
        return None
    for stretch in sorted({axis.destination_stride for axis in boxes[0].axes}):
        length = stretch * element_bytes
        if length > max(STRETCH_READ_TOGETHER_BYTES, sequence_bytes):
            break
        found = group_of_stretches(boxes, stretch)
        if found is None:
            continue
        group, members = found
        reads_together = length <= STRETCH_READ_TOGETHER_BYTES and _read_together(group.boxes, element_bytes)
        follows = length <= sequence_bytes and _in_sequence(group, LINE_BYTES // element_bytes)
        if length <= STRETCH_BYTES or reads_together or follows:
            return group, members
    return None


def group_of_stretches(boxes: Sequence[Box], stretch: int) -> tuple[Group, list[int]] | None:
    """The boxes that fill such stretches together with the first one, and their positions; None if there are none."""
    wanted = _signature(boxes[0], stretch)
    members = [i for i, box in enumerate(boxes) if is_regular(box) and _signature(box, stretch) == wanted]
    chosen = [boxes[i] for i in members]
    if len(members) < 2 or not _fill_stretches(chosen, stretch):
        return None
    return Group.of(chosen, stretch), members


def _signature(box: Box, stretch: int) -> list[tuple[int, int, int]]:
    """What boxes that fill stretches together have in common: the axes that lead from one stretch to another."""
    return sorted(
        (axis.destination_stride, axis.extent, axis.valid) for axis in box.axes if axis.destination_stride >= stretch
    )


def _read_together(boxes: Sequence[Box], element_bytes: int) -> bool:
    """Whether boxes read parts of the same steps of the source, which lie close to each other."""
    starts = [constant_value(box.source_offset) for box in boxes]
    strides = [{axis.source_stride for axis in box.axes if axis.extent > 1} for box in boxes]
    common = strides[0].intersection(*strides)
    return any(max(starts) - min(starts) < stride <= STEP_BYTES // element_bytes for stride in common)


def _in_sequence(group: Group, line: int) -> bool:
    """
    Whether the boxes of a group write one piece of a stretch each, one behind the other, and read one region for it.

    Not where all pieces are whole lines, which no other box writes a part of.
    """
    if all(start % line == 0 for start in (group.stretch, *map(start_of, group.boxes))):
        return False
    for box in group.boxes:
        shared, own = box.axes[: group.shared], box.axes[group.shared :]
        region = 1 + sum((axis.valid - 1) * abs(axis.source_stride) for axis in own)
        has_gaps = _span(own) > math.prod(axis.extent for axis in own)
        if has_gaps or any(abs(axis.source_stride) < region for axis in shared):
            return False
    return True


def _span(axes: Sequence[Axis]) -> int:
    """Cells of the destination from the first to the last that axes lead to."""
    return 1 + sum((axis.extent - 1) * axis.destination_stride for axis in axes)


def _fill_stretches(boxes: Sequence[Box], stretch: int) -> bool:
    """Whether inside of the shared axes every cell of a stretch is written; no cell is written twice in a plan."""
    inner = [[axis for axis in box.axes if axis.destination_stride < stretch] for box in boxes]
    ends = [start_of(box) + _span(axes) for box, axes in zip(boxes, inner, strict=True)]
    cells = sum(math.prod(axis.extent for axis in axes) for axes in inner)
    return cells == stretch and max(ends) - min(map(start_of, boxes)) == stretch
