"""
Which tile moves a box: the one of fewest instructions, or, for data that stay in the caches, of narrower vectors.

What is written past the caches goes in whole lines, by vectors as long as a line. In the caches there is another side
to such vectors: wherever they do not begin at a multiple of a line, each of them touches two lines, while of vectors of
half a line only every other one does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from layout_ir.layouts.line_copy import LineCopy, copy_by_lines
from layout_ir.layouts.plan import Box
from layout_ir.layouts.plan_rewrites import cut_box
from layout_ir.layouts.shuffle_network import is_copy
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import Tile, loose_pads
from layout_ir.layouts.tiling import Search, choose_tile
from layout_ir.lowering.cached_cycles import cached_cycles
from layout_ir.lowering.line_sequences import rows_of
from layout_ir.lowering.schedule import LEAST_STEPS, Schedule, axes_of_tile, of_shorter_tiles

PLACES_OF_SMALL_SET = 8
"""Lines of one set that a small first level cache has place for."""

PLACES_OF_SET = 12
"""The same of a larger one."""

WORTH_OWN_LOOPS = 0.8
"""Instructions of a tile for a known extent, for each of those for unknown ones, up to which it has its own loops."""

LARGE_TILE = 512
"""Elements of a tile beside which it counts little that each of its rows needs an address of its own."""

WORTH_NARROWING_SHORT = 1.15
"""
How much better such large tiles of halves have to be for short extents.

