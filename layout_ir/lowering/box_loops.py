"""One box of a plan as a nest of scalar loops: the general way, right for every box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineExpr

from layout_ir.layouts.affine import ADD
from layout_ir.layouts.plan import Axis, Box
from layout_ir.lowering.loop_builder import LoopBuilder


@dataclass(frozen=True)
class Buffers:
    """What a nest works on: flat memrefs and the value for pads."""

    source: SSAValue
    destination: SSAValue
    pad: SSAValue | None
    """None where pads are left as they are."""

    source_size: int
    """Elements of the source's storage, as a number of the plan; 0 where the plan cannot tell."""

    destination_size: int
    """The same of the destination, or `cells` where the plan cannot tell."""

    cells: int
    """Cells that all boxes of the plan write that copy elements, as a number of the plan."""


def emit_box(
    builder: LoopBuilder, box: Box, buffers: Buffers, threads: bool = False, started: Sequence[SSAValue] = ()
) -> None:
    """
    The loops of a box, in the order of its axes; an axis that ends in pads becomes two loops.

    `threads`: the outermost loop is parallel. `started`: indices of the loops around it already, along the first axes.
    """
    _emit(builder, _Place(box, buffers, threads, tuple(started)), is_pad=False)


@dataclass(frozen=True)
class _Place:
    """Where the nest has got to."""

    box: Box
    buffers: Buffers
    is_parallel: bool
    """Whether the next loop is."""
    indices: tuple[SSAValue, ...] = ()
    source: int = 0
    """What the steps of irregular axes add to the source offset."""
    destination: int = 0


def _emit(builder: LoopBuilder, place: _Place, is_pad: bool) -> None:
    depth = len(place.indices)
    if depth == len(place.box.axes):
        _emit_element(builder, place, is_pad)
        return
    axis = place.box.axes[depth]
    valid = axis.extent if is_pad else axis.valid
    for first, end, fills in ((0, valid, is_pad), (valid, axis.extent, True)):
        if first >= end or (fills and place.buffers.pad is None):
            continue
        if axis.is_irregular:
            for step in range(first, end):
                _emit(builder, _at_step(builder, place, axis, step), fills)
        else:
            bounds = builder.constant(first), builder.constant(end)
            with builder.loop_between(*bounds, axis.name, is_parallel=place.is_parallel, by_elements=True) as index:
                _emit(builder, replace(place, indices=(*place.indices, index), is_parallel=False), fills)


def _at_step(builder: LoopBuilder, place: _Place, axis: Axis, step: int) -> _Place:
    return replace(
        place,
        indices=(*place.indices, builder.constant(0)),
        source=place.source + axis.source_at(step),
        destination=place.destination + axis.destination_at(step),
    )


def _emit_element(builder: LoopBuilder, place: _Place, is_pad: bool) -> None:
    box, buffers = place.box, place.buffers
    if is_pad:
        assert buffers.pad is not None
        value = buffers.pad
    else:
        source = shifted(box.source_index(), place.source)
        value = builder.load(buffers.source, builder.index(source, place.indices))
    destination = shifted(box.destination_index(), place.destination)
    builder.store(value, buffers.destination, builder.index(destination, place.indices))


def shifted(index: AffineExpr, by: int) -> AffineExpr:
    """An index expression plus a constant, with one constant at its end."""
    if by == 0:
        return index
    if isinstance(index, AffineConstantExpr):
        return AffineConstantExpr(index.value + by)
    if isinstance(index, AffineBinaryOpExpr) and index.kind is ADD and isinstance(index.rhs, AffineConstantExpr):
        constant = index.rhs.value + by
        return index.lhs + constant if constant else index.lhs
    return index + by
