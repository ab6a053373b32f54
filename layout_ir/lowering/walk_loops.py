"""Boxes that read the same lines of a large source, as tiles inside of common loops."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from layout_ir.layouts.panel_choice import SHARED_TRIPS
from layout_ir.layouts.panel_steps import LINE_BYTES
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.shared_walk import SharedWalk, sharing, walk_together
from layout_ir.layouts.tiling import Tile, within_storage
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.loop_order import keeps_lines_apart, loop_levels
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.tile_choice import tile_of
from layout_ir.lowering.tile_loops import TileEmitter, level_loop


@dataclass(frozen=True)
class TiledWalk:
    """A walk with the tile of every box."""

    walk: SharedWalk

    tiles: tuple[Tile, ...]

    order: tuple[int, ...]
    """The common axes, outermost loop first: that one threads share."""

    @property
    def axes(self) -> list[Axis]:
        """The axes of the common loops, outermost first."""
        return [self.walk.boxes[0].axes[i] for i in self.order]


def with_walks(boxes: Sequence[Box], schedule: Schedule, source_size: int, writes_pads: bool) -> list[TiledWalk | Box]:
    """The boxes of a large source that tiles can copy together as walks, and all others as they are."""
    width = LINE_BYTES // schedule.lanes
    if not schedule.prefetches or not schedule.has_line_vectors:
        return list(boxes)
    result: list[TiledWalk | Box] = []
    for together in sharing(boxes, width):
        found = walk_together(together, width) if len(together) > 1 else None
        tiled = None if found is None else _tiled(found[0], schedule, source_size, writes_pads)
        result += list(together) if found is None or tiled is None else [tiled, *found[1]]
    return result


def emit_walk(builder: LoopBuilder, tiled: TiledWalk, buffers: Buffers, schedule: Schedule) -> None:
    """The common loops, and in them those of every box."""
    walk = tiled.walk
    with ExitStack() as loops:
        common: dict[int, SSAValue] = {}
        for number, i in enumerate(tiled.order):
            axis = walk.boxes[0].axes[i]
            bounds = builder.constant(0), builder.constant(axis.extent)
            is_parallel = schedule.threads and number == 0
            common[i] = loops.enter_context(builder.loop_between(*bounds, f"{axis.name}_part", 1, is_parallel))
        for position, tile in enumerate(tiled.tiles):
            _emit_inner(builder, walk, position, tile, common, buffers, replace(schedule, threads=False))


def _emit_inner(
    builder: LoopBuilder,
    walk: SharedWalk,
    position: int,
    tile: Tile,
    common: dict[int, SSAValue],
    buffers: Buffers,
    schedule: Schedule,
) -> None:
    inner = walk.inner(position)
    count = len(inner.axes)
    box = replace(inner, axes=(*inner.axes, *walk.boxes[position].axes[: walk.shared]))
    whole = replace(tile, extents=(*tile.extents, *[1] * walk.shared))
    levels = loop_levels(inner, tile, schedule)
    with ExitStack() as loops:
        starts = {count + i: value for i, value in common.items()}
        for level in levels:
            starts[level.axis] = loops.enter_context(level_loop(builder, inner.axes[level.axis], level, starts))
        TileEmitter(builder, buffers, schedule).emit(box, whole, starts, levels)


def _tiled(walk: SharedWalk, schedule: Schedule, source_size: int, writes_pads: bool) -> TiledWalk | None:
    """The walk with its tiles; None where a box has none, or threads could not share it without sharing lines."""
    tiles: list[Tile] = []
    for position, box in enumerate(walk.boxes):
        inner, size = within_storage(box, walk.inner(position), source_size)
        tile = tile_of(inner, schedule, size)
        if tile is None or (box.is_padded and not writes_pads):
            return None
        tiles.append(tile)
    order = list(range(walk.shared))
    if schedule.threads:
        shared = next((i for i in order if _can_be_shared(walk, i, schedule.lanes)), None)
        if shared is None:
            return None
        order = [shared, *(i for i in order if i != shared)]
    return TiledWalk(walk, tuple(tiles), tuple(order))


def _can_be_shared(walk: SharedWalk, i: int, lanes: int) -> bool:
    """Whether threads that share the loop over a common axis write no line together, and have enough to share."""
    return walk.boxes[0].axes[i].extent >= SHARED_TRIPS and all(
        box.axes[i].destination_stride % lanes == 0 and keeps_lines_apart(box, i, lanes) for box in walk.boxes
    )
