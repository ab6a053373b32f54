"""One copy as nests of parallel loops, from which device kernels are made: no step of a nest waits for another."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from layout_ir.layouts.group_tile import choose_group_tile
from layout_ir.layouts.plan import Axis, Box, CopyPlan
from layout_ir.layouts.plan_rewrites import cut_box
from layout_ir.layouts.tile import Tile
from layout_ir.layouts.tiling import choose_tile
from layout_ir.lowering.box_loops import Buffers, shifted
from layout_ir.lowering.cut_pads import parts_without_loose_pads
from layout_ir.lowering.level_loops import level_loop
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.loop_order import loop_levels
from layout_ir.lowering.schedule import BLOCK_TILES, SEGMENT_BYTES, Schedule
from layout_ir.lowering.tile_loops import TileEmitter
from layout_ir.lowering.to_device_builder import ParallelBuilder
from layout_ir.lowering.to_device_runs import common_run, emit_parallel_runs
from layout_ir.lowering.to_device_staging import emit_staged_box

ENOUGH_STEPS = 256
"""Parallel steps that keep all processors busy; more only cost time to start."""

FEWEST_ELEMENTS = 4096
"""Elements of a parallel step that are worth to start it."""

FREE_BYTES = 4
"""Elements of this size on go anywhere in a vector with one instruction."""


@dataclass(frozen=True)
class Style:
    """What a device's work items move."""

    element_bytes: int

    vector_bytes: int = 0
    """Of a vector register of a processor, whose work items move tiles; 0 of any other device."""

    most_lanes: int = 16
    """Elements of the longest vectors that tiles go through."""

    side: int = 0
    """Elements along the side of the largest tile in local memory, 0 for none."""


def emit_parallel_plan(builder: ParallelBuilder, plan: CopyPlan, buffers: Buffers, style: Style) -> None:
    """The nests of a plan, in the order in which they have to run: what fills everything comes before the boxes."""
    if plan.fill_first is not None and buffers.pad is not None:
        with ExitStack() as stack:
            (cell,) = builder.parallel(stack, [plan.fill_first], ["cell"])
            builder.store(buffers.pad, buffers.destination, cell)
    line = style.vector_bytes // style.element_bytes
    for box in plan.boxes:
        if line > 1:
            emit_parallel_tiles(builder, box, buffers, style)
            continue
        if buffers.pad is None:
            box = without_pads(box)
        if tile := choose_group_tile(box, style.side, style.element_bytes):
            emit_staged_box(builder, box, buffers, tile)
        elif run := common_run(box, style.element_bytes):
            emit_parallel_runs(builder, box, buffers, run)
        else:
            emit_parallel_box(builder, box, buffers)


def without_pads(box: Box) -> Box:
    """A box that leaves alone what would be pads."""
    return replace(box, axes=tuple(replace(axis, extent=axis.valid) for axis in box.axes))


def emit_parallel_box(builder: ParallelBuilder, box: Box, buffers: Buffers) -> None:
    """One nest for a box: every step copies an element or, beyond the valid steps of an axis, writes a pad."""
    pads = buffers.pad is not None
    if not pads and box.is_fill:
        return
    lengths = [axis.extent if pads else axis.valid for axis in box.axes]
    regular = [i for i, axis in enumerate(box.axes) if not axis.is_irregular]
    irregular = [i for i, axis in enumerate(box.axes) if axis.is_irregular]
    with ExitStack() as stack:
        indices = builder.parallel(stack, [lengths[i] for i in regular], [box.axes[i].name for i in regular])
        values: list[SSAValue] = [builder.constant(0)] * len(box.axes)
        for i, index in zip(regular, indices, strict=True):
            values[i] = index
        partial = [] if box.is_fill or not pads else [i for i in regular if not box.axes[i].is_full]
        condition = builder.every(
            [builder.compare(values[i], "ult", builder.constant(box.axes[i].valid)) for i in partial]
        )
        for steps in itertools.product(*(range(lengths[i]) for i in irregular)):
            places = list(zip((box.axes[i] for i in irregular), steps, strict=True))
            _emit_element(builder, box, buffers, values, condition, places)


