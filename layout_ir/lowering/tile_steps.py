"""
Networks whose rows lie as far apart as a call says: those that differ in nothing else are one.

The offsets of a plan for unknown sizes are made of products of extents. A tile that reads planes of any batch, of a
batch of one, and of one of two goes by other products, but through the same registers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from layout_ir.layouts.shuffle_network import Load, Network
from layout_ir.layouts.symbols import FACTOR_LIMIT, Polynomial, Product, Symbol, Symbols, is_symbolic


def symbols_of_steps(count: int) -> Symbols:
    """The symbols that stand for so many steps, each of which is a product by itself."""
    return Symbols(tuple((symbol,) for (symbol,) in step_products(count)))


def step_products(count: int) -> list[Product]:
    """So many steps, as products of symbols."""
    return [(Symbol(position),) for position in range(count)]


def in_steps(network: Network, symbols: Symbols) -> tuple[Network, list[int], list[int]]:
    """
    A network with the symbols of steps in its offsets, and how many elements its steps have in the plan.

    Those of the source, then those of the destination, which have the symbols behind them. Each step is the largest
    that the offsets are multiples of, so that only their number is left of them. What offsets have besides unknown
    extents stays as it is, unless they are rows of whole lines that are written: those of a panel are known, and those
    of a destination may not be.
    """
    steps = _Steps(symbols, [])
    loads = [load.offset for load in network.loads]
    stores = [store.offset for store in network.stores]
    places = steps.counted(loads, _pitch(loads, FACTOR_LIMIT))
    values = tuple(
        replace(value, offset=places[value.offset]) if isinstance(value, Load) else value for value in network.values
    )
    of_source = len(steps.lengths)
    line = max(store.lanes for store in network.stores)
    places = steps.counted(stores, _pitch(stores, line))
    written = tuple(replace(store, offset=places[store.offset]) for store in network.stores)
    return replace(network, values=values, stores=written), steps.lengths[:of_source], steps.lengths[of_source:]


def _pitch(offsets: Sequence[int], line: int) -> int | None:
    """How far apart rows of more than a line lie, where offsets are multiples of that; whole lines if it is known."""
    pitch = min((offset for offset in offsets if offset > 0), default=0)
    is_row = is_symbolic(pitch) or (pitch > line and pitch % line == 0)
    if not is_row or any(offset % pitch or is_symbolic(offset // pitch) for offset in offsets):
        return None
    return pitch


@dataclass(frozen=True)
class _Steps:
    """Steps that are found one after the other."""

    symbols: Symbols
    lengths: list[int]

    def counted(self, offsets: Sequence[int], pitch: int | None) -> dict[int, int]:
        """What offsets are in steps: in one of them, or one for each product that they are made of."""
        if pitch is not None:
            stand_in = self._stand_in(pitch)
            return {offset: offset // pitch * stand_in for offset in offsets}
        polynomials = {offset: self._polynomial(offset) for offset in offsets}
        units: dict[Product, int] = {}
        for polynomial in polynomials.values():
            for product, factor in polynomial:
                units[product] = math.gcd(units.get(product, 0), factor)
        stand_ins = {
            product: self._stand_in(unit * self.symbols.number(product)) for product, unit in units.items() if product
        }
        return {
            offset: sum(
                factor // units[product] * stand_ins[product] if product else factor for product, factor in polynomial
            )
            for offset, polynomial in polynomials.items()
        }

    def _polynomial(self, offset: int) -> Polynomial:
        return self.symbols.polynomial(offset) if is_symbolic(offset) else (((), offset),)

    def _stand_in(self, length: int) -> int:
        """The number that stands for one more step."""
        self.lengths.append(length)
        count = len(self.lengths)
        return symbols_of_steps(count).number(step_products(count)[-1])
