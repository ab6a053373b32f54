"""What has to be a multiple of a line for places made of unknown extents to be, checked by their values."""

from __future__ import annotations

import itertools

import pytest

from layout_ir.layouts.symbols import Symbol, Symbols
from layout_ir.lowering.whole_units import products_beside

HEIGHT, WIDTH = Symbol(0), Symbol(1)
SYMBOLS = Symbols(((HEIGHT,), (WIDTH,)))
H, W = (SYMBOLS.stand_ins[symbol] for symbol in (HEIGHT, WIDTH))


@pytest.mark.parametrize(
    "places",
    [
        [H * W],
        [16 * H * W],
        [48 * H, 12 * W],
        [8 * H * W, 4 * H * W - 32],
        [64 * H, 32],
        [20 * W, 6 * W + 64 * H],
    ],
)
def test_products_are_multiples_where_all_places_are(places: list[int]) -> None:
    products = products_beside(places, 32, SYMBOLS)
    assert products is not None
    for height, width in itertools.product(range(1, 40), repeat=2):
        extents = {0: height, 1: width}
        seen = all(SYMBOLS.value(number, extents) % 32 == 0 for number in products)
        are_whole = all(SYMBOLS.value(place, extents) % 32 == 0 for place in places)
        assert are_whole or not seen
        if len({product for place in places for product, _ in SYMBOLS.polynomial(place) if product}) == 1:
            assert seen == are_whole


def test_a_known_part_of_a_line_is_never_made_whole() -> None:
    assert products_beside([64 * H, 3], 32, SYMBOLS) is None
    assert products_beside([H - 16], 32, SYMBOLS) is None
    assert products_beside([32 * H * W + 64, 96], 32, SYMBOLS) == []
