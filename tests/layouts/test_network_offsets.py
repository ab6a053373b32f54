"""Tiles that differ in how far the runs of their destination lie apart have one network in common."""

from __future__ import annotations

import math

import pytest

from layout_ir.layouts.network_gather import PAD
from layout_ir.layouts.network_loads import Element
from layout_ir.layouts.network_offsets import in_one_form
from layout_ir.layouts.network_search import find_network

LANES = 16


def transpose(rows: int, columns: int, pitch: int) -> list[list[Element]]:
    return [[(row * 1000 + column, column * pitch + row) for column in range(columns)] for row in range(rows)]


@pytest.mark.parametrize("rows, columns", [(16, 16), (3, 16), (8, 32), (18, 16), (24, 8)])
def test_the_pitch_of_the_destination_makes_no_difference(rows: int, columns: int) -> None:
    near, far, unknown = (find_network(transpose(rows, columns, pitch), [], LANES) for pitch in (36, 1000, 2**200 + 1))
    assert near is not None
    assert far is not None
    assert unknown is not None
    assert near.values == far.values == unknown.values
    for one, other in zip(near.stores, far.stores, strict=True):
        assert (one.offset % 36, one.lanes, one.value) == (other.offset % 1000, other.lanes, other.value)
        assert one.offset // 36 == other.offset // 1000


def test_runs_keep_their_order_and_stay_as_they_are() -> None:
    form = in_one_form([[40, 41, PAD, 42], [7, 8, PAD, 9]], [10, 60])
    assert form[PAD] == PAD
    offsets = sorted(form.keys() - {PAD})
    assert [form[offset] for offset in offsets] == sorted(form[offset] for offset in offsets)
    assert all((a + 1 == b) == (form[a] + 1 == form[b]) for a in offsets for b in offsets)


def test_what_is_no_sum_does_not_become_one() -> None:
    starts = [0, 100, 250, 300]
    assert in_one_form([[start] for start in starts], []) == {offset: offset for offset in (*starts, PAD)}
    rows = [[0, 100, 200, 300], [1000, 1100, 1250, 1300]]
    assert in_one_form(rows, []) == {offset: offset for offset in (*rows[0], *rows[1], PAD)}


@pytest.mark.parametrize("rows, columns", [(16, 16), (3, 16), (18, 16), (24, 8), (5, 7), (8, 32)])
def test_a_limit_leaves_out_what_costs_as_much_and_nothing_else(rows: int, columns: int) -> None:
    tile = transpose(rows, columns, 100)
    best = find_network(tile, [], LANES, segment=4)
    assert best is not None
    found = find_network(tile, [], LANES, segment=4, limit=best.cost + 0.01)
    assert found is not None
    assert math.isclose(found.cost, best.cost)
    assert find_network(tile, [], LANES, segment=4, limit=best.cost - 0.01) is None
