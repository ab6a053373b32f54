"""
Swizzles of OpenVINO's weight formats: inside of blocks of 32 output channels the digits of o are exchanged.

With `_swizzled_by_K` the digit o%K lies outside of (o/K)%(32/K). Where it lies depends on what the name says of o:
`osaK .. osvN`: where `osaK` stands; `osv32` or `o32`: right before the rest; `osvN` with K*N = 32: next to `os`.
"""

from __future__ import annotations

from layout_ir.formats.openvino_order import Digit, StorageOrder

BLOCK_OF_SWIZZLE = 32


def swizzled(order: StorageOrder, step: int) -> StorageOrder | None:
    """`order` with the digits of o exchanged by `step`; None where o is not in blocks of 32 that `step` divides."""
    rest = BLOCK_OF_SWIZZLE // step
    if not (1 < step < BLOCK_OF_SWIZZLE and step * rest == BLOCK_OF_SWIZZLE and "o" in order.dims):
        return None
    leading, low, high = Digit("o", BLOCK_OF_SWIZZLE), Digit("o", 1, step), Digit("o", step, rest)
    match [digit.modulus for digit in order.digits if digit.letters == "o"]:
        case [None] if dict(order.padding).get("o") == BLOCK_OF_SWIZZLE:
            pieces = [[leading, low, high]]
        case [None, size] if size == BLOCK_OF_SWIZZLE:
            pieces = [[leading], [low, high]]
        case [None, size] if size == rest:
            pieces = [[leading, low], [high]]
        case [None, first, second] if (first, second) == (step, rest):
            pieces = [[leading], [low], [high]]
        case _:
            return None
    remaining = iter(pieces)
    digits = [piece for digit in order.digits for piece in (next(remaining) if digit.letters == "o" else [digit])]
    padding = tuple((dim, size) for dim, size in order.padding if dim != "o" or size != BLOCK_OF_SWIZZLE)
    return StorageOrder(order.dims, tuple(digits), padding, order.mirrored)
