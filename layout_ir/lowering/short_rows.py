"""
What tiles ask for where rows of either side follow each other, and only a call tells how long they are.

Along long rows they ask a few lines ahead. Behind the end of a short one lies what they have read or written: they ask
for what lies behind all of their rows then, as far as that stays in a cache until it is used.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.shuffle_network import Load, Store
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.line_sequences import BYTES_ON_THE_WAY
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.request_model import PAGE_LINES
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.source_prefetching import MIXED_BYTES


def place_ahead(
    builder: LoopBuilder, tile: Tile, source: SSAValue, size: int, level: LoopLevel, schedule: Schedule
) -> SSAValue:
    """
    The place whose tile is asked for by the one at the place `source`; all of it lies within the `size` elements.

    Its distance is no number of pages, as lines so far apart compete for the few places of one set.
    """
    loads = tile.network.loads
    rows, page, together = len(loads), PAGE_LINES * schedule.lanes, AffineExpr.dimension(0)
    row = min(MIXED_BYTES * schedule.lanes // LINE_BYTES // rows, schedule.processor.row_distances * level.prefetch)
    length = builder.constant(level.rows_together)
    are_short = builder.compare(length, "ule", builder.constant(level.together_at_most or row * rows))
    behind = builder.index((together + (page - 1)) // page * page + page // 2, [length])
    ahead = builder.constant(level.prefetch)
    if level.near:
        rest = builder.index(together % level.near_unit, [length])
        are_near = [
            builder.compare(rest, "eq", builder.constant(0)),
            builder.compare(length, "uge", builder.constant(2 * PAGE_LINES * level.near_unit)),
        ]
        ahead = builder.select(builder.all_hold(are_near), builder.constant(level.near), ahead)
    return place_behind(builder, loads, source, size, builder.select(are_short, behind, ahead))


def written_place_ahead(
    builder: LoopBuilder, tile: Tile, destination: SSAValue, size: int, together: int, ahead: int, schedule: Schedule
) -> SSAValue:
    """
    The place that the tile at the place `destination` asks for, to be written: `ahead` of it, or farther in short rows.

    Those that tiles write before they are done with any are `together` elements. On Emerald Rapids images of 7 x 7 and
    14 x 14 in the caches are 1.07 to 1.5 times as fast so; where only the rows of one tile were counted, images of 14 x
    14 in f32 were asked for too far ahead, and took 1.2 to 1.6 times as long as with their size known.
    """
    most = builder.constant(schedule.processor.few_mixed_lines * schedule.lanes)
    are_short = builder.compare(builder.constant(together), "ule", most)
    on_the_way = builder.constant(BYTES_ON_THE_WAY * schedule.lanes // LINE_BYTES)
    distance = builder.select(are_short, on_the_way, builder.constant(ahead))
    return place_behind(builder, tile.network.stores, destination, size, distance)


def step_distance(builder: LoopBuilder, level: LoopLevel, schedule: Schedule) -> SSAValue:
    """
    How far ahead a tile asks where panels take steps, or parts of them: a step, or what is on the way if that is more.

    What is asked for a large step ahead is gone when the next one begins; then it is the next part.
    """
    steps_apart = builder.constant(level.steps_apart)
    least = builder.constant(BYTES_ON_THE_WAY * schedule.lanes // LINE_BYTES)
    distance = builder.insert(arith.MaxUIOp(steps_apart, least)).results[0]
    if not level.parts_apart:
        return distance
    is_small = builder.compare(steps_apart, "ule", builder.constant(level.step_at_most))
    return builder.select(is_small, distance, builder.constant(level.parts_apart))


def place_behind(
    builder: LoopBuilder, accesses: Sequence[Load] | Sequence[Store], place: SSAValue, size: int, distance: SSAValue
) -> SSAValue:
    """The place so far behind another, or the last one all of whose accesses lie within the `size` elements."""
    return place_inside(builder, accesses, builder.insert(arith.AddiOp(place, distance)).results[0], size)


def place_inside(
    builder: LoopBuilder, accesses: Sequence[Load] | Sequence[Store], place: SSAValue, size: int
) -> SSAValue:
    """A place, or the last one all of whose accesses lie within the `size` elements."""
    return builder.minimum(place, size - max(access.offset + access.lanes for access in accesses))
