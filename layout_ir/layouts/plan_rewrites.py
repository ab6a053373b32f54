"""Rewrites of a box that keep what it copies: each a pure function from a box to a box (or boxes)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from layout_ir.layouts import affine
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.symbols import is_symbolic


def drop_unit_axes(box: Box) -> Box:
    """Leave out axes of one step."""
    kept = [i for i, axis in enumerate(box.axes) if axis.extent != 1 or axis.valid != 1]
    return _select(box, kept)


def sort_axes(box: Box) -> Box:
    """
    Walk the destination in the order of its memory: large destination strides outside.

    Outside of all are axes without one, of one step or none, as only a call tells: all others are skipped at once.
    """
    order = sorted(
        range(len(box.axes)),
        key=lambda i: (_spacing(box.axes[i]) != 0, -_spacing(box.axes[i]), -box.axes[i].source_stride),
    )
    return _select(box, order)


def _spacing(axis: Axis) -> int:
    """What a step of an axis moves in the destination; of an irregular one its shortest step."""
    if not axis.is_irregular:
        return axis.destination_stride
    places = sorted(axis.destination_steps)
    return min((high - low for low, high in itertools.pairwise(places)), default=0)


def merge_axes(box: Box) -> Box:
    """Join neighbours that are contiguous on both sides: `[4, 8 -> 8] [8, 1 -> 1]` is `[32, 1 -> 1]`."""
    if not box.is_linear:
        return box
    axes: list[Axis] = []
    for inner in box.axes:
        outer = axes[-1] if axes else None
        if outer is not None and _contiguous(outer, inner):
            axes[-1] = Axis(
                name=inner.name if outer.extent == 1 else f"{outer.name}_{inner.name}",
                extent=outer.extent * inner.extent,
                source_stride=inner.source_stride,
                destination_stride=inner.destination_stride,
                valid=outer.valid * inner.extent,
            )
        else:
            axes.append(inner)
    return replace(box, axes=tuple(axes))


def _contiguous(outer: Axis, inner: Axis) -> bool:
    return (
        inner.is_full
        and not inner.is_irregular
        and not outer.is_irregular
        and outer.source_stride == inner.source_stride * inner.extent
        and outer.destination_stride == inner.destination_stride * inner.extent
    )


def merge_pads(box: Box) -> Box:
    """A box of pads with its axes joined wherever they are contiguous in the destination: it reads nothing."""
    is_known = not any(axis.is_irregular or is_symbolic(axis.extent) for axis in box.axes)
    if not (box.is_fill and box.is_linear and is_known):
        return box
    full = replace(box, axes=tuple(replace(axis, valid=axis.extent, source_stride=0) for axis in box.axes))
    axes = merge_axes(sort_axes(drop_unit_axes(full))).axes or box.axes[:1]
    return replace(box, axes=tuple(replace(axis, valid=0) for axis in axes))


def unroll(box: Box, positions: Sequence[int]) -> list[Box]:
    """One box for every combination of steps of the given axes, which disappear: a way to get rid of divisions."""
    boxes: list[Box] = []
    for steps in itertools.product(*(range(box.axes[i].extent) for i in positions)):
        fixed = dict(zip(positions, steps, strict=True))
        is_pad = any(step >= box.axes[i].valid for i, step in fixed.items())
        boxes.append(_fix(box, fixed, is_pad))
    return boxes


def roll(boxes: Sequence[Box]) -> list[Box]:
    """Boxes that differ only in where they start, as one box with an irregular axis: one walk instead of many."""
    groups: dict[tuple[Axis, ...], list[Box]] = {}
    for box in boxes:
        groups.setdefault(box.axes, []).append(box)
    return [_rolled(axes, group) for axes, group in groups.items()]


def _rolled(axes: tuple[Axis, ...], group: Sequence[Box]) -> Box:
    starts = [(box.source_offset, box.destination_offset) for box in group]
    constants = [
        (source.value, destination.value)
        for source, destination in starts
        if isinstance(source, AffineConstantExpr) and isinstance(destination, AffineConstantExpr)
    ]
    assert len(constants) == len(group), "expected boxes without divisions"
    if len(group) == 1:
        return group[0]
    constants.sort(key=lambda start: start[1])
    (source, destination), count = constants[0], len(group)
    irregular = Axis(
        name="piece",
        extent=count,
        source_stride=0,
        destination_stride=0,
        valid=0 if group[0].is_fill else count,
        source_steps=tuple(start[0] - source for start in constants),
        destination_steps=tuple(start[1] - destination for start in constants),
    )
    return Box((*axes, irregular), AffineConstantExpr(source), AffineConstantExpr(destination))


def _fix(box: Box, fixed: dict[int, int], is_pad: bool) -> Box:
    """The box with some axes held at a step."""
    kept = [i for i in range(len(box.axes)) if i not in fixed]
    values: list[AffineExpr] = [
        AffineConstantExpr(fixed[i]) if i in fixed else AffineExpr.dimension(kept.index(i))
        for i in range(len(box.axes))
    ]
    extents = [box.axes[i].extent for i in kept]
    axes = [box.axes[i] for i in kept]
    if is_pad:  # the pad must stay visible although the axis that made it one is gone
        axes = [replace(axis, valid=0) for axis in axes] or [Axis("pad", 1, 0, 0, 0)]
    offsets = [
        affine.simplify(affine.substitute(index, values), extents)
        for index in (box.source_index(), box.destination_index())
    ]
    return relinearize(Box(tuple(axes)), offsets[0], offsets[1])


def relinearize(box: Box, source: AffineExpr, destination: AffineExpr) -> Box:
    """The box over the same axes with the given offsets: strides from what is linear, the rest as it is."""
    source_strides, source_rest = affine.linear_parts(source, len(box.axes))
    destination_strides, destination_rest = affine.linear_parts(destination, len(box.axes))
    axes = tuple(
        replace(axis, source_stride=s, destination_stride=d)
        for axis, s, d in zip(box.axes, source_strides, destination_strides, strict=True)
    )
    return Box(axes, source_rest, destination_rest)


def _select(box: Box, kept: Sequence[int]) -> Box:
    """The box with its axes in another order, or without axes of one step."""
    values: list[AffineExpr] = [AffineConstantExpr(0)] * len(box.axes)
    for position, i in enumerate(kept):
        values[i] = AffineExpr.dimension(position)
    return Box(
        tuple(box.axes[i] for i in kept),
        affine.substitute(box.source_offset, values),
        affine.substitute(box.destination_offset, values),
    )


def cut_box(box: Box, position: int, at: int) -> tuple[Box, Box]:
    """The steps of one axis before `at`, and those from `at` on."""
    axis = box.axes[position]
    first = replace(axis, extent=at, valid=min(axis.valid, at))
    second = replace(axis, extent=axis.extent - at, valid=max(axis.valid - at, 0))
    moved = Box(
        box.axes,
        affine.simplify(box.source_offset + at * axis.source_stride, ()),
        affine.simplify(box.destination_offset + at * axis.destination_stride, ()),
    )
    return box.with_axis(position, first), moved.with_axis(position, second)
