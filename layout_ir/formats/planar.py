"""
Plain dim strings: `NCHW`, `nhwc`, `bfzyx`, `HWIO`, `acdb` - every letter a dim, slowest first, no system needed.

The logical order is the one that the letters' own community writes: N,C,D,H,W for activations, G,O,I,D,H,W for
weights, OpenVINO's b,f,v,u,w,z,y,x and g,o,i,z,y,x where its letters occur, and the alphabet for everything else.
"""

from __future__ import annotations

from collections.abc import Sequence

from layout_ir.errors import LayoutError
from layout_ir.formats.format import FixedFormat, Format, FormatOptions
from layout_ir.layouts.blocked import blocked_layout

_OPENVINO_ORDER = "gboifvuwzyx"
_COMMON_ORDER = "gtnomcidhwl"

EXAMPLES = (
    *("NCHW", "NHWC", "CHWN", "HWCN", "NCDHW", "NDHWC", "CDHWN", "NCW", "NWC", "NC", "CN"),
    *("OIHW", "OHWI", "HWIO", "IOHW", "MIHW", "OIDHW", "DHWIO", "GOIHW", "OI", "IO"),
    *("bfyx", "byxf", "yxfb", "bfzyx", "bzyxf", "bfwzyx"),
)
"""Common names; every string of different letters is one."""


def names() -> Sequence[str]:
    """Common plain dim strings."""
    return EXAMPLES


def logical_order(letters: str) -> tuple[str, ...]:
    """The letters of a plain dim string in their logical order, in the case in which they were given."""
    lower = letters.lower()
    if set(lower) <= set(_OPENVINO_ORDER) and set(lower) & set("bfxyz"):
        order = _OPENVINO_ORDER
    elif set(lower) <= set(_COMMON_ORDER) and set(lower) != {"c", "d"}:
        order = _COMMON_ORDER
    else:
        order = "".join(sorted(lower))
    return tuple(sorted(letters, key=lambda letter: order.index(letter.lower())))


def parse(name: str, options: FormatOptions) -> Format:
    """The layout of a plain dim string; raises `LayoutError` where a letter repeats or is none."""
    for position, letter in enumerate(name):
        if not (letter.isascii() and letter.isalpha()):
            raise LayoutError(f"'{name}': expected only letters, one a dim, got '{letter}' at position {position}")
        if letter.lower() in name[:position].lower():
            raise LayoutError(f"'{name}': expected every dim once, got '{letter}' again at position {position}")
    if not name:
        raise LayoutError("expected a layout's name at position 0, got an empty string")
    options.only(f"'{name}'", "dims")
    dims = logical_order(name)
    outer = [dims.index(letter) for letter in name]
    return FixedFormat("", name, options, dims, blocked_layout(len(dims), outer))
