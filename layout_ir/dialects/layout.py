"""The dialect `layout`."""

from __future__ import annotations

from xdsl.ir import Dialect

from layout_ir.dialects.attributes import AnyAttr, FormatAttr, OpaqueAttr, TiledAttr, UndefAttr
from layout_ir.dialects.ops import CastOp, CopyOp, ReorderOp, StorageOp

LAYOUT = Dialect(
    "layout",
    [ReorderOp, CopyOp, CastOp, StorageOp],
    [FormatAttr, TiledAttr, AnyAttr, UndefAttr, OpaqueAttr],
)
