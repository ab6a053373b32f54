"""Whether numbers made of unknown extents are whole lines or pages, which a kernel looks at when it is called."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import Product, Symbols, is_symbolic
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.schedule import axes_of_tile, line_starts


def line_products(box: Box, tile: Tile, lanes: int, symbols: Symbols) -> list[int] | None:
    """Numbers that must be multiples of a line for all stores to write whole lines; None where these never do."""
    if any(store.lanes != lanes for store in tile.network.stores):
        return None
    return products_beside(line_starts(box, tile), lanes, symbols)


def row_products(box: Box, lanes: int, symbols: Symbols) -> list[int] | None:
    """Numbers that must be multiples of a line for all rows of the source to begin at one; None where they never do."""
    strides = [axis.source_stride for axis in box.axes if is_symbolic(axis.source_stride)]
    return products_beside([constant_value(box.source_offset), *strides], lanes, symbols)


def page_products(box: Box, tile: Tile, page: int, symbols: Symbols) -> list[int] | None:
    """Numbers that must be multiples of a page for rows an unknown distance apart to be; None where they never are."""
    strides = [stride for axis in axes_of_tile(box, tile) for stride in (axis.source_stride, axis.destination_stride)]
    return products_beside([stride for stride in strides if is_symbolic(stride)], page, symbols)


def products_beside(places: Sequence[int], unit: int, symbols: Symbols) -> list[int] | None:
    """What stands for unknown numbers that must be multiples of a unit for all places to be; None: some never are."""
    factors: dict[Product, int] = {}
    for place in places:
        terms = symbols.polynomial(place) if is_symbolic(place) else (((), place),)
        for product, factor in terms:
            if factor % unit and not product:
                return None
            factors[product] = math.gcd(factor, factors.get(product, unit))
    return [factor * symbols.number(product) for product, factor in factors.items() if factor != unit]


def without_factors(products: Sequence[int], symbols: Symbols) -> list[int]:
    """
    The unknown numbers in products: if these are multiples themselves, a kernel knows more of its loops.

    For 16 * h * w to be a multiple of 32, h * w has to be even. Where it is a multiple of 32, steps of 32 divide it.
    """
    return [symbols.number(product) for number in products for product, _ in symbols.polynomial(number)]


def rest_of_division(builder: LoopBuilder, number: int, unit: int) -> SSAValue:
    """By how many elements a number exceeds whole units: lines, or pages."""
    return builder.insert(arith.RemUIOp(builder.constant(number), builder.constant(unit))).results[0]


def are_multiples(builder: LoopBuilder, numbers: Sequence[int], unit: int) -> list[SSAValue]:
    """For each number whether it is a multiple of a unit: of a line, or a page."""
    zero = builder.constant(0)
    return [builder.compare(rest_of_division(builder, number, unit), "eq", zero) for number in numbers]
