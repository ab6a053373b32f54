"""What tiles cost, by which one of several is chosen: instructions, what is moved again, and lines written in parts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from layout_ir.layouts.network_loads import Reach
from layout_ir.layouts.plan import Box
from layout_ir.layouts.register_instructions import further_instructions
from layout_ir.layouts.shuffle_network import Network
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import WORTHWHILE, Tile, walked

TOLERATED_OVERLAP = 1.2
"""Share of cells that may be moved twice before another tile is better."""

OVERLAP_OF_UNKNOWN = 1.15
"""
How much more weighs what tiles move twice where they do so along extents that are not known as well.

On Emerald Rapids 1 MiB of 20 to 200 channels takes 0.94 of the time from NHWC to NCHW in f16 so, 0.97 in bytes, 0.99 in
f32 (32 calls of each), and 0.94, 0.97 and 0.99 from NCHW to NHWC (18 of each). Not measured on others. In the caches
and in panels cycles decide between tiles that are chosen with it and without (`fastest_tile`).
"""

PARTS_OF_LINES, PARTS_PAST_CACHES = 1.25, 2.0
"""What vectors that are shorter than a line, or that overlap, cost more: in the caches, and past them."""

REGISTERS = 32
"""Vectors that processors of the longest ones keep; each further one is written and read again."""


@dataclass(frozen=True)
class Vectors:
    """The registers that a tile goes through, and what their loads may reach around its rows."""

    lanes: int
    segment: int | None
    reach: Reach
    past_caches: bool
    in_caches: bool

    register_lanes: int = 0
    """Elements of a register, where general shuffles of two of them are several instructions; 0 where they are not."""

    weighs_as_known: bool = False
    """Whether what tiles move twice weighs no more where extents are not known."""

    @property
    def worthwhile(self) -> float:
        """Vector instructions per cell above which scalar loops are as good: they take two of another kind."""
        return 2 * WORTHWHILE * self.register_lanes / self.lanes if self.register_lanes else WORTHWHILE


def true_cost(box: Box, tile: Tile, vectors: Vectors) -> float:
    """
    Vector instructions per cell of the box: where tiles do not divide an axis, the last one does cells again, and what
    no register keeps is written and read.

    A little of that is cheaper than the larger tiles that would avoid it, and so is a little more work than writing
    lines in parts.
    """
    overlap = price_of_overlap(box, tile.extents, vectors)
    further = further_cost(tile.network, vectors)
    return (tile.cost + further / tile.elements) * overlap * _price_of_parts(tile, vectors)


def further_cost(network: Network, vectors: Vectors) -> float:
    """What a network costs in registers beyond its instructions for vectors."""
    further: float = max(network.most_live - REGISTERS, 0)
    return further + (further_instructions(network, vectors.register_lanes) if vectors.register_lanes else 0)


def price_of_overlap(box: Box, extents: Sequence[int], vectors: Vectors) -> float:
    """What it costs more that the last tiles do cells again."""
    is_unknown = any(is_symbolic(axis.extent) and steps > 1 for axis, steps in zip(box.axes, extents, strict=True))
    again = walked(box, extents) * (OVERLAP_OF_UNKNOWN if is_unknown and not vectors.weighs_as_known else 1)
    return max(again / TOLERATED_OVERLAP, 1)


def _price_of_parts(tile: Tile, vectors: Vectors) -> float:
    """What it costs more that a tile writes lines in parts: in the caches, only the ends of long runs are parts."""
    stores, lanes = tile.network.stores, vectors.lanes
    if all(store.lanes == lanes for store in stores) and len(stores) * lanes == tile.elements:
        return 1
    if vectors.past_caches:
        return PARTS_PAST_CACHES
    spans = sorted((store.offset, store.offset + store.lanes) for store in stores)
    reached = itertools.accumulate((end for _, end in spans), max)
    runs = 1 + sum(start > end for (start, _), end in zip(spans[1:], reached, strict=False))
    return 1 + (PARTS_OF_LINES - 1) * min(lanes * runs / tile.elements, 1)
