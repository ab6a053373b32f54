"""One box of a plan as loops over tiles that go through vector registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from xdsl.dialects.affine import ApplyOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.layouts import affine
from layout_ir.layouts.plan import Box
from layout_ir.layouts.tile import Tile, loose_pads
from layout_ir.lowering.box_loops import Buffers, emit_box
from layout_ir.lowering.destination_prefetching import asks_both_lines, destination_ahead, rows_written_together
from layout_ir.lowering.filled_apart import parts_with_tiles
from layout_ir.lowering.level_loops import level_loops
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.loop_order import in_reading_order, loop_levels
from layout_ir.lowering.row_requests import RowRequests
from layout_ir.lowering.schedule import Schedule, in_caches, streamed_stores
from layout_ir.lowering.share_of_requests import Share
from layout_ir.lowering.short_extents import (
    ShortBox,
    deciding_extent,
    emit_by_length,
    for_short_extents,
    own_lengths,
    short_boxes,
    unknown_lengths,
    with_short_loops_outside,
)
from layout_ir.lowering.short_rows import place_ahead, place_behind, place_inside, step_distance, written_place_ahead
from layout_ir.lowering.source_prefetching import times_asked
from layout_ir.lowering.tile_choice import cached_tile_of_unknown, shorter_tiles
from layout_ir.lowering.tile_code import Ahead, TileCode
from layout_ir.lowering.tile_functions import emit_shared
from layout_ir.lowering.tile_guards import Guards


def emit_part(builder: LoopBuilder, part: Box, buffers: Buffers, schedule: Schedule) -> None:
    """The loops of a box: tile by tile, or scalar loops where they are as good."""
    for box, tile in parts_with_tiles(part, schedule, buffers.source_size, buffers.pad is not None):
        _emit_whole(builder, box, tile, buffers, schedule)


def _emit_whole(builder: LoopBuilder, part: Box, tile: Tile | None, buffers: Buffers, schedule: Schedule) -> None:
    """The loops of a box that its tile moves wherever it starts."""
    if tile is None or (part.is_padded and buffers.pad is None):
        emit_box(builder, in_reading_order(part, schedule), buffers, schedule.threads > 0)
    elif builder.unknown is not None:
        guards = Guards(builder, builder.unknown, part, tile, buffers)
        guards.emit(
            schedule,
            partial(_emit_unknown, builder, part, tile, buffers),
            partial(_emit_short, builder, part, tile, buffers, schedule),
        )
    else:
        _emit_tiles(builder, part, tile, buffers, schedule)


def _emit_short(builder: LoopBuilder, part: Box, tile: Tile, buffers: Buffers, schedule: Schedule) -> None:
    """The loops of a box whose extents do not hold `tile`: by shorter ones, or scalar where there are none."""
    assert builder.unknown is not None
    symbols = builder.unknown.symbols
    schedule = for_short_extents(part, tile, schedule, symbols)
    shorter = shorter_tiles(part, tile, schedule, buffers.source_size) if schedule.moves_short else None

    def emit_longer() -> None:
        if shorter is None:
            emit_box(builder, with_short_loops_outside(part, tile), buffers, schedule.threads > 0)
        else:
            emit_part(builder, part, buffers, shorter)

    extent = deciding_extent(part, tile, schedule.long_extents, symbols)
    if extent is None or schedule.most_steps is not None or not schedule.moves_short:
        emit_longer()
        return
    boxes = list(short_boxes(part, buffers, extent, symbols, own_lengths(extent, symbols)))

    decides_alone = set(unknown_lengths(part, tile)) <= {extent, *schedule.long_extents}

    def emit_short(short: ShortBox) -> None:
        emit_part(builder, short.box, short.buffers, _schedule_of(short, schedule, moves_short=decides_alone))

    emit_by_length(builder, extent, boxes, emit_short, emit_longer)


def _schedule_of(short: ShortBox, schedule: Schedule, *, moves_short: bool) -> Schedule:
    """
    The schedule for one length: past the caches only where tiles write whole lines, as no panels are made for it.

    `moves_short`: whether another extent may be short too, as the number of images of one pixel. Where a tile needed
    both, there is little to move then.
    """
    usual = replace(schedule, panels=False, leaves_parts=True, cells=short.buffers.cells, moves_short=moves_short)
    return in_caches(usual) if schedule.register_lanes else usual


def _emit_unknown(builder: LoopBuilder, part: Box, tile: Tile, buffers: Buffers, schedule: Schedule) -> None:
    """The tiles of a box of unknown extents, into which `tile` fits, for one of the cases that a kernel tells apart."""
    chosen = cached_tile_of_unknown(part, tile, schedule, buffers.source_size) if schedule.narrows else tile
    _emit_tiles(builder, part, chosen, buffers, schedule)


def _emit_tiles(builder: LoopBuilder, box: Box, tile: Tile, buffers: Buffers, schedule: Schedule) -> None:
    assert not loose_pads(box, tile), "expected tiles that copy or pad wherever they are"
    levels = [
        replace(level, is_even=box.axes[level.axis].extent in schedule.multiples and schedule.lanes % level.step == 0)
        for level in loop_levels(box, tile, schedule)
    ]
    with level_loops(builder, box, levels, {}) as starts:
        TileEmitter(builder, buffers, schedule).emit(box, tile, starts, levels)


def tile_place(builder: LoopBuilder, index: AffineExpr, starts: Mapping[int, SSAValue], hint: str) -> SSAValue:
    """Where a tile starts by an index over all axes; those without a start are at their first step."""
    positions = sorted(starts)
    indices = [starts[i] for i in positions]
    values: list[AffineExpr] = [AffineExpr.constant(0)] * (max([*index.used_dims(), *positions, -1]) + 1)
    for number, i in enumerate(positions):
        values[i] = AffineExpr.dimension(number)
    place = builder.index(affine.simplify(affine.substitute(index, values), [1 << 62] * len(indices)), indices)
    if isinstance(place.owner, ApplyOp):
        place.name_hint = hint
    return place


@dataclass(frozen=True)
class TileEmitter:
    """Emits the straight-line code of tiles."""

    builder: LoopBuilder
    buffers: Buffers
    schedule: Schedule

    def emit(
        self,
        box: Box,
        tile: Tile,
        starts: Mapping[int, SSAValue],
        levels: Sequence[LoopLevel],
        asked: Mapping[int, SSAValue] | None = None,
    ) -> None:
        """The straight-line code of one tile; `asked`: where the tile starts whose source it asks for."""
        source, destination = (
            tile_place(self.builder, index, starts, hint)
            for index, hint in ((box.source_index(), "from"), (box.destination_index(), "to"))
        )
        rows = next((level.rows for level in levels if level.rows is not None), None)
        if rows is not None:
            RowRequests(self.builder, box, tile, rows, self.schedule).emit(self.buffers.source, starts, levels)
        ahead = self.ahead(box, tile, levels, destination_ahead(box, tile, levels, self.schedule))
        share = next((level.share for level in levels if level.share is not None), None)
        if share is not None and self.buffers.source_size:
            place = self._place_of_share(box, share, starts)
            ahead = replace(ahead, offsets=share.offsets, is_far=True)
        elif asked is not None:
            place = self._place_of(box, tile, asked)
        else:
            place = self._asked_place(tile, source, levels)
        written = self._written_place(box, tile, levels, destination, ahead)
        ahead = replace(ahead, place=place, is_spread=asked is not None, written=written)
        self.straight_line(box, tile, (source, destination), ahead)

    def _place_of(self, box: Box, tile: Tile, asked: Mapping[int, SSAValue]) -> SSAValue:
        """The place of the source where another tile starts; all of it lies inside."""
        place = tile_place(self.builder, box.source_index(), asked, "ahead")
        return place_inside(self.builder, tile.network.loads, place, self.buffers.source_size)

    def _place_of_share(self, box: Box, share: Share, starts: Mapping[int, SSAValue]) -> SSAValue:
        """The place of the source where a share begins; all of it lies inside."""
        place = tile_place(self.builder, share.place(box.source_index()), starts, "ahead")
        return self.builder.minimum(place, self.buffers.source_size - max(share.offsets) - 1)

    def _asked_place(self, tile: Tile, source: SSAValue, levels: Sequence[LoopLevel]) -> SSAValue | None:
        """The place whose tile is asked for where only a kernel that runs knows how far ahead it is."""
        size = self.buffers.source_size
        for level in levels if size else ():
            if level.rows_together:
                return place_ahead(self.builder, tile, source, size, level, self.schedule)
            if level.steps_apart:
                distance = step_distance(self.builder, level, self.schedule)
                return place_behind(self.builder, tile.network.loads, source, size, distance)
        return None

    def _written_place(
        self, box: Box, tile: Tile, levels: Sequence[LoopLevel], destination: SSAValue, ahead: Ahead
    ) -> SSAValue | None:
        """The same of the destination."""
        together = rows_written_together(box, tile, levels) if self.schedule.narrows and ahead.destination else 0
        if not together:
            return None
        size = self.buffers.destination_size
        return written_place_ahead(self.builder, tile, destination, size, together, ahead.destination, self.schedule)

    def ahead(self, box: Box, tile: Tile, levels: Sequence[LoopLevel], destination: int) -> Ahead:
        """What a tile asks for ahead of time."""
        asking = next(
            (level for level in levels if level.prefetch or level.steps_apart or level.tiles), LoopLevel(0, 1)
        )
        is_far = asking.is_far or self._asks_second_level(tile, levels)
        both_lines = asks_both_lines(box, tile, self.schedule)
        times = 1 if asking.is_asked_for else times_asked(box, tile, self.schedule)
        return Ahead(asking.prefetch, destination, is_far, times, both_lines)

    def _asks_second_level(self, tile: Tile, levels: Sequence[LoopLevel]) -> bool:
        """Whether what a tile asks for ahead of its loads comes into a second level cache, if nothing else decides."""
        processor = self.schedule.processor
        in_block = max((level.inside // level.step for level in levels if level.inside is not None), default=1)
        is_near = self.schedule.streams and len(tile.network.loads) * in_block <= processor.near_loads
        return processor.asks_second_level and not is_near

    def straight_line(self, box: Box, tile: Tile, places: tuple[SSAValue, SSAValue], ahead: Ahead) -> None:
        """The code of one tile, or the call of a function that has it."""
        streamed = streamed_stores(box, tile, self.schedule)
        code = TileCode(self.builder, self.buffers, self.schedule, ahead)
        if not emit_shared(code, tile.network, places, streamed):
            code.emit(tile.network, places, streamed)
