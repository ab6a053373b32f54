"""
Whole lines of a destination that begins inside of a line, from tiles that would write them if it began at one.

Every row of the destination has a place of a few lines, where a tile leaves its lines behind the end of what the last
one did. The next tile of the row takes the lines that are complete from there, past the caches, and moves the rest to
the front. So all lines but the first and the last of a row are written once and whole, in any order of the loops in
which the tiles of each row follow each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.line_copy import LineCopy
from layout_ir.layouts.network_gather import runs_of
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.line_sequences import trips_of
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.loop_order import loop_levels
from layout_ir.lowering.request_model import PAGE_LINES
from layout_ir.lowering.schedule import Schedule, writes_whole_lines
from layout_ir.lowering.shared_loops import parallel

LEAST_LINES = 40
"""Lines of a row of the destination from which on its two ends, which are written in parts, hardly count."""

MOST_LINES = 32
"""Lines that tiles write to one row before they go to another up to which panels are slower."""

QUEUE_BYTES = 4 << 10
"""Size of the places of all rows from which on stores to them have left the processor's queue before they are read."""

STAGE_BYTES = 256 << 10
"""Size up to which they stay in a second level cache."""

LINES_OF_BLOCK = 4
"""Lines that a tile writes to each of its rows from which on there may be more rows: both sides are far apart then."""


