"""What shuffles take where registers are of 32 bytes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from layout_ir.layouts.lane_stages import cheap_masks
from layout_ir.layouts.network_search import find_network
from layout_ir.layouts.register_instructions import further_instructions, shuffle_instructions
from layout_ir.layouts.shuffle_network import Load, Network, Shuffle, Store

BYTES, SEGMENT_BITS = 32, 4
"""Elements of a register, and the binary logarithm of those of a segment."""

FLOATS = 8


@pytest.mark.parametrize(
    "mask, expected",
    [
        (range(32), 0),  # registers as they are
        (range(32, 64), 0),
        ([*range(16, 32), *range(16)], 1),  # segments that change places
        ([*range(16, 32), *range(32, 48)], 1),
        ([*range(15, -1, -1), *range(31, 15, -1)], 1),  # within segments
        ([lane ^ 20 for lane in range(32)], 1),  # parts of 4 bytes
        (range(31, -1, -1), 2),  # segments, and then within them
        ([lane * 2 % 32 for lane in range(32)], 4),  # from both segments to both
        ([lane + 32 * (lane % 2) for lane in range(32)], 1),  # a blend
        ([lane ^ 1 | 32 * (lane % 2) for lane in range(32)], 3),  # within segments of two, and a blend
        ([lane * 2 for lane in range(32)], 9),  # four in each of two, and a blend
    ],
)
def test_bytes_take_up_to_nine_instructions(mask: Sequence[int], expected: int) -> None:
    assert shuffle_instructions(tuple(mask), BYTES, SEGMENT_BITS, BYTES) == expected


def test_floats_take_up_to_three() -> None:
    assert shuffle_instructions((0, 15, 2, 9, 7, 1, 8, 3), FLOATS, 2, FLOATS) == 3


@pytest.mark.parametrize("mask", sorted(cheap_masks(5, SEGMENT_BITS)))
def test_cheap_shuffles_are_one_instruction_at_most(mask: tuple[int, ...]) -> None:
    assert shuffle_instructions(mask, BYTES, SEGMENT_BITS, BYTES) <= 1


def test_parts_of_a_vector_are_registers() -> None:
    halves = [*range(32, 64), *(lane * 2 for lane in range(32))]
    assert shuffle_instructions(tuple(halves), 2 * BYTES, SEGMENT_BITS, BYTES) == 9


def test_a_square_transposition_takes_none_further_and_a_general_shuffle_does() -> None:
    rows = [[(100 * row + i, 32 * i + row) for i in range(32)] for row in range(32)]
    network = find_network(rows, [], BYTES, segment=16)
    assert network is not None
    assert further_instructions(network, BYTES) == 0
    general = Shuffle(0, 1, tuple(lane * 2 for lane in range(32)))
    mixed = Network((Load(0, 32), Load(100, 32), general), (Store(0, 32, 2),), SEGMENT_BITS)
    assert further_instructions(mixed, BYTES) == 9 - mixed.cost_of(general)
