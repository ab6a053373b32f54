"""Orders of tiles along two axes while all data stay in the caches: of copied lines, of whole rows, of half lines."""

from __future__ import annotations

import math
from dataclasses import dataclass

from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.panel_source import places_apart
from layout_ir.layouts.plan import Box
from layout_ir.layouts.shuffle_network import is_copy
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.cached_cycles import USUAL_EXTENT
from layout_ir.lowering.line_sequences import rows_of
from layout_ir.lowering.request_model import PAGE_LINES
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.tile_choice import PLACES_OF_SET

LINE_BLOCK = 8
"""Lines along each side of a block of lines that are copied in the caches."""

FEW_SEQUENCES = 64
"""Sequences of lines in the caches from which on blocks are better: more than the pages that a processor keeps near."""

FEW_TILES = 4
"""Tiles of registers that are halves of lines, along the source, up to which they go without blocks."""

MANY_LINES = 4
"""Lines of a tile's rows on one side, for every line of those on the other, from which on their ends hardly count."""

CROWDED_LINES = 16
"""Lines from one that is written to the next from which on, in powers of two, they crowd few sets of a cache."""


@dataclass(frozen=True)
class Order:
    """The order of tiles along two axes, in blocks or without."""

    outer: int
    inner: int
    block: tuple[int, int] = (1, 1)
    """Tiles of a block along the outer and along the inner axis."""


def compete(steps: int, stride: int, page: int, places: int) -> bool:
    """Whether rows so far apart have no place together in the first cache; those at unknown distances have one."""
    if is_symbolic(stride):
        return False
    return (USUAL_EXTENT if is_symbolic(steps) else steps) > places_apart(stride, page, places)


def order_of_lines(
    box: Box, tile: Tile, schedule: Schedule, places: int, along_destination: int, along_source: int
) -> Order:
    """
    The order of copies of whole lines in the caches, none of which is read or written twice.

    Without blocks one side is one sequence and the other one as many as there are steps: few are best, and none that
    compete for one set. Where they do on both sides, blocks keep to some of them.
    """
    page = PAGE_LINES * schedule.lanes
    reading, writing = box.axes[along_destination], box.axes[along_source]
    reads_collide = compete(reading.extent, reading.source_stride, page, places)
    writes_collide = compete(writing.extent, writing.destination_stride, page, places)
    numbers = (reading.extent, reading.source_stride, writing.extent, writing.destination_stride)
    are_unknown = any(map(is_symbolic, numbers))
    are_many = min(reading.extent, writing.extent) > FEW_SEQUENCES
    if are_unknown or are_many or (reads_collide and writes_collide):
        outer, inner = (max(LINE_BLOCK // tile.extents[i], 1) for i in (along_destination, along_source))
        return Order(along_destination, along_source, block=(outer, inner))
    if writes_collide or (writing.extent > reading.extent and not reads_collide):
        return Order(along_source, along_destination)
    return Order(along_destination, along_source)


def order_of_whole_rows(
    box: Box, tile: Tile, schedule: Schedule, along_destination: int, along_source: int
) -> Order | None:
    """
    The order of tiles that are rows of many lines on one side and parts of lines on the other; None for any other.

    Only the ends of such rows share a line with the next tile, so tiles follow each other along the other side: blocks
    would have several of its lines for each row, which often compete for one set.
    """
    network = tile.network
    if is_copy(network):
        return None
    has_small_sets = schedule.processor.has_small_sets
    reads = rows_of(network.loads)
    writes = rows_of(network.stores)
    if (has_small_sets or len(reads) == 1) and min(reads) >= MANY_LINES * max(schedule.lanes, *writes):
        return Order(along_source, along_destination)
    is_long = (has_small_sets or len(writes) == 1) and min(writes) >= MANY_LINES * max(schedule.lanes, *reads)
    writes_one_set = box.axes[along_source].destination_stride % (PAGE_LINES * schedule.lanes) == 0
    return Order(along_destination, along_source) if is_long and not writes_one_set else None


def order_of_half_lines(box: Box, tile: Tile, schedule: Schedule, along_destination: int, along_source: int) -> Order:
    """
    The order of tiles in the caches whose registers are halves of lines, of which a block holds all four quarters.

    Measured on Zen 4 without its vectors of 64 bytes. Tiles along the source finish the lines of rows that compete for
    one set before those of other rows drive them out: 16 copies are 1.15 times as fast so in the mean, 0.91 to 1.77
    times. So do 40 copies of three or four tiles along the source, which leave nothing for blocks to keep: 1.06 times.
    Where rows crowd few sets on both sides, blocks along the destination are 1.3 to 1.7 times as fast.
    """
    reading, writing = box.axes[along_destination], box.axes[along_source]
    block = (schedule.block_tiles, schedule.block_tiles)
    page = PAGE_LINES * schedule.lanes
    if all(crowd(stride, schedule.lanes) for stride in (reading.source_stride, writing.destination_stride)):
        return Order(along_source, along_destination, block)
    places = schedule.processor.set_places or PLACES_OF_SET

    def are_too_many(rows: int, stride: int) -> bool:
        if is_symbolic(stride):
            return rows > places and schedule.are_pages(stride)
        return compete(rows, stride, page, places)

    read, written = (schedule.block_tiles * tile.extents[i] for i in (along_destination, along_source))
    if are_too_many(written, writing.destination_stride):
        return Order(along_source, along_destination)
    are_few = not is_symbolic(writing.extent) and writing.extent <= FEW_TILES * tile.extents[along_source]
    if are_few or are_too_many(read, reading.source_stride):
        return Order(along_destination, along_source)
    return Order(along_destination, along_source, block)


def crowd(stride: int, lanes: int) -> bool:
    """Whether lines so far apart, in elements, crowd few sets of a first level cache."""
    return not is_symbolic(stride) and math.gcd(stride, PAGE_LINES * lanes) >= CROWDED_LINES * lanes


def are_lines(box: Box, lanes: int) -> bool:
    """Whether all rows begin at a line if those of both sides that come first do."""
    places = map(constant_value, (box.source_offset, box.destination_offset))
    strides = [stride for axis in box.axes for stride in (axis.source_stride, axis.destination_stride)]
    return all(number == 1 or number % lanes == 0 for number in (*places, *strides))
