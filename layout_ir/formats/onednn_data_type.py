"""oneDNN's element types by the names of `dnnl_data_type_t`, some of which have no counterpart in the IR."""

from __future__ import annotations

from dataclasses import dataclass

from layout_ir.errors import LayoutError, nearest
from layout_ir.layouts.element_type import ElementType, element_type


@dataclass(frozen=True)
class DataType:
    """A type of `dnnl_data_type_t`."""

    name: str
    """Without its prefix: `f32`, `s8`, `f8_e4m3`, ..."""

    code: int
    """The value in the enumeration."""

    bits: int
    """Width of an element; 0 of `undef`."""

    def bytes_of(self, elements: int) -> int:
        """Bytes that `elements` elements take; 4-bit elements are packed in pairs."""
        return -(-elements * self.bits // 8)

    @property
    def element_type(self) -> ElementType:
        """An element type of the same bits: reorders move bits, so f8_e4m3 travels as u8."""
        own = {code: name for name, code in _FROM_ELEMENT_TYPE.items()}.get(self.name, self.name)
        try:
            return element_type(own)
        except LayoutError:
            return element_type(f"u{self.bits}")

    def __str__(self) -> str:
        return self.name


_TYPES = {
    name: DataType(name, code, bits)
    for code, (name, bits) in {
        0: ("undef", 0),
        1: ("f16", 16),
        2: ("bf16", 16),
        3: ("f32", 32),
        4: ("s32", 32),
        5: ("s8", 8),
        6: ("u8", 8),
        7: ("f64", 64),
        8: ("boolean", 8),
        9: ("f8_e5m2", 8),
        10: ("f8_e4m3", 8),
        11: ("s4", 4),
        12: ("u4", 4),
        13: ("e8m0", 8),
        14: ("f4_e2m1", 4),
        15: ("f4_e3m0", 4),
        16: ("s64", 64),
    }.items()
}

_FROM_ELEMENT_TYPE = {"i8": "s8", "i32": "s32", "i64": "s64", "i4": "s4", "i1": "boolean"}


def data_type(dtype: object) -> DataType:
    """
    The oneDNN type of a name (`"f32"`, `"s8"`, `"f4_e2m1"`), an element type, a numpy dtype, or itself.

    Raises `LayoutError` for a type that oneDNN does not have, such as u64.
    """
    if isinstance(dtype, DataType):
        return dtype
    if isinstance(dtype, str) and dtype in _TYPES:
        return _TYPES[dtype]
    expected = f"expected one of {', '.join(_TYPES)}"
    try:
        name = element_type(dtype).name
    except LayoutError:
        suggestion = nearest(dtype, _TYPES) if isinstance(dtype, str) else ""
        raise LayoutError(f"oneDNN: unknown data type {dtype!r}, {expected}{suggestion}") from None
    name = _FROM_ELEMENT_TYPE.get(name, name)
    if name not in _TYPES:
        raise LayoutError(f"oneDNN: {expected}, got {name}")
    return _TYPES[name]
