"""Tiles of pads: whole vectors of cells that follow each other."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layout_ir.layouts.fill_tile import fill_extents, fill_network
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.shuffle_network import Splat
from layout_ir.layouts.symbols import Symbol, Symbols

LANES = 16
ANY = Symbols(((Symbol(0),),)).number((Symbol(0),))


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
        # of any size: cells that a kernel finds to be as many, in blocks that there may be
        (pads((ANY, 1)), (64,)),
        (pads((ANY, 12), (12, 1)), (4, 12)),
        (pads((ANY, 0), (9, 480), (40 * ANY, 12), (12, 1)), (1, 1, 4, 12)),
        (pads((ANY, 48), (3, 16), (16, 1)), (1, 3, 16)),
        (pads((ANY, 64)), None),
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
