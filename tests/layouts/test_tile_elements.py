"""Where the elements of a tile are, however far its runs lie apart in the destination."""

from __future__ import annotations

import itertools

import pytest

from layout_ir.layouts.network_gather import PAD
from layout_ir.layouts.network_offsets import Formed, formed
from layout_ir.layouts.plan import Axis
from layout_ir.layouts.tile_elements import tile_elements

DISTANCES = (7, 8, 9, 15, 16, 17, 18, 100, 1 << 41, 2**200 + 1)


def tile(distance: int) -> Formed:
    """Four rows of eight elements of the source, each of which begins a run of four that lie so far apart."""
    axes = (Axis("row", 4, 1000, 1, 4), Axis("along", 8, 1, distance, 8))
    return tile_elements(axes, {1: 8}, {0: 4}, (4, 8))


def written(found: Formed) -> dict[int, int | None]:
    """What each offset of the destination gets of the source; None for pads."""
    copied = {found.offset(place): source for row in found.form.rows for source, place in row if place != PAD}
    return copied | {found.offset(place): None for place in found.form.pads}


@pytest.mark.parametrize("distance", DISTANCES)
def test_offsets_are_those_of_the_tile(distance: int) -> None:
    expected = {row + along * distance: row * 1000 + along for row, along in itertools.product(range(4), range(8))}
    assert written(tile(distance)) == expected


@pytest.mark.parametrize("distance", DISTANCES)
def test_backwards_offsets_are_those_of_the_tile(distance: int) -> None:
    axes = (Axis("row", 4, 1000, -1, 4), Axis("along", 8, 1, distance, 8))
    found = tile_elements(axes, {1: 8}, {0: 4}, (4, 8))
    expected = {along * distance - row: row * 1000 + along for row, along in itertools.product(range(4), range(8))}
    assert written(found) == expected


@pytest.mark.parametrize("distance", DISTANCES)
def test_steps_that_do_not_copy_are_pads(distance: int) -> None:
    axes = (Axis("along", 16, 1, 1, 16), Axis("row", 4, 1000, 20 + distance, 3))
    found = tile_elements(axes, {0: 16}, {1: 4}, (16, 4))
    pitch = 20 + distance
    expected: dict[int, int | None] = {along + 3 * pitch: None for along in range(16)}
    expected |= {row * pitch + along: row * 1000 + along for row, along in itertools.product(range(3), range(16))}
    assert written(found) == expected


def test_runs_that_lie_far_apart_have_one_form_for_all_distances() -> None:
    near, *others = (tile(distance) for distance in DISTANCES if distance > 8)
    assert all(found.form == near.form and hash(found.form) == hash(near.form) for found in others)


@pytest.mark.parametrize("distance", [9, 10, 100])
def test_the_form_is_that_of_the_offsets_themselves(distance: int) -> None:
    rows = [[(row * 1000 + along, row + along * distance) for along in range(8)] for row in range(4)]
    assert tile(distance).form == formed(rows, []).form
