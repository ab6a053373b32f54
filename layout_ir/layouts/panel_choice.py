"""Which panels a group of boxes is cut into: long runs of the destination, long rows of the source, a small scratch."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from layout_ir.layouts.panel import Group, Panel, contiguous, is_regular
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tiling import Tile

LINE_BYTES = 64
"""Size of a cache line."""

RUN_BYTES = (4096, 2048, 1536, 1024, 768, 512)
"""Lengths of runs that are tried."""

ROW_BYTES = (2048, 1024, 512, 256, 192, 128, 64)
"""Lengths of the rows of the source that are tried."""

LEAST_RUN_BYTES = 192
"""Length of a run below which its ends cost as much as writing its lines in parts."""

SCRATCH_BYTES = 192 << 10
"""Size of the largest scratch buffer: it has to stay in a second level cache, on the stack of a thread."""

END_BYTES = 256
"""What the two ends of a run cost, which are parts of lines, as if they were so many bytes more."""

VISIT_BYTES = 128
"""What a visit to a row of the source costs, likewise, where runs lie far from each other too; else a quarter."""

NEAR_BYTES = 24 << 10
"""Size of a scratch buffer that stays in a first level cache; panels of many runs mostly need a larger one."""

FAR_COST = 0.25
"""What a larger one costs, in bytes for every byte."""

ChooseTile = Callable[[Box, int], Tile | None]
"""The tile of a box, for a source of so many elements."""


def choose_panel(
    group: Group,
    choose_tile: ChooseTile,
    source_size: int,
    element_bytes: int,
    run_bytes: int | None = None,
    row_bytes: int | None = None,
) -> Panel | None:
    """
    The panels of a group of boxes; None where its runs are too short to gain from them.

    `run_bytes`, `row_bytes`: lengths of runs and of rows that are wanted; all that are known to be good by default.
    """
    if not all(map(is_regular, group.boxes)):
        return None
    if any(is_symbolic(axis.extent) and not axis.is_full for box in group.boxes for axis in box.axes):
        return None  # pads stay with what they end, in one panel of a known size
    tiles = [choose_tile(box, source_size) for box in group.boxes]
    least = [max([tile.extents[i] for tile in tiles if tile] or [1]) for i in range(group.shared)]
    candidates = dict.fromkeys(
        _steps(group, least, run, row, element_bytes)
        for row, run in itertools.product(
            ROW_BYTES if row_bytes is None else [row_bytes], RUN_BYTES if run_bytes is None else [run_bytes]
        )
    )
    panels = [_panel(group, steps, element_bytes) for steps in candidates]
    fitting = [
        panel
        for panel in panels
        if panel.size * element_bytes <= SCRATCH_BYTES and panel.run_length * element_bytes >= LEAST_RUN_BYTES
    ]
    ordered = sorted(fitting, key=lambda panel: _overhead(panel, element_bytes))
    with_tiles = (_with_tiles(panel, choose_tile, source_size) for panel in ordered)
    return next((panel for panel in with_tiles if panel is not None), None)


def _overhead(panel: Panel, element_bytes: int) -> float:
    """What the ends of runs and the visits to rows cost, in bytes for every byte that is moved."""
    axes, main = panel.group.axes, panel.group.main
    run = panel.run_length * element_bytes
    others = [axis.destination_stride for i, axis in enumerate(axes) if i not in panel.run]
    has_ends = any(stride * element_bytes % LINE_BYTES for stride in others) or run % LINE_BYTES
    row = element_bytes
    for i in contiguous(main.axes, [axis.source_stride for axis in main.axes]):
        steps = panel.steps[i] if i < panel.group.shared else main.axes[i].extent
        row *= steps
        if steps < main.axes[i].extent:
            break
    ends = (END_BYTES if has_ends else END_BYTES / 4) / run
    visits = (VISIT_BYTES if panel.rows else VISIT_BYTES / 4) / row
    return ends + visits + (0 if panel.size * element_bytes <= NEAR_BYTES else FAR_COST)


def _steps(group: Group, least: Sequence[int], run_bytes: int, row_bytes: int, element_bytes: int) -> tuple[int, ...]:
    """Steps of every shared axis in a panel of runs and rows of about these lengths."""
    axes, main = group.axes, group.main
    wanted, unit = list(least), list(least)
    length = group.stretch * element_bytes
    for i in group.run_axes:
        unit[i] = math.lcm(least[i], LINE_BYTES // math.gcd(LINE_BYTES, length))
        wanted[i] = max(least[i], -(-run_bytes // length))
        length *= axes[i].extent
        if length > run_bytes:
            break
    length = element_bytes
    for i in contiguous(main.axes, [axis.source_stride for axis in main.axes]):
        if i < group.shared:
            wanted[i] = max(wanted[i], -(-row_bytes // length))
        length *= main.axes[i].extent
        if length >= row_bytes:
            break
    return tuple(
        _even_steps(axis.extent, *sizes) if axis.is_full else axis.extent  # pads stay with what they end
        for axis, *sizes in zip(axes, wanted, unit, least, strict=True)
    )


def _even_steps(extent: int, wanted: int, unit: int, least: int) -> int:
    """About `wanted` steps, if possible a multiple of `unit`, so that the last panel has `least` steps too."""
    if is_symbolic(extent):
        size = unit if unit <= 1.5 * wanted else least
        return -(-wanted // size) * size
    panels = round(extent / wanted)
    if panels <= 1:
        return extent
    even = -(-extent // panels)
    for size in sorted({unit, least, -(-least // 4), 1}, reverse=True):
        if size > 1.5 * even:
            continue
        first = -(-even // size) * size
        for steps in (*range(first, max(least, even // 2) - 1, -size), *range(first + size, 2 * even, size)):
            if extent % steps == 0 or extent % steps >= least:
                return min(steps, extent)
    return extent


def _panel(group: Group, steps: tuple[int, ...], element_bytes: int) -> Panel:
    """The layout of the scratch buffer: runs one after the other, each from a line on."""
    run: list[int] = []
    pitches = [0] * group.shared
    length = group.stretch
    for i in group.run_axes:
        pitches[i] = length
        run.append(i)
        length *= steps[i]
        if steps[i] < group.axes[i].extent:
            break
    lanes = LINE_BYTES // element_bytes
    size = -(-length // lanes) * lanes
    if size & (size - 1) == 0:  # runs a power of two apart would share a set of the cache
        size += lanes
    for i in sorted(range(group.shared), key=lambda i: group.axes[i].destination_stride):
        if i not in run:
            pitches[i] = size
            size *= steps[i]
    return Panel(group, steps, tuple(pitches), tuple(run), size)


def _with_tiles(panel: Panel, choose_tile: ChooseTile, source_size: int) -> Panel | None:
    """The panel with a tile for every box that has one; None where the last panel is too small for it."""
    tiles: list[Tile | None] = []
    for position, box in enumerate(panel.group.boxes):
        inside = panel.scratch_box(position)
        reach = sum(
            (axis.valid - part.valid) * axis.source_stride for axis, part in zip(box.axes, inside.axes, strict=True)
        )
        tiles.append(choose_tile(inside, source_size - reach))
    with_tiles = replace(panel, tiles=tuple(tiles))
    for axis, steps, least in zip(panel.group.axes, panel.steps, with_tiles.least, strict=True):
        if not is_symbolic(axis.extent) and least > (axis.extent % steps or steps):
            return None
    return with_tiles
