"""Boxes that share lines, those of a large source or of a destination in the caches, inside of common loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.line_copy import LineCopy
from layout_ir.layouts.panel_choice import SHARED_TRIPS
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.plan_rewrites import cut_box, merge_pads
from layout_ir.layouts.shared_walk import SharedWalk, Sharing, Side, sharing, walk_together
from layout_ir.layouts.tile import WORTHWHILE, Tile, loose_pads, walked_cells
from layout_ir.layouts.tiling import within_storage
from layout_ir.lowering.box_loops import Buffers, emit_box
from layout_ir.lowering.filled_apart import filled_apart, parts_with_tiles
from layout_ir.lowering.level_loops import level_loops, part_loop
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.loop_order import loop_levels
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.shared_loops import keeps_lines_apart
from layout_ir.lowering.tile_choice import tile_of
from layout_ir.lowering.tile_loops import TileEmitter

DEAR_WALK = {Side.SOURCE: 1.0001, Side.DESTINATION: 1.6}
"""
How many times the instructions for a cell, at most, boxes in the caches take together that share lines of a side.

Inside of common loops there may be no tile, or a shorter one. Boxes that read the same lines may only differ by what
sums are rounded to: on Granite Rapids ba -> BA16a64b and ab -> AB16b64a2b of 1000 x 1000 bytes, 1.14 and 1.006 times as
dear together, would be 0.52 and 0.59 times as fast as one by one. The second limit changes 11 of 2108 random reorders
to and from blocks; they are 1.08 times as fast for it in the mean, 0.95 to 1.42 times. Measured on no other processor.
"""


@dataclass(frozen=True)
class TiledWalk:
    """A walk with the tiles of its boxes."""

    walk: SharedWalk

    tiles: tuple[Tile | None, ...]
    """None where scalar loops are as good."""

    order: tuple[int, ...]
    """The common axes, outermost loop first: that one threads share."""

    @property
    def cost(self) -> float:
        """Estimated instructions for a cell."""
        boxes = [self.walk.inner(position) for position in range(len(self.tiles))]
        return _cost_of(list(zip(boxes, self.tiles, strict=True)))

    def tile(self, position: int) -> Tile | None:
        """The tile of a box, as one of the box with its common axes."""
        tile = self.tiles[position]
        return None if tile is None else replace(tile, extents=(*[1] * self.walk.shared, *tile.extents))

    def levels(self, position: int, schedule: Schedule) -> list[LoopLevel]:
        """The loops around the tile of a box: the common ones, then its own."""
        tile = self.tiles[position]
        own = [] if tile is None else loop_levels(self.walk.inner(position), tile, replace(schedule, threads=0))
        return [
            *(LoopLevel(i, 1) for i in self.order),
            *(level.behind(self.walk.shared) for level in own),
        ]

    @property
    def axes(self) -> list[Axis]:
        """The axes of the common loops, outermost first."""
        return [self.walk.boxes[0].axes[i] for i in self.order]


def with_walks(boxes: Sequence[Box], schedule: Schedule, source_size: int, writes_pads: bool) -> list[TiledWalk | Box]:
    """The boxes that go together as walks, and all others by themselves."""
    width = LINE_BYTES // schedule.lanes
    if not (schedule.prefetches or schedule.narrows) or not schedule.has_line_vectors:
        return list(map(merge_pads, boxes))
    sides = (Side.DESTINATION, Side.SOURCE) if schedule.narrows else (Side.SOURCE,)
    left: list[Box] = list(boxes)
    result: list[TiledWalk | Box] = []
    for side in sides:
        alone: list[Box] = []
        for together in sharing(left, width, side):
            found = _best_walk(together, schedule, source_size, writes_pads)
            if found is None:
                alone += together.boxes
            else:
                result += [found[0], *map(merge_pads, found[1])]
        left = alone
    return [*result, *map(merge_pads, left)]


def _best_walk(
    together: Sharing, schedule: Schedule, source_size: int, writes_pads: bool
) -> tuple[TiledWalk, list[Box]] | None:
    """
    The walk of some boxes with what it leaves, None where they had better go one by one.

    In the caches one may end before the last steps: with more of the source behind them, tiles load what they do not
    need. A large copy waits for memory in any case.
    """
    best: tuple[TiledWalk, list[Box]] | None = None
    for leaving in (0, 1) if schedule.narrows else (0,):
        found = walk_together(together, LINE_BYTES // schedule.lanes, leaving)
        tiled = None if found is None else _tiled(found[0], schedule, source_size, writes_pads)
        if found is not None and tiled is not None and (best is None or tiled.cost < best[0].cost):
            best = tiled, found[1]
    if best is None or (schedule.narrows and not _pays(best[0], together, schedule, source_size, writes_pads)):
        return None
    return best


def _pays(tiled: TiledWalk, together: Sharing, schedule: Schedule, source_size: int, writes_pads: bool) -> bool:
    """Whether boxes in the caches are not too dear together, beside what they are one by one."""
    parts = [parts_with_tiles(box, schedule, source_size, writes_pads) for box in together.boxes]
    alone = _cost_of([part for found in parts for part in found])
    return tiled.cost <= DEAR_WALK[together.side] * alone


def _cost_of(parts: Sequence[tuple[Box, Tile | None]]) -> float:
    """Estimated instructions for a cell of boxes with their tiles."""
    costs = [WORTHWHILE if tile is None else tile.cost * walked_cells(box, tile) for box, tile in parts]
    cells = [box.cells for box, _ in parts]
    return sum(cost * count for cost, count in zip(costs, cells, strict=True)) / sum(cells)


def emit_walk(builder: LoopBuilder, tiled: TiledWalk, buffers: Buffers, schedule: Schedule) -> None:
    """The common loops, and in them those of every box."""
    walk = tiled.walk
    with ExitStack() as loops:
        common: dict[int, SSAValue] = {}
        for number, i in enumerate(tiled.order):
            axis = walk.boxes[0].axes[i]
            is_parallel = schedule.threads > 0 and number == 0
            common[i] = loops.enter_context(part_loop(builder, axis, is_parallel=is_parallel))
        for position in range(len(tiled.tiles)):
            _emit_inner(builder, tiled, position, common, buffers, schedule)


def _emit_inner(
    builder: LoopBuilder,
    tiled: TiledWalk,
    position: int,
    common: dict[int, SSAValue],
    buffers: Buffers,
    schedule: Schedule,
) -> None:
    box, tile = tiled.walk.boxes[position], tiled.tile(position)
    if tile is None:
        emit_box(builder, box, buffers, started=[common[i] for i in range(tiled.walk.shared)])
        return
    levels = tiled.levels(position, schedule)
    with level_loops(builder, box, levels[tiled.walk.shared :], common) as starts:
        TileEmitter(builder, buffers, schedule).emit(box, tile, starts, levels)


def _tiled(walk: SharedWalk, schedule: Schedule, source_size: int, writes_pads: bool) -> TiledWalk | None:
    """
    The walk with its tiles; None where no box has one, or one of a large copy has none, or threads would share lines.
    """
    boxes, tiles = zip(*_with_tiles(walk, schedule, source_size, writes_pads), strict=True)
    if all(tile is None for tile in tiles) or (schedule.prefetches and None in tiles):
        return None
    order = list(range(walk.shared))
    if schedule.threads:
        shared = next((i for i in order if _can_be_shared(walk, i, schedule.lanes)), None)
        if shared is None:
            return None
        order = [shared, *(i for i in order if i != shared)]
    return TiledWalk(replace(walk, boxes=boxes), tiles, tuple(order))


def _with_tiles(
    walk: SharedWalk, schedule: Schedule, source_size: int, writes_pads: bool
) -> Iterator[tuple[Box, Tile | None]]:
    """The boxes of a walk with their tiles, as parts where pads without one are filled by vectors."""
    left = list(walk.boxes)
    while left:
        box = left.pop(0)
        inner, size = within_storage(box, replace(box, axes=box.axes[walk.shared :]), source_size)
        own = replace(schedule, cells=inner.cells)
        tile = tile_of(inner, own, size)
        if tile is not None and (loose_pads(inner, tile) or (box.is_padded and not writes_pads)):
            tile = None
        if isinstance(tile, LineCopy) and any(
            axis.destination_stride % schedule.lanes for axis in box.axes[: walk.shared]
        ):
            tile = None  # it does not know of the common loops, in which its lines would be no lines
        apart = filled_apart(inner, own, size) if tile is None and writes_pads else None
        if apart is None:
            yield box, tile
        else:
            position = walk.shared + apart
            left = [*cut_box(box, position, box.axes[position].valid), *left]


def _can_be_shared(walk: SharedWalk, i: int, lanes: int) -> bool:
    """Whether threads that share the loop over a common axis write no line together, and have enough to share."""
    return walk.boxes[0].axes[i].extent >= SHARED_TRIPS and all(
        box.axes[i].destination_stride % lanes == 0 and keeps_lines_apart(box, i, lanes) for box in walk.boxes
    )
