"""Which panels a group of boxes is cut into: long runs of the destination, long rows of the source, a small scratch."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_group import Group, contiguous, is_regular
from layout_ir.layouts.panel_overrun import with_overrun
from layout_ir.layouts.panel_steps import LINE_BYTES, Wanted, panel_of
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tiling import Tile, within_storage

RUN_BYTES = (4096, 2048, 1536, 1024, 768, 512, 320, 192, 128)
"""Lengths of runs that are tried."""

ROW_BYTES = (2048, 1536, 1024, 512, 256, 192, 128, 64)
"""Lengths of the rows of the source that are tried."""

LEAST_RUN_BYTES = 192
"""Length that is written in one go below which its ends cost as much as writing its lines in parts."""

SCRATCH_BYTES = 320 << 10
"""Size of the largest scratch buffer: it has to stay in a second level cache, on the stack of a thread."""

END_BYTES = 240
"""What the two ends of what is written in one go cost, which are parts of lines, as if they were so many bytes more."""

SHORT_RUN_BYTES = 28
"""What it costs, likewise, to write a short run, far from the one before, where lines are carried."""

CARRYING_COST = 0.17
"""What it costs to carry lines, in bytes for every byte."""

VISIT_BYTES = 120
"""What a visit to a row of the source costs, where runs lie far from each other too; else a quarter."""

FAR_VISIT_BYTES = 190
"""The same where the next panel does not continue the row."""

NEAR_BYTES = 24 << 10
"""Size of a scratch buffer that stays in a first level cache; panels of many runs mostly need a larger one."""

TINY_BYTES = 4 << 10
"""Size of one through which so little goes at once that it is as good as none."""

FEW_ROWS = 8
"""Rows of the source in a panel up to which a processor reads them ahead by itself, so that panels may be tiny."""

FAR_COST = 0.45
"""What a buffer that is not near costs, in bytes for every byte; of few rows one that is not tiny a part of that."""

KEPT_BYTES = 400 << 10
"""Size of all that is kept in a cache for panels, up to which little is driven out of a second level cache."""

DRIVEN_OUT_COST = 0.2
"""What more costs, likewise."""

CROWDED_BYTES = 292 << 10
"""Size of a scratch buffer of many rows from which on too little is left of that cache for lines on their way."""

CROWDED_COST = 0.05
"""What that costs, likewise."""

SHARED_TRIPS = 8
"""Trips of a loop from which on threads share it evenly enough."""

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
    threads: bool = False,
    at_lines: bool = True,
) -> Panel | None:
    """
    The panels of a group of boxes; None where its runs are too short to gain from them.

    `run_bytes`, `row_bytes`: lengths of runs and of rows that are wanted; all that are known to be good by default.
    `threads`: whether threads share the panels, which those between which lines are carried cannot be.
    `at_lines`: whether the destination begins at a line.
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
    panels = dict.fromkeys(
        panel_of(group, least, Wanted(run, row, carries), element_bytes)
        for row, run, carries in itertools.product(rows, runs, (False, True))
    )
    fitting = [panel for panel in panels if _fits(panel, element_bytes) and not (threads and _is_one_sequence(panel))]
    ordered = sorted(fitting, key=lambda panel: _overhead(panel, element_bytes, at_lines))
    with_tiles = (_with_tiles(panel, choose_tile, source_size) for panel in ordered)
    return next((panel for panel in with_tiles if panel is not None), None)


def _fits(panel: Panel, element_bytes: int) -> bool:
    return panel.size * element_bytes <= SCRATCH_BYTES and panel.written_length * element_bytes >= LEAST_RUN_BYTES


def _is_one_sequence(panel: Panel) -> bool:
    """Whether too few panels may be moved at the same time, as lines are carried between the others."""
    if panel.carried is None:
        return False
    extents = {i: panel.group.axes[i].extent for i in panel.walked if i != panel.carried}
    return all(is_symbolic(extent) or extent < SHARED_TRIPS * panel.steps[i] for i, extent in extents.items())


def _overhead(panel: Panel, element_bytes: int, at_lines: bool) -> float:
    """What the ends of runs and the visits to rows cost, in bytes for every byte that is moved."""
    axes = panel.group.axes
    run = panel.run_length * element_bytes
    written = min(panel.written_length * element_bytes, SCRATCH_BYTES)  # more, or unknown, makes no difference
    others = [axis.destination_stride for i, axis in enumerate(axes) if i not in panel.run]
    has_ends = not at_lines or any(length * element_bytes % LINE_BYTES for length in (*others, panel.run_length))
    ends = (END_BYTES if has_ends else END_BYTES / 16) / written
    if panel.carried is not None:
        ends += SHORT_RUN_BYTES / run + CARRYING_COST
    visit = VISIT_BYTES if panel.carried is None else FAR_VISIT_BYTES
    visits = (visit if panel.rows else visit / 4) / (_row_length(panel) * element_bytes)
    return ends + visits + _cache_cost(panel, element_bytes)


def _cache_cost(panel: Panel, element_bytes: int) -> float:
    """What it costs that the scratch does not stay in the nearest cache, nor all of a panel in the next one."""
    size = panel.size * element_bytes
    kept = size if panel.carried is not None else 2 * size  # the source of the next panel has been asked for already
    driven_out = DRIVEN_OUT_COST if kept > KEPT_BYTES else 0
    if _rows_of_source(panel) <= FEW_ROWS:
        return FAR_COST * min(max((size - TINY_BYTES) / (NEAR_BYTES - TINY_BYTES), 0), 1) + driven_out
    crowded = CROWDED_COST if size > CROWDED_BYTES else 0
    return (FAR_COST if size > NEAR_BYTES else 0) + driven_out + crowded


def _rows_of_source(panel: Panel) -> float:
    """How many rows of the source the main box of a panel reads."""
    group = panel.group
    return panel.scratch_box(group.boxes.index(group.main)).elements / _row_length(panel)


def _row_length(panel: Panel) -> int:
    """Elements of the source that a panel takes one after the other."""
    axes, main = panel.group.axes, panel.group.main
    row = 1
    for i in contiguous(main.axes, [axis.source_stride for axis in main.axes]):
        steps = panel.steps[i] if i < len(axes) else main.axes[i].extent
        row *= steps
        if steps < main.axes[i].extent:
            break
    return row


def _with_tiles(panel: Panel, choose_tile: ChooseTile, source_size: int) -> Panel | None:
    """The panel with a tile for every box that has one; None where the last panel is too small for it."""
    tiles: list[Tile | None] = []
    for position, box in enumerate(panel.group.boxes):
        tiles.append(choose_tile(*within_storage(box, panel.scratch_box(position), source_size)))
    with_tiles = replace(panel, tiles=tuple(tiles))
    return with_tiles if _last_have_room(with_tiles) else None


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
