"""Canonicalization of the ops: what moves nothing goes away, and a chain of reorders becomes one."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from layout_ir.dialects.attributes import UndefAttr
from layout_ir.dialects.functions import same_function
from layout_ir.dialects.ops import CastOp, ReorderOp
from layout_ir.dialects.types import index_map_of, stored_type
from layout_ir.errors import LayoutError
from layout_ir.layouts.index_map import IndexMap


class FoldReorderThatMovesNothing(RewritePattern):
    """
    A reorder between two spellings of one function is a cast, and nothing at all between equal types.

    Pads are part of the promise: unless they are undef, there must be none, or the source must hold the same ones. The
    pads of a value that no reorder made, such as a function's argument, hold zero.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReorderOp, rewriter: PatternRewriter) -> None:
        source, destination = _known_map(op.source.type), _known_map(op.result.type)
        if source is None or destination is None or not _agree(source, destination):
            return
        if not (isinstance(op.pad, UndefAttr) or not destination.has_pads or _holds_pads(op, source, destination)):
            return
        _relabel(op, op.source, rewriter)


class ComposeReorders(RewritePattern):
    """A reorder of a reorder or of a cast reads the first source: only the last one's pads are ever seen."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReorderOp, rewriter: PatternRewriter) -> None:
        inner = op.source.owner
        if isinstance(inner, ReorderOp | CastOp):
            composed = ReorderOp(inner.source, op.result.type, op.pad)
            composed.attributes |= op.attributes
            rewriter.replace(op, composed)


class FoldCast(RewritePattern):
    """A cast to the same type is nothing; a cast of a cast is one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        inner = op.source.owner
        if op.source.type == op.result.type:
            rewriter.replace(op, (), (op.source,))
        elif isinstance(inner, CastOp):
            _relabel(op, inner.source, rewriter)


def _relabel(op: ReorderOp | CastOp, source: SSAValue, rewriter: PatternRewriter) -> None:
    if source.type == op.result.type:
        rewriter.replace(op, (), (source,))
    else:
        rewriter.replace(op, CastOp(source, op.result.type))


def _known_map(stored: Attribute) -> IndexMap | None:
    try:
        return index_map_of(stored_type(stored))
    except LayoutError:
        return None


def _agree(left: IndexMap, right: IndexMap) -> bool:
    try:
        return same_function(left, right)
    except LayoutError:
        return False


def _holds_pads(op: ReorderOp, source: IndexMap, destination: IndexMap) -> bool:
    """Whether the source's pads hold what the reorder would write."""
    inner = op.source.owner
    held = inner.pad if isinstance(inner, ReorderOp) else None
    return held == op.pad and source.pad_count == destination.pad_count


REORDER_PATTERNS = (FoldReorderThatMovesNothing(), ComposeReorders())
CAST_PATTERNS = (FoldCast(),)
