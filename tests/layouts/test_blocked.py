"""blocked_layout: outer order and inner blocks mean pad, reshape and transpose of the array."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layout_ir.layouts.affine_text import affine_text
from layout_ir.layouts.blocked import blocked_layout, digit


@pytest.mark.parametrize(
    "arguments, expected",
    [((1,), "d1"), ((1, 4), "d1 floordiv 4"), ((1, 1, 4), "d1 mod 4"), ((1, 4, 2), "(d1 floordiv 4) mod 2")],
)
def test_digit_leaves_out_what_does_nothing(arguments: tuple[int, ...], expected: str):
    assert affine_text(digit(*arguments)) == expected


@pytest.mark.parametrize(
    "outer, blocks, round_up, expected",
    [
        ([1, 0], [], {}, "(d0, d1) -> (d1, d0)"),
        ([0, 1], [(1, 16)], {}, "(d0, d1) -> (d0, d1 floordiv 16, d1 mod 16)"),
        # of two blocks of one dim the last one is the least significant
        (
            [0, 1],
            [(1, 4), (0, 16), (1, 2)],
            {},
            "(d0, d1) -> (d0 floordiv 16, d1 floordiv 8, (d1 floordiv 2) mod 4, d0 mod 16, d1 mod 2)",
        ),
        ([0, 1], [], {1: 8}, "(d0, d1) -> (d0, d1), round_up = [1, 8]"),
    ],
)
def test_text(outer: list[int], blocks: list[tuple[int, int]], round_up: dict[int, int], expected: str):
    assert str(blocked_layout(2, outer, blocks, round_up)) == expected


@given(
    st.permutations(range(3)),
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from([2, 3, 4])), max_size=3),
    st.tuples(*[st.integers(1, 9)] * 3),
)
def test_it_is_pad_reshape_transpose(outer: list[int], blocks: list[tuple[int, int]], shape: tuple[int, int, int]):
    index_map = blocked_layout(3, outer, blocks).index_map(shape)
    storage = np.full(index_map.storage_size, -1)
    storage[index_map.offsets().ravel()] = np.arange(index_map.size)
    assert np.array_equal(storage.reshape(index_map.extents), by_numpy(shape, outer, blocks))


def by_numpy(shape: tuple[int, ...], outer: list[int], blocks: list[tuple[int, int]]) -> np.ndarray:
    """The storage of 0, 1, 2, ... with pads of -1, without a single index computed."""
    sizes = [[size for dim, size in blocks if dim == d] for d in range(len(shape))]
    whole = [int(np.prod(size, dtype=int)) for size in sizes]
    array = np.arange(np.prod(shape)).reshape(shape)
    array = np.pad(array, [(0, -n % w) for n, w in zip(shape, whole, strict=True)], constant_values=-1)
    split = [part for n, w, size in zip(array.shape, whole, sizes, strict=True) for part in (n // w, *size)]
    starts = [sum(1 + len(size) for size in sizes[:d]) for d in range(len(shape))]
    axes = [starts[d] for d in outer]
    used = [0] * len(shape)
    for dim, _ in blocks:
        used[dim] += 1
        axes.append(starts[dim] + used[dim])
    return array.reshape(split).transpose(axes)
