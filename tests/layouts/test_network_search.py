"""The search for networks: what it leaves out is of no use, and what was asked for before makes no difference."""

from __future__ import annotations

import math
from collections.abc import Callable
from unittest.mock import patch

import pytest
from filter_rows import filters
from hypothesis import given, settings
from hypothesis import strategies as st

from layout_ir.layouts import network_builder
from layout_ir.layouts.network_estimate import Columns, least_cost, least_cost_of_any_stages
from layout_ir.layouts.network_gather import Builder, Goal, gather
from layout_ir.layouts.network_loads import Element, Reach, least_loads, load, readings, vectors_read
from layout_ir.layouts.network_offsets import Form
from layout_ir.layouts.network_search import Search, find_network
from layout_ir.layouts.shuffle_network import Load, Network

LANES = 16

TILES = [(16, 16, 16), (3, 16, 3), (18, 16, 18), (25, 16, 30), (24, 8, 2**200 + 1), (5, 7, 9), (8, 32, 8), (9, 64, 9)]
"""Rows, elements of a row, and how far apart those are in the destination."""


PADDED = [(16, 16, 16, 3), (16, 16, 16, 4), (16, 16, 16, 9), (8, 16, 8, 5), (32, 8, 40, 16)]
"""The same with how many of the rows are no pads."""


def transpose(rows: int, columns: int, pitch: int, valid: int | None = None) -> tuple[tuple[Element, ...], ...]:
    valid = rows if valid is None else valid
    return tuple(
        tuple((row * 1000 + column if row < valid else None, column * pitch + row) for column in range(columns))
        for row in range(rows)
    )


def check_estimates(search: Callable[[], Network | None]) -> None:
    """Fails where a network that a search makes costs less than was estimated."""
    estimates: list[float] = []
    costs: list[float] = []

    def estimated(builder: Builder, columns: Columns, goal: Goal) -> float:
        estimates.append(least_cost(builder, columns, goal))
        assert least_cost_of_any_stages(builder, columns, goal) <= estimates[-1]
        return 0

    def made(builder: Builder, final: list[int], goal: Goal, prepared: int) -> Network:
        network = gather(builder, final, goal, prepared)
        costs.append(network.cost)
        return network

    with (
        patch.object(network_builder, "least_cost", estimated),
        patch.object(network_builder, "least_cost_of_any_stages", return_value=0),
        patch.object(network_builder, "gather", made),
    ):
        assert search() is not None
    assert len(estimates) == len(costs)
    assert all(0 < estimate <= cost for estimate, cost in zip(estimates, costs, strict=True))


@pytest.mark.parametrize("segment", [4, 8, 16])
@pytest.mark.parametrize("tile", [*TILES, *PADDED], ids=str)
def test_no_network_costs_less_than_is_estimated(tile: tuple[int, ...], segment: int):
    search = Search(Form(transpose(*tile), ()), LANES, Reach(), segment)
    check_estimates(lambda: search.below(math.inf))


@pytest.mark.parametrize("segment", [4, 8, 16])
@pytest.mark.parametrize("filter", [(16, 2, 8, 9), (16, 2, 8, 1), (16, 2, 4, 25)], ids=str)
def test_no_network_of_parts_costs_less_than_is_estimated(filter: tuple[int, int, int, int], segment: int):
    search = Search(Form(tuple(map(tuple, filters(*filter))), ()), LANES, Reach(), segment)
    check_estimates(lambda: search.of_parts)


def test_the_estimate_of_a_square_transpose_is_what_it_costs():
    search = Search(Form(transpose(16, 16, 16), ()), LANES, Reach(), 4)
    network = search.below(math.inf)
    assert network is not None
    with patch.object(network_builder, "gather", side_effect=AssertionError):
        assert Search(Form(transpose(16, 16, 16), ()), LANES, Reach(), 4).below(network.cost) is None


@settings(deadline=None)  # some searches take a tenth of a second, and more on a busy machine
@given(tile=st.sampled_from([*TILES, *PADDED[:-1]]), shares=st.lists(st.floats(0.5, 3), min_size=1, max_size=4))
def test_a_search_finds_the_same_whatever_was_asked_for_before(tile: tuple[int, ...], shares: list[float]):
    rows = transpose(*tile)
    best = Search(Form(rows, ()), LANES, Reach(), 4).below(math.inf)
    assert best is not None
    search = Search(Form(rows, ()), LANES, Reach(), 4)
    for limit in (share * best.cost for share in shares):
        assert search.below(limit) == Search(Form(rows, ()), LANES, Reach(), 4).below(limit)


@pytest.mark.parametrize("pitch", [16, 32])
def test_loads_keep_to_the_lines_of_a_tile(pitch: int):
    """Three elements of every line, or of every second one: those between are not touched."""
    rows = [[(row * pitch + place, place * 100 + row) for place in range(3)] for row in range(16)]
    network = find_network(rows, [], LANES, Reach(before=64, behind=64, keeps_to_lines=True), segment=4)
    assert network is not None
    loads = [value for value in network.values if isinstance(value, Load)]
    read = {place // LANES for load in loads for place in (load.offset, load.offset + load.lanes - 1)}
    assert len(read - {row * pitch // LANES for row in range(16)}) <= 2


@pytest.mark.parametrize("segment", [4, 16])
@pytest.mark.parametrize("tile", [*TILES, *PADDED], ids=str)
def test_of_equal_networks_the_first_is_found_whatever_is_made_first(tile: tuple[int, ...], segment: int):
    """Estimates only put what may be cheap first: without them all are made in turn, and the result is the same."""
    found = Search(Form(transpose(*tile), ()), LANES, Reach(), segment).below(math.inf)
    with (
        patch.object(network_builder, "least_cost", return_value=0),
        patch.object(network_builder, "least_cost_of_any_stages", return_value=0),
    ):
        assert Search(Form(transpose(*tile), ()), LANES, Reach(), segment).below(math.inf) == found


@pytest.mark.parametrize("reach", [Reach(), Reach(8, 8), Reach(0, LANES)])
@pytest.mark.parametrize("tile", TILES + PADDED)
def test_vectors_that_are_read_are_counted_before_any_is_made(tile: tuple[int, ...], reach: Reach):
    rows = transpose(*tile)
    for is_exchanged in (False, True):
        for read, _ in readings(rows, LANES, reach, is_exchanged):
            base = Builder([], [])
            load(base, read, LANES)
            made = {value for value in base.values if isinstance(value, Load)}
            assert vectors_read(read, LANES) == len(made)
            assert least_loads(rows, is_exchanged) <= len(made)


def test_lanes_that_are_in_order_are_not_arranged_again():
    """One network is made for each number of rows that are exchanged, though lanes could be arranged first."""
    made: list[int] = []

    def counted(builder: Builder, final: list[int], goal: Goal, prepared: int) -> Network:
        made.append(len(final))
        return gather(builder, final, goal, prepared)

    with patch.object(network_builder, "gather", counted):
        assert Search(Form(transpose(18, 16, 18), ()), 16, Reach(), 16).below(math.inf) is not None
    assert made == [20, 24]
