"""Which boxes of a plan are moved together, and how: by panels where tiles alone would do badly, else tile by tile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.line_copy import LineCopy
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_costs import overhead
from layout_ir.layouts.panel_group import Group, group_boxes
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import Symbols, is_symbolic
from layout_ir.layouts.tile import walked_cells
from layout_ir.lowering.cut_pads import parts_without_loose_pads
from layout_ir.lowering.group_panels import StepPanels, panel_of_group, panels_of_steps, scratch_tile
from layout_ir.lowering.loop_order import loop_levels
from layout_ir.lowering.picked_lines import picks_from_lines
from layout_ir.lowering.schedule import Schedule, writes_whole_lines
from layout_ir.lowering.several_registers import (
    MOST_STAGED_REGISTERS,
    shuffles_less,
    takes_many_registers,
)
from layout_ir.lowering.source_sequence import source_sequence
from layout_ir.lowering.staged_lines import StagedLines, staged_lines
from layout_ir.lowering.tile_choice import cut_for_lines, tile_of
from layout_ir.lowering.tile_guards import may_be_large

WRITES_PARTS = "write lines in parts"
"""What tiles alone do wherever the destination begins."""

DEAR_SHUFFLES = "take several registers for a vector, and dear shuffles"
"""What tiles alone do where those that fill panels take fewer."""

WORTH_TWO_PANELS = 1.2
"""What those of a destination that begins at a line cost more for any other, up to which one loop serves both."""

SHORT_LINES = 4
"""Lines of the source that tiles read on up to which panels, which read longer rows or many at once, are faster."""

WORTH_FEWER = 0.3
"""What panels of several runs may cost at most where their tiles take fewer dear shuffles."""


@dataclass(frozen=True)
class Part:
    """Boxes of a plan that are moved together, and how."""

    group: Group

    panel: Panel | None = None
    """Panels for a destination that begins anywhere."""

    at_line: Panel | None = None
    """Panels for one that begins at a line; None where tiles alone are as good."""

    fault: str = ""
    """What tiles alone would do there."""

    for_steps: StepPanels = field(default_factory=StepPanels)
    """Panels for steps of unknown size."""

    staged: StagedLines | None = None
    """How tiles write whole lines of a destination that does not begin at one; None where they do not."""

    @property
    def is_by_panels(self) -> bool:
        """Whether the same panels are for every start."""
        return self.panel is not None and self.panel == self.at_line


def split(
    boxes: Sequence[Box], source_size: int, schedule: Schedule, writes_pads: bool, unknown: Symbols | None = None
) -> Iterator[Part]:
    """All boxes without loose pads, those that share lines together, with the panels they can be moved by."""
    pieces = [
        part for box in boxes for part in parts_without_loose_pads(box, schedule.lanes, source_size, schedule.segment)
    ]
    if not schedule.panels:
        yield from (Part(Group.of([cut])) for piece in pieces for cut in cut_for_lines(piece, schedule))
        return
    if unknown is not None:  # fills of last blocks, which elements overwrite, have to stay in front
        yield from (Part(Group.of([piece])) for piece in pieces if piece.is_fill)
        pieces = [piece for piece in pieces if not piece.is_fill]
    most = schedule.processor.together_bytes if unknown is None else 0  # where sizes are unknown a kernel looks at them
    for group in group_boxes(pieces, LINE_BYTES // schedule.lanes, most):
        if unknown is None or may_be_large(group.main, unknown):
            yield from _parts(group, source_size, schedule, writes_pads)
        else:
            yield Part(group)


def _parts(group: Group, source_size: int, schedule: Schedule, writes_pads: bool) -> Iterator[Part]:
    """
    A group as one part, or boxes cut for copies by lines as parts of their own.

    Rows with gaps are not copied by lines where panels hold what other boxes of the group write into the gaps.
    """
    pieces = [piece for box in group.boxes for piece in cut_for_lines(box, schedule)]
    is_cut = len(pieces) > len(group.boxes)
    part = _part(group, source_size, schedule, writes_pads) if len(group.boxes) > 1 or not is_cut else None
    if part is not None and (part.panel is not None or not is_cut):
        yield part
    else:
        yield from (_part(Group.of([piece]), source_size, schedule, writes_pads) for piece in pieces)


def _part(group: Group, source_size: int, schedule: Schedule, writes_pads: bool) -> Part:
    """A group with its panels."""
    fault = _fault(group, source_size, schedule)
    inside = panel_of_group(group, source_size, schedule, writes_pads, at_lines=False)
    at_line = panel_of_group(group, source_size, schedule, writes_pads, at_lines=True) if fault and inside else None
    if not fault and inside:
        at_line = _of_fewer_shuffles(group, source_size, schedule, writes_pads)
        fault = DEAR_SHUFFLES if at_line else ""
    if fault == WRITES_PARTS and inside and at_line:
        costs, width = schedule.processor.costs_of_panels(at_lines=False), LINE_BYTES // schedule.lanes
        own, common = (
            1 + overhead(panel, costs, width, at_lines=False, threads=schedule.threads) for panel in (inside, at_line)
        )
        inside = inside if common > WORTH_TWO_PANELS * own else at_line
    staged = None if fault else _staged(group, source_size, schedule, writes_pads)
    return Part(group, inside, at_line, fault, panels_of_steps(group, source_size, schedule, inside), staged)


def _of_fewer_shuffles(group: Group, source_size: int, schedule: Schedule, writes_pads: bool) -> Panel | None:
    """Panels whose tiles take fewer dear shuffles than those that write lines; None where that does not pay."""
    if not schedule.register_lanes:
        return None
    tile, filling = tile_of(group.main, schedule, source_size), scratch_tile(group, schedule)(group.main, source_size)
    if tile is None or filling is None or isinstance(tile, LineCopy) or not shuffles_less(filling, tile, schedule):
        return None
    panel = panel_of_group(group, source_size, schedule, writes_pads, at_lines=True)
    if panel is None or not panel.rows:
        return panel
    costs, width = schedule.processor.costs_of_panels(at_lines=True), LINE_BYTES // schedule.lanes
    pays = overhead(panel, costs, width, at_lines=True, threads=schedule.threads) <= WORTH_FEWER
    return panel if pays else None


def _staged(group: Group, source_size: int, schedule: Schedule, writes_pads: bool) -> StagedLines | None:
    """How the tiles of a group write whole lines wherever the destination begins; None where panels are better."""
    is_asked_for = schedule.preferences.run_bytes or schedule.preferences.row_bytes
    if not schedule.processor.stages_lines or is_asked_for or len(group.boxes) > 1:
        return None
    if group.main.is_padded and not writes_pads:
        return None
    tile = tile_of(group.main, schedule, source_size)
    if tile is None or takes_many_registers(tile, schedule, MOST_STAGED_REGISTERS):
        return None
    return staged_lines(group.main, tile, replace(schedule, at_line=False))


def _fault(group: Group, source_size: int, schedule: Schedule) -> str:
    """What makes tiles alone slower than panels where the destination begins at a line; nothing where they are not."""
    tiles = [tile_of(box, schedule, source_size) for box in group.boxes]
    if len(tiles) == 1 and isinstance(tiles[0], LineCopy):
        return ""  # writes parts at the ends of rows only
    if not all(
        tile is not None and writes_whole_lines(box, tile, schedule.lanes)
        for box, tile in zip(group.boxes, tiles, strict=True)
    ):
        return WRITES_PARTS
    if len(group.boxes) > 1 and any(box.is_fill for box in group.boxes):
        return "write pads in a second pass"
    if picks_from_lines(group.main, schedule):
        return "read four lines and more for each that they write"
    box, tile = group.main, tiles[group.boxes.index(group.main)]
    assert tile is not None
    if box.is_fill or any(is_symbolic(axis.extent) for axis in box.axes):
        return ""
    if walked_cells(box, tile) > schedule.processor.written_again:
        return "write many lines twice"
    if takes_many_registers(tile, schedule):
        return "take more registers than there are"
    levels = loop_levels(box, tile, replace(schedule, threads=0))
    if source_sequence(box, tile, levels, schedule.lanes) <= SHORT_LINES * schedule.lanes:
        return "read short pieces of the source, far from each other"
    return ""
