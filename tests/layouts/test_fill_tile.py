"""Tiles of pads: whole vectors of cells that follow each other."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layout_ir.layouts.fill_tile import fill_extents, fill_network
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.shuffle_network import Splat

LANES = 16


def pads(*axes: tuple[int, int]) -> Box:
    """A box of pads from the extents and the destination's strides of its axes."""
    return Box(tuple(Axis(f"a{i}", extent, 0, stride, 0) for i, (extent, stride) in enumerate(axes)))


@pytest.mark.parametrize(
    ("box", "extents"),
    [
        (pads((100, 1)), (64,)),  # four vectors
        (pads((50, 1)), (50,)),
        (pads((10, 256), (13, 16), (16, 1)), (1, 4, 16)),
        (pads((9, 60), (5, 12), (12, 1)), (1, 5, 12)),
        (pads((9, 480), (40, 12), (12, 1)), (1, 4, 12)),  # three whole vectors
        (pads((9, 16), (12, 1)), (1, 12)),
        (pads((9, 16), (3, 1)), None),  # too few that follow each other
        (pads((9, 16)), None),
    ],
    ids=str,
)
def test_cells_that_follow_each_other(box: Box, extents: tuple[int, ...] | None):
    assert fill_extents(box, LANES) == extents


@given(st.integers(4, 200), st.sampled_from([4, 8, 16, 64]))
def test_every_cell_gets_the_pad_value_from_vectors_of_one_width(cells: int, lanes: int):
    network = fill_network(cells, lanes, 4)
    assert all(isinstance(value, Splat) for value in network.values)
    (width,) = {store.lanes for store in network.stores}
    assert width <= lanes
    assert {store.offset + lane for store in network.stores for lane in range(width)} == set(range(cells))
    assert len(network.stores) == math.ceil(cells / width)
