"""`layout-flatten`: every buffer becomes its flat storage; after it nothing of the layout dialect is left."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp, NoneAttr
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    TypeConversionPattern,
    attr_type_rewrite_pattern,
    op_type_rewrite_pattern,
)
from xdsl.utils.exceptions import PassFailedException

from layout_ir.dialects.ops import CastOp, CopyOp, ReorderOp, StorageOp
from layout_ir.errors import LayoutError
from layout_ir.lowering.to_loops import flat_type, storage_element_type


@cache  # asked for every occurrence of a type
def _flattened(buffer: MemRefType[Attribute]) -> MemRefType[Attribute] | None:
    is_flat = buffer.get_num_dims() == 1 and isinstance(buffer.layout, NoneAttr)
    if is_flat and storage_element_type(buffer.element_type) == buffer.element_type:
        return None
    return flat_type(buffer)


class FlattenBuffers(TypeConversionPattern):
    """`memref<4x8xf32, #layout>` becomes `memref<32xf32>` everywhere."""

    @attr_type_rewrite_pattern
    def convert_type(self, typ: MemRefType[Attribute], /) -> MemRefType[Attribute] | None:
        return _flattened(typ)


class ForgetStorage(RewritePattern):
    """The storage of a buffer that is flat already is the buffer, and so is a cast of it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: StorageOp | CastOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, [], [op.source])


@dataclass(frozen=True)
class FlattenPass(ModulePass):
    """Make every memref one-dimensional and dense, in function signatures too."""

    name = "layout-flatten"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for left in op.walk():
            if isinstance(left, (CopyOp, ReorderOp)):
                raise PassFailedException(
                    f"layout-flatten: expected loops, got '{left.name}'; "
                    "run layout-to-buffers and layout-to-loops first"
                )
        try:
            PatternRewriteWalker(FlattenBuffers(recursive=True)).rewrite_module(op)
        except LayoutError as error:
            raise PassFailedException(f"layout-flatten: {error}") from None
        PatternRewriteWalker(ForgetStorage(), apply_recursively=False).rewrite_module(op)
