"""Stand-ins for unknown extents: whatever is made of them by sums and products is read back as it was made."""

from __future__ import annotations

import math
import random

import pytest

from layout_ir.errors import LayoutError
from layout_ir.formats.registry import parse_format
from layout_ir.layouts.symbolic_map import symbolic_map
from layout_ir.layouts.symbols import (
    Symbol,
    Symbols,
    Undecodable,
    is_multiple,
    is_stand_in,
    is_symbolic,
)

N, H, W = Symbol(0), Symbol(2), Symbol(3)
FULL, HALF, BLOCKS = Symbol.full(0, 16), Symbol(0, 16, 8), Symbol(0, 16)
QUARTERS = Symbol.full(0, 4)
SYMBOLS = Symbols(((FULL, HALF, BLOCKS, N), (H,), (W,)))
EXTENTS = {0: 35, 2: 7, 3: 9}


@pytest.mark.parametrize("seed", range(50))
def test_a_sum_of_products_is_read_back(seed: int) -> None:
    chance = random.Random(seed)
    terms: dict[tuple[Symbol, ...], int] = {}
    for _ in range(chance.randint(1, 6)):
        choices = [chance.choice([None, *group]) for group in SYMBOLS.groups]
        product = tuple(symbol for symbol in choices if symbol is not None)
        terms[product] = chance.choice([-1, 1]) * chance.randint(1, 2 ** chance.randint(1, 60))
    number = sum(factor * SYMBOLS.number(product) for product, factor in terms.items())
    assert dict(SYMBOLS.polynomial(number)) == terms
    expected = sum(f * math.prod(s.value(EXTENTS[s.dim]) for s in product) for product, f in terms.items())
    assert SYMBOLS.value(number, EXTENTS) == expected


def test_quantities() -> None:
    for extent, numbers in ((32, [32, 2, 2, 2]), (35, [35, 2, 2, 3]), (40, [40, 2, 3, 3]), (47, [47, 2, 3, 3])):
        assert [symbol.value(extent) for symbol in (N, FULL, HALF, BLOCKS)] == numbers


