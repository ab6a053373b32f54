"""
C0, the number of channels in one block of Ascend's formats: the three rules by which it follows from the element type.

The vendor has no single rule. Its host transfer code decides by the width of the element, its compilers read the
platform's table of cube units, its documentation divides 32 bytes by the element's size. They agree for 1- and 2-byte
elements and differ for wider ones, so an explicit `c0` always wins.
"""

from __future__ import annotations

from typing import Literal

from layout_ir.errors import LayoutError
from layout_ir.layouts.element_type import ElementType, element_type

Rule = Literal["host", "platform", "document"]

_BY_BITS: dict[Rule, dict[int, int]] = {
    # host transfer code; 4 bits as in the framework's own table
    "host": {4: 64, 8: 32, 16: 16, 32: 16, 64: 16},
    # the K of the cube unit in the platform tables of 310, 310B, 310P, 910A and 910B
    "platform": {1: 256, 2: 128, 4: 64, 8: 32, 16: 16, 32: 16, 64: 16},
    # 32 bytes / size of an element, as the vendor's documentation lists it
    "document": {4: 64, 8: 32, 16: 16, 32: 8},
}

CUBE_SIZE = 16
"""Rows of one fractal (M0, N0, H0 in the vendor's formulas), whatever the element type."""


def channel_block(dtype: object, rule: Rule = "host") -> int:
    """
    C0 for an element type by one of the vendor's rules.

    `host`: what the host transfer code does, the default everywhere. `platform`: the compilers' platform tables, which
    also know 1- and 2-bit elements. `document`: 32 bytes divided by the element's size.
    Raises `LayoutError` for an element type of which the rule says nothing.
    """
    element: ElementType = element_type(dtype)
    if element.bits in _BY_BITS[rule]:
        return _BY_BITS[rule][element.bits]
    widths = ", ".join(map(str, _BY_BITS[rule]))
    other = _BY_BITS["platform"].get(element.bits)
    hint = f" (the platform tables say {other})" if other else ""
    raise LayoutError(
        f"expected an element of {widths} bits, for which the {rule} rule gives a C0, got {element} of {element.bits}; "
        f"give the option c0{hint}"
    )
