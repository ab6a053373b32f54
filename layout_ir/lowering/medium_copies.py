"""Copies that leave a near cache, but not the last one: which of them had better go past the caches all the same."""

from __future__ import annotations

from dataclasses import dataclass, replace

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.plan import Box, CopyPlan
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.lowering.destination_prefetching import destination_ahead
from layout_ir.lowering.loop_order import PADS, loop_levels
from layout_ir.lowering.parts import Part, split
from layout_ir.lowering.processor_families import MODELS
from layout_ir.lowering.processor_model import ProcessorModel
from layout_ir.lowering.schedule import Schedule, axes_of_tile, choose_schedule
from layout_ir.lowering.target import Target
from layout_ir.lowering.tile_choice import tile_of

SMALL_PART = 16
"""Parts with less than one in so many cells of a copy, as what is left behind whole blocks, go like the others."""


@dataclass(frozen=True)
class AtLines:
    """How a copy goes to a destination that begins at a line."""

    schedule: Schedule
    parts: tuple[Part, ...]
    """All boxes of the plan, as they are moved with this schedule."""


def schedule_at_lines(
    target: Target, plan: CopyPlan, element_bytes: int, cells: int, elements: int, source_size: int, writes_pads: bool
) -> AtLines | None:
    """
    How a plan that writes `cells` and reads `elements` goes past the caches to a destination at a line; None if not so.

    Where threads share a copy, each has a near cache of its own, and how many there are is not known.
    """
    is_chosen = target.stream_bytes is not None or target.preferences.streams is not None
    if is_chosen or target.threads or not target.panels or plan.unknown is not None:
        return None
    if not _is_medium(plan, MODELS[target.processor], element_bytes, cells, elements):
        return None
    schedule = choose_schedule(replace(target, stream_bytes=1), element_bytes, cells, elements)
    usual = choose_schedule(target, element_bytes, cells, elements)
    # what a third level cache delivers need not be asked for into the second one, and can as well be gone through again
    schedule = replace(schedule, processor=replace(schedule.processor, asks_second_level=False, together_bytes=0))
    if not schedule.streams:
        return None
    parts: list[Part] = []
    for part in split(plan.boxes, source_size, schedule, writes_pads):
        is_large = sum(box.cells for box in part.group.boxes) * SMALL_PART >= cells
        if is_large and not _writes_lines(part, schedule, usual, source_size):
            return None
        parts.append(part)
    return AtLines(schedule, tuple(parts))


def _is_medium(plan: CopyPlan, processor: ProcessorModel, element_bytes: int, cells: int, elements: int) -> bool:
    """
    Whether a plan's size alone lets it go past the caches, although it is not large; none that writes pads above all.

    Such copies little but write: how a third level cache, which others share, keeps up with memory decides about them.
    Past the caches 850 copies of random shapes, of 4 to 24 MiB, have been 0.91 times as fast in the mean on Granite
    Rapids, 0.53 to 6.9 times, and on another day 520 of 4 to 20 MiB 1.2 times.
    """
    least = processor.medium_bytes
    if least is None or cells * element_bytes >= processor.stream_bytes or _is_mostly_pads(cells, elements):
        return False
    both_sides = cells + _elements_fetched(plan, element_bytes)
    return both_sides * element_bytes // 2 >= least  # smaller ones share a near cache


def _is_mostly_pads(cells: int, elements: int) -> bool:
    """Whether a destination of so many cells is pads above all."""
    return PADS * elements < cells


def _elements_fetched(plan: CopyPlan, element_bytes: int) -> int:
    """
    How many elements the lines of the source hold that a copy reads some of: short gaps between rows come with them.

    With these counted, of 180 copies from blocks with unused channels, of 0.8 to 1.4 MiB, 42 go past the caches on
    Emerald Rapids: 1.09 and 1.14 times as fast in the mean of two runs, 0.71 to 1.47 times. Rows of 56 bytes with gaps
    of 64 are 1.33 to 1.46 times as fast.
    """
    line = LINE_BYTES // element_bytes
    found: dict[int, tuple[int, int]] = {}
    for box in plan.boxes:
        if box.is_fill:
            continue
        run, pitch = _source_row(box)
        rows = box.elements // run
        elements, most = found.get(pitch, (0, 0))
        found[pitch] = elements + rows * max(min(pitch, run + line), run), max(most, rows)
    # boxes that take parts of the same rows fetch no more than these
    return sum(min(elements, most * pitch) if pitch else elements for pitch, (elements, most) in found.items())


