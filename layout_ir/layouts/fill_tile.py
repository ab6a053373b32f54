"""Tiles of pads: cells of the destination that follow each other and get one value, a vector at a time."""

from __future__ import annotations

import math

from layout_ir.layouts.network_gather import power_of_two_below
from layout_ir.layouts.panel_group import contiguous
from layout_ir.layouts.plan import Box
from layout_ir.layouts.shuffle_network import Network, Splat, Store

FILLED_VECTORS = 4
"""Vectors that one tile fills."""

LEAST_FILLED = 4
"""Cells below which scalar loops are as good."""


def fill_extents(box: Box, lanes: int) -> tuple[int, ...] | None:
    """
    The steps of every axis of a box of pads in one tile; None where scalar loops are as good.

    Of unknown extents it takes as many as a vector needs: a kernel looks whether there are so many.
    """
    if any(axis.is_irregular for axis in box.axes):
        return None
    extents = [1] * len(box.axes)
    length = 1
    for i in contiguous(box.axes, [axis.destination_stride for axis in box.axes]):
        most = max(FILLED_VECTORS * lanes // length, 1)
        whole = lanes // math.gcd(lanes, length)  # so many steps are whole vectors
        extent = box.axes[i].extent
        extents[i] = extent if extent <= most else most // whole * whole or most
        length *= extents[i]
        if extents[i] < extent:
            break
    return tuple(extents) if length >= LEAST_FILLED else None


def fill_network(cells: int, lanes: int, segment: int) -> Network:
    """The stores of the pad value to so many cells that follow each other; the last one may reach back."""
    width = power_of_two_below(min(cells, lanes))
    offsets = [*range(0, cells - width, width), cells - width]
    return Network((Splat(width),), tuple(Store(offset, width, 0) for offset in offsets), segment.bit_length() - 1)