def test_what_is_divided_cannot_be_read() -> None:
    with pytest.raises(Undecodable):
        SYMBOLS.polynomial(SYMBOLS.number((W,)) // 3)


def test_no_small_number_divides_a_stand_in() -> None:
    for number in SYMBOLS.stand_ins.values():
        assert is_symbolic(number)
        assert is_stand_in(number)
        assert is_stand_in(48 * number)
        assert all(number % divisor for divisor in range(2, 257))
    assert not any(map(is_stand_in, (0, 1, 2**63, 2**64, 2**127, 2**128, 3**90)))


@pytest.mark.parametrize(
    "name, shape, message",
    [
        ("onednn:nChw16c", (None, None, None, None), None),
        ("mace:IN_OUT_WIDTH", (None, None, None, None), None),
        ("ascend:FRACTAL_NZ", (None, None, None, None), None),
        ("NHWC", (None, 3), "NHWC: expected a shape of rank 4"),
    ],
)
def test_formats_for_all_sizes(name: str, shape: tuple[int | None, ...], message: str | None) -> None:
    layout = parse_format(name)

    def make() -> None:
        symbolic_map(
            shape, lambda sizes: layout.resolve(sizes, "f32"), lambda sizes: layout.index_map(sizes, "f32"), "abcd"
        )

    if message is None:
        make()
    else:
        with pytest.raises(LayoutError, match=message):
            make()


def test_a_form_that_depends_on_the_size_is_refused() -> None:
    small, large = parse_format("NCHW"), parse_format("NHWC")
    with pytest.raises(LayoutError, match="has no one form for all sizes; it differs at"):
        symbolic_map(
            (2, 3, None, 5),
            lambda sizes: (small if sizes[2] < 8 else large).resolve(sizes),
            lambda sizes: (small if sizes[2] < 8 else large).index_map(sizes),
            "nchw",
        )


def test_a_multiple_is_one_for_every_size():
    down, up = Symbol.full(0, 16), Symbol(0)
    numbers = Symbols(((down, up),)).stand_ins
    rest = numbers[up] - 16 * numbers[down]
    assert rest % 5 == 0  # what is left of blocks of 16 seems a multiple of 5, and is not
    assert not is_multiple(rest, 5)
    assert is_multiple(rest, 1)
    assert is_multiple(35, 5)
    assert not is_multiple(36, 5)


@pytest.mark.parametrize(
    ("terms", "most"),
    [
        ({(N,): 1, (FULL,): -16}, 15),
        ({(N,): 3, (FULL,): -48}, 45),
        ({(BLOCKS,): 1, (FULL,): -1}, 1),
        ({(HALF,): 2, (FULL,): -2}, 2),
        ({(QUARTERS,): 1, (FULL,): -4}, 3),
        # with no limit, or with one that is not looked for
        ({(N,): 1}, math.inf),
        ({(N,): 1, (FULL,): -15}, math.inf),
        ({(N,): 1, (BLOCKS,): -16}, math.inf),
        ({(N, H): 1, (FULL, H): -16}, math.inf),
        ({(H,): 1, (FULL,): -1}, math.inf),
        ({(FULL,): 1, (QUARTERS,): -4}, math.inf),
        ({(): 7}, 7),
    ],
)
def test_how_much_there_is_behind_full_blocks(terms: dict[tuple[Symbol, ...], int], most: float) -> None:
    symbols = Symbols(((FULL, HALF, BLOCKS, QUARTERS, N), (H,), (W,)))
    number = sum(factor * symbols.number(product) for product, factor in terms.items())
    values = [symbols.value(number, {0: extent, 2: 7, 3: 9}) for extent in range(100)]
    assert symbols.most(number) == most
    if most < math.inf:
        assert max(values) == most
    assert symbols.may_be_none(number) == any(factor < 0 for factor in terms.values())
    if symbols.may_be_none(number) and most < math.inf:
        assert min(values) == 0


def test_what_a_number_is_made_of() -> None:
    number = SYMBOLS.number
    for terms, unit, has_several, first in [
        ({(N,): 1}, 1, False, 0),
        ({(H, W): 64}, 64, True, 2),
        ({(N,): 12, (FULL,): -16}, 4, False, 0),
        ({(W,): 6, (): 9}, 3, False, 3),
    ]:
        total = sum(factor * number(product) for product, factor in terms.items())
        assert (SYMBOLS.unit(total), SYMBOLS.has_several_dims(total), SYMBOLS.first_dim(total)) == (
            unit,
            has_several,
            first,
        )
        assert SYMBOLS.value(total, EXTENTS) % unit == 0


def test_a_number_where_an_extent_is_known() -> None:
    area, number = SYMBOLS.number((H, W)), SYMBOLS.number
    for length in (1, 2, 4):
        assert SYMBOLS.at_length(area, area, length) == length
        assert SYMBOLS.at_length(7, area, length) == 7
        assert SYMBOLS.at_length(64 * number((N, H, W)) - 3 * area + number((FULL,)), area, length) == (
            64 * length * number((N,)) - 3 * length + number((FULL,))
        )
        assert SYMBOLS.at_length(number((N, H)) - 1, number((N,)), length) == length * number((H,)) - 1


@pytest.mark.parametrize(
    "number, extent, lengths",
    [
        (SYMBOLS.number((N, H)), SYMBOLS.number((H, W)), (2, 4)),  # where both are 1, so is each
        (SYMBOLS.number((FULL, H)), SYMBOLS.number((N,)), (1, 2)),
        (SYMBOLS.number((H,)), SYMBOLS.number((H,)) + 1, (1, 2)),
        (SYMBOLS.number((H,)), 2 * SYMBOLS.number((H,)), (1, 2)),
    ],
)
def test_what_a_length_does_not_tell(number: int, extent: int, lengths: tuple[int, ...]) -> None:
    for length in lengths:
        with pytest.raises(Undecodable):
            SYMBOLS.at_length(number, extent, length)
    if 1 not in lengths:
        assert SYMBOLS.at_length(number, extent, 1) == SYMBOLS.number((N,))
