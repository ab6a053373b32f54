"""The bits of a constant: elements are moved as bits, so a pad of 1.5 is written as the bits of 1.5."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, FloatAttr, IndexType, IntegerAttr
from xdsl.ir import Attribute

from layout_ir.dialects.types import element_type_of, is_vector
from layout_ir.errors import LayoutError
from layout_ir.layouts.element_type import ElementType, element_type

if TYPE_CHECKING:
    import numpy as np

_FLOAT_FORMATS: dict[type[Attribute], tuple[str, str]] = {
    Float16Type: ("<e", "<H"),
    Float32Type: ("<f", "<I"),
    Float64Type: ("<d", "<Q"),
}


def scalar_type(kind: Attribute) -> ElementType:
    """The element type of a vector or of a scalar; an index counts as 64 bits."""
    element = kind.element_type if is_vector(kind) else kind
    return element_type("i64") if isinstance(element, IndexType) else element_type_of(element)


def bits_dtype(element: ElementType) -> np.dtype[np.unsignedinteger]:
    """The unsigned numpy type as wide as an element."""
    import numpy as np

    return cast("np.dtype[np.unsignedinteger]", np.dtype(f"u{element.bytes}"))


def bits_of(value: Attribute, element: ElementType) -> int:
    """The bits of an integer or float attribute as an element of memory, as an unsigned number."""
    match value:
        case FloatAttr(type=kind, value=number):
            return float_bits(number.data, kind)
        case IntegerAttr(value=number):
            return number.data & (1 if element.name == "i1" else (1 << element.bits) - 1)
        case _:
            raise LayoutError(f"expected an integer or a float, got {value}")


def float_bits(number: float, kind: Attribute) -> int:
    """The bits of `number` rounded to nearest even in a float type; what is out of its range becomes infinite."""
    if isinstance(kind, BFloat16Type):
        bits = float_bits(number, Float32Type())
        if number != number:  # rounding could carry a NaN over into an infinity
            return bits >> 16
        return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    if type(kind) not in _FLOAT_FORMATS:
        raise LayoutError(f"expected one of f16, bf16, f32 and f64, got {kind}")
    as_float, as_bits = _FLOAT_FORMATS[type(kind)]
    try:
        packed = struct.pack(as_float, number)
    except OverflowError:
        packed = struct.pack(as_float, float("inf") if number > 0 else float("-inf"))
    (result,) = struct.unpack(as_bits, packed)
    return cast(int, result)
