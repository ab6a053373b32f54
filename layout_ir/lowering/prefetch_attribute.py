"""
The attributes by which a load or a store also asks for lines that are used later.

A load whose value nobody uses does no more than ask.
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar, cast

from xdsl.dialects import vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, UnitAttr, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from layout_ir.layouts.symbols import is_symbolic

FIRST_LEVEL, SECOND_LEVEL = 3, 2
"""
The attribute `locality`, as of `memref.prefetch`: which cache an access asks for lines to come into, to be read.

Without it loads ask for the first level, and stores for lines of their own there, to be written.
"""

Access = TypeVar("Access", vector.LoadOp, vector.StoreOp, vector.MaskedStoreOp)


def request(buffer: SSAValue, place: SSAValue, locality: int | None, times: int = 1) -> vector.LoadOp:
    """A load of one element, of no use but to ask for its line so many times."""
    kind = _one_of(cast("MemRefType[Attribute]", buffer.type).element_type)
    operation = vector.LoadOp.create(operands=[buffer, place], result_types=[kind])
    _ask(operation, 0, locality, times)
    return operation


@cache  # of few types
def _one_of(element: Attribute) -> VectorType[Attribute]:
    return VectorType(element, [1])


def with_prefetch(
    operation: Access, ahead: int, *, locality: int | None = None, times: int = 1, both_lines: bool = False
) -> Access:
    """
    A load or store that also asks, so many times, for what lies some elements behind it.

    `both_lines`: for the line of the first element there and for that of the last one.
    """
    if ahead and not is_symbolic(ahead):
        _ask(operation, ahead, locality, times)
        if both_lines:
            operation.attributes["both_lines"] = UnitAttr()
    return operation


def _ask(operation: Operation, ahead: int, locality: int | None, times: int) -> None:
    operation.attributes["prefetch"] = IntegerAttr(ahead, IndexType())
    if locality is not None:
        operation.attributes["locality"] = IntegerAttr(locality, IndexType())
    if times > 1:
        operation.attributes["times"] = IntegerAttr(times, IndexType())
