"""StridedLayout: offsets are sums, gaps belong to nobody, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layout_ir.errors import LayoutError
from layout_ir.layouts.strided import StridedLayout


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(0, 40)), max_size=4),
    st.integers(0, 20),
)
def test_offsets_are_sums(dims: list[tuple[int, int]], offset: int):
    shape, strides = tuple(size for size, _ in dims), tuple(stride for _, stride in dims)
    index_map = StridedLayout(strides, offset).index_map(shape)
    expected = offset + sum((i * s for i, s in zip(np.indices(shape), strides, strict=True)), np.zeros(shape, int))
    assert np.array_equal(index_map.offsets(), expected)
    assert index_map.storage_size == expected.max() + 1
    assert index_map.pad_count == 0
    assert index_map.has_broadcast == any(size > 1 and stride == 0 for size, stride in dims)


@pytest.mark.parametrize(
    "layout, text",
    [
        (StridedLayout((8, 1)), "strided<[8, 1]>"),
        (StridedLayout((8, 1), 3), "strided<[8, 1], offset: 3>"),
        (StridedLayout(()), "strided<[]>"),
    ],
)
def test_text(layout: StridedLayout, text: str):
    assert str(layout) == text
    assert layout.rank == len(layout.strides)


@pytest.mark.parametrize(
    "strides, offset, shape, message",
    [
        ((8, -1), 0, (2, 2), r"expected strides that are not negative, got \[8, -1\]"),
        ((8, 1), -3, (2, 2), "expected an offset that is not negative, got -3"),
        ((8, 1), 0, (2,), r"expected a shape of rank 2, got rank 1: \[2\]"),
        ((8, 1), 0, (2, -1), r"expected sizes that are known and not negative, got \[2, -1\]"),
    ],
)
def test_errors(strides: tuple[int, ...], offset: int, shape: tuple[int, ...], message: str):
    with pytest.raises(LayoutError, match=message):
        StridedLayout(strides, offset).index_map(shape)
