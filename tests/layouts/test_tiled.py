"""TiledLayout: its text, the rule by which extents follow from it, and what it refuses."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir.affine import AffineExpr

import layout_ir as li
from layout_ir.errors import LayoutError
from layout_ir.layouts.blocked import blocked_layout
from layout_ir.layouts.tiled import TiledLayout

D0, D1, D2 = (AffineExpr.dimension(i) for i in range(3))


@pytest.mark.parametrize(
    "layout, text",
    [
        (TiledLayout(2, (D1, D0)), "(d0, d1) -> (d1, d0)"),
        (TiledLayout(2, (D1 // 4, D0, D1 % 4)), "(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)"),
        (TiledLayout(2, (D0, D1), (1, 8)), "(d0, d1) -> (d0, d1), round_up = [1, 8]"),
        (TiledLayout(1, (D0 - D0, D0 // 4, D0 % 4), is_image=True), "(d0) -> (0, d0 floordiv 4, d0 mod 4), image"),
        (TiledLayout(0, ()), "() -> ()"),
    ],
    ids=str,
)
def test_text(layout: TiledLayout, text: str):
    shown = str(layout)
    assert shown.replace("d0 - d0", "0").replace("d0 + d0 * -1", "0") == text


@given(
    st.permutations(range(3)),
    st.lists(st.tuples(st.integers(0, 2), st.integers(2, 9)), max_size=4),
    st.lists(st.integers(1, 5), min_size=3, max_size=3),
)
def test_text_reads_back(outer: list[int], blocks: list[tuple[int, int]], units: list[int]):
    layout = blocked_layout(3, outer, blocks, dict(enumerate(units)))
    assert li.layout(str(layout)) == layout


# shape, coordinates, round_up -> extents
EXTENTS = [
    ((5,), (D0,), (), (5,)),
    ((5,), (D0,), (4,), (8,)),
    ((5,), (D0 // 4, D0 % 4), (), (2, 4)),
    ((4,), (D0 // 4, D0 % 4), (), (1, 4)),
    ((5,), (D0 // 4, D0 % 4), (16,), (4, 4)),
    ((5,), (D0 // 8, D0 % 8 // 4, D0 % 4), (), (1, 2, 4)),
    ((5,), (D0 // 8, (D0 // 4) % 2, D0 % 4), (), (1, 2, 4)),
    ((5, 7), (D0 * 7 + D1,), (), (35,)),
    ((5, 7), ((D0 * 7 + D1) // 4, (D0 * 7 + D1) % 4), (), (9, 4)),
    ((5, 7), (D0 + D1,), (), (11,)),
    ((5,), (D0 * 3,), (), (13,)),
    ((5,), (D0 + 2,), (), (7,)),
    ((5,), (D0 * -1 + 4,), (), (5,)),
    ((5, 0), (D0, D1 // 4, D1 % 4), (), (0, 0, 0)),
]


@pytest.mark.parametrize("shape, coordinates, round_up, extents", EXTENTS, ids=str)
def test_extents(
    shape: tuple[int, ...], coordinates: tuple[AffineExpr, ...], round_up: tuple[int, ...], extents: tuple[int, ...]
):
    index_map = TiledLayout(len(shape), coordinates, round_up).index_map(shape)
    assert index_map.extents == extents
    for index in itertools.product(*map(range, shape)):
        place = index_map.coordinate(*index)
        assert all(0 <= value < extent for value, extent in zip(place, extents, strict=True))


@pytest.mark.parametrize(
    "layout, blocks",
    [
        (TiledLayout(2, (D0, D1)), (1, 1)),
        (TiledLayout(2, (D1 // 4, D0, D1 % 4)), (1, 4)),
        (TiledLayout(2, (D1 // 8, D0, (D1 // 2) % 4, D1 % 2)), (1, 8)),
        (TiledLayout(2, (D1 // 6, D0 // 4, D1 % 6, D0 % 4), (6, 4)), (12, 12)),
        (TiledLayout(2, ((D0 * 7 + D1) // 4, (D0 * 7 + D1) % 4)), (1, 1)),
    ],
    ids=str,
)
def test_blocks_are_what_a_dim_is_rounded_up_to(layout: TiledLayout, blocks: tuple[int, ...]):
    assert layout.blocks == blocks
    index_map = layout.index_map((5, 7))
    assert index_map.padded_shape == tuple(
        -(-size // block) * block for size, block in zip((5, 7), blocks, strict=True)
    )


def test_an_image_has_four_lanes_of_which_some_may_be_pads():
    layout = TiledLayout(2, (D0, D1 // 3, D1 % 3), is_image=True)
    assert layout.index_map((2, 5)).extents == (2, 2, 4)
    assert layout.index_map((2, 5)).pad_count == 16 - 10
    assert TiledLayout(1, (D0 * 0, D0 // 4, D0 % 4), is_image=True).index_map((0,)).storage_size == 0


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: TiledLayout(2, (D0, D1), (1,)), r"expected round_up to be 2 positive numbers, got \[1\]"),
        (lambda: TiledLayout(2, (D0, D1), (1, 0)), r"expected round_up to be 2 positive numbers, got \[1, 0\]"),
        (lambda: TiledLayout(2, (D0, D2)), "expected dims d0 to d1, got d2"),
        (lambda: TiledLayout(2, (D0, D1), is_image=True), r"expected 3 axes \(row, column, lane\), got 2"),
        (
            lambda: TiledLayout(2, (D0, D1 // 5, D1 % 5), is_image=True).index_map((2, 9)),
            r"expected at most 4 lanes, got 5 for \[2, 9\]",
        ),
        (lambda: TiledLayout(2, (D0, D1)).index_map((3,)), r"expected a shape of rank 2, got rank 1: \[3\]"),
        (lambda: TiledLayout(1, (D0,)).index_map((-3,)), r"expected sizes that are known and not negative, got \[-3\]"),
    ],
)
def test_errors(make: object, message: str):
    assert callable(make)
    with pytest.raises(LayoutError, match=message):
        make()