def _emit_element(
    builder: ParallelBuilder,
    box: Box,
    buffers: Buffers,
    indices: Sequence[SSAValue],
    condition: SSAValue | None,
    places: Sequence[tuple[Axis, int]],
) -> None:
    """One step; `places`: the irregular axes with their steps."""
    if box.is_fill or any(step >= axis.valid for axis, step in places):
        assert buffers.pad is not None
        value = buffers.pad
    else:
        source = shifted(box.source_index(), sum(axis.source_at(step) for axis, step in places))
        place = builder.index(source, indices)
        value = builder.load_or(condition, buffers.source, place, buffers.pad)
    destination = shifted(box.destination_index(), sum(axis.destination_at(step) for axis, step in places))
    builder.store(value, buffers.destination, builder.index(destination, indices))


def emit_parallel_tiles(builder: ParallelBuilder, box: Box, buffers: Buffers, style: Style) -> None:
    """
    The nests of a box whose elements go through vector registers, a tile at a time; where no tile is worth it, singly.

    The outer loops over tiles are parallel, as many as keep all processors busy. Where tiles do not divide an axis, a
    loop of one work item does some elements twice; among work items the box is cut, so that no two write one place.
    """
    line = style.vector_bytes // style.element_bytes
    segment = SEGMENT_BYTES // style.element_bytes if style.element_bytes < FREE_BYTES else None
    lanes = min(line, style.most_lanes)
    for part in parts_without_loose_pads(box, lanes, buffers.source_size, segment):
        tile = choose_tile(part, lanes, buffers.source_size, segment)
        if tile is None or (part.is_padded and buffers.pad is None):
            emit_parallel_box(builder, part, buffers)
            continue
        schedule = Schedule(lanes, block_tiles=max(BLOCK_TILES, line // lanes))
        levels = _with_parallel_steps(part, tile, loop_levels(part, tile, schedule))
        shared = [level.axis for level in levels if level.is_parallel]
        uneven = next((i for i in shared if part.axes[i].extent % tile.extents[i]), None)
        if uneven is not None:
            extent, steps = part.axes[uneven].extent, tile.extents[uneven]
            for piece in cut_box(part, uneven, extent // steps * steps):
                emit_parallel_tiles(builder, piece, buffers, style)
            continue
        with ExitStack() as loops:
            starts: dict[int, SSAValue] = {}
            for level in levels:
                starts[level.axis] = loops.enter_context(level_loop(builder, part.axes[level.axis], level, starts))
            TileEmitter(builder, buffers, schedule).emit(part, tile, starts, levels)


def _with_parallel_steps(box: Box, tile: Tile, levels: Sequence[LoopLevel]) -> list[LoopLevel]:
    """
    The loops with the outer ones parallel, in about as many steps as keep all processors busy; the rest runs in order.

    A loop that has more steps than are needed is cut into pieces, each of them a parallel step.
    """
    total = math.prod(axis.extent // steps for axis, steps in zip(box.axes, tile.extents, strict=True))
    wanted = max(min(ENOUGH_STEPS, total * tile.elements // FEWEST_ELEMENTS), 1)
    for position, level in enumerate(levels):
        trips = -(-box.axes[level.axis].extent // level.step)
        if level.inside is not None or wanted == 1:
            return list(levels)
        if trips > wanted:
            piece = level.step * -(-trips // wanted)
            pieces = [replace(level, step=piece, is_last=False, is_parallel=True), replace(level, inside=piece)]
            return [*levels[:position], *pieces, *levels[position + 1 :]]
        levels = [*levels[:position], replace(level, is_parallel=True), *levels[position + 1 :]]
        wanted = -(-wanted // trips)
    return list(levels)