def _source_row(box: Box) -> tuple[int, int]:
    """Elements of the source that follow each other, and the distance of these rows; 0 where there is one only."""
    run = 1
    for axis in sorted((axis for axis in box.axes if axis.valid > 1), key=lambda axis: abs(axis.source_stride)):
        if abs(axis.source_stride) != run:
            return run, abs(axis.source_stride)
        run *= axis.valid
    return run, 0


def for_any_size(target: Target, usual: Schedule, source: IndexMap, destination: IndexMap) -> Schedule:
    """
    The schedule of a plan with unknown extents, whose kernel compares its size with a limit when it runs.

    The size is that of the destination, and the limit one for the mean of both sides, as that of kernels for one size:
    where one side has pads they differ.
    With this limit copies of 3, 6 and 12 MiB of f32 run at 0.94 or more of the speed of kernels for one size on
    Emerald Rapids, 1.11 in the mean; with that of kernels in the caches at 0.64, 0.92 in the mean.
    """
    processor = MODELS[target.processor]
    written, read = destination.cell_count, source.cell_count
    are_alike = source.unknown == destination.unknown  # so that only what is known differs
    least = processor.medium_bytes
    if least is None or target.stream_bytes is not None or target.threads or not target.panels:
        return usual
    if are_alike and _is_mostly_pads(written, source.size):
        return usual
    both_sides = written + read if are_alike else 2 * written
    least = least * 2 * written // both_sides
    return replace(usual, stream_bytes=least, parts_bytes=least, kept_bytes=processor.stream_bytes)


def for_part_of_any_size(part: Part, schedule: Schedule, source_size: int) -> Schedule:
    """
    The schedule of a part with unknown extents: a single box may be left to tiles longer, as of known ones.

    Where it is known how far apart the rows are that tiles write, these are the tiles of known sizes; where it is not,
    a kernel looks at that (`PanelGuards.is_large`). Between NCHW and NHWC, of 20 to 100 channels and 1.6 to 22 MiB, 191
    calls are 1.02 times as fast so in the mean on Emerald Rapids, 0.8 to 1.5 times, and 55 of them instead of 87 slower
    than 0.9 times kernels for one size; 108 of 35 and 100 channels 1.11 times on Granite Rapids, 0.76 to 1.48. Where
    rows of the source are parts of lines, as those of blocks and of few channels, and to pixels of few channels, 38
    calls of 3 and 10 MiB are 1.1 times as fast on Emerald Rapids, 0.78 to 1.85 times, and 5 of them instead of 20
    slower than 0.9 times kernels for one size; not measured on Granite Rapids.
    """
    boxes = part.group.boxes
    if schedule.kept_bytes is None or len(boxes) > 1 or part.panel is None:
        return schedule
    inside = replace(schedule, streams=False, prefetches=False, narrows=schedule.has_line_vectors)
    box = part.group.main
    if not _moves_rows(box, inside, source_size) or _waits_for_lines(box, inside, source_size):
        return schedule
    return replace(schedule, parts_bytes=schedule.kept_bytes)


def _moves_rows(box: Box, schedule: Schedule, source_size: int) -> bool:
    """Whether tiles write rows, and not the parts of lines that blocks are."""
    tile = tile_of(box, schedule, source_size)
    strides = [abs(axis.destination_stride) for axis in axes_of_tile(box, tile)] if tile else []
    return bool(strides) and all(
        stride <= 1 or is_symbolic(stride) or stride > schedule.lanes or schedule.lanes % stride for stride in strides
    )


def _writes_lines(part: Part, schedule: Schedule, usual: Schedule, source_size: int) -> bool:
    """
    Whether a part writes whole lines: by tiles alone, or by panels for what several boxes share.

    Panels of a single box may be slower than tiles in the caches, until the last one is full: 0.85 times as fast in the
    mean of 88 copies between NCHW and NHWC on Emerald Rapids. Where those tiles wait for the lines that they write,
    panels are 1.4 times as fast in the mean of 41 random permutations of 2 to 7 MiB, 0.65 to 4.5 times.
    """
    if part.fault:
        return len(part.group.boxes) > 1 or _waits_for_lines(part.group.main, usual, source_size)
    return all(tile_of(box, schedule, source_size) is not None for box in part.group.boxes)


def _waits_for_lines(box: Box, usual: Schedule, source_size: int) -> bool:
    """Whether tiles in the caches do not ask for the lines of the destination ahead of time."""
    tile = tile_of(box, usual, source_size)
    if tile is None:
        return False
    return not destination_ahead(box, tile, loop_levels(box, tile, usual), usual)
