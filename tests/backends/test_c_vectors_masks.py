"""The masks of shuffles are printed for the widest elements that they move whole."""

from __future__ import annotations

import random

import pytest

from layout_ir.backends.c_vectors import coarsest


@pytest.mark.parametrize(
    ("mask", "lanes", "element_bytes", "factor", "wide"),
    [
        ((0, 1, 4, 5), 4, 1, 2, (0, 2)),
        ((0, 1, 2, 3, 8, 9, 10, 11), 8, 2, 4, (0, 2)),
        ((0, 1, 2, 3, 8, 9, 10, 11), 8, 4, 2, (0, 1, 4, 5)),
        ((0, 1, 2, 3, 8, 9, 10, 11), 8, 8, 1, (0, 1, 2, 3, 8, 9, 10, 11)),
        ((1, 2, 3, 4), 4, 1, 1, (1, 2, 3, 4)),
        ((0, 4, 1, 5), 4, 1, 1, (0, 4, 1, 5)),
        ((0, 1, 2, 3, 4, 5, 6, 7), 4, 2, 2, (0, 1, 2, 3)),
    ],
)
def test_known_masks(mask: tuple[int, ...], lanes: int, element_bytes: int, factor: int, wide: tuple[int, ...]):
    found = coarsest(mask, lanes, element_bytes)
    assert (found.factor, found.mask) == (factor, wide)


@pytest.mark.parametrize("seed", range(50))
def test_a_wide_mask_moves_the_same_lanes(seed: int):
    generator = random.Random(seed)
    size = generator.choice([1, 2, 4, 8])
    starts = [generator.randrange(16 // size) * size for _ in range(16 // size)]
    mask = tuple(start + position for start in starts for position in range(size))
    found = coarsest(mask, 16, 1)
    assert found.factor >= size
    assert mask == tuple(lane * found.factor + i for lane in found.mask for i in range(found.factor))
