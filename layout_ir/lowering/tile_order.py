"""Along which of two axes tiles follow each other first: the source's or the destination's, in blocks or without."""

from __future__ import annotations

import math

from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel_source import STREAMS
from layout_ir.layouts.plan import Box
from layout_ir.layouts.shuffle_network import is_copy
from layout_ir.layouts.symbols import is_multiple, is_symbolic
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.cached_orders import (
    MANY_LINES,
    Order,
    are_lines,
    compete,
    crowd,
    order_of_half_lines,
    order_of_lines,
    order_of_whole_rows,
)
from layout_ir.lowering.line_sequences import rows_of, shared_row
from layout_ir.lowering.request_model import PAGE_LINES
from layout_ir.lowering.schedule import Schedule, covers_whole_lines
from layout_ir.lowering.tile_choice import PLACES_OF_SET

COLLIDING_ROWS = 64
"""Rows of a tile from which on those of a second tile push the first's out, if all belong to one set."""

FEW_ROWS = 8
"""Rows of a tile up to which those of a second one have room in the same set."""

CROWDED_STREAMED_LINES = 8
"""`CROWDED_LINES` where lines bypass the caches."""

KEPT_LINES = 1024
"""Lines of a matrix that the nearest cache may keep while its transpose is written."""

FOLLOWED_ROWS = 32
"""Rows that a processor reads ahead of by itself."""

LONG_ROW_LINES = 2
"""Lines of a row from which on it may be read anywhere: the second one follows the first."""

WORTH_ONE_SET = 3
"""How many times as many sequences as are few are better to read than rows are to write that compete for one set."""

KEPT_ROWS = 256
"""Rows of the source of which a first level cache keeps a line each beside what is written."""

FAR_LINES = 32
"""Lines from one row to the next from which on none of them leads a processor to others nearby."""


def order_of_tiles(box: Box, tile: Tile, schedule: Schedule, along_destination: int, along_source: int) -> Order:
    """
    Tiles along the source, then along the destination, in blocks.

    Data that stay in the caches go the other way where tiles write lines in parts: the rest follows at once then. So do
    copies of lines that compete for one set of a cache, and of few sequences of lines, without blocks.
    """
    copies_lines = schedule.narrows and is_copy(tile.network) and shared_row(box) >= schedule.lanes
    places = schedule.processor.set_places
    if copies_lines and places and not schedule.prefetches and are_lines(box, schedule.lanes):
        return order_of_lines(box, tile, schedule, places, along_destination, along_source)
    if copies_lines and (
        _follows_lines(box, schedule, along_destination) or _gathers_few(box, schedule, along_destination, along_source)
    ):
        return Order(along_source, along_destination)
    if schedule.narrows and not copies_lines:
        order = order_of_whole_rows(box, tile, schedule, along_destination, along_source)
        if order is not None:
            return order
        if schedule.register_lanes and not is_copy(tile.network):
            return order_of_half_lines(box, tile, schedule, along_destination, along_source)
        if _finishes_lines(box, tile, schedule, along_destination, along_source):
            return Order(along_source, along_destination)
    outer, inner = along_destination, along_source
    gathers = copies_lines and not places and _are_pages(box, schedule, along_destination)
    leaves = schedule.narrows and _leaves_parts(box, tile, schedule)
    if gathers or (leaves and not _blocks_cover_lines(box, tile, schedule, along_destination, along_source)):
        outer, inner = inner, outer
    is_collision = gathers or _rows_collide(box, tile, schedule.lanes, outer, inner)
    is_in_order = is_collision or _suits_one_order(box, tile, schedule, along_destination, along_source)
    if is_in_order or _crowds_in_blocks(box, tile, schedule, along_destination):
        return Order(outer, inner)
    return Order(outer, inner, (schedule.block_tiles, schedule.block_tiles))


def _crowds_in_blocks(box: Box, tile: Tile, schedule: Schedule, along_destination: int) -> bool:
    """Whether blocks of tiles read more rows than a processor follows by itself, from few sets of a cache."""
    rows = tile.extents[along_destination]
    are_more = rows <= FOLLOWED_ROWS < rows * schedule.block_tiles
    return are_more and schedule.are_crowded(box.axes[along_destination].source_stride)


def _follows_lines(box: Box, schedule: Schedule, along_destination: int) -> bool:
    """
    Whether copies of lines in the caches follow the destination without blocks: where their rows are long or far apart,
    and the second level cache holds as much as is written twice.
    """
    row, stride, lanes = shared_row(box), abs(box.axes[along_destination].source_stride), schedule.lanes
    most = schedule.processor.followed_bytes // LINE_BYTES * lanes
    if any(map(is_symbolic, (schedule.cells, row, stride))) or schedule.cells > most:
        return False
    return row >= LONG_ROW_LINES * lanes or (row >= lanes and stride >= FAR_LINES * lanes)


def _gathers_few(box: Box, schedule: Schedule, along_destination: int, along_source: int) -> bool:
    """
    Whether copies of lines in the caches follow the destination without blocks, as they read few sequences of lines in
    turn, or would write rows that compete for one set.

    Rows of two lines that do are 1.4 to 1.5 times as fast so on Emerald Rapids even where those that are read compete.
    """
    reading, writing = box.axes[along_destination], box.axes[along_source]
    few, page = schedule.processor.gathered_sequences, PAGE_LINES * schedule.lanes
    if is_symbolic(reading.extent):
        return False
    if is_symbolic(writing.extent):
        return reading.extent <= few  # sequences of unknown length are long where copies take their time
    if reading.extent <= min(few, writing.extent):
        return True
    are_long = shared_row(box) >= LONG_ROW_LINES * schedule.lanes and reading.extent <= WORTH_ONE_SET * few
    return are_long and compete(writing.extent, writing.destination_stride, page, PLACES_OF_SET)


