"""
`layout-to-images`: buffers with image layouts become images of a device, and copies to and from them loops over pixels.

A pixel is read and written as a whole. So a copy into an image asks, by the inverse of its layout, which elements the
four lanes of a pixel hold, and one out of an image where the four elements of a pixel go.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import PassFailedException

from layout_ir.dialects.attributes import LayoutAttr, UndefAttr
from layout_ir.dialects.nested import nested
from layout_ir.dialects.ops import CopyOp
from layout_ir.dialects.types import element_type_of, index_map_of, is_buffer
from layout_ir.errors import LayoutError
from layout_ir.lowering.change_types import change_types
from layout_ir.lowering.constants import Constants
from layout_ir.lowering.to_device_builder import ParallelBuilder
from layout_ir.lowering.to_device_image_type import GLOBAL_SPACE, image_type
from layout_ir.lowering.to_device_pixels import emit_pixel_copy
from layout_ir.lowering.to_loops import storage_element_type

WIDTHS = (1, 2, 4)
"""Bytes of the elements that pixels can have."""


def becomes_image(attribute: Attribute) -> bool:
    """Whether a type is that of a buffer with an image layout, which is not kept as a buffer and has pixels at all."""
    if not is_buffer(attribute) or attribute.memory_space == GLOBAL_SPACE:
        return False
    if not isinstance(attribute.layout, LayoutAttr):
        return False
    index_map = index_map_of(attribute)
    return index_map.is_image and index_map.cell_count > 0


def _as_image(attribute: Attribute) -> Attribute:
    if not becomes_image(attribute):
        return attribute
    assert is_buffer(attribute)
    element = element_type_of(attribute)
    if element.bytes not in WIDTHS:
        raise LayoutError(f"expected an image of elements of 1, 2 or 4 bytes, got {element} ({element.bytes} bytes)")
    return image_type(attribute, storage_element_type(attribute.element_type))


@dataclass(frozen=True)
class ToImagesPass(ModulePass):
    """Turn every buffer with an image layout into an image."""

    name = "layout-to-images"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constants: dict[Block, Constants] = {}
        try:
            for copy in [copy for copy in op.walk() if isinstance(copy, CopyOp)]:
                if becomes_image(copy.source.type) or becomes_image(copy.destination.type):
                    _lower(copy, constants)
            change_types(nested(op), _as_image)
        except LayoutError as error:
            raise PassFailedException(f"{self.name}: {error}") from None


def _lower(copy: CopyOp, constants: dict[Block, Constants]) -> None:
    body = copy.parent_block()
    assert body is not None
    builder = ParallelBuilder(InsertPoint.before(copy), constants.setdefault(body, Constants(body)))
    if _keeps_lanes(copy) or not emit_pixel_copy(builder, copy):
        _through_buffers(builder, copy)
    copy.detach()
    copy.erase()


def _keeps_lanes(copy: CopyOp) -> bool:
    """Whether pixels are written of which some lanes stay as they are."""
    is_undefined = isinstance(copy.pad, UndefAttr)
    return is_undefined and becomes_image(copy.destination.type) and index_map_of(copy.destination.type).pad_count > 0


def _through_buffers(builder: ParallelBuilder, copy: CopyOp) -> None:
    """The way that always works: images are copied from and to buffers [row][column][lane], and buffers reordered."""
    source, destination = copy.source, copy.destination
    made: list[memref.AllocOp] = []
    for value in (source, destination):
        if becomes_image(value.type):
            assert is_buffer(value.type)
            shape, kind = value.type.get_shape(), value.type
            allocation = memref.AllocOp.get(
                kind.element_type, None, shape, layout=kind.layout, memory_space=GLOBAL_SPACE
            )
            builder.insert(allocation)
            made.append(allocation)
            if value is source or _keeps_lanes(copy):
                copied = emit_pixel_copy(builder, CopyOp(value, allocation.memref))
                assert copied, "expected that an image is copied pixel by pixel into a buffer of the same layout"
            if value is source:
                source = allocation.memref
            else:
                destination = allocation.memref
    builder.insert(CopyOp(source, destination, copy.pad))
    if destination is not copy.destination:
        copied = emit_pixel_copy(builder, CopyOp(destination, copy.destination))
        assert copied, "expected that a buffer is copied pixel by pixel into an image of the same layout"
    for allocation in made:
        builder.insert(memref.DeallocOp.get(allocation.memref))
