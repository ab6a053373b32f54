"""
The attributes by which a load or a store also asks for lines that are used later.

A load whose value nobody uses does no more than ask.
"""

from __future__ import annotations

from typing import TypeVar

from xdsl.dialects import vector
from xdsl.dialects.builtin import IndexType, IntegerAttr

from layout_ir.layouts.symbols import is_symbolic

SECOND_LEVEL = 2
"""The attribute `locality` of an access that asks for lines to come into a second level cache, as `memref.prefetch`."""

Access = TypeVar("Access", vector.LoadOp, vector.StoreOp, vector.MaskedStoreOp)


def with_prefetch(operation: Access, ahead: int, *, is_far: bool = False, times: int = 1) -> Access:
    """A load or store that also asks, so many times, for what lies some elements behind it, used soon or much later."""
    if ahead and not is_symbolic(ahead):
        operation.attributes["prefetch"] = IntegerAttr(ahead, IndexType())
        if is_far:
            operation.attributes["locality"] = IntegerAttr(SECOND_LEVEL, IndexType())
        if times > 1:
            operation.attributes["times"] = IntegerAttr(times, IndexType())
    return operation
