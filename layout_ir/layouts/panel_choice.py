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
from layout_ir.layouts.source_region import region_axis
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tiling import Tile, within_storage

RUN_BYTES = (4096, 2048, 1536, 1024, 768, 512, 320, 192, 128)
"""Lengths of runs that are tried."""

ROW_BYTES = (2048, 1536, 1024, 512, 256, 192, 128, 96, 64)
"""Lengths of the rows of the source that are tried."""

LEAST_RUN_BYTES = 192
"""Length that is written in one go below which its ends cost as much as writing its lines in parts."""

SCRATCH_BYTES = 320 << 10
"""Size of the largest scratch buffer: it has to stay in a second level cache, on the stack of a thread."""

END_BYTES = 370
"""What the two ends of what is written in one go cost, which are parts of lines, as if they were so many bytes more."""

SHORT_RUN_BYTES = 5
"""What it costs, likewise, to write a short run, far from the one before, where lines are carried."""

FAR_RUN_BYTES = 41
"""The same with a scratch buffer that is not near."""

CARRYING_COST = 0.06
"""What it costs to carry lines, in bytes for every byte."""

VISIT_BYTES = 145
"""What a visit to a row of the source costs."""

NEAR_VISIT_BYTES = 28
"""The same where the next panel goes on with the row, and little is moved until then."""

FAR_VISIT_BYTES = 500
"""The same where the next panel carries lines on and begins other rows."""

REGION_VISIT_BYTES = 14
"""The same where rows are parts of a region of the source that has come into a second level cache before."""

READ_ON_BYTES = 96
"""Length of a row from which on it is cheap to go on with it: most lines of a shorter one are read by two panels."""

NEAR_BYTES = 26 << 10
"""Size of a scratch buffer that mostly stays in a first level cache."""

REGION_NEAR_BYTES = 80 << 10
"""The same for parts of such a region."""

TINY_BYTES = 1 << 10
"""Size of one through which so little goes at once that it is as good as none."""

FAR_COST = 0.6
"""What a buffer that is not near costs, in bytes for every byte; of one between tiny and near a part of that."""

KEPT_BYTES = 370 << 10
"""Size of all that is kept in a cache for panels, up to which little is driven out of a second level cache."""

DRIVEN_OUT_COST = 0.45
"""What more costs, likewise."""

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
    fitting = [
        panel
        for panel in panels
        if _fits(panel, element_bytes)
        and (panel.carried is None or _has_ends(panel, element_bytes, at_lines))
        and not (threads and _is_one_sequence(panel))
    ]
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
    run, row = panel.run_length * element_bytes, _row_length(panel) * element_bytes
    written = min(panel.written_length * element_bytes, SCRATCH_BYTES)  # more, or unknown, makes no difference
    cost = (END_BYTES if _has_ends(panel, element_bytes, at_lines) else END_BYTES / 16) / written
    size = panel.size * element_bytes
    if panel.carried is not None:
        cost += (SHORT_RUN_BYTES if size <= NEAR_BYTES else FAR_RUN_BYTES) / run + CARRYING_COST
    kept = size if panel.carried is not None else 2 * size  # the source of the next panel has been asked for already
    has_come = region_axis(panel, panel.walked, element_bytes) is not None
    visit = REGION_VISIT_BYTES if has_come else _visit_bytes(panel, row, size)
    cost += visit / row * _density(panel)
    near = REGION_NEAR_BYTES if has_come else NEAR_BYTES
    cost += FAR_COST * min(max((size - TINY_BYTES) / (near - TINY_BYTES), 0), 1)
    return cost + (DRIVEN_OUT_COST if kept > KEPT_BYTES else 0)


def _has_ends(panel: Panel, element_bytes: int, at_lines: bool) -> bool:
    """Whether runs end inside of lines."""
    others = [axis.destination_stride for i, axis in enumerate(panel.group.axes) if i not in panel.run]
    return not at_lines or any(length * element_bytes % LINE_BYTES for length in (*others, panel.run_length))


def _density(panel: Panel) -> float:
    """The share of cells that get elements and no pads."""
    boxes = [box for box in panel.group.boxes if not is_symbolic(box.cells)]
    return sum(box.elements for box in boxes) / sum(box.cells for box in boxes) if boxes else 1


def _visit_bytes(panel: Panel, row: int, size: int) -> int:
    """What a visit to a row of the source costs, with rows of `row` bytes and `size` bytes of scratch."""
    is_read_on = _is_read_on(panel)
    if is_read_on and size <= NEAR_BYTES and row >= READ_ON_BYTES:
        return NEAR_VISIT_BYTES
    return VISIT_BYTES if is_read_on or panel.carried is None else FAR_VISIT_BYTES


def _is_read_on(panel: Panel) -> bool:
    """Whether the next panel goes on with the rows of the source where this one stops."""
    axes, main = panel.group.axes, panel.group.main
    chain = contiguous(main.axes, [axis.source_stride for axis in main.axes])
    ends = (i for i in chain if i < len(axes) and panel.steps[i] < axes[i].extent)
    return bool(panel.walked) and next(ends, None) == panel.walked[-1]


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
