"""Buffers that are others under types of other sizes."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.ir import SSAValue


def uncast(buffer: SSAValue) -> SSAValue:
    """The buffer that another one is a cast of, or itself."""
    while isinstance(buffer.owner, memref.CastOp):
        buffer = buffer.owner.source
    return buffer
