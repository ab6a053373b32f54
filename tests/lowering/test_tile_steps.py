"""Tiles by the steps between their rows: those that differ in how long these are become one."""

import pytest

from layout_ir.layouts.shuffle_network import Load, Network, Shuffle, Store
from layout_ir.layouts.symbols import Symbol, Symbols
from layout_ir.lowering.tile_steps import in_steps, step_products, symbols_of_steps

IMAGES, PIXELS = Symbol(0), Symbol(1)
SYMBOLS = Symbols(((IMAGES,), (PIXELS,)))
IMAGE, PIXEL = SYMBOLS.number((IMAGES,)), SYMBOLS.number((PIXELS,))
BOTH = SYMBOLS.number((IMAGES, PIXELS))
LANES = 16


def network(loads: list[int], stores: list[int]) -> Network:
    """Rows of a line each, the first two of which change places of lanes."""
    values = [*(Load(offset, LANES) for offset in loads), Shuffle(0, 1, tuple(range(8, 24)))]
    written = tuple(Store(offset, LANES, len(values) - 1) for offset in stores)
    return Network(tuple(values), written, 2)


def step(number: int) -> int:
    """What stands for a step in the offsets of a network in steps."""
    products = step_products(number + 1)
    return symbols_of_steps(len(products)).number(products[number])


@pytest.mark.parametrize("row", [BOTH, PIXEL, 2 * PIXEL, 35 * PIXEL], ids=["n*p", "p", "2*p", "35*p"])
def test_rows_of_any_length_are_one_step_apart(row: int) -> None:
    found, of_source, of_destination = in_steps(network([0, row, 3 * row], [0, 64]), SYMBOLS)
    assert [load.offset for load in found.loads] == [0, step(0), 3 * step(0)]
    assert [store.offset for store in found.stores] == [0, step(1)]
    assert (of_source, of_destination) == ([row], [64])


def test_all_but_offsets_stays() -> None:
    before = network([0, PIXEL], [0, 64])
    found, _, _ = in_steps(before, SYMBOLS)
    assert [type(value) for value in found.values] == [type(value) for value in before.values]
    assert found.values[-1] == before.values[-1]
    assert [store.value for store in found.stores] == [store.value for store in before.stores]


def test_steps_of_several_products_are_counted_each() -> None:
    found, of_source, of_destination = in_steps(
        network([0, 6 * BOTH, 4 * PIXEL, 6 * BOTH + 8 * PIXEL + 3], [2 * PIXEL, 3 * PIXEL + 16]), SYMBOLS
    )
    assert [load.offset for load in found.loads] == [0, step(0), step(1), step(0) + 2 * step(1) + 3]
    assert [store.offset for store in found.stores] == [2 * step(2), 3 * step(2) + 16]
    assert (of_source, of_destination) == ([6 * BOTH, 4 * PIXEL], [PIXEL])


def test_known_rows_are_a_step_apart_where_whole_lines_of_them_are_written() -> None:
    of_lines, _, lines = in_steps(network([0, 64], [0, 48]), SYMBOLS)
    assert [load.offset for load in of_lines.loads] == [0, 64], "rows that are read stay as they are"
    assert [store.offset for store in of_lines.stores] == [0, step(0)]
    assert lines == [48]
    for offsets in ([0, 16], [0, 40], [0, 64, 96]):  # no gaps, no whole lines, no multiples
        others, _, steps = in_steps(network([0, 64], offsets), SYMBOLS)
        assert [store.offset for store in others.stores] == offsets
        assert not steps


def test_sums_are_one_step_where_all_are_multiples_of_one() -> None:
    row = 2 * BOTH + PIXEL + 5
    found, of_source, _ = in_steps(network([0, row, 2 * row], [0, 16]), SYMBOLS)
    assert [load.offset for load in found.loads] == [0, step(0), 2 * step(0)]
    assert of_source == [row]
