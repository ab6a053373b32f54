"""IndexMap: sizes, the function itself, and what it refuses. Proofs and inverses have files of their own."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir.affine import AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.layouts.blocked import blocked_layout
from layout_ir.layouts.index_map import IndexMap, row_major_strides
from layout_ir.layouts.strided import StridedLayout
from layout_ir.layouts.tiled import TiledLayout

D0, D1, D2 = (AffineExpr.dimension(i) for i in range(3))
BLOCKED = blocked_layout(2, [1, 0], [(1, 4)])
"""(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)"""
IMAGE = TiledLayout(3, (D0, (D2 // 4) * 5 + D1, D2 % 4), is_image=True)
"""(y, x, c) as an image with the channels' blocks of 4 side by side, for width 5."""


@pytest.mark.parametrize(
    "extents, strides",
    [((), ()), ((7,), (1,)), ((2, 3, 4), (12, 4, 1)), ((2, 0, 4), (4, 4, 1)), ((1, 1), (1, 1))],
)
def test_row_major_strides(extents: tuple[int, ...], strides: tuple[int, ...]):
    assert row_major_strides(extents) == strides


@pytest.mark.parametrize(
    "index_map, shape, size, pads, dense",
    [
        (blocked_layout(2, [0, 1]).index_map((3, 5)), (3, 5), 15, 0, True),
        (blocked_layout(2, [1, 0]).index_map((3, 5)), (5, 3), 15, 0, True),
        (BLOCKED.index_map((3, 5)), (2, 3, 4), 24, 9, True),
        (BLOCKED.index_map((3, 8)), (2, 3, 4), 24, 0, True),
        (BLOCKED.index_map((1, 1)), (1, 1, 4), 4, 3, True),
        (BLOCKED.index_map((0, 5)), (0, 0, 0), 0, 0, True),
        (blocked_layout(2, [0, 1], round_up={1: 8}).index_map((3, 5)), (3, 8), 24, 9, True),
        (StridedLayout((8, 1)).index_map((3, 5)), (21,), 21, 0, False),
        (StridedLayout((8, 1), 4).index_map((3, 5)), (25,), 25, 0, False),
        (StridedLayout((5, 1), 4).index_map((3, 5)), (19,), 19, 0, False),
        (StridedLayout((1, 3)).index_map((3, 5)), (15,), 15, 0, False),
        (StridedLayout((5, 1)).index_map((3, 5)), (3, 5), 15, 0, True),
        (StridedLayout((0, 1)).index_map((3, 5)), (5,), 5, 0, False),
        (StridedLayout((1,)).index_map((0,)), (0,), 0, 0, True),
        (TiledLayout(0, ()).index_map(()), (), 1, 0, True),
        (IMAGE.index_map((2, 5, 6)), (2, 10, 4), 80, 20, True),
    ],
    ids=str,
)
def test_sizes(index_map: IndexMap, shape: tuple[int, ...], size: int, pads: int, dense: bool):
    assert index_map.storage_shape == shape
    assert index_map.storage_size == index_map.required_size == size
    assert index_map.pad_count == pads
    assert index_map.is_dense == dense
    assert index_map.size == math.prod(index_map.shape)


