"""
The choices for one copy: streaming stores, prefetching, threads, the width of vectors.

What is decided here changes the speed of a kernel and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.line_copy import LineCopy
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.symbols import is_multiple, is_symbolic
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.processor_families import ICE_LAKE, MODELS
from layout_ir.lowering.processor_model import ProcessorModel
from layout_ir.lowering.request_model import PAGE_LINES
from layout_ir.lowering.target import NO_PREFERENCES, Preferences, Target

SEGMENT_BYTES = 16
"""Part of a vector within which processors shuffle with one instruction."""

SHORT_LANES = 16
"""Elements of vectors for extents that hold no half of a longer one."""

LEAST_STEPS = 8
"""Steps of unknown extents that the shortest tiles take."""

LEAST_STEPS_OF_SHORT = 4
"""The same of one that is short more often than the others, such as a batch."""

BLOCK_TILES = 2
"""Tiles along each of the two directions of a transposition that are moved before its loops go on."""


@dataclass(frozen=True)
class Schedule:
    """The choices for one copy."""

    lanes: int
    """Elements of a vector."""

    register_lanes: int = 0
    """Elements of a register, if a vector takes several; 0 where it is one."""

    cells: int = 0
    """Cells of the destination that the copy writes."""

    streams: bool = False
    """Whether whole vectors are stored past the caches."""

    prefetches: bool = False
    """Whether the source of a later tile is asked for ahead of time."""

    threads: int = 0
    """Threads that the outermost loop is divided among; 0 where it does not run in parallel."""

    at_line: bool = True
    """Whether the destination begins at a cache line."""

    starts_at_line: bool = False
    """Whether a kernel has seen that it does, so that whole lines are stored without another look."""

    trusts_lines: bool = False
    """Whether something else has seen to it that stores write whole lines, if the destination begins at one."""

    trusts_rows: bool = False
    """Whether something else has seen to it that rows of the source begin at lines, if the source does."""

    may_be_pages: bool = True
    """Whether a distance that is not known may be one of whole pages, so that rows belong to one set of a cache."""

    looks_for_pages: bool = False
    """Whether a kernel looks at that where tiles write many rows."""

    may_crowd: bool = False
    """Whether such a distance may be one at which rows belong to few sets of a second level cache."""

    multiples: frozenset[int] = frozenset()
    """Unknown numbers of the plan that are multiples of a vector, or that a kernel has seen to be."""

    panels: bool = False
    """Whether lines that tiles write in parts are put together first."""

    narrows: bool = False
    """Whether everything stays in the caches, where vectors of half a line may be faster."""

    stream_bytes: int = MODELS[ICE_LAKE].stream_bytes
    """Size of a destination from which on it bypasses the caches."""

    parts_bytes: int = MODELS[ICE_LAKE].stream_bytes
    """The same where tiles would write lines in parts."""

    leaves_parts: bool = False
    """Whether panels take all that tiles would write in parts of lines past the caches."""

    kept_bytes: int | None = None
    """Size up to which a single box of unknown extents may stay in the caches, whatever the limits are; None: those."""

    block_tiles: int = BLOCK_TILES
    """Tiles along each side of a block."""

    processor: ProcessorModel = MODELS[ICE_LAKE]
    """What the processor is known for."""

    most_steps: int | None = None
    """Steps of an unknown extent that a tile may take, where it holds no longer ones; None for any."""

    short_extent: int | None = None
    """The unknown extent of which the shortest tiles take fewer steps than of others."""

    moves_short: bool = True
    """Whether what holds no tile has shorter ones, and loops for some lengths; else it goes element by element."""

    long_extents: frozenset[int] = frozenset()
    """Unknown extents that hold every tile, whatever the sizes are."""

    segment: int | None = None
    """Elements of the part of a vector within which shuffles are cheap; None for all."""

    preferences: Preferences = NO_PREFERENCES
    """What else was chosen beforehand."""

    @property
    def has_line_vectors(self) -> bool:
        """Whether a vector is as long as a line of the cache."""
        return self.segment is not None and self.lanes * SEGMENT_BYTES == self.segment * LINE_BYTES

    @property
    def keeps_to_lines(self) -> bool:
        """Whether loads stay in lines of the source that hold what a tile moves, even if that is more work."""
        return self.processor.keeps_to_lines and self.prefetches and self.has_line_vectors

    def are_pages(self, stride: int) -> bool:
        """Whether what is a distance of elements apart belongs to one set of a first level cache, or may."""
        if is_symbolic(stride):
            return self.may_be_pages
        return stride != 0 and stride % (PAGE_LINES * self.lanes) == 0

    def are_crowded(self, stride: int) -> bool:
        """Whether rows of a large source that are a distance of elements apart belong to few sets of a cache."""
        lines = self.processor.crowding_lines
        if lines is None or not self.prefetches:
            return False
        return self.may_crowd if is_symbolic(stride) else stride != 0 and stride % (lines * self.lanes) == 0

    @property
    def asks_times(self) -> int:
        """
        How many times a line is asked for in panels, and by tiles of rows that lie far from each other.

        Half as often as by other tiles where two registers load it: on Zen 4 without its long vectors 225 copies are
        1.05 times as fast so, in the mean (0.8 to 1.4).
        """
        times = self.processor.asks_times
        return max(times // 2, 1) if self.register_lanes else times

    def preferred_axis(self, along_source: int | None, along_destination: int | None) -> int | None:
        """Of two axes the one along which prefetching was chosen; None where the choice is open."""
        return {"source": along_source, "destination": along_destination}.get(self.preferences.prefetch or "")

    def __str__(self) -> str:
        traits = [name for name in ("streams", "panels", "prefetches", "threads") if getattr(self, name)]
        words = {"prefetches": "prefetches into a second level cache"} if self.processor.asks_second_level else {}
        vectors = f"vectors of {self.lanes} elements"
        if self.register_lanes:
            vectors += f" in registers of {self.register_lanes}"
        return vectors + "".join(f", {words.get(trait, trait)}" for trait in traits)


def choose_schedule(target: Target, element_bytes: int, cells: int, elements: int) -> Schedule:
    """The schedule of a copy that writes `cells` and reads `elements`."""
    processor = MODELS[target.processor]
    stream_bytes = processor.stream_bytes if target.stream_bytes is None else target.stream_bytes
    preferences = target.preferences
    streams = cells * element_bytes >= stream_bytes if preferences.streams is None else preferences.streams
    streams = streams and target.vector_bytes == LINE_BYTES
    has_lines = target.vector_bytes == LINE_BYTES and 2 * target.register_bytes >= LINE_BYTES
    narrows = has_lines and not streams and cells * element_bytes < stream_bytes
    vector_bytes = target.vector_bytes if streams or narrows else min(target.vector_bytes, target.register_bytes)
    is_large = elements * element_bytes >= stream_bytes
    register_lanes = target.register_bytes // element_bytes if target.register_bytes < vector_bytes else 0
    return Schedule(
        lanes=vector_bytes // element_bytes,
        segment=SEGMENT_BYTES // element_bytes,
        register_lanes=register_lanes,
        cells=cells,
        streams=streams,
        narrows=narrows,
        prefetches=is_large if preferences.prefetch is None else preferences.prefetch != "none",
        threads=target.team if target.threads else 0,
        panels=target.panels and streams,
        stream_bytes=stream_bytes,
        parts_bytes=stream_bytes,
        processor=processor,
        preferences=preferences,
    )


def in_caches(schedule: Schedule) -> Schedule:
    """The same for a copy that is known to be small."""
    return replace(schedule, streams=False, prefetches=False, panels=False, narrows=False, register_lanes=0)


def staying_in_caches(schedule: Schedule) -> Schedule:
    """The same for a copy that a kernel finds to be small when it runs."""
    return replace(schedule, streams=False, prefetches=False, trusts_lines=False, narrows=schedule.has_line_vectors)


def of_shorter_tiles(schedule: Schedule) -> Iterator[Schedule]:
    """
    The schedules for unknown extents that hold no tile of this one, the longest tiles first.

    Tiles first take as many steps as a vector has elements, then half as many; shorter ones are of shorter vectors.
    """
    lanes = schedule.register_lanes or schedule.lanes
    usual = in_caches(schedule)
    sizes = [(lanes, lanes), (lanes, lanes // 2)]
    if lanes > SHORT_LANES:
        sizes += [(SHORT_LANES, steps) for steps in (SHORT_LANES, SHORT_LANES // 2) if steps < lanes // 2]
    if schedule.short_extent is not None:
        sizes.append((min(lanes, SHORT_LANES), LEAST_STEPS_OF_SHORT))
    least = LEAST_STEPS if schedule.short_extent is None else LEAST_STEPS_OF_SHORT
    longest = schedule.most_steps
    for vector, steps in sizes:
        if steps >= least and (longest is None or steps < longest):
            yield replace(usual, lanes=vector, most_steps=steps)


def streamed_stores(box: Box, tile: Tile, schedule: Schedule) -> frozenset[int]:
    """Offsets in the destination of a tile's stores that bypass the caches."""
    if not schedule.streams:
        return frozenset()
    if isinstance(tile, LineCopy):
        return tile.streamed
    if schedule.trusts_lines or writes_whole_lines(box, tile, schedule.lanes):
        return frozenset(store.offset for store in tile.network.stores)
    return frozenset()