def _finishes_lines(box: Box, tile: Tile, schedule: Schedule, along_destination: int, along_source: int) -> bool:
    """
    Whether tiles in the caches go along the destination without blocks, as its rows crowd few sets of the first one.

    Not where that cache would not keep a line of each row of the source until the next part of it is read.
    """
    places, page = PLACES_OF_SET, PAGE_LINES * schedule.lanes
    writing, reading = box.axes[along_source], box.axes[along_destination]
    if not schedule.processor.finishes_competing_lines or is_symbolic(reading.extent) or reading.extent > KEPT_ROWS:
        return False
    if not compete(writing.extent, writing.destination_stride, page, places):
        return False
    are_kept = not compete(reading.extent, reading.source_stride, page, places)
    return are_kept or min(rows_of(tile.network.loads)) >= schedule.lanes


def _suits_one_order(box: Box, tile: Tile, schedule: Schedule, along_destination: int, along_source: int) -> bool:
    """Whether tiles that follow each other along the source suit the destination as well."""
    if schedule.narrows:
        written = box.axes[along_source].destination_stride
        has_rows = tile.extents[along_destination] >= FEW_ROWS
        is_crowded = is_symbolic(written) or crowd(written, schedule.lanes)
        writes_lines = not is_crowded and not _leaves_parts(box, tile, schedule)
        return schedule.processor.has_small_sets and has_rows and writes_lines
    if not schedule.prefetches:
        return False
    is_read_whole = box.axes[along_source].extent <= schedule.block_tiles * tile.extents[along_source]
    if is_read_whole or not schedule.processor.reads_on:
        return is_read_whole
    return _reads_on(box, tile, schedule, along_destination, along_source) or _writes_on(
        box, tile, schedule, along_destination, along_source
    )


def _reads_on(box: Box, tile: Tile, schedule: Schedule, along_destination: int, along_source: int) -> bool:
    """
    Whether tiles read on along few sequences, and write lines that are near each other.

    Not where rows that they read belong to one set, or lines that they write crowd few of them. Tiles of very many rows
    have no room for those of a second one.
    """
    page = PAGE_LINES * schedule.lanes
    written = box.axes[along_source].destination_stride
    if written >= page:
        return False
    rows = tile.extents[along_destination]
    if rows >= COLLIDING_ROWS:
        return True
    is_crowded = math.gcd(written, page) >= CROWDED_STREAMED_LINES * schedule.lanes
    return rows <= STREAMS and not is_crowded and not schedule.are_pages(box.axes[along_destination].source_stride)


def _writes_on(box: Box, tile: Tile, schedule: Schedule, along_destination: int, along_source: int) -> bool:
    """
    Whether tiles write so many lines in one go that these need no blocks, and what they read is better off without.

    That are parts of lines, of which the next tile along the source reads the rest, or rows that compete for few
    places in the caches.
    """
    if min(rows_of(tile.network.stores)) < MANY_LINES * schedule.lanes:
        return False
    writes_pages = schedule.are_pages(box.axes[along_source].destination_stride)
    if schedule.at_line:
        return writes_pages or min(rows_of(tile.network.loads)) < schedule.lanes
    return writes_pages and schedule.are_pages(box.axes[along_destination].source_stride)


def _leaves_parts(box: Box, tile: Tile, schedule: Schedule) -> bool:
    """Whether tiles write parts of lines, of which the next ones write the rest."""
    is_trusted = schedule.trusts_lines and all(store.lanes == schedule.lanes for store in tile.network.stores)
    if not is_trusted and not covers_whole_lines(box, tile, schedule.lanes):
        return True
    return not schedule.at_line and not is_copy(tile.network)  # a copy's loads are as many lines in parts


def _blocks_cover_lines(box: Box, tile: Tile, schedule: Schedule, along_destination: int, along_source: int) -> bool:
    """
    Whether blocks of tiles write whole lines, so that none is left for later, of rows that no near cache would keep.

    Measured on Emerald Rapids: rows of 20 or 35 elements, which would be read in parts, are transposed up to 1.8 times
    as fast.
    """
    if not schedule.at_line or schedule.processor.has_small_sets or box.axes[along_destination].destination_stride != 1:
        return False
    if box.axes[along_destination].extent * box.axes[along_source].extent < KEPT_LINES * schedule.lanes:
        return False
    written = tile.extents[along_destination] * schedule.block_tiles
    rows = [axis.destination_stride for i, axis in enumerate(box.axes) if i != along_destination]
    starts = (constant_value(box.destination_offset), written, *rows)
    return all(is_multiple(start, schedule.lanes) for start in starts)


def _are_pages(box: Box, schedule: Schedule, along_destination: int) -> bool:
    """
    Whether what follows in the destination is whole pages apart in the source, so that it belongs to one set.

    In the order of the destination that is one sequence.
    """
    stride = box.axes[along_destination].source_stride
    return stride > 0 and stride % (PAGE_LINES * schedule.lanes) == 0


def _rows_collide(box: Box, tile: Tile, lanes: int, outer: int, inner: int) -> bool:
    """Whether the rows of more than one tile compete, on both sides, for the few places of one set of a cache."""
    far = (box.axes[outer].source_stride, box.axes[inner].destination_stride)
    return max(tile.extents[outer], tile.extents[inner]) >= COLLIDING_ROWS and all(
        stride % (PAGE_LINES * lanes) == 0 for stride in far
    )