On Emerald Rapids 28 calls of 7 x 7 to 14 x 14 pixels of bytes, of 20 to 150 channels in the caches, take 0.93 of the
time from NHWC to NCHW so. By smaller tiles, of f16 and f32, some would take 1.15 times as long.
"""

COMPETING_ROWS, MANY_COMPETING_ROWS = 1.12, 1.6
"""How much better still halves of lines have to be where the rows that a tile reads are in one small set; if 32 are."""

MANY_ROWS = 32
"""Rows from which on most lines of one set are gone before a tile reads their other halves."""

FAR_LINES = 4
"""Lines from one row of a source to the next from which on halves of its lines may be read one after the other."""


SMALL_PART = 32
"""A box with less than one in so many cells of a copy is not worth a search for larger tiles."""

TINY_PART = 512
"""The same for any search beyond the first tile."""


def tile_of(box: Box, schedule: Schedule, source_size: int) -> Tile | None:
    """The tile that moves a box; None where scalar loops are as good. `source_size`: elements of the source."""
    box = with_short_extents(box, schedule)
    copy = _copy_by_lines(box, schedule)
    if copy is not None and not any(axis.extent % steps for axis, steps in zip(box.axes, copy.extents, strict=True)):
        return copy
    wide = _wide_tile(box, schedule, source_size)
    if wide is not None and loose_pads(box, wide):
        wide = choose_tile(box, schedule.lanes, source_size, schedule.segment)  # by which the box was cut
    if wide is None or not schedule.narrows:
        return wide
    return cached_tile(box, wide, schedule, source_size)


def _wide_tile(box: Box, schedule: Schedule, source_size: int) -> Tile | None:
    """
    The tile of vectors as long as the schedule's, which are whole lines but for processors of short ones.

    Registers of half a line load what a line of pads begins with, but do not store it in one piece: where loads that
    keep to their lines are so short, others are better. On Zen 4 without its vectors of 64 bytes NHWC to nChw16c of 35
    channels is 2.7 times as fast in f32, and reads all lines of a pixel anyway.
    """

    def chosen(*, keeps_to_lines: bool) -> Tile | None:
        return choose_tile(
            box,
            schedule.lanes,
            source_size,
            schedule.segment,
            past_caches=schedule.streams,
            in_caches=schedule.narrows,
            fits_runs=not schedule.narrows or schedule.processor.fits_runs,
            keeps_to_lines=keeps_to_lines,
            search=search_for(box, schedule),
            register_lanes=schedule.register_lanes,
        )

    tile = chosen(keeps_to_lines=schedule.keeps_to_lines)
    if not (schedule.keeps_to_lines and schedule.register_lanes) or _is_of_lines(tile, schedule.lanes):
        return tile
    other = chosen(keeps_to_lines=False)
    is_better = other is not None and _is_of_lines(other, schedule.lanes) and not loose_pads(box, other)
    return other if is_better else tile


def _is_of_lines(tile: Tile | None, lanes: int) -> bool:
    return tile is not None and all(store.lanes == lanes for store in tile.network.stores)


def with_short_extents(box: Box, schedule: Schedule) -> Box:
    """A box for which a tile is chosen that needs no longer extents than those which a kernel finds to be short."""
    most = schedule.most_steps
    if most is None:
        return box

    def held(extent: int) -> int:
        if not is_symbolic(extent) or extent in schedule.long_extents:
            return extent
        return most if most >= LEAST_STEPS or extent == schedule.short_extent else schedule.lanes

    return replace(
        box, axes=tuple(replace(axis, extent=held(axis.extent), valid=held(axis.valid)) for axis in box.axes)
    )


def shorter_tiles(box: Box, tile: Tile, schedule: Schedule, source_size: int) -> Schedule | None:
    """The schedule for unknown extents that hold no such tile, but shorter ones; None where there are none."""
    for shorter in of_shorter_tiles(schedule):
        other = tile_of(box, shorter, source_size)
        if other is None or _is_shorter(box, other, tile):
            return shorter
    return None


def is_worth_own_loops(box: Box, others: Tile, schedule: Schedule, source_size: int) -> bool:
    """Whether the tile of a box of known extents is so much better than those of unknown ones that it gets loops."""
    tile = tile_of(box, schedule, source_size)
    return tile is not None and tile.cost < WORTH_OWN_LOOPS * others.cost


def _is_shorter(box: Box, tile: Tile, usual: Tile) -> bool:
    """Whether a tile fits into some unknown extents that the usual one does not fit into."""
    return any(
        is_symbolic(axis.extent) and steps < most
        for axis, steps, most in zip(box.axes, tile.extents, usual.extents, strict=True)
    )


def search_for(box: Box, schedule: Schedule) -> Search:
    """How far a search for the tile of a box is worth it."""
    if is_tiny(box, schedule):
        return Search.FIRST
    return Search.NO_LARGER if box.cells * SMALL_PART < schedule.cells else Search.WHOLE


def is_tiny(box: Box, schedule: Schedule) -> bool:
    """Whether it makes no difference to a copy how a box of it is moved, whatever the sizes are."""
    return not is_symbolic(schedule.cells) and box.cells * TINY_PART < schedule.cells


def cached_tile_of_unknown(box: Box, fitting: Tile, schedule: Schedule, source_size: int) -> Tile:
    """The tile for data that stay in the caches where a kernel has looked whether `fitting` fits into the extents."""
    wide = fitting
    if schedule.processor.unknown_tile_cycles and not schedule.register_lanes:
        tile = _tile_in_caches(with_short_extents(box, schedule), schedule.lanes, schedule, source_size)
        wide = fitting if tile is None or loose_pads(box, tile) or _is_shorter(box, fitting, tile) else tile
    return cached_tile(box, wide, schedule, source_size)


def _tile_in_caches(box: Box, lanes: int, schedule: Schedule, source_size: int) -> Tile | None:
    chosen = partial(
        choose_tile,
        box,
        lanes,
        source_size,
        schedule.segment,
        in_caches=True,
        fits_runs=schedule.processor.fits_runs,
        search=search_for(box, schedule),
        register_lanes=schedule.register_lanes,
    )
    return fastest_tile(box, schedule, chosen)


def fastest_tile(box: Box, schedule: Schedule, choose: Callable[..., Tile | None]) -> Tile | None:
    """
    The tile that is chosen, or where extents are not known the faster one of two, as what is moved twice weighs.

    It is one in the caches, or of a panel. `choose`: `choose_tile`, but for how that weighs. Processors of short
    registers, whose cycles are others, take the first one.

    Bytes of 35 and 50 channels from NCHW to NHWC take 0.92 of the time so on Emerald Rapids (12 calls of 1 MiB; in
    images of 64 x 64 and 128 x 128 pixels 0.84), and no others longer. Through panels they take 0.93 of it (36 calls of
    3 to 64 MiB; in images of 13 x 13 and 14 x 14 pixels 0.83). Not measured on others.
    """
    tile = choose(weighs_as_known=False)
    if schedule.register_lanes or not any(is_symbolic(axis.extent) for axis in box.axes):
        return tile
    other = choose(weighs_as_known=True)
    if tile == other:  # as mostly
        return tile
    found = [one for one in (tile, other) if one is not None and not loose_pads(box, one)]
    return min(found, key=lambda one: cached_cycles(box, one, schedule), default=tile)


def cached_tile(box: Box, wide: Tile, schedule: Schedule, source_size: int) -> Tile:
    """The tile for data that stay in the caches: of vectors of half a line where those are faster than `wide`."""
    narrow = _tile_in_caches(box, schedule.lanes // 2, schedule, source_size)
    if narrow is None or loose_pads(box, narrow):
        return wide
    competes = _competing(box, wide, schedule)
    if "written" in competes and not _transposes_few_rows(box, wide, narrow, schedule):
        return wide  # the other halves of lines may be gone before their turn
    if _is_shorter(box, wide, narrow):
        return wide  # a kernel has looked whether what is as long fits in
    if schedule.register_lanes:
        return wide if "read" in competes and max(narrow.extents) >= MANY_ROWS else narrow
    least = _least_gain(wide, schedule)
    further = schedule.processor.unknown_tile_cycles if _writes_unknown_rows(narrow) else 0
    if further and schedule.most_steps is not None and narrow.elements >= LARGE_TILE:
        least, further = min(least, WORTH_NARROWING_SHORT), 0
    if competes:
        least *= MANY_COMPETING_ROWS if max(narrow.extents) >= MANY_ROWS else COMPETING_ROWS
    is_better = cached_cycles(box, narrow, schedule, further) * least <= cached_cycles(box, wide, schedule, further)
    return narrow if is_better else wide


def _writes_unknown_rows(tile: Tile) -> bool:
    """Whether only the sizes tell how far the rows that a tile writes lie apart."""
    return any(is_symbolic(store.offset) for store in tile.network.stores)


def _transposes_few_rows(box: Box, wide: Tile, narrow: Tile, schedule: Schedule) -> bool:
    """
    Whether registers of half a line write so few rows of a matrix that a set has places for them until they are whole.

    On Zen 4 without its vectors of 64 bytes NHWC to NCHW of 64 channels is 1.4 times as fast so in f32. Where the rows
    that are read lie one or two lines apart, as those of blocks, whole lines are 0.95 to 1.25 times as fast.
    """
    if not schedule.register_lanes or "written" in _competing(box, narrow, schedule):
        return False
    rows = [axis.source_stride for axis in axes_of_tile(box, narrow) if axis.destination_stride == 1]
    is_matrix = max(*rows_of(wide.network.loads), *rows_of(wide.network.stores)) <= schedule.lanes
    return is_matrix and any(not is_symbolic(row) and abs(row) >= FAR_LINES * schedule.lanes for row in rows)


def _least_gain(wide: Tile, schedule: Schedule) -> float:
    """By how much vectors of half a line have to be better."""
    if is_copy(wide.network):
        return 1
    processor = schedule.processor
    is_apart = max(*rows_of(wide.network.loads), *rows_of(wide.network.stores)) <= schedule.lanes
    if is_apart and processor.worth_narrowing_rows is not None:
        return processor.worth_narrowing_rows
    return processor.worth_narrowing


def _competing(box: Box, tile: Tile, schedule: Schedule) -> set[str]:
    """Which of the rows that a tile reads and writes, if any, have no place together in a first level cache."""
    has_small_sets = schedule.processor.has_small_sets
    places = PLACES_OF_SMALL_SET if has_small_sets else PLACES_OF_SET
    rows = [axis for axis, steps in zip(box.axes, tile.extents, strict=True) if steps > places]
    strides = [("written", axis.destination_stride) for axis in rows]
    if has_small_sets:
        strides += [("read", axis.source_stride) for axis in rows]
    elif schedule.most_steps is not None or not schedule.looks_for_pages:  # rows as short seldom are whole pages apart
        strides = [(side, stride) for side, stride in strides if not is_symbolic(stride)]
    return {side for side, stride in strides if schedule.are_pages(stride)}


def cut_for_lines(box: Box, schedule: Schedule) -> list[Box]:
    """A box, or where its rows are copied by lines: those that are a multiple of a tile's, and the others."""
    copy = _copy_by_lines(box, schedule)
    for i, axis in enumerate(box.axes):
        if copy is not None and axis.extent % copy.extents[i]:
            return [*cut_box(box, i, axis.extent - axis.extent % copy.extents[i])]
    return [box]


def _copy_by_lines(box: Box, schedule: Schedule) -> LineCopy | None:
    if not schedule.streams or not schedule.segment:
        return None
    least = schedule.segment if schedule.processor.streams_parts else schedule.lanes
    return copy_by_lines(box, schedule.lanes, least, schedule.segment.bit_length() - 1)
