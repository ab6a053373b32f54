"""What networks of vectors take of registers that hold a part of these."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from layout_ir.layouts.network_registers import dear_shuffles, most_registers
from layout_ir.layouts.shuffle_network import Load, Network, Shuffle, Store

LANES, REGISTER = 8, 4
"""Vectors of two registers, of which half is a segment."""


def mixing(*masks: Sequence[int]) -> Network:
    """Two vectors, mixed in some ways, each of which is stored."""
    values = (Load(0, LANES), Load(100, LANES), *(Shuffle(0, 1, tuple(mask)) for mask in masks))
    stores = tuple(Store(LANES * i, len(mask), i + 2) for i, mask in enumerate(masks))
    return Network(values, stores, segment_bits=1)


@pytest.mark.parametrize(
    "mask, expected",
    [
        ([0, 1, 2, 3, 8, 9, 10, 11], 0),  # registers as they are
        ([4, 5, 6, 7, 0, 1, 2, 3], 0),
        ([0, 8, 2, 10, 4, 12, 6, 14], 0),  # within segments
        ([3, 1, 0, 2, 7, 6, 5, 4], 0),  # within one register
        ([0, 9, 1, 8, 4, 12, 6, 14], 1),  # no instruction for the first of them
        ([0, 9, 1, 8, 4, 13, 5, 12], 2),
        ([0, 4, 8, 9, 0, 1, 2, 3], 2),  # of three registers
        ([0, 4, 8, 12, 1, 5, 9, 13], 6),  # of all four, twice
    ],
)
def test_dear_shuffles_are_those_of_registers(mask: Sequence[int], expected: int) -> None:
    assert dear_shuffles(mixing(mask), REGISTER) == expected


def test_a_shuffle_of_one_vector_reads_its_registers_only() -> None:
    network = Network((Load(0, LANES), Shuffle(0, 0, (0, 9, 2, 11, 4, 13, 6, 15))), (Store(0, LANES, 1),), 1)
    assert dear_shuffles(network, REGISTER) == 0


def test_every_vector_takes_several_registers() -> None:
    network = mixing([0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15])
    assert most_registers(network, LANES, REGISTER) == 2 * network.most_live
