"""What a tile costs while all data stay in the caches: its instructions, and accesses that touch two lines."""

from __future__ import annotations

import math

from layout_ir.layouts.lane_stages import is_cheap
from layout_ir.layouts.plan import Box
from layout_ir.layouts.shuffle_network import Network, Shuffle, moves_whole_parts, width_of
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import Tile, walked_cells
from layout_ir.lowering.schedule import Schedule, destination_starts, source_starts

LOAD, STORE, SHUFFLE = 0.5, 1.0, 1.0
"""Cycles of an instruction, as a processor loads twice a cycle."""

NARROW = 0.5
"""Share of that for half a line, where an instruction does not move anything between the segments of a vector."""

SPLIT_LOAD, SPLIT_STORE, SPLIT_NARROW_STORE = 2.0, 3.0, 2.0
"""Further cycles of an access that touches two lines. Measured on Intel's Ice Lake."""

MASKS_KEPT = 16
"""Masks of general shuffles that stay in registers; the others are read again for every tile, for half as much."""

CYCLES_OF_LINE = 2.0
"""What a line takes on its way to or from the second-level cache: no kernel is faster."""

USUAL_EXTENT = 2500
"""Steps that an unknown extent is taken to have: pixels of an image of 50 x 50."""


def cached_cycles(box: Box, tile: Tile, schedule: Schedule, further: int = 0) -> float:
    """Estimated cycles for a cell of the destination while all data are in the caches; `further`: those of a tile."""
    line = schedule.lanes
    work = max(_work(tile.network, line) / tile.elements, CYCLES_OF_LINE * 2 / line)
    further_work = (_splits(box, tile, schedule) + further) / tile.elements
    return (work + further_work) * _moved_cells(box, tile, schedule)


def _moved_cells(box: Box, tile: Tile, schedule: Schedule) -> float:
    """Cells that all tiles of a box move, over those that it has: more where unknown extents may be no multiples."""
    return walked_cells(box, tile) * math.prod(
        1 + (steps - 1) / 2 / USUAL_EXTENT
        for axis, steps in zip(box.axes, tile.extents, strict=True)
        if is_symbolic(axis.extent) and axis.extent not in schedule.multiples
    )


def _work(network: Network, line: int) -> float:
    """Cycles of a network's instructions, of which a processor shuffles and moves data at the same time."""
    shuffles = [value for value in network.values if isinstance(value, Shuffle)]
    dear = [value.mask for value in shuffles if not is_cheap(value.mask, *_widths(network, value))]
    inside = [value for value in shuffles if _stays_inside_segments(network, value) and len(value.mask) < line]
    instructions = sum(map(network.instructions_of, shuffles))
    cycles = SHUFFLE * (instructions - (1 - NARROW) * len(inside))
    if len(set(dear)) > MASKS_KEPT:
        cycles += LOAD * len(dear)
    loads = LOAD * len(network.loads)
    stores = STORE * sum(NARROW if store.lanes < line else 1 for store in network.stores)
    return max(cycles, loads + stores)


def _stays_inside_segments(network: Network, value: Shuffle) -> bool:
    bits = network.segment_bits
    return is_cheap(value.mask, *_widths(network, value)) and not moves_whole_parts(value.mask, bits)


def _widths(network: Network, value: Shuffle) -> tuple[int, int]:
    """Lanes of what a shuffle takes, and the binary logarithm of those in a segment."""
    return width_of(network.values[value.left]), network.segment_bits


def _splits(box: Box, tile: Tile, schedule: Schedule) -> float:
    """Expected cycles that loads and stores of one tile take because they touch two lines."""
    line = schedule.lanes
    apart_from = _granularity(line, *(_in_lines(start, schedule.trusts_rows) for start in source_starts(box, tile)))
    apart_to = _granularity(line, *(_in_lines(start, schedule.trusts_lines) for start in destination_starts(box, tile)))
    loads = sum(
        SPLIT_LOAD
        * split_share(_granularity(apart_from, _in_lines(load.offset, schedule.trusts_rows)), load.lanes, line)
        for load in tile.network.loads
    )
    stores = sum(
        (SPLIT_STORE if store.lanes == line else SPLIT_NARROW_STORE)
        * split_share(_granularity(apart_to, _in_lines(store.offset, schedule.trusts_lines)), store.lanes, line)
        for store in tile.network.stores
    )
    return loads + stores


def _in_lines(place: int, is_trusted: bool) -> int:
    """A place as far as its line is concerned: an unknown one that is trusted is a multiple of a line."""
    return 0 if is_trusted and is_symbolic(place) else place


def _granularity(line: int, *numbers: int) -> int:
    """Of what all numbers and a line are multiples; what stands for an unknown number has as few divisors as primes."""
    return math.gcd(line, *numbers)


def split_share(granularity: int, lanes: int, line: int) -> float:
    """Of the accesses to `lanes` elements at multiples of `granularity`, which divides a line: how many touch two."""
    places = range(0, line, granularity)
    return sum(place + lanes > line for place in places) / len(places)
