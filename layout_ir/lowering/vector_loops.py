"""The boxes of a plan through vector registers: by panels where tiles would write lines in parts, else tile by tile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from layout_ir.dialects.types import stored_type
from layout_ir.layouts.line_copy import LineCopy
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_choice import choose_panel
from layout_ir.layouts.panel_group import Group, group_boxes
from layout_ir.layouts.panel_steps import LINE_BYTES
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import Symbols
from layout_ir.layouts.tiling import Tile, choose_tile
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.panel_guards import panel_conditions
from layout_ir.lowering.panel_loops import emit_panels
from layout_ir.lowering.schedule import Schedule, writes_whole_lines
from layout_ir.lowering.tile_choice import cut_for_lines, tile_of
from layout_ir.lowering.tile_guards import emit_where, may_be_large
from layout_ir.lowering.tile_loops import emit_part, parts_without_loose_pads
from layout_ir.lowering.walk_loops import TiledWalk, emit_walk, with_walks


def emit_vector_boxes(builder: LoopBuilder, boxes: Sequence[Box], buffers: Buffers, schedule: Schedule) -> None:
    """The loops of all boxes of a plan."""
    (source_size,) = stored_type(buffers.source.type).get_shape()
    unknown = None if builder.unknown is None else builder.unknown.symbols
    by_themselves: list[Box] = []
    for group, panel in grouped(boxes, source_size, schedule, buffers.pad is not None, unknown):
        by_tiles = partial(_emit_parts, builder, group.boxes, buffers, schedule)
        if panel is None and unknown is None:
            by_themselves += group.boxes
            continue
        if panel is None:
            by_tiles()
            continue
        by_panels = partial(emit_panels, builder, panel, buffers, schedule)
        emit_where(builder, panel_conditions(builder, panel, source_size, schedule), by_panels, by_tiles)
    _emit_parts(builder, with_walks(by_themselves, schedule, source_size, buffers.pad is not None), buffers, schedule)


def _emit_parts(builder: LoopBuilder, parts: Sequence[TiledWalk | Box], buffers: Buffers, schedule: Schedule) -> None:
    for part in parts:
        if isinstance(part, TiledWalk):
            emit_walk(builder, part, buffers, schedule)
        else:
            emit_part(builder, part, buffers, schedule)


def grouped(
    boxes: Sequence[Box], source_size: int, schedule: Schedule, writes_pads: bool, unknown: Symbols | None = None
) -> Iterator[tuple[Group, Panel | None]]:
    """All boxes in parts without loose pads, those that share lines together, with the panels they are moved by."""
    parts = [
        piece
        for box in boxes
        for part in parts_without_loose_pads(box, schedule.lanes, source_size, schedule.segment)
        for piece in cut_for_lines(part, schedule)
    ]
    if not schedule.panels:
        yield from ((Group.of([part]), None) for part in parts)
        return
    if unknown is not None:  # fills of last blocks, which elements overwrite, have to stay in front
        yield from ((Group.of([part]), None) for part in parts if part.is_fill)
        parts = [part for part in parts if not part.is_fill]
    for group in group_boxes(parts, LINE_BYTES // schedule.lanes):
        panel = None
        if unknown is None or may_be_large(group.main, unknown):
            panel = _panel_of(group, source_size, schedule, writes_pads)
        yield group, panel


def _panel_of(group: Group, source_size: int, schedule: Schedule, writes_pads: bool) -> Panel | None:
    """The panels of a group; None where tiles write whole lines by themselves, or panels cannot."""
    if not writes_pads and any(box.is_padded for box in group.boxes):
        return None  # what is in the gaps of a run would be overwritten

    def scratch_tile(box: Box, size: int) -> Tile | None:
        return choose_tile(box, schedule.lanes, size, schedule.segment)

    tiles = [tile_of(box, schedule, source_size) for box in group.boxes]
    if any(isinstance(tile, LineCopy) for tile in tiles):
        return None
    if all(
        tile is not None and writes_whole_lines(box, tile, schedule.lanes)
        for box, tile in zip(group.boxes, tiles, strict=True)
    ):
        return None
    wanted = schedule.preferences.run_bytes, schedule.preferences.row_bytes
    return choose_panel(
        group, scratch_tile, source_size, LINE_BYTES // schedule.lanes, *wanted, threads=schedule.threads
    )
