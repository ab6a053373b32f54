"""Shuffle networks move exactly the elements of their tile; known cases take as few instructions as is known."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from network_execution import execute_network

from layout_ir.layouts.lane_stages import is_blend
from layout_ir.layouts.network_gather import PAD as HOLE
from layout_ir.layouts.network_gather import chunks, power_of_two_below
from layout_ir.layouts.network_loads import Element, Reach
from layout_ir.layouts.network_search import find_network
from layout_ir.layouts.register_instructions import further_instructions
from layout_ir.layouts.shuffle_network import Load, Network, Shuffle, Splat

SOURCE = np.arange(1000, 9000)
PAD = -7


def check(rows: list[list[Element]], pads: list[int], lanes: int) -> Network:
    for segment in (max(lanes // 2, 1), max(lanes // 4, 1)):
        cut = find_network(rows, pads, lanes, segment=segment)
        assert cut is not None
        check_network(cut, rows, pads, lanes)
    network = find_network(rows, pads, lanes)
    assert network is not None
    check_network(network, rows, pads, lanes)
    return network


def check_network(network: Network, rows: list[list[Element]], pads: list[int], lanes: int) -> None:
    readable = set(range(max(source or 0 for row in rows for source, _ in row) + 1))
    wanted = {to: PAD if source is None else int(SOURCE[source]) for row in rows for source, to in row if to != HOLE}
    assert execute_network(network, SOURCE, readable, PAD, lanes) == wanted | dict.fromkeys(pads, PAD)


def transpose(rows: int, columns: int, source_pitch: int = 0, destination_pitch: int = 0) -> list[list[Element]]:
    """Rows of a matrix that is stored by columns at the destination."""
    pitches = source_pitch or columns, destination_pitch or rows
    return [[(i * pitches[0] + j, j * pitches[1] + i) for j in range(columns)] for i in range(rows)]


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
def test_a_square_transpose_takes_one_stage_a_bit(lanes: int):
    network = check(transpose(lanes, lanes), [], lanes)
    count = {kind: sum(isinstance(value, kind) for value in network.values) for kind in (Load, Shuffle, Splat)}
    assert count == {Load: lanes, Shuffle: lanes * (lanes.bit_length() - 1), Splat: 0}
    assert len(network.stores) == lanes
    assert all(store.lanes == lanes for store in network.stores)


@pytest.mark.parametrize(("rows", "columns", "most"), [(4, 4, 6), (8, 8, 10), (16, 16, 18), (1, 64, 1), (2, 64, 3)])
def test_how_many_values_are_kept(rows: int, columns: int, most: int):
    assert check(transpose(rows, columns), [], columns if rows == columns else 16).most_live == most


def test_interleaved_colours_are_two_shuffles_a_vector():
    network = check(transpose(3, 16), [], 16)
    assert sum(isinstance(value, Load) for value in network.values) == 3
    assert sum(isinstance(value, Shuffle) for value in network.values) == 6
    assert len(network.stores) == 3


@pytest.mark.parametrize("extent", [5, 7, 9, 11, 13, 15])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_vectors_are_turned_where_extents_share_no_factor(extent: int, is_reversed: bool):
    rows, columns = (extent, 16) if is_reversed else (16, extent)
    matrix = transpose(rows, columns)
    network = check([[element for row in matrix for element in row]] if not is_reversed else matrix, [], 16)
    stages = (extent - 1).bit_length()
    assert sum(isinstance(value, Shuffle) for value in network.values) <= extent * min(stages + 1, extent - 1)
    assert sum(isinstance(value, Load) for value in network.values) == len(network.stores) == extent


def test_turned_vectors_may_have_pads():
    matrix = transpose(16, 9, destination_pitch=16)
    kept = [(source, to if to % 16 < 14 else HOLE) for row in matrix for source, to in row]
    check([kept], [16 * row + lane for row in range(9) for lane in (14, 15)], 16)


def test_a_run_of_both_sides_is_loads_and_stores():
    network = check([[(5 + i, 40 + i) for i in range(64)]], [], 16)
    assert len(network.values) == len(network.stores) == 4
    assert all(isinstance(value, Load) for value in network.values)


@pytest.mark.parametrize("lanes", [4, 8, 16, 32])
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 8, 16])
def test_transposes_of_all_sizes(rows: int, columns: int, lanes: int):
    for pitches in ((0, 0), (columns + 3, rows + 1)):
        elements = transpose(rows, columns, *pitches)
        if find_network(elements, [], lanes) is not None:
            check(elements, [], lanes)
    if rows <= min(lanes, columns):
        assert find_network(transpose(rows, columns), [], lanes) is not None


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("valid", [1, 3, 4])
def test_rows_of_pads_need_no_vectors(valid: int, lanes: int):
    """Planes of fewer channels than a block has: more rows than lanes, of which few are read."""
    rows = transpose(2 * lanes, lanes)
    padded = [row if i < valid else [(None, to) for _, to in row] for i, row in enumerate(rows)]
    network = check(padded, [], lanes)
    assert sum(isinstance(value, Load) for value in network.values) == valid


@pytest.mark.parametrize("seed", range(150))
def test_random_tiles(seed: int):
    """Rows anywhere in the source, destinations in the order of permuted digits, with gaps, rows of pads, more pads."""
    rng = random.Random(seed)
    lanes = rng.choice([4, 8, 16])
    digits = [rng.choice([2, 2, 4, 3]) for _ in range(rng.randint(1, 3))]
    length, count = math.prod(digits), rng.choice([1, 2, 2, 3, 4, 8])
    starts = rng.sample(range(0, 40 * length, length + rng.randint(0, 3)), count)
    order = rng.sample(range(len(digits) + 1), len(digits) + 1)
    extents = [[count, *digits][i] for i in order]
    places = np.arange(count * length).reshape(extents).transpose(np.argsort(order)).reshape(count, length)
    places += places // rng.choice([2, 4, 1000]) * rng.choice([0, 0, 1, 5])
    of_pads = [count > 1 and rng.random() < 0.15 for _ in starts]
    rows: list[list[Element]] = [
        [(None if is_pad else start + i, int(place)) for i, place in enumerate(destinations)]
        for start, is_pad, destinations in zip(starts, of_pads, places, strict=True)
    ]
    end = int(places.max()) + 1
    pads = [*range(end, end + rng.choice([0, 0, 1, 4]))]
    if find_network(rows, pads, lanes) is not None:
        check(rows, pads, lanes)


def with_holes(rows: list[list[Element]], valid: int, period: int) -> list[list[Element]]:
    """Rows of which only the first `valid` of every `period` elements are wanted."""
    return [[(source, to if i % period < valid else HOLE) for i, (source, to) in enumerate(row)] for row in rows]


@pytest.mark.parametrize("lanes", [8, 16])
@pytest.mark.parametrize("valid, period", [(1, 2), (3, 4), (1, 4), (3, 8), (5, 8), (2, 3), (3, 7), (4, 8), (1, 8)])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 8])
def test_rows_with_holes(count: int, valid: int, period: int, lanes: int):
    for length in (period, lanes, 2 * lanes, 2 * lanes - period + valid):
        check(with_holes(transpose(count, length, length + 1), valid, period), [], lanes)
        check(with_holes(transpose(count, length, length, count + 2), valid, period), [], lanes)


def test_rows_share_a_vector_where_holes_leave_them_room():
    """Pixels of 3 of 8 channels to planes: half of the loads are blended into the others, the rest is a transpose."""
    rows = [[(16 * row + i, i % 8 * 16 + 2 * row + i // 8) for i in range(16)] for row in range(8)]
    network = check(with_holes(rows, 3, 8), [], 16)
    blends = [value for value in network.values if isinstance(value, Shuffle) and is_blend(value.mask, 16)]
    loads = [value for value in network.values if isinstance(value, Load)]
    assert [load.offset % 16 for load in loads].count(12) == len(blends) == 4
    assert len(loads) == 8
    assert len(network.stores) == 3


@pytest.mark.parametrize(
    "before, behind, width",
    [(0, 0, 2), (0, 1, 4), (0, 12, 4), (0, 13, 16), (1, 0, 4), (9, 0, 4), (13, 0, 16), (12, 1, 16), (1, 12, 16)],
)
def test_what_may_be_read_around_short_rows(before: int, behind: int, width: int):
    """Pixels of 3 channels to padded ones: the network stays inside of what is readable, and uses it."""
    rows: list[list[Element]] = [[(20 * row + i, 16 * row + i) for i in range(3)] for row in range(4)]
    pads = [16 * row + i for row in range(4) for i in range(3, 16)]
    network = find_network(rows, pads, 16, Reach(before, behind))
    assert network is not None
    wanted = {to: int(SOURCE[100 + (source or 0)]) for row in rows for source, to in row} | dict.fromkeys(pads, PAD)
    assert execute_network(network, SOURCE, set(range(-before, 63 + behind)), PAD, 16, origin=100) == wanted
    assert {value.lanes for value in network.values if isinstance(value, Load)} == {width}


@given(st.permutations(range(16)), st.sampled_from([4, 8, 16]))
def test_any_permutation_of_one_row(destinations: list[int], lanes: int):
    check([[(i, destination) for i, destination in enumerate(destinations)]], [], lanes)


@given(st.integers(1, 200), st.sampled_from([1, 2, 4, 8, 16, 64]))
def test_chunks_cover_a_length_by_vectors_of_one_width(length: int, lanes: int):
    pieces = chunks(length, lanes)
    assert {place for start, count in pieces for place in range(start, start + count)} == set(range(length))
    (width,) = {count for _, count in pieces}
    assert width == min(lanes, power_of_two_below(length))
    assert len(pieces) == -(-length // width)


@given(st.integers(1, 1 << 40))
def test_power_of_two_below(number: int):
    power = power_of_two_below(number)
    assert power <= number < 2 * power
    assert power & (power - 1) == 0


@pytest.mark.parametrize("valid", [3, 4])
def test_a_few_rows_are_exchanged_with_pads_where_that_takes_less_than_to_gather_them(valid: int) -> None:
    """Channels of bytes that begin a block of 16: every vector that is gathered takes a shuffle for each row."""
    rows: list[list[Element]] = [
        [(1000 * row + i if row < valid else None, 16 * i + row) for i in range(32)] for row in range(16)
    ]
    network = find_network(rows, [], 32, segment=16)
    assert network is not None
    assert sum(isinstance(value, Shuffle) for value in network.values) < 16 * valid - 8
    assert len(network.loads) == valid
    assert sum(isinstance(value, Splat) for value in network.values) == 1
    check_network(network, rows, [], 32)


def test_rows_make_runs_where_elements_of_a_row_are_at_no_sums() -> None:
    """Of filters of 3 x 3, 16 rows are exchanged, of which 9 elements and then the next 9 follow each other."""
    rows: list[list[Element]] = [
        [(300 * row + i, i % 9 * 256 + i // 9 * 16 + row) for i in range(144)] for row in range(16)
    ]
    network = find_network(rows, [], 32, segment=16)
    assert network is not None
    assert further_instructions(network, 32) == 0
    check_network(network, rows, [], 32)
