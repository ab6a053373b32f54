"""`same_function` and `overlaps_itself` against their definitions, element by element."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from layout_ir.dialects.functions import overlaps_itself, same_function
from layout_ir.errors import LayoutError
from layout_ir.layouts.blocked import blocked_layout, digit
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.strided import StridedLayout
from layout_ir.layouts.tiled import TiledLayout


def random_maps(count: int) -> list[IndexMap]:
    """Blocked and strided layouts of small shapes, some of which overlap and many of which agree."""
    generator = random.Random(7)
    result: list[IndexMap] = []
    while len(result) < count:
        shape = tuple(generator.choice([1, 2, 4, 6]) for _ in range(3))
        if generator.random() < 0.4:
            strides = tuple(generator.choice([0, 1, 2, 3, 4, 6, 8, 12, 24, 64]) for _ in shape)
            result.append(StridedLayout(strides, generator.choice([0, 0, 5])).index_map(shape))
            continue
        outer = generator.sample(range(3), 3)
        blocks = [(generator.randrange(3), generator.choice([2, 3, 4])) for _ in range(generator.randrange(3))]
        layout = blocked_layout(3, outer, blocks)
        if generator.random() < 0.3:  # forget a coordinate, or store it twice
            layout = TiledLayout(3, generator.choice([layout.coordinates[1:], (*layout.coordinates, digit(0))]))
        result.append(layout.index_map(shape))
    return result


MAPS = random_maps(250)


def test_overlap_is_a_repeated_offset() -> None:
    answers = [overlaps_itself(index_map) for index_map in MAPS]
    assert answers == [len(np.unique(index_map.offsets())) < index_map.size for index_map in MAPS]
    assert 20 < sum(answers) < len(MAPS) - 20


def test_same_function_is_the_same_offsets_and_size() -> None:
    equal = 0
    for left, right in itertools.combinations(MAPS, 2):
        if left.shape != right.shape:
            assert not same_function(left, right)
            continue
        expected = np.array_equal(left.offsets(), right.offsets()) and left.storage_size == right.storage_size
        assert same_function(left, right) == expected
        equal += expected
    assert equal > 5


def test_equality_is_of_functions_not_of_spelling() -> None:
    nchw, nhwc = blocked_layout(4, [0, 1, 2, 3]), blocked_layout(4, [0, 2, 3, 1])
    assert same_function(nchw.index_map((2, 1, 8, 8)), nhwc.index_map((2, 1, 8, 8)))
    assert not same_function(nchw.index_map((2, 3, 8, 8)), nhwc.index_map((2, 3, 8, 8)))
    blocked = blocked_layout(4, [0, 1, 2, 3], [(1, 8)])
    assert same_function(nhwc.index_map((2, 8, 8, 8)), blocked.index_map((2, 8, 8, 8)))


def test_large_tensors_are_decided_without_enumeration() -> None:
    shape = (64, 2**12, 2**12)
    blocked = blocked_layout(3, [0, 2, 1], [(1, 16), (2, 4)]).index_map(shape)
    assert not overlaps_itself(blocked)
    assert same_function(blocked, blocked_layout(3, [0, 2, 1], [(1, 16), (2, 4)]).index_map(shape))
    assert not same_function(blocked, blocked_layout(3, [0, 1, 2], [(1, 16), (2, 4)]).index_map(shape))


def test_strides_that_do_not_nest_are_decided() -> None:
    assert overlaps_itself(StridedLayout((2**13 - 1, 2, 3)).index_map((2**12, 2**12, 4)))
    assert not overlaps_itself(StridedLayout((2**14, 2, 5)).index_map((2**12, 2**12, 2)))


def test_what_cannot_be_told_is_said() -> None:
    d0, d1 = digit(0), digit(1)
    entangled = IndexMap((2**13, 2**13), ((d0 * 3 + d1 * 5) // 7, d1), (2**14, 2**13))
    with pytest.raises(LayoutError, match="cannot decide whether two elements share a place"):
        overlaps_itself(entangled)
