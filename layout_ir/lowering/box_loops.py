"""One box of a plan as a nest of scalar loops: the general way, right for every box."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from layout_ir.layouts.plan import Box
from layout_ir.lowering.loop_builder import LoopBuilder


@dataclass(frozen=True)
class Buffers:
    """What a nest works on: flat memrefs and the value for pads."""

    source: SSAValue
    destination: SSAValue
    pad: SSAValue | None
    """None where pads are left as they are."""


def emit_box(builder: LoopBuilder, box: Box, buffers: Buffers) -> None:
    """The loops of a box, in the order of its axes; an axis that ends in pads becomes two loops."""
    _emit(builder, box, buffers, (), is_pad=False)


def _emit(builder: LoopBuilder, box: Box, buffers: Buffers, indices: tuple[SSAValue, ...], is_pad: bool) -> None:
    depth = len(indices)
    if depth == len(box.axes):
        _emit_element(builder, box, buffers, indices, is_pad)
        return
    axis = box.axes[depth]
    valid = axis.extent if is_pad else axis.valid
    for first, end, fills in ((0, valid, is_pad), (valid, axis.extent, True)):
        if first < end and not (fills and buffers.pad is None):
            with builder.loop(first, end, axis.name) as index:
                _emit(builder, box, buffers, (*indices, index), fills)


def _emit_element(
    builder: LoopBuilder, box: Box, buffers: Buffers, indices: tuple[SSAValue, ...], is_pad: bool
) -> None:
    if is_pad:
        assert buffers.pad is not None
        value = buffers.pad
    else:
        value = builder.load(buffers.source, builder.index(box.source_index(), indices))
    builder.store(value, buffers.destination, builder.index(box.destination_index(), indices))
