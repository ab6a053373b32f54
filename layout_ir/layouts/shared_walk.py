"""
Shared walks: boxes that read the same lines of a source, or write those of a destination, are copied together.

Channels of pixels that fill blocks and those that are left over are two boxes. One after the other they would go
through every line twice; a small part at a time, the second one finds it in the nearest cache.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel_group import STEP_BYTES, is_regular
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.plan_rewrites import cut_box, merge_pads

PART_STEPS = 64
"""Steps of the innermost shared axis that are copied by one box after the other."""

LEAST_PART_STEPS = 16
"""The same where steps are long."""

PART_BYTES = 16 << 10
"""Size of these steps: they stay in a first level cache until the last box has taken them."""

ONLY_PART_BYTES = 64 << 10
"""The same of an axis too short for two parts: what waits in a second level cache is still read once from memory."""

MOST_PART_BYTES = 256 << 10
"""The same of `LEAST_PART_STEPS` steps of several images that lie side by side on the other side."""

SHORT_PARTS = 4
"""How many parts of whole axes have to fit for a part to take several steps of the next axis."""

FILLED_STEP_BYTES = 8 << 10
"""Distance of steps of the destination up to which the pads of a step follow what is copied to it."""


class Side(Enum):
    """Whose lines boxes share."""

    SOURCE = "read"
    DESTINATION = "write"

    @property
    def other(self) -> Side:
        """The side that is not this one."""
        return Side.DESTINATION if self is Side.SOURCE else Side.SOURCE

    def stride(self, axis: Axis) -> int:
        """The distance of an axis' neighbouring steps."""
        return axis.source_stride if self is Side.SOURCE else axis.destination_stride

    def steps(self, axis: Axis) -> int:
        """How many steps of an axis a box takes: it writes its pads, but does not read them."""
        return axis.valid if self is Side.SOURCE else axis.extent

    def offset(self, box: Box) -> int:
        """Where a box begins."""
        return constant_value(box.source_offset if self is Side.SOURCE else box.destination_offset)


@dataclass(frozen=True)
class Sharing:
    """Boxes that take parts of the same steps of a side; or one box that does not share any."""

    boxes: tuple[Box, ...]

    side: Side

    stride: int
    """The distance of these steps: the shortest one that all boxes have and are inside of."""


@dataclass(frozen=True)
class SharedWalk:
    """Boxes with common loops around all of them."""

    boxes: tuple[Box, ...]

    shared: int
    """How many axes, the first ones of every box, are common loops."""

    side: Side

    def inner(self, position: int) -> Box:
        """What is copied of a box in one step of the common loops."""
        box = self.boxes[position]
        return replace(box, axes=box.axes[self.shared :])


def sharing(boxes: Sequence[Box], element_bytes: int, side: Side) -> list[Sharing]:
    """All boxes, those together that take parts of the same steps."""
    left = list(boxes)
    result: list[Sharing] = []
    while left:
        found = _partners(left, element_bytes, side)
        left = [box for box in left if box not in found.boxes]
        result.append(found)
    return result


def walk_together(together: Sharing, element_bytes: int, leaving: int = 0) -> tuple[SharedWalk, list[Box]] | None:
    """
    The walk of boxes that share lines, in parts of their common steps, and boxes with what is left behind the last one.

    Common axes whose steps lie in the same or next lines of the other side are no loops: every part has all of them.
    `leaving`: how many steps are left at least. None where there are too few steps for parts, or one box only.
    """
    if len(together.boxes) == 1:
        return None
    common = _loops(together, element_bytes)
    if common is None:
        return None
    outer, step_bytes = common
    part = _part([axis.extent for axis in outer[0]], step_bytes, leaving)
    if part is None:
        return None
    walked: list[Box] = []
    rest: list[Box] = []
    for box, axes in zip(together.boxes, outer, strict=True):
        *loops, axis = axes[: len(axes) - part.whole]
        if part.steps == 1:
            walked.append(_with_common(box, (*loops, axis)))
            continue
        position, end = box.axes.index(axis), (axis.extent - leaving) // part.steps * part.steps
        first, last = cut_box(box, position, end)
        walked.append(_in_parts(first, loops, first.axes[position], part.steps))
        rest += [last] if end < axis.extent else []
    return SharedWalk(tuple(walked), len(outer[0]) - part.whole, together.side), rest


@dataclass(frozen=True)
class CommonSteps:
    """Common loops over parts of steps, of which a kernel that runs knows how many there are."""

    loops: tuple[tuple[Axis, ...], ...]
    """The axes of every box that are common loops, outermost first; the last one is cut into parts."""

    steps: int
    """Steps of the last axis in one part."""


def common_steps(together: Sharing, element_bytes: int) -> CommonSteps | None:
    """The loops of boxes with unknown extents; None where steps are of unknown size, or where there are few of them."""
    common = _loops(together, element_bytes)
    if common is None:
        return None
    outer, step_bytes = common
    steps = _steps_of_part(step_bytes)
    return None if outer[0][-1].extent < 2 * steps else CommonSteps(tuple(map(tuple, outer)), steps)


