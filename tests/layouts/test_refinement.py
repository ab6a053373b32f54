"""Refinement: block sizes become chains of divisors, and pieces cover a dim's range once, linear in every digit."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir.affine import AffineExpr

from layout_ir.layouts.refinement import Piece, nested_chain, pieces, split_points

D0, D1 = (AffineExpr.dimension(i) for i in range(2))


@pytest.mark.parametrize(
    "exprs, dim, points",
    [
        ([D0, D1], 0, set()),
        ([D0 // 16, D1, D0 % 16], 0, {16}),
        ([D0 // 16, D1, D0 % 16], 1, set()),
        ([(D0 // 4) % 8], 0, {4, 32}),
        ([(D0 // 4) // 8], 0, {4, 32}),
        ([D0 // 16, D0 % 16, D0 // 6], 0, {16, 6}),
        # in steps of 3, six times d0 * 2 fills whole blocks of 6
        ([(D0 * 2 + D1) // 6], 0, {3}),
        ([(D0 * 2 + D1) // 6], 1, {6}),
        ([(D0 * 7 + D1) // 4, (D0 * 7 + D1) % 4], 0, {4}),
        ([(D0 * 8 + D1) // 4], 0, set()),
        ([(D0 * 7 + D1) % 4], 1, {4}),
    ],
    ids=str,
)
def test_split_points(exprs: list[AffineExpr], dim: int, points: set[int]):
    assert split_points(exprs, dim) == points


@pytest.mark.parametrize(
    "points, chain",
    [
        ([], ()),
        ([1], ()),
        ([16], (16,)),
        ([16, 4, 16, 1], (4, 16)),
        ([48, 32], (16, 96)),
        ([4, 6], (2, 12)),
        ([2, 3], (6,)),
        ([4, 6, 8], (2, 4, 24)),
        ([5, 7, 35], (35,)),
    ],
    ids=str,
)
def test_nested_chain(points: list[int], chain: tuple[int, ...]):
    assert nested_chain(points) == chain


@given(st.lists(st.integers(1, 40), max_size=5))
def test_chains_nest_and_end_at_a_common_multiple(points: list[int]):
    chain = nested_chain(points)
    assert all(high % low == 0 and low < high for low, high in itertools.pairwise(chain))
    assert 1 not in chain
    assert max(chain, default=1) == math.lcm(*points)
    # every number that divides its neighbours already is still there
    if all(high % low == 0 for low, high in itertools.pairwise(sorted(points))):
        assert chain == tuple(sorted(set(points) - {1}))


def values(piece: Piece) -> list[tuple[int, bool]]:
    """Every value of a piece, and whether it counts as an element."""
    result: list[tuple[int, bool]] = []
    for steps in itertools.product(*(range(digit.extent) for digit in piece.digits)):
        value = piece.start + sum(digit.weight * step for digit, step in zip(piece.digits, steps, strict=True))
        result.append((value, all(step < digit.valid for digit, step in zip(piece.digits, steps, strict=True))))
        assert piece.value(0).eval(list(steps), []) == value
    return result


chains = st.lists(st.integers(2, 5), max_size=3).map(lambda factors: tuple(itertools.accumulate(factors, int.__mul__)))


@given(st.integers(0, 70), st.integers(0, 40), chains)
def test_pieces_cover_the_range_once_and_tell_elements_from_pads(size: int, more: int, chain: tuple[int, ...]):
    padded = size + more
    covered = Counter(pair for piece in pieces(size, padded, chain) for pair in values(piece))
    assert covered == Counter((value, value < size) for value in range(padded))


@given(st.integers(1, 70), st.integers(0, 40), chains)
def test_no_piece_crosses_a_block_within_a_digit(size: int, more: int, chain: tuple[int, ...]):
    for piece in pieces(size, size + more, chain):
        for block in chain:
            for digit in piece.digits:  # a digit moves within blocks or by whole blocks, never both
                low, high = piece.start % block, digit.weight * (digit.extent - 1)
                assert digit.extent == 1 or digit.weight % block == 0 or low + high < block


@given(st.integers(1, 200), chains)
def test_few_pieces(size: int, chain: tuple[int, ...]):
    assert len(pieces(size, size, chain)) <= len(chain) + 1


@pytest.mark.parametrize(
    "size, padded, chain, expected",
    [
        (35, 48, (16,), [(0, [(16, 2, 2), (1, 16, 16)]), (32, [(1, 16, 3)])]),
        # blocks that are pads belong to the piece that ends in front of them
        (8, 16, (4,), [(0, [(4, 4, 2), (1, 4, 4)])]),
        (24, 32, (8, 16), [(0, [(16, 1, 1), (8, 2, 2), (1, 8, 8)]), (16, [(8, 2, 1), (1, 8, 8)])]),
        (35, 48, (4, 16), [(0, [(16, 2, 2), (4, 4, 4), (1, 4, 4)]), (32, [(4, 4, 1), (1, 4, 3)])]),
        (7, 16, (4,), [(0, [(4, 1, 1), (1, 4, 4)]), (4, [(4, 3, 1), (1, 4, 3)])]),
        # but for those behind a block of several pieces
        (
            7,
            32,
            (4, 16),
            [(0, [(4, 1, 1), (1, 4, 4)]), (4, [(4, 3, 1), (1, 4, 3)]), (16, [(16, 1, 0), (4, 4, 4), (1, 4, 4)])],
        ),
        (0, 16, (4,), [(0, [(4, 4, 0), (1, 4, 4)])]),
    ],
)
def test_the_pieces_of_a_dim(
    size: int, padded: int, chain: tuple[int, ...], expected: list[tuple[int, list[tuple[int, int, int]]]]
):
    found = [(p.start, [(d.weight, d.extent, d.valid) for d in p.digits]) for p in pieces(size, padded, chain)]
    assert found == expected
