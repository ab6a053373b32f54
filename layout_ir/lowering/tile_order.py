"""Along which of two axes tiles follow each other first: the source's or the destination's, in blocks or without."""

from __future__ import annotations

import math
from dataclasses import dataclass

from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel_source import STREAMS, places_apart
from layout_ir.layouts.plan import Box
from layout_ir.layouts.shuffle_network import is_copy
from layout_ir.layouts.symbols import is_multiple, is_symbolic
from layout_ir.layouts.tiling import Tile
from layout_ir.lowering.line_sequences import rows_of, shared_row
from layout_ir.lowering.request_model import PAGE_LINES
from layout_ir.lowering.schedule import Schedule, covers_whole_lines
from layout_ir.lowering.tile_choice import PLACES_OF_SET, USUAL_EXTENT

COLLIDING_ROWS = 64
"""Rows of a tile from which on those of a second tile push the first's out, if all belong to one set."""

FEW_ROWS = 8
"""Rows of a tile up to which those of a second one have room in the same set."""

CROWDED_LINES = 16
"""Lines from one that is written to the next from which on, in powers of two, they crowd few sets of a cache."""

CROWDED_STREAMED_LINES = 8
"""The same for lines that bypass the caches."""

FEW_SEQUENCES = 64
"""Sequences of lines in the caches from which on blocks are better: more than the pages that a processor keeps near."""

MANY_LINES = 4
"""Lines of a tile's rows on one side, for every line of those on the other, from which on their ends hardly count."""

KEPT_LINES = 1024
"""Lines of a matrix that the nearest cache may keep while its transpose is written."""

FOLLOWED_ROWS = 32
"""Rows that a processor reads ahead of by itself."""

LINE_BLOCK = 8
"""Lines along each side of a block of lines that are copied in the caches."""

LONG_ROW_LINES = 2
"""Lines of a row from which on it may be read anywhere: the second one follows the first."""

FEW_TILES = 4
"""Tiles of registers that are halves of lines, along the source, up to which they go without blocks."""

KEPT_ROWS = 256
"""Rows of the source of which a first level cache keeps a line each beside what is written."""

FAR_LINES = 32
"""Lines from one row to the next from which on none of them leads a processor to others nearby."""


@dataclass(frozen=True)
class Order:
    """The order of tiles along two axes, in blocks or without."""

    outer: int
    inner: int
    block: tuple[int, int] = (1, 1)
    """Tiles of a block along the outer and along the inner axis."""


def order_of_tiles(box: Box, tile: Tile, schedule: Schedule, along_destination: int, along_source: int) -> Order:
    """
    Tiles along the source, then along the destination, in blocks.

    Data that stay in the caches go the other way where tiles write lines in parts: the rest follows at once then. So do
    copies of lines that compete for one set of a cache, and without blocks.
    """
    copies_lines = schedule.narrows and is_copy(tile.network) and shared_row(box) >= schedule.lanes
    places = schedule.processor.set_places
    if copies_lines and places and not schedule.prefetches and _are_lines(box, schedule.lanes):
        return _order_of_lines(box, tile, schedule, places, along_destination, along_source)
    if copies_lines and _follows_lines(box, schedule, along_destination):
        return Order(along_source, along_destination)
    if schedule.narrows and not copies_lines:
        order = _order_of_whole_rows(box, tile, schedule, along_destination, along_source)
        if order is not None:
            return order
        if schedule.register_lanes and not is_copy(tile.network):
            return _order_of_half_lines(box, tile, schedule, along_destination, along_source)
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


def _finishes_lines(box: Box, tile: Tile, schedule: Schedule, along_destination: int, along_source: int) -> bool:
    """
    Whether tiles in the caches go along the destination without blocks, as its rows crowd few sets of the first one.

    Not where that cache would not keep a line of each row of the source until the next part of it is read.
    """
    places, page = PLACES_OF_SET, PAGE_LINES * schedule.lanes
    writing, reading = box.axes[along_source], box.axes[along_destination]
    if not schedule.processor.finishes_competing_lines or is_symbolic(reading.extent) or reading.extent > KEPT_ROWS:
        return False
    if not _compete(writing.extent, writing.destination_stride, page, places):
        return False
    are_kept = not _compete(reading.extent, reading.source_stride, page, places)
    return are_kept or min(rows_of(tile.network.loads)) >= schedule.lanes


