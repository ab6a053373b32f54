"""The bits of constants."""

from __future__ import annotations

import math
import struct

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
)

from layout_ir.backends.expressions import Expression, Precedence
from layout_ir.errors import LayoutError


def integer_value(attribute: IntegerAttr) -> int:
    """The value as its C type holds it: i8 255 is -1, ui8 -1 is 255, i1 -1 is 1."""
    value = attribute.value.data
    if not isinstance(attribute.type, IntegerType):
        return value
    bits = attribute.type.width.data
    value &= (1 << bits) - 1
    unsigned = bits == 1 or attribute.type.signedness.data is Signedness.UNSIGNED
    return value if unsigned or value < 1 << (bits - 1) else value - (1 << bits)


def float_bits(attribute: FloatAttr) -> int:
    """The bits of a float constant; raises `LayoutError` for types other than f64, f32, f16 and bf16."""
    value = attribute.value.data
    match attribute.type:
        case Float64Type():
            return int.from_bytes(struct.pack("<d", value), "little")
        case Float32Type():
            return int.from_bytes(struct.pack("<f", value), "little")
        case Float16Type():
            return int.from_bytes(struct.pack("<e", value), "little")
        case BFloat16Type():
            return _bfloat16_bits(value)
        case _:
            raise LayoutError(f"expected a constant of f64, f32, f16 or bf16, got {attribute}")


def _bfloat16_bits(value: float) -> int:
    bits = int.from_bytes(struct.pack("<f", value), "little")
    if math.isnan(value):
        return bits >> 16 | 0x40  # rounding could carry a NaN into an infinity
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def c_float(attribute: FloatAttr) -> Expression:
    """A float constant in C: a decimal literal where one is exact, else the bits through a union."""
    value = attribute.value.data
    match attribute.type:
        case Float64Type() | Float32Type() if math.isfinite(value):
            suffix = "f" if isinstance(attribute.type, Float32Type) else ""
            if suffix:
                (value,) = struct.unpack("<f", struct.pack("<f", value))  # else it would be rounded twice
            negative = math.copysign(1.0, value) < 0
            return Expression(f"{value!r}{suffix}", Precedence.UNARY if negative else Precedence.PRIMARY)
        case Float32Type():
            return Expression(f"((union {{ uint32_t bits; float value; }}){{{float_bits(attribute):#010x}u}}).value")
        case Float64Type():
            bits = f"UINT64_C({float_bits(attribute):#018x})"
            return Expression(f"((union {{ uint64_t bits; double value; }}){{{bits}}}).value")
        case _:
            bits = float_bits(attribute)
            return Expression(f"{bits:#06x}" if bits else "0")
