"""The type of a device's image in IR: rows, columns and the four lanes of a pixel, in a memory space of its own."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import Attribute

from layout_ir.dialects.types import index_map_of, is_buffer
from layout_ir.layouts.tiled import IMAGE_LANES

IMAGE_SPACE = StringAttr("image2d")
"""Memory space of what is read and written by whole pixels: `memref<24x16x4xf32, "image2d">`."""

GLOBAL_SPACE = StringAttr("global")
"""Memory space of a buffer that stays one although its layout is that of an image."""


def is_device_image(attribute: Attribute) -> bool:
    """Whether a type is an image of a device."""
    return is_buffer(attribute) and attribute.memory_space == IMAGE_SPACE


def image_type(buffer: MemRefType[Attribute], element: Attribute) -> MemRefType[Attribute]:
    """The image with the rows and columns of a buffer's image layout, and elements of a type."""
    width, height = index_map_of(buffer).image_size
    return MemRefType(element, [height, width, IMAGE_LANES], memory_space=IMAGE_SPACE)
