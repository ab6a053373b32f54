"""Parts of rows are exchanged as rows of their own: networks move the right elements, and take less than whole rows."""

from __future__ import annotations

import numpy as np
import pytest
from filter_rows import filters
from network_execution import execute_network

from layout_ir.layouts.network_gather import PAD, runs_of
from layout_ir.layouts.network_loads import Reach
from layout_ir.layouts.network_offsets import formed
from layout_ir.layouts.network_parts import parts_of
from layout_ir.layouts.network_search import find_formed, find_of_parts
from layout_ir.layouts.register_instructions import further_instructions

SOURCE = np.arange(1000, 21000)

FILTERS = [(16, 2, 8, 9), (16, 2, 2, 25), (8, 4, 4, 9), (16, 4, 4, 3), (32, 2, 4, 5), (8, 2, 16, 7), (8, 2, 8, 1)]
"""Filters as `OIhw16i16o2i` with so many output channels, inner and outer input channels, and pixels."""


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
@pytest.mark.parametrize("lanes", [8, 16, 32, 64])
@pytest.mark.parametrize("filter", FILTERS, ids=str)
def test_networks_of_parts_move_what_whole_rows_do(filter: tuple[int, int, int, int], lanes: int, segment: int) -> None:
    rows = filters(*filter)
    network = find_of_parts(formed(rows, []), lanes, Reach(), segment)
    parts = parts_of(rows, min(segment, lanes))
    assert (network is not None) == (parts is not None and len(parts.order) >= lanes // 2)
    if network is not None:
        assert len(set(network.loads)) == len(network.loads)
        wanted = {to: int(SOURCE[source or 0]) for row in rows for source, to in row}
        assert execute_network(network, SOURCE, set(range(len(SOURCE))), -1, lanes) == wanted


@pytest.mark.parametrize("filter", [(16, 2, 8, 9), (8, 4, 4, 9), (16, 2, 4, 25)], ids=str)
def test_parts_of_bytes_take_fewer_instructions_in_registers_of_32(filter: tuple[int, int, int, int]) -> None:
    tile = formed(filters(*filter), [])
    parts, rows = find_of_parts(tile, 32, Reach(), 16), find_formed(tile, 32, Reach(), segment=16)
    assert parts is not None
    assert rows is not None
    whole, cut = (network.cost + further_instructions(network, 32) for network in (rows, parts))
    assert 1.3 * cut < whole


def test_there_are_no_parts_of_what_makes_runs_already_of_pads_and_of_other_lengths() -> None:
    assert parts_of([[(100 * row + i, 16 * i + row) for i in range(16)] for row in range(16)], 16) is None
    rows = filters(16, 2, 8, 9)
    assert parts_of([*rows[:-1], [(None, place) for _, place in rows[-1]]], 16) is None
    assert parts_of([row[:-1] for row in rows], 16) is None


def test_there_are_no_parts_of_rows_with_holes() -> None:
    """Where a lane is a hole, the sum of its bits may be the place of another row's element."""
    steps = [sum(step for bit, step in enumerate((1, 2, 100, 200)) if lane >> bit & 1) for lane in range(16)]
    rows = [
        [(16 * row + lane, PAD if lane in (3, 7, 11, 12) else 3 * row + step) for lane, step in enumerate(steps)]
        for row in range(16)
    ]
    assert parts_of(rows, 16) is None


def test_axes_that_go_backwards_in_the_destination_have_parts() -> None:
    rows = [[(source, 10**6 - place) for source, place in row] for row in filters(16, 2, 8, 9)]
    parts, forwards = parts_of(rows, 16), parts_of(filters(16, 2, 8, 9), 16)
    assert parts is not None
    assert forwards is not None
    assert parts.bits == forwards.bits
    assert parts.order == forwards.order[::-1]


def test_what_is_only_read_and_put_together_waits_until_it_is_needed() -> None:
    """Of 144 parts of 72 rows those of one group at a time, where all of them would be 150 vectors."""
    network = find_of_parts(formed(filters(16, 2, 8, 9), []), 16, Reach(), 8)
    assert network is not None
    assert network.most_live < 32
