"""The panels of one group of boxes: those for any size, and those for steps that are of unknown size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_choice import ChooseTile, choose_panel
from layout_ir.layouts.panel_costs import takes_pieces_of_kept_part
from layout_ir.layouts.panel_group import Group
from layout_ir.layouts.panel_of_step import WHOLE_BYTES, most_bytes_of_step, panel_of_step, step_axis
from layout_ir.layouts.plan import Box
from layout_ir.layouts.source_region import has_whole_steps, takes_parts
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import Tile, loose_pads
from layout_ir.layouts.tiling import Search, choose_tile
from layout_ir.lowering.lengths_of_parts import lengths_of_parts, most_bytes_of_last
from layout_ir.lowering.picked_lines import picks_from_lines
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.several_registers import has_small_elements
from layout_ir.lowering.tile_choice import fastest_tile, is_tiny, with_short_extents


def panel_of_group(
    group: Group,
    source_size: int,
    schedule: Schedule,
    writes_pads: bool,
    at_lines: bool,
    *,
    region: int | None = None,
    kept_step: int | None = None,
) -> Panel | None:
    """The panels of a group; None where there can be none. `region`, `kept_step`: as in `choose_panel`."""
    if not writes_pads and any(box.is_padded for box in group.boxes):
        return None  # what is in the gaps of a run would be overwritten
    return choose_panel(
        group,
        scratch_tile(group, schedule),
        source_size,
        LINE_BYTES // schedule.lanes,
        schedule.preferences.run_bytes,
        schedule.preferences.row_bytes,
        costs=schedule.processor.costs_of_panels(at_lines=at_lines),
        threads=schedule.threads,
        at_lines=at_lines,
        region=region,
        kept_step=kept_step,
    )


def scratch_tile(group: Group, schedule: Schedule) -> ChooseTile:
    """How parts of a group are moved to scratch."""
    search = Search.FIRST if is_tiny(group.main, schedule) else Search.WHOLE

    def tile_to_scratch(box: Box, size: int) -> Tile | None:
        short = with_short_extents(box, schedule)
        lanes = schedule.register_lanes or schedule.lanes
        counted = schedule.register_lanes if has_small_elements(schedule) else 0
        chosen = partial(choose_tile, short, lanes, size, schedule.segment, search=search, register_lanes=counted)
        tile = fastest_tile(short, schedule, chosen)
        return None if tile is None or loose_pads(box, tile) else tile

    return tile_to_scratch


@dataclass(frozen=True)
class StepPanels:
    """Panels for steps of unknown size, of which only a kernel that runs knows how large they are."""

    of_step: Panel | None = None
    """Of one small step each."""

    of_pieces: Panel | None = None
    """Of a piece of a step that a second level cache keeps."""

    of_parts: tuple[Panel, ...] = ()
    """Of a part of a larger step; those of the shortest rows first."""

    in_step: Panel | None = None
    """Within steps of which a cache holds two; None where they are no others."""

    @property
    def in_order(self) -> list[Panel]:
        """All that there are, in the order in which a kernel looks whether they fit."""
        panels = self.of_step, self.of_pieces, *self.of_parts, self.in_step
        return [panel for panel in panels if panel is not None]


def panels_of_steps(group: Group, source_size: int, schedule: Schedule, usual: Panel | None) -> StepPanels:
    """The panels for steps of a group that are of unknown size; none where the usual ones are as good."""
    if usual is None or (outer := step_axis(group)) is None:
        return StepPanels()
    if picks_from_lines(group.main, schedule):
        return StepPanels(step_panel(group, source_size, schedule, WHOLE_BYTES))
    in_step = None
    if takes_parts(usual):
        in_step = panel_of_group(group, source_size, schedule, writes_pads=True, at_lines=True, region=outer)
    of_pieces = _of_pieces(group, source_size, schedule, outer)
    lengths = lengths_of_parts(group, outer, schedule)
    parts = [step_panel(group, source_size, schedule, most, part=steps) for steps, most in lengths]
    if not parts or not all(parts):  # parts are too narrow, or a step has no more rows than the longest one
        small = schedule.processor.small_step_bytes
        largest = most_bytes_of_last(group, outer, schedule) if in_step is None else small
        most = most_bytes_of_step(usual, LINE_BYTES // schedule.lanes, largest)
        return StepPanels(step_panel(group, source_size, schedule, most), of_pieces, (), in_step)
    of_parts: list[Panel] = []
    for panel in parts:  # one that takes more of each row of the source has to hold more rows than those before
        if panel is not None and _holds_larger_ones(panel) and all(panel.size > other.size for other in of_parts):
            of_parts.append(panel)
    of_step = step_panel(group, source_size, schedule, schedule.processor.whole_step_bytes)
    return StepPanels(of_step, of_pieces, tuple(of_parts), in_step)


def _of_pieces(group: Group, source_size: int, schedule: Schedule, outer: int) -> Panel | None:
    """
    Panels that take pieces of one step of the source after the other, carrying lines, if those are best where a second
    level cache keeps it. None where threads share steps, which have caches of their own.
    """
    costs, width = schedule.processor.costs_of_panels(at_lines=True), LINE_BYTES // schedule.lanes
    if schedule.threads or not costs.kept_source_bytes:
        return None
    panel = panel_of_group(group, source_size, schedule, writes_pads=True, at_lines=True, kept_step=outer)
    if panel is None or panel.carried in (None, outer) or not has_whole_steps(panel, outer):
        return None
    return panel if takes_pieces_of_kept_part(panel, costs, width, threads=0) else None


def step_panel(
    group: Group,
    source_size: int,
    schedule: Schedule,
    most_bytes: int,
    *,
    part: int | None = None,
    filling: Schedule | None = None,
) -> Panel | None:
    """
    The panels of one step of unknown size each, no larger than that; None where there are none.

    `part`: of so many steps of the outermost axis inside rather than of all. `filling`: the schedule of the tiles that
    move it to scratch, if that is another one.
    """
    width = LINE_BYTES // schedule.lanes
    return panel_of_step(group, scratch_tile(group, filling or schedule), source_size, width, most_bytes, part=part)


def _holds_larger_ones(panel: Panel) -> bool:
    """Whether scratch has room for more than what is known to be in a panel for tiles to fit in."""
    return (
        2 * math.prod(map(max, panel.least, (1 if is_symbolic(steps) else steps for steps in panel.steps)))
        <= panel.size
    )
