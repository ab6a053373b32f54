"""
The attributes by which a load or a store also asks for lines that are used later.

A load whose value nobody uses does no more than ask.
"""

from __future__ import annotations

from typing import TypeVar

from xdsl.dialects import vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, UnitAttr

from layout_ir.layouts.symbols import is_symbolic

FIRST_LEVEL, SECOND_LEVEL = 3, 2
"""
The attribute `locality`, as of `memref.prefetch`: which cache an access asks for lines to come into, to be read.

Without it loads ask for the first level, and stores for lines of their own there, to be written.
"""

Access = TypeVar("Access", vector.LoadOp, vector.StoreOp, vector.MaskedStoreOp)


def with_prefetch(
    operation: Access, ahead: int, *, locality: int | None = None, times: int = 1, both_lines: bool = False
) -> Access:
    """
    A load or store that also asks, so many times, for what lies some elements behind it.

    `both_lines`: for the line of the first element there and for that of the last one.
    """
    if ahead and not is_symbolic(ahead):
        operation.attributes["prefetch"] = IntegerAttr(ahead, IndexType())
        if locality is not None:
            operation.attributes["locality"] = IntegerAttr(locality, IndexType())
        if times > 1:
            operation.attributes["times"] = IntegerAttr(times, IndexType())
        if both_lines:
            operation.attributes["both_lines"] = UnitAttr()
    return operation
