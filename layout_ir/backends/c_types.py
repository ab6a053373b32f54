"""The types of C that carry elements."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute

from layout_ir.errors import LayoutError

_NAMES: dict[type[Attribute], str] = {
    Float32Type: "float",
    Float64Type: "double",
    Float16Type: "uint16_t",
    BFloat16Type: "uint16_t",
    IndexType: "int64_t",
}
_WIDTHS = (8, 16, 32, 64)


def element_type(element: Attribute) -> str:
    """
    The C type that carries the bits of an element.

    f32 and f64 are moved as float and double, which callers expect to see and aliasing rules ask for; half floats have
    no type in C11 and are moved as uint16_t; i1 takes one byte. Raises `LayoutError` for other types.
    """
    if (name := _NAMES.get(type(element))) is not None:
        return name
    match element:
        case IntegerType() if element.width.data == 1:
            return "uint8_t"
        case IntegerType() if element.width.data in _WIDTHS:
            prefix = "u" if element.signedness.data is Signedness.UNSIGNED else ""
            return f"{prefix}int{element.width.data}_t"
        case _:
            raise LayoutError(
                f"c: expected elements of f64, f32, f16, bf16, i1 or 8- to 64-bit integers, got {element}"
            )
