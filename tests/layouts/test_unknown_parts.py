"""Cuts of unknown dims: where blocks of both sides meet, and what is left of the last of them."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layout_ir.layouts.unknown_parts import meeting_points


@pytest.mark.parametrize(
    "points, expected",
    [
        ([], ()),
        ([16], (16,)),
        ([16, 4], (4, 16)),
        ([48, 32], (16, 96)),
        ([4, 16, 24], (4, 8, 48)),
        ([3, 4], (12,)),
        ([3, 16, 24], (48,)),  # 16 and 24 meet at multiples of 8, which are none of 3
    ],
)
def test_where_blocks_meet(points: list[int], expected: tuple[int, ...]) -> None:
    assert meeting_points(points) == expected


@given(st.sets(st.integers(2, 100), min_size=1, max_size=4))
def test_each_divides_or_is_divided(points: set[int]) -> None:
    chain = meeting_points(points)
    assert chain[-1] == math.lcm(*points)
    assert all(larger % smaller == 0 for smaller, larger in itertools.pairwise(chain))
    assert all(point % block == 0 or block % point == 0 for point in points for block in chain)
