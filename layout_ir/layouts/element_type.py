"""Element types: a name and a width in bits. Reorders move bits, so nothing else about an element matters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from layout_ir.errors import LayoutError, nearest

if TYPE_CHECKING:
    import numpy

_BITS = {
    "f64": 64,
    "f32": 32,
    "f16": 16,
    "bf16": 16,
    "i64": 64,
    "u64": 64,
    "i32": 32,
    "u32": 32,
    "i16": 16,
    "u16": 16,
    "i8": 8,
    "u8": 8,
    "i1": 8,  # a boolean is stored as one byte
    "i4": 4,
    "u4": 4,
    "u2": 2,
    "u1": 1,
}

_NUMPY_NAMES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "uint16",  # numpy has no bfloat16: its bits travel as uint16
    "i64": "int64",
    "u64": "uint64",
    "i32": "int32",
    "u32": "uint32",
    "i16": "int16",
    "u16": "uint16",
    "i8": "int8",
    "u8": "uint8",
    "i1": "bool",
}

_FROM_NUMPY = {numpy: name for name, numpy in reversed(_NUMPY_NAMES.items()) if name != "bf16"}


@dataclass(frozen=True)
class ElementType:
    """The type of a tensor's elements."""

    name: str
    """As written in IR and in the Python API: `f32`, `bf16`, `u8`, `u4`, ..."""

    bits: int
    """Width in memory. A boolean (`i1`) takes 8; 4-, 2- and 1-bit elements are packed, low bits first."""

    @property
    def bytes(self) -> int:
        """Width in bytes; raises `LayoutError` for the packed types, whose elements are smaller than one."""
        if self.bits % 8:
            raise LayoutError(f"expected an element type of whole bytes, got {self.name} ({self.bits} bits)")
        return self.bits // 8

    @property
    def numpy(self) -> numpy.dtype[Any]:
        """The numpy dtype that carries this type's bits; raises `LayoutError` for packed types."""
        import numpy as np

        if self.name not in _NUMPY_NAMES:
            raise LayoutError(f"expected an element type that numpy can hold, got {self.name}")
        return np.dtype(_NUMPY_NAMES[self.name])

    def __str__(self) -> str:
        return self.name


@cache
def _named(name: str) -> ElementType:
    alias = {"s8": "i8", "s16": "i16", "s32": "i32", "s64": "i64", "s4": "i4", "bool": "i1"}.get(name, name)
    if alias in _BITS:
        return ElementType(alias, _BITS[alias])
    if name in _FROM_NUMPY:
        return _named(_FROM_NUMPY[name])
    raise LayoutError(f"unknown element type '{name}', expected one of {', '.join(_BITS)}{nearest(name, _BITS)}")


def element_type(dtype: object) -> ElementType:
    """
    The element type named by a string (`"f32"`, `"s8"`, `"float16"`), a numpy dtype or scalar class, or itself.

    Raises `LayoutError` for anything else.
    """
    if isinstance(dtype, ElementType):
        return dtype
    if isinstance(dtype, str):
        return _named(dtype)
    if dtype is None:  # numpy takes it for float64
        raise LayoutError("expected an element type, got None")
    import numpy as np

    try:
        name = np.dtype(dtype).name  # pyright: ignore[reportArgumentType, reportCallIssue, reportUnknownMemberType, reportUnknownVariableType]
    except TypeError:
        raise LayoutError(f"expected an element type, got {dtype!r}") from None
    return _named(str(name))  # pyright: ignore[reportUnknownArgumentType]