def test_a_vendor_may_merge_axes_and_allocate_more():
    index_map = IndexMap((4, 6), (D0 // 2, D0 % 2, D1), (2, 2, 6), physical_shape=(4, 6))
    assert index_map.storage_shape == (4, 6)
    larger = IndexMap((4, 6), (D0, D1), (4, 6), allocation=100)
    assert (larger.storage_size, larger.required_size, larger.storage_shape) == (100, 24, (100,))
    smaller = IndexMap((4, 6), (D0, D1), (4, 6), allocation=20)
    assert (smaller.storage_size, smaller.required_size) == (20, 24)


@given(
    st.permutations(range(3)),
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from([2, 3, 4])), max_size=3),
    st.tuples(*[st.integers(1, 7)] * 3),
)
def test_one_index_all_indices_and_the_linear_form_agree(
    outer: list[int], blocks: list[tuple[int, int]], shape: tuple[int, int, int]
):
    index_map = blocked_layout(3, outer, blocks).index_map(shape)
    offsets = index_map.offsets()
    assert offsets.shape == shape
    assert offsets.dtype == np.int64
    seen: set[int] = set()
    for index in itertools.product(*map(range, shape)):
        coordinate = index_map.coordinate(*index)
        assert all(0 <= value < extent for value, extent in zip(coordinate, index_map.extents, strict=True))
        expected = int(np.ravel_multi_index(coordinate, index_map.extents))
        assert index_map(*index) == offsets[index] == index_map.linear.eval(list(index), []) == expected
        seen.add(expected)
    assert len(seen) == index_map.size == index_map.cell_count - index_map.pad_count


def test_pixels_are_column_row_and_lane():
    index_map = IMAGE.index_map((2, 5, 6))
    assert index_map.image_size == (10, 2)
    pixels = index_map.pixels()
    assert pixels.shape == (2, 5, 6, 3)
    assert pixels[1, 3, 5].tolist() == [8, 1, 1]
    x, y, lane = np.moveaxis(pixels, -1, 0)
    assert np.array_equal(index_map.offsets(), (y * 10 + x) * 4 + lane)


def test_only_images_have_pixels():
    index_map = BLOCKED.index_map((3, 5))
    with pytest.raises(LayoutError, match=r"expected an image layout, got a buffer.*use offsets\(\)"):
        index_map.pixels()
    with pytest.raises(LayoutError, match="expected an image layout, got a buffer"):
        _ = index_map.image_size


@pytest.mark.parametrize(
    "index, message",
    [
        ((1,), r"expected an index of 2 numbers, got 1"),
        ((1, 2, 3), r"expected an index of 2 numbers, got 3"),
        ((3, 0), r"expected an index inside \[3, 5\], got \[3, 0\]"),
        ((0, -1), r"expected an index inside \[3, 5\], got \[0, -1\]"),
    ],
)
def test_an_index_outside_is_refused(index: tuple[int, ...], message: str):
    with pytest.raises(LayoutError, match=message):
        BLOCKED.index_map((3, 5))(*index)


def test_offsets_beyond_32_bits():
    index_map = blocked_layout(2, [0, 1], [(1, 16)]).index_map((1 << 20, 1 << 13))
    assert index_map((1 << 20) - 1, (1 << 13) - 1) == (1 << 33) - 1
    assert index_map.storage_size == 1 << 33


@pytest.mark.parametrize(
    "shape, fits",
    [((1 << 62, 1), True), ((1 << 31, 1 << 32), False), ((1 << 63, 1), False), ((1 << 40, 1 << 40), False)],
)
def test_a_storage_has_less_than_2_to_the_63_elements(shape: tuple[int, int], fits: bool):
    plain = blocked_layout(2, [0, 1])
    if fits:
        assert plain.index_map(shape).storage_size == math.prod(shape)
        return
    with pytest.raises(LayoutError, match=r"expected a storage of less than 2\^63 elements, got extents"):
        plain.index_map(shape)


def test_pads_strides_and_allocations_count_towards_the_limit():
    size = (1 << 62) + 1
    with pytest.raises(LayoutError, match=r"2\^63"):
        blocked_layout(1, [0], [(0, 1 << 62)]).index_map((size,))
    with pytest.raises(LayoutError, match=r"2\^63"):
        StridedLayout((1 << 62,)).index_map((3,))
    with pytest.raises(LayoutError, match=r"2\^63"):
        StridedLayout((1,), (1 << 63) - 1).index_map((1,))
    with pytest.raises(LayoutError, match=r"2\^63"):
        IndexMap((4,), (D0,), (4,), allocation=1 << 63)
    assert StridedLayout((1 << 62,)).index_map((0,)).storage_size == 0
