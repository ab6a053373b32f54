"""Small copies, which one thread has made before others are awake."""

from __future__ import annotations

from dataclasses import replace

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.plan import Box, CopyPlan
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.target import Target
from layout_ir.lowering.tile_choice import tile_of


def for_threads_that_pay(
    schedule: Schedule, target: Target, plan: CopyPlan, source_size: int, element_bytes: int
) -> Schedule:
    """The schedule of a plan; for one thread where all sizes are known and others do not pay."""
    if not schedule.threads or plan.unknown is not None:
        return schedule
    if sum(_bytes_by_tiles(box, element_bytes) for box in plan.boxes) >= target.share_bytes:
        return schedule
    moved = sum(
        _bytes_by_elements(box) if tile_of(box, schedule, source_size) is None else _bytes_by_tiles(box, element_bytes)
        for box in plan.boxes
    )
    return schedule if moved >= target.share_bytes else replace(schedule, threads=0)


def threads_pay_for_elements(target: Target, plan: CopyPlan) -> bool:
    """Whether threads are to share scalar loops over all boxes of a plan, as they are where sizes are not known."""
    if plan.unknown is not None:
        return target.threads
    return target.threads and sum(map(_bytes_by_elements, plan.boxes)) >= target.share_bytes


def _bytes_by_tiles(box: Box, element_bytes: int) -> int:
    """What tiles read and write."""
    return (box.cells + box.elements) * element_bytes


def _bytes_by_elements(box: Box) -> int:
    """What a box counts as that is copied element by element: each takes about as long as tiles take for a line."""
    return box.cells * LINE_BYTES
