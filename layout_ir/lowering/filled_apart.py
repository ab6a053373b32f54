"""Boxes with pads that are better moved in parts: elements by themselves, and what is behind them filled by vectors."""

from __future__ import annotations

from collections.abc import Iterator

from layout_ir.layouts.panel_group import is_regular
from layout_ir.layouts.plan import Box
from layout_ir.layouts.plan_rewrites import cut_box
from layout_ir.layouts.tile import Tile, loose_pads
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.tile_choice import tile_of


def parts_with_tiles(
    box: Box, schedule: Schedule, source_size: int, writes_pads: bool
) -> Iterator[tuple[Box, Tile | None]]:
    """A box with its tile, or its parts with theirs; None where scalar loops are as good."""
    tile = tile_of(box, schedule, source_size)
    if tile is not None:
        # boxes are cut for whole vectors, and shorter ones may leave pads to themselves
        at = next(iter(loose_pads(box, tile)), None)
    else:
        at = filled_apart(box, schedule, source_size) if writes_pads else None
    if at is None:
        yield box, tile
        return
    for part in cut_box(box, at, box.axes[at].valid):
        yield from parts_with_tiles(part, schedule, source_size, writes_pads)


def filled_apart(box: Box, schedule: Schedule, source_size: int) -> int | None:
    """
    The first axis of a box without a tile behind whose elements vectors fill pads; None where there are no such pads.

    On Emerald Rapids, of 500 random reorders to blocks that are mostly pads, 17 are 1.21 times as fast so in the mean,
    0.85 to 3.3 times; seven of them by two threads 1.4 times, 0.98 to 2.6.
    """
    if not is_regular(box):
        return None  # steps that lie anywhere are not cut
    for i, axis in enumerate(box.axes):
        if 0 < axis.valid < axis.extent and tile_of(cut_box(box, i, axis.valid)[1], schedule, source_size) is not None:
            return i
    return None