def _compete(steps: int, stride: int, page: int, places: int) -> bool:
    """Whether rows so far apart have no place together in the first cache; those at unknown distances have one."""
    if is_symbolic(stride):
        return False
    return (USUAL_EXTENT if is_symbolic(steps) else steps) > places_apart(stride, page, places)


def _order_of_lines(
    box: Box, tile: Tile, schedule: Schedule, places: int, along_destination: int, along_source: int
) -> Order:
    """
    The order of copies of whole lines in the caches, none of which is read or written twice.

    Without blocks one side is one sequence and the other one as many as there are steps: few are best, and none that
    compete for one set. Where they do on both sides, blocks keep to some of them.
    """
    page = PAGE_LINES * schedule.lanes
    reading, writing = box.axes[along_destination], box.axes[along_source]
    reads_collide = _compete(reading.extent, reading.source_stride, page, places)
    writes_collide = _compete(writing.extent, writing.destination_stride, page, places)
    numbers = (reading.extent, reading.source_stride, writing.extent, writing.destination_stride)
    are_unknown = any(map(is_symbolic, numbers))
    are_many = min(reading.extent, writing.extent) > FEW_SEQUENCES
    if are_unknown or are_many or (reads_collide and writes_collide):
        outer, inner = (max(LINE_BLOCK // tile.extents[i], 1) for i in (along_destination, along_source))
        return Order(along_destination, along_source, block=(outer, inner))
    if writes_collide or (writing.extent > reading.extent and not reads_collide):
        return Order(along_source, along_destination)
    return Order(along_destination, along_source)


def _order_of_whole_rows(
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


def _order_of_half_lines(box: Box, tile: Tile, schedule: Schedule, along_destination: int, along_source: int) -> Order:
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
    if all(_crowd(stride, schedule.lanes) for stride in (reading.source_stride, writing.destination_stride)):
        return Order(along_source, along_destination, block)
    places = schedule.processor.set_places or PLACES_OF_SET
    read, written = (schedule.block_tiles * tile.extents[i] for i in (along_destination, along_source))
    if _compete(written, writing.destination_stride, page, places):
        return Order(along_source, along_destination)
    are_few = not is_symbolic(writing.extent) and writing.extent <= FEW_TILES * tile.extents[along_source]
    if are_few or _compete(read, reading.source_stride, page, places):
        return Order(along_destination, along_source)
    return Order(along_destination, along_source, block)


def _crowd(stride: int, lanes: int) -> bool:
    """Whether lines so far apart, in elements, crowd few sets of a first level cache."""
    return not is_symbolic(stride) and math.gcd(stride, PAGE_LINES * lanes) >= CROWDED_LINES * lanes


def _are_lines(box: Box, lanes: int) -> bool:
    """Whether all rows begin at a line if those of both sides that come first do."""
    places = map(constant_value, (box.source_offset, box.destination_offset))
    strides = [stride for axis in box.axes for stride in (axis.source_stride, axis.destination_stride)]
    return all(number == 1 or number % lanes == 0 for number in (*places, *strides))


def _suits_one_order(box: Box, tile: Tile, schedule: Schedule, along_destination: int, along_source: int) -> bool:
    """Whether tiles that follow each other along the source suit the destination as well."""
    if schedule.narrows:
        page = PAGE_LINES * schedule.lanes
        written = box.axes[along_source].destination_stride
        has_rows = tile.extents[along_destination] >= FEW_ROWS
        is_crowded = is_symbolic(written) or math.gcd(written, page) >= CROWDED_LINES * schedule.lanes
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
