"""
Shared walks: boxes that read the same lines of a source are copied together, a small part of the source at a time.

Channels of pixels that fill blocks and those that are left over are two boxes. One after the other they would read
every line of a large source twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.panel_group import is_regular
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.plan_rewrites import cut_box
from layout_ir.layouts.symbols import is_symbolic

STEP_BYTES = 1 << 10
"""Distance of neighbouring steps above which boxes that read parts of every step have few lines in common."""

PART_STEPS = 64
"""Steps of the innermost shared axis that are copied by one box after the other."""

LEAST_PART_STEPS = 16
"""The same where steps are long."""

PART_BYTES = 16 << 10
"""Size of these steps: they stay in a first level cache until the last box has read them."""


@dataclass(frozen=True)
class SharedWalk:
    """Boxes with common loops around all of them."""

    boxes: tuple[Box, ...]

    shared: int
    """How many axes, the first ones of every box, are common loops."""

    def inner(self, position: int) -> Box:
        """What is copied of a box in one step of the common loops."""
        box = self.boxes[position]
        return replace(box, axes=box.axes[self.shared :])


def sharing(boxes: Sequence[Box], element_bytes: int) -> list[tuple[Box, ...]]:
    """All boxes, those together that read parts of the same steps of their source."""
    left = list(boxes)
    result: list[tuple[Box, ...]] = []
    while left:
        together = _partners(left, element_bytes)
        left = [box for box in left if box not in together]
        result.append(tuple(together))
    return result


def walk_together(boxes: Sequence[Box], element_bytes: int) -> tuple[SharedWalk, list[Box]] | None:
    """
    The walk of boxes that share lines, the innermost common axis in parts, and boxes with what is left of that axis.

    None where there are too few steps for parts.
    """
    outer = [_outer(box, _stride_of_steps(boxes)) for box in boxes]
    extent, stride = outer[0][-1].extent, outer[0][-1].source_stride
    steps = PART_STEPS
    while steps > LEAST_PART_STEPS and steps * stride * element_bytes > PART_BYTES:
        steps //= 2
    whole = extent // steps * steps
    if whole < 2 * steps:
        return None
    walked: list[Box] = []
    rest: list[Box] = []
    for box, common in zip(boxes, outer, strict=True):
        first, last = cut_box(box, box.axes.index(common[-1]), whole)
        walked.append(_in_parts(first, stride, steps))
        rest += [last] if whole < extent else []
    return SharedWalk(tuple(walked), len(outer[0])), rest


def _partners(boxes: Sequence[Box], element_bytes: int) -> list[Box]:
    """The first box with all others that read parts of the same steps."""
    first = boxes[0]
    if not _can_share(first):
        return [first]
    for stride in sorted({axis.source_stride for axis in first.axes}):
        if stride * element_bytes > STEP_BYTES:
            break
        found = [box for box in boxes if _can_share(box) and _reads_of_the_same_steps(box, first, stride)]
        if len(found) > 1 and first in found:
            return found
    return [first]


def _reads_of_the_same_steps(box: Box, other: Box, stride: int) -> bool:
    span = sum((axis.valid - 1) * axis.source_stride for axis in box.axes if axis.source_stride < stride)
    apart = abs(constant_value(box.source_offset) - constant_value(other.source_offset))
    common = [_outer(one, stride) for one in (box, other)]
    places = [[(axis.extent, axis.valid, axis.source_stride) for axis in axes] for axes in common]
    return span < stride and apart < stride and places[0] == places[1] and all(axis.is_full for axis in common[0])


def _stride_of_steps(boxes: Sequence[Box]) -> int:
    """The distance of the steps that boxes share: the shortest one that all of them have and are inside of."""
    strides = sorted({axis.source_stride for axis in boxes[0].axes})
    return next(s for s in strides if all(_reads_of_the_same_steps(box, boxes[0], s) for box in boxes))


def _can_share(box: Box) -> bool:
    return (
        is_regular(box)
        and not box.is_fill
        and all(axis.source_stride > 0 and not is_symbolic(axis.extent) for axis in box.axes)
    )


def _outer(box: Box, stride: int) -> list[Axis]:
    """The axes from one step of the source to another, outermost first."""
    return sorted((axis for axis in box.axes if axis.source_stride >= stride), key=lambda axis: -axis.source_stride)


def _in_parts(box: Box, stride: int, steps: int) -> Box:
    """The box with its common axes in front, the innermost cut into parts of some steps."""
    *outer, axis = _outer(box, stride)
    count = axis.extent // steps
    parts = replace(
        axis,
        extent=count,
        valid=count,
        source_stride=axis.source_stride * steps,
        destination_stride=axis.destination_stride * steps,
    )
    part = replace(axis, extent=steps, valid=steps)
    inner = [part if own == axis else own for own in box.axes if own not in outer]
    return replace(box, axes=(*outer, parts, *inner))
