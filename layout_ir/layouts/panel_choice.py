"""Which panels a group of boxes is cut into: long runs of the destination, long rows of the source, a small scratch."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

from layout_ir.layouts.panel import SHARED_TRIPS, Panel
from layout_ir.layouts.panel_costs import DEFAULT_COSTS, SCRATCH_BYTES, PanelCosts, has_ends, overhead
from layout_ir.layouts.panel_group import Group, is_regular
from layout_ir.layouts.panel_overrun import with_overrun
from layout_ir.layouts.panel_steps import Wanted, panel_of
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.thread_shares import EVEN
from layout_ir.layouts.tile import Tile
from layout_ir.layouts.tiling import within_storage

RUN_BYTES = (4096, 2048, 1536, 1024, 768, 512, 320, 192, 128)
"""Lengths of runs that are tried."""

ROW_BYTES = (2048, 1536, 1024, 512, 256, 192, 128, 96, 64)
"""Lengths of the rows of the source that are tried."""

LEAST_RUN_BYTES = 192
"""Length that is written in one go below which its ends cost as much as writing its lines in parts."""

ChooseTile = Callable[[Box, int], Tile | None]
"""The tile of a box, for a source of so many elements."""


def choose_panel(
    group: Group,
    choose_tile: ChooseTile,
    source_size: int,
    element_bytes: int,
    run_bytes: int | None = None,
    row_bytes: int | None = None,
    *,
    costs: PanelCosts = DEFAULT_COSTS,
    threads: int = 0,
    at_lines: bool = True,
    region: int | None = None,
    kept_step: int | None = None,
) -> Panel | None:
    """
    The panels of a group of boxes; None where its runs are too short to gain from them.

    `run_bytes`, `row_bytes`: lengths of runs and of rows that are wanted; all that are known to be good by default.
    `costs`: what the parts of a panel cost on the processor.
    `threads`: how many share the panels, which those between which lines are carried cannot be; 0: none do.
    `at_lines`: whether the destination begins at a line.
    `region`: an axis of whose steps a cache holds two, and of which the next one is asked for as a whole; None: open.
    `kept_step`: one of which a second level cache keeps a step of the source that panels take in pieces; None: open.
    """
    if not all(map(is_regular, group.boxes)):
        return None
    if any(is_symbolic(axis.extent) and not axis.is_full for box in group.boxes for axis in box.axes):
        return None  # pads stay with what they end, in one panel of a known size
    group = with_overrun(group, choose_tile, source_size)
    tiles = [choose_tile(box, source_size) for box in group.boxes]
    least = [max([tile.extents[i] for tile in tiles if tile] or [1]) for i in range(group.shared)]
    runs = RUN_BYTES if run_bytes is None else [run_bytes]
    rows = ROW_BYTES if row_bytes is None else [row_bytes]
    wanted = (
        Wanted(run, row, carries, costs.evenly) for row, run, carries in itertools.product(rows, runs, (False, True))
    )
    panels = dict.fromkeys(
        replace(panel_of(group, least, each, element_bytes), region=region, kept_step=kept_step) for each in wanted
    )
    fitting = [
        panel
        for panel in panels
        if _fits(panel, element_bytes, threads)
        and not (at_lines and _carries_short_runs(panel, element_bytes, threads))
        and (panel.carried is None or has_ends(panel, element_bytes, at_lines))
        and not (threads and _is_one_sequence(panel))
    ]

    def cost(panel: Panel) -> float:
        moving = overhead(panel, costs, element_bytes, at_lines=at_lines, threads=threads)
        return (1 + moving) / min(panel.evenness(threads) / EVEN, 1)

    candidates = (with_tiles(panel, choose_tile, source_size) for panel in sorted(fitting, key=cost))
    return next((panel for panel in candidates if panel is not None), None)


def _fits(panel: Panel, element_bytes: int, threads: int) -> bool:
    is_long = panel.written_length(threads) * element_bytes >= LEAST_RUN_BYTES
    return is_long and panel.size * element_bytes <= SCRATCH_BYTES


def _carries_short_runs(panel: Panel, element_bytes: int, threads: int) -> bool:
    """
    Whether lines are carried to the row behind in runs so short that a destination at a line is better written without.

    Measured on Zen 4: rows of 224 bytes in runs of 128 take 1.4 times as long as several rows at once, which end at
    lines; to a destination inside of a line, where these do not, they take 0.7 times as long.
    """
    return len(panel.carried_along(threads)) > 1 and panel.run_length * element_bytes < LEAST_RUN_BYTES


def _is_one_sequence(panel: Panel) -> bool:
    """Whether too few panels may be moved at the same time, as lines are carried between the others."""
    if panel.carried is None:
        return False
    extents = {i: panel.group.axes[i].extent for i in panel.walked if i != panel.carried}
    return all(is_symbolic(extent) or extent < SHARED_TRIPS * panel.steps[i] for i, extent in extents.items())


def with_tiles(panel: Panel, choose_tile: ChooseTile, source_size: int) -> Panel | None:
    """The panel with a tile for every box that has one; None where the last panel is too small for it."""
    tiles: list[Tile | None] = []
    for position, box in enumerate(panel.group.boxes):
        tiles.append(choose_tile(*within_storage(box, panel.scratch_box(position), source_size)))
    complete = replace(panel, tiles=tuple(tiles))
    return complete if _last_have_room(complete) else None


def _last_have_room(panel: Panel) -> bool:
    """Whether a tile fits into the last panel of every axis; lines that are carried leave room to begin before it."""
    for i, (axis, steps, least) in enumerate(zip(panel.group.axes, panel.steps, panel.least, strict=True)):
        if i == panel.carried:
            fits = least <= steps and (least - 1) * panel.pitches[i] <= panel.lead
        else:
            fits = is_symbolic(axis.extent) or least <= (axis.extent % steps or steps)
        if not fits:
            return False
    return True