def _loops(together: Sharing, element_bytes: int) -> tuple[list[list[Axis]], int] | None:
    """
    The axes of every box that may be common loops, outermost first, and the bytes of what one step of them has.

    None where that is too much for parts, as any unknown number is: its stand-in is larger.
    """
    outer = [_outer(box, together) for box in together.boxes]
    gathered = _in_near_lines(outer, together.side, element_bytes)
    step_bytes = together.stride * element_bytes * math.prod(outer[0][i].extent for i in gathered)
    if step_bytes * LEAST_PART_STEPS > MOST_PART_BYTES:
        return None
    return [[axis for i, axis in enumerate(axes) if i not in gathered] for axes in outer], step_bytes


def _steps_of_part(step_bytes: int) -> int:
    steps = PART_STEPS
    while steps > LEAST_PART_STEPS and steps * step_bytes > PART_BYTES:
        steps //= 2
    return steps


@dataclass(frozen=True)
class _Part:
    """What boxes copy before the next one of them goes on."""

    whole: int
    """How many common axes it has all steps of, the innermost ones."""

    steps: int
    """How many it has of the next axis."""


def _part(extents: Sequence[int], step_bytes: int, leaving: int) -> _Part | None:
    """The part of common steps, of axes of these extents, outermost first; None where there would be one part only."""
    *outer, innermost = extents
    steps = _steps_of_part(step_bytes)
    has_parts = innermost - leaving >= 2 * steps
    if not outer or innermost * step_bytes > (PART_BYTES if has_parts else ONLY_PART_BYTES):
        return _Part(0, steps) if has_parts else None
    whole, size = 1, innermost * step_bytes
    while whole < len(outer) and size * outer[-whole] <= PART_BYTES:
        size *= outer[-whole]
        whole += 1
    steps = 1
    if size * SHORT_PARTS <= PART_BYTES:
        while 4 * steps <= outer[-whole] - leaving and 2 * steps * size <= PART_BYTES:
            steps *= 2
    return _Part(whole, steps) if steps > 1 or not leaving else None


def _in_near_lines(outer: Sequence[Sequence[Axis]], side: Side, element_bytes: int) -> frozenset[int]:
    """
    The common axes, but for the innermost one, that lie side by side on the other side.

    In some box their steps are a line there, or less.
    """
    return frozenset(
        i
        for axes in outer
        for i, axis in enumerate(axes[:-1])
        if 0 < side.other.stride(axis) * element_bytes <= LINE_BYTES
    )


def _partners(boxes: Sequence[Box], element_bytes: int, side: Side) -> Sharing:
    """The first box with all others that take parts of the same steps."""
    first = boxes[0]
    able = [box for box in boxes if _can_share(box, side)]
    strides = sorted({side.stride(axis) for axis in first.axes} - {0}) if first in able else []
    for stride in strides:
        if stride * element_bytes > FILLED_STEP_BYTES:
            break
        own = Sharing((first,), side, stride)
        found = [box for box in able if _is_inside_of_the_same_steps(box, own)]
        is_short = stride * element_bytes <= STEP_BYTES
        if len(found) > 1 and first in found and (is_short or any(box.is_fill for box in found)):
            return replace(own, boxes=tuple(found))
    return Sharing((first,), side, 0)


def _is_inside_of_the_same_steps(box: Box, steps: Sharing) -> bool:
    first, side, stride = steps.boxes[0], steps.side, steps.stride
    span = sum((side.steps(axis) - 1) * side.stride(axis) for axis in box.axes if side.stride(axis) < stride)
    apart = abs(side.offset(box) - side.offset(first))
    common = [_outer(one, steps) for one in (box, first)]
    places = [[(axis.extent, axis.valid, side.stride(axis)) for axis in axes] for axes in common]
    return span < stride and apart < stride and places[0] == places[1] and all(axis.is_full for axis in common[0])


def _can_share(box: Box, side: Side) -> bool:
    """Whether every step of every axis has a place of its own; one step alone, as of a single channel, needs none."""
    return (
        is_regular(box)
        and not (box.is_fill and side is Side.SOURCE)
        and all(side.stride(axis) > 0 or side.steps(axis) == 1 for axis in box.axes)
    )


def _outer(box: Box, together: Sharing) -> list[Axis]:
    """The axes from one step to another, outermost first."""
    stride = together.side.stride
    return sorted((axis for axis in box.axes if stride(axis) >= together.stride), key=lambda axis: -stride(axis))


def _in_parts(box: Box, outer: Sequence[Axis], axis: Axis, steps: int) -> Box:
    """The box with its common axes in front, the innermost cut into parts of some steps."""
    count = axis.extent // steps
    parts = replace(
        axis,
        extent=count,
        valid=count,
        source_stride=axis.source_stride * steps,
        destination_stride=axis.destination_stride * steps,
    )
    part = replace(axis, extent=steps, valid=steps)
    inner = tuple(part if own == axis else own for own in box.axes)
    return _with_common(replace(box, axes=(parts, *inner)), (*outer, parts))


def _with_common(box: Box, common: Sequence[Axis]) -> Box:
    """The box with some of its axes in front."""
    within = merge_pads(replace(box, axes=tuple(axis for axis in box.axes if axis not in common)))
    return replace(box, axes=(*common, *within.axes))
