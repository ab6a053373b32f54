"""Parts of rows are exchanged as rows of their own: networks move the right elements, and take less than whole rows."""

from __future__ import annotations

import numpy as np
import pytest
from network_execution import execute_network

from layout_ir.layouts.network_gather import runs_of
from layout_ir.layouts.network_loads import Element, Reach
from layout_ir.layouts.network_offsets import formed
from layout_ir.layouts.network_parts import parts_of
from layout_ir.layouts.network_search import find_formed, find_of_parts
from layout_ir.layouts.register_instructions import further_instructions

SOURCE = np.arange(1000, 21000)

FILTERS = [(16, 2, 8, 9), (16, 2, 2, 25), (8, 4, 4, 9), (16, 4, 4, 3), (32, 2, 4, 5), (8, 2, 16, 7), (8, 2, 8, 1)]
"""Filters as `OIhw16i16o2i` with so many output channels, inner and outer input channels, and pixels."""


def filters(outputs: int, inner: int, outer: int, pixels: int) -> list[list[Element]]:
    """A row of output and inner input channels for every pixel of every outer input channel."""
    pitch = 1000 * outer * inner * pixels
    return [
        [
            ((i * pixels + pixel) * outputs * inner + number, place)
            for number, place in enumerate(
                output * pitch + (i * inner + j) * pixels + pixel for output in range(outputs) for j in range(inner)
            )
        ]
        for i in range(outer)
        for pixel in range(pixels)
    ]


@pytest.mark.parametrize("filter", FILTERS, ids=str)
def test_parts_follow_each_other_in_the_destination(filter: tuple[int, int, int, int]) -> None:
    _, inner, outer, pixels = filter
    rows = filters(*filter)
    parts = parts_of(rows, 16)
    assert parts is not None
    starts = [rows[row][0][1] + part * pixels for row, part in parts.order]
    assert starts == list(range(outer * inner * pixels))
    assert len(runs_of(sorted(row[0][1] for row in rows))) > 1


@pytest.mark.parametrize("segment", [4, 8, 16])
@pytest.mark.parametrize("lanes", [16, 32, 64])
@pytest.mark.parametrize("filter", FILTERS, ids=str)
def test_networks_of_parts_move_what_whole_rows_do(filter: tuple[int, int, int, int], lanes: int, segment: int) -> None:
    rows = filters(*filter)
    network = find_of_parts(formed(rows, []), lanes, segment)
    expected = parts_of(rows, segment) is not None and len(rows) * filter[1] >= lanes // 2
    assert (network is not None) == expected
    if network is not None:
        wanted = {to: int(SOURCE[source or 0]) for row in rows for source, to in row}
        assert execute_network(network, SOURCE, set(range(len(SOURCE))), -1, lanes) == wanted


@pytest.mark.parametrize("filter", [(16, 2, 8, 9), (8, 4, 4, 9), (16, 2, 4, 25)], ids=str)
def test_parts_of_bytes_take_fewer_instructions_in_registers_of_32(filter: tuple[int, int, int, int]) -> None:
    tile = formed(filters(*filter), [])
    parts, rows = find_of_parts(tile, 32, 16), find_formed(tile, 32, Reach(), segment=16)
    assert parts is not None
    assert rows is not None
    whole, cut = (network.cost + further_instructions(network, 32) for network in (rows, parts))
    assert 1.3 * cut < whole


def test_there_are_no_parts_of_what_makes_runs_already_of_pads_and_of_other_lengths() -> None:
    assert parts_of([[(100 * row + i, 16 * i + row) for i in range(16)] for row in range(16)], 16) is None
    rows = filters(16, 2, 8, 9)
    assert parts_of([*rows[:-1], [(None, place) for _, place in rows[-1]]], 16) is None
    assert parts_of([row[:-1] for row in rows], 16) is None


def test_values_that_are_only_read_and_put_together_are_made_when_they_are_needed() -> None:
    """Of 72 rows, those of one group of parts at a time, and what waits for a neighbour."""
    network = find_of_parts(formed(filters(16, 2, 8, 9), []), 32, 16)
    assert network is not None
    assert network.most_live < len(network.loads)
