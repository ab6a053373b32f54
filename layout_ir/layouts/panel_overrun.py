"""
Boxes of a group that write more of scratch than is theirs, because vectors are wider.

What is left of blocks of channels is a few elements for every pixel: too few for vectors, if nothing else may be
touched. In scratch more may be: the cells behind belong to the next pixel, and its other boxes come afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.panel_group import Group, start_of
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import Tile


def with_overrun(group: Group, choose_tile: Callable[[Box, int], Tile | None], source_size: int) -> Group:
    """
    The group whose last box of a stretch, if only scalar loops would move it, reaches into the next stretch.

    That box comes first then, so that what it writes too much is written again.
    """
    if len(group.boxes) == 1 or is_symbolic(source_size):
        return group
    last = max(group.boxes, key=start_of)
    inner = _inner_axis(last, group)
    if inner is None or choose_tile(last, source_size) is not None:
        return group
    extent = min((axis.source_stride for axis in last.axes if axis.source_stride > last.axes[inner].extent), default=0)
    if extent & (extent - 1) or not last.axes[inner].extent < extent <= group.stretch:
        return group
    wider = last.with_axis(inner, replace(last.axes[inner], extent=extent, valid=extent))
    if not _is_inside(wider, source_size) or choose_tile(wider, source_size) is None:
        return group
    others = (box for box in group.boxes if box is not last)
    return replace(group, boxes=(wider, *others), overrun=extent - last.axes[inner].extent)


def _inner_axis(box: Box, group: Group) -> int | None:
    """The only axis of a box's own, where it is a run on both sides and nothing is padded."""
    axes = box.axes[group.shared :]
    is_run = len(axes) == 1 and axes[0].source_stride == axes[0].destination_stride == 1
    return group.shared if is_run and all(axis.is_full for axis in box.axes) else None


def _is_inside(box: Box, source_size: int) -> bool:
    """Whether all that a box reads is in the source's storage."""
    start = constant_value(box.source_offset)
    lowest, highest = box.source_span
    return start + lowest >= 0 and start + highest < source_size
