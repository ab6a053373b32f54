"""
The layouts of tensors and buffers as attributes: a vendor's name, an explicit form, or one of the open states.

All of them stand both in `tensor<4x8xf32, #l>` and in `memref<4x8xf32, #l>`. None stores the shape: whoever needs
places in memory asks `index_map` with the shape and the element type at hand.
"""

from __future__ import annotations

from layout_ir.dialects.format_attribute import FormatAttr
from layout_ir.dialects.layout_attribute import AnyAttr, LayoutAttr, OpaqueAttr, OpenAttr, UndefAttr
from layout_ir.dialects.tiled_attribute import TiledAttr

__all__ = ["AnyAttr", "FormatAttr", "LayoutAttr", "OpaqueAttr", "OpenAttr", "TiledAttr", "UndefAttr"]
