"""The types of OpenCL C that carry elements: unsigned integers, whose moves keep every bit on every device."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
)
from xdsl.ir import Attribute

from layout_ir.backends.constants import float_bits
from layout_ir.errors import LayoutError

UNSIGNED = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}
"""Bytes to type."""

INT_BYTES = 1 << 31
"""Buffers below this size are indexed with int, larger ones with long: devices compute 32 bits faster than 64."""


def element_bytes(element: Attribute) -> int:
    """
    Bytes of an element. No extension for half or double is needed, as floats are moved by their bits.

    Raises `LayoutError` for elements that are not of 1, 2, 4 or 8 bytes.
    """
    match element:
        case Float64Type():
            return 8
        case Float32Type():
            return 4
        case Float16Type() | BFloat16Type():
            return 2
        case IntegerType() if element.width.data in (1, 8, 16, 32, 64):
            return max(element.width.data // 8, 1)
        case _:
            raise LayoutError(
                f"opencl: expected elements of f64, f32, f16, bf16, i1 or 8- to 64-bit integers, got {element}"
            )


def bits_literal(value: IntegerAttr | FloatAttr) -> str:
    """The bits of an element as a literal of its unsigned type."""
    kind = value.type
    if isinstance(value, FloatAttr):
        bits, width = float_bits(value), element_bytes(kind)
    else:
        width = element_bytes(kind)
        bits = value.value.data & (1 if kind == IntegerType(1) else (1 << 8 * width) - 1)
    if bits < 10:
        return str(bits)
    return f"{bits:#x}" + {4: "u", 8: "UL"}.get(width, "")


def index_type(buffers: list[MemRefType[Attribute]]) -> str:
    """The type of a kernel's indices: `int` unless one of its buffers has 2^31 bytes or more, or an unknown size."""
    for buffer in buffers:
        if not buffer.has_static_shape() or buffer.element_count() * element_bytes(buffer.element_type) >= INT_BYTES:
            return "long"
    return "int"