def writes_whole_lines(box: Box, tile: Tile, lanes: int) -> bool:
    """
    Whether every store of every tile is a whole line of the destination, at a multiple of a line.

    Streaming parts of a line is far slower than an ordinary store: the line is fetched and written several times.
    """
    return all(start % lanes == 0 for start in line_starts(box, tile)) and all(
        store.lanes == lanes for store in tile.network.stores
    )


def covers_whole_lines(box: Box, tile: Tile, lanes: int) -> bool:
    """Whether tiles write whole lines of the destination, be it in several stores; all but the last along an axis."""
    if any(is_symbolic(store.offset) for store in tile.network.stores):
        return False
    covered = {store.offset + lane for store in tile.network.stores for lane in range(store.lanes)}
    return all(is_multiple(start, lanes) for start in destination_starts(box, tile)) and all(
        line in covered and all(line + lane in covered for lane in range(lanes))
        for line in {offset // lanes * lanes for offset in covered}
    )


def axes_of_tile(box: Box, tile: Tile) -> list[Axis]:
    """The axes of which a tile takes more than one step."""
    return [axis for axis, steps in zip(box.axes, tile.extents, strict=True) if steps > 1]


def line_starts(box: Box, tile: Tile) -> list[int]:
    """Offsets in the destination of which all places of stores are sums of multiples."""
    moved_back = [
        axis.destination_stride * (axis.extent - steps)
        for axis, steps in zip(box.axes, tile.extents, strict=True)
        if axis.extent > steps
    ]
    return [*destination_starts(box, tile), *moved_back, *(store.offset for store in tile.network.stores)]


def destination_starts(box: Box, tile: Tile) -> list[int]:
    """Offsets in the destination of which the places of all tiles are sums of multiples, but for the last ones'."""
    strides = [axis.destination_stride for axis in box.axes]
    return [constant_value(box.destination_offset), *_steps_between(box, tile, strides)]


def source_starts(box: Box, tile: Tile) -> list[int]:
    """The same in the source."""
    return [constant_value(box.source_offset), *_steps_between(box, tile, [axis.source_stride for axis in box.axes])]


def _steps_between(box: Box, tile: Tile, strides: Sequence[int]) -> list[int]:
    return [
        stride * steps
        for axis, steps, stride in zip(box.axes, tile.extents, strides, strict=True)
        if axis.extent > steps
    ]