@dataclass(frozen=True)
class StagedLines:
    """The tiles of a box, and where each leaves its lines."""

    box: Box
    tile: Tile
    levels: tuple[LoopLevel, ...]
    """The loops around a tile, outermost first."""
    chain: tuple[int, ...]
    """The axes along which rows go on, innermost first."""
    runs: tuple[int, ...]
    """Where the lines of each row of a tile begin, from the tile's place in the destination."""
    lines: int
    """Lines of a tile in each of its rows."""
    lanes: int
    """Elements of a line."""
    last: int | None = None
    """Where along the chain another tile begins, which overlaps the last one; None for none."""

    @property
    def length(self) -> int:
        """Elements of a tile in each of its rows."""
        return self.lines * self.lanes

    @property
    def row_length(self) -> int:
        """Elements of a row."""
        return self.length * math.prod(self.trips(i) for i in self.chain)

    @property
    def place_length(self) -> int:
        """Elements of a row's place: a power of two of lines, so that no store to it reaches over the end of a page."""
        return self.lanes << self.lines.bit_length()

    @property
    def first_level(self) -> int:
        """The position of the outermost loop along the rows: places are used by all the loops inside of it."""
        return min(position for position, level in enumerate(self.levels) if level.axis in self.chain)

    @property
    def row_levels(self) -> tuple[LoopLevel, ...]:
        """The loops over rows that have places of their own."""
        return tuple(level for level in self.levels[self.first_level :] if level.axis not in self.chain)

    @property
    def visited_lines(self) -> float:
        """Lines of a row that are written before those of another one."""
        lines: float = self.lines
        for level in reversed(self.levels[self.first_level :]):
            if level.axis not in self.chain:
                return lines
            lines *= trips_of(self.box, level)
        return math.inf

    def trips(self, i: int) -> int:
        """Tiles along an axis."""
        return -(-self.box.axes[i].extent // self.tile.extents[i])

    def rows_at_a_time(self, i: int) -> int:
        """Tiles along an axis that have places of their own at the same time."""
        outermost = next(level for level in self.row_levels if level.axis == i)
        whole = self.trips(i)
        if outermost.inside is None:
            return whole
        return min(-(-(outermost.inside + outermost.longer) // self.tile.extents[i]), whole)

    @property
    def place_strides(self) -> dict[int, int]:
        """How many tiles' places lie between those of one step of a tile along an axis and of the next."""
        strides: dict[int, int] = {}
        for level in self.row_levels:
            if level.axis not in strides:
                strides[level.axis] = math.prod(map(self.rows_at_a_time, strides))
        return strides

    @property
    def size(self) -> int:
        """Elements of all places."""
        tiles = math.prod(map(self.rows_at_a_time, self.place_strides))
        return tiles * len(self.runs) * self.place_length

    def __str__(self) -> str:
        names = " and ".join(self.box.axes[i].name for i in self.chain)
        size = self.size * LINE_BYTES // self.lanes
        return f"puts lines together in {size} bytes, while rows of {self.row_length} elements go on along {names}"


def staged_lines(box: Box, tile: Tile, schedule: Schedule) -> StagedLines | None:
    """How tiles write whole lines of a destination that begins anywhere; None where their rows do not go on so."""
    if box.is_fill or isinstance(tile, LineCopy) or not box.is_linear or any(axis.is_irregular for axis in box.axes):
        return None
    if any(is_symbolic(axis.extent) for axis in box.axes):
        return None
    lanes = schedule.lanes
    staged = _with_rows(box, tile, replace(schedule, threads=0))
    if staged is None or _collide(staged, schedule.processor.set_places):
        return None
    if staged.row_length < LEAST_LINES * lanes or staged.visited_lines > MOST_LINES:
        return None
    least, most = (size // LINE_BYTES * lanes for size in (QUEUE_BYTES, STAGE_BYTES))
    if staged.size < least:
        return None
    if staged.size > most:
        if staged.lines < LINES_OF_BLOCK or len(staged.runs) * staged.place_length > most:
            return None
        staged = _in_blocks(staged, most)
    if schedule.threads:
        staged = replace(staged, levels=tuple(parallel(staged.box, tile, schedule, list(staged.levels))))
    return None if any(level.is_parallel and level.axis in staged.chain for level in staged.levels) else staged


def _with_rows(box: Box, tile: Tile, schedule: Schedule) -> StagedLines | None:
    """The rows along which tiles go on; what is less than a tile at the end of a row is left to another one."""
    runs = _runs(tile)
    length = min(runs.values())
    levels = tuple(loop_levels(box, tile, schedule))
    chain = _chain(box, tile, levels, length) if length == max(runs.values()) else ()
    if not chain:
        return None
    last = None
    axis, steps = box.axes[chain[0]], tile.extents[chain[0]]
    if axis.extent % steps:
        whole = axis.extent - axis.extent % steps
        box, last = box.with_axis(chain[0], replace(axis, extent=whole, valid=whole)), axis.extent - steps
        levels = tuple(loop_levels(box, tile, schedule))
        if not axis.is_full or _chain(box, tile, levels, length) != chain:
            return None
    if not writes_whole_lines(box, tile, schedule.lanes):
        return None
    return StagedLines(box, tile, levels, chain, tuple(runs), length // schedule.lanes, schedule.lanes, last)


def _collide(staged: StagedLines, places: int | None) -> bool:
    """Whether a tile's rows lie whole pages apart, and are more than the places of one set of a cache."""
    page = PAGE_LINES * staged.lanes
    return len(staged.runs) > (places or 0) and all((run - staged.runs[0]) % page == 0 for run in staged.runs)


def _in_blocks(staged: StagedLines, most: int) -> StagedLines:
    """The same with fewer rows at a time, whose places take up to `most` elements."""
    box, extents = staged.box, staged.tile.extents
    cut = min(staged.place_strides, key=lambda i: box.axes[i].source_stride)
    tiles = 1 << (most // (len(staged.runs) * staged.place_length)).bit_length() - 1
    block = LoopLevel(cut, tiles * extents[cut], is_last=False)
    inside = next(level for level in staged.levels if level.axis == cut and level.is_last)
    rows = [level for level in staged.levels if level.axis not in (*staged.chain, cut)]
    along = [level for level in staged.levels if level.axis in staged.chain]
    levels = (*rows, block, *along, replace(inside, step=extents[cut], inside=block.step))
    return replace(staged, levels=levels)


def _runs(tile: Tile) -> dict[int, int]:
    """Where sequences of elements begin that a tile writes, with their lengths."""
    stores = tile.network.stores
    return dict(runs_of(sorted({store.offset + lane for store in stores for lane in range(store.lanes)})))


def _chain(box: Box, tile: Tile, levels: Sequence[LoopLevel], length: int) -> tuple[int, ...]:
    """The axes along which the next tile goes on where this one ends, each one outside of those before it."""
    positions: dict[int, list[int]] = {}
    for position, level in enumerate(levels):
        positions.setdefault(level.axis, []).append(position)
    chain: list[int] = []
    outside = len(levels)
    while True:
        following = next((i for i in positions if box.axes[i].destination_stride * tile.extents[i] == length), None)
        if following is None or max(positions[following]) >= outside:
            return tuple(chain)
        chain.append(following)
        axis = box.axes[following]
        if axis.extent % tile.extents[following]:
            return tuple(chain)  # only the first axis, as a tile takes one step of the others
        outside = min(positions[following])
        length = axis.destination_stride * axis.extent
