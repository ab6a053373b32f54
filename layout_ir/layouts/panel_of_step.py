"""
Panels that take one step of the outermost axis, where only a kernel that runs knows how much that is.

Panels of a fixed length are too long for small matrices, one for every image. In scratch a step lies as in the
destination, so that it is one run from there, and the source of the next step can be asked for as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_choice import ChooseTile, with_tiles
from layout_ir.layouts.panel_group import Group, group_of_stretches, is_regular
from layout_ir.layouts.panel_source import STREAMS, source_rows
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import is_symbolic

MOST_BYTES = 160 << 10
"""
Size of the largest step that is moved as one panel on any processor.

Where no panels within it can be asked for a step ahead. Measured on Zen 4: NHWC to NCHW, 64 and 100 channels of 28 x 28
in f16 and i8, 1.4 to 1.7 times.
"""

SHORT_PART_BYTES, LONG_PART_BYTES = 4 << 10, 64 << 10
"""
Size of the largest panel of a part of a larger step that takes a line of each row of the source, and of longer rows.

Measured on Zen 4 where channels become planes, 256 to 2048 of them in f16 and f32: of 7 x 7 lines are 1.1 to 1.2 times
as fast as longer rows, of 14 x 14 0.85 times; and both 1.3 to 2.2 times as fast as panels within planes.
"""

WHOLE_BYTES = 20 << 10
"""Size of the largest step that is moved as one panel where the usual ones are no larger, or elements are picked."""

FEW_ROWS_BYTES = 8 << 10
"""
Size of the largest step that is moved as one panel where it has few rows of the source, which processors follow.

Measured on Zen 4: 3 to 16 channels from planes to rows or to blocks of 16, in steps of 13 to 64 KB, are 1.2 to 1.6
times as fast by smaller panels; in steps of 3 KB 0.8 to 0.9 times.
"""

LONG_RUN_BYTES = 512
"""Length of the runs of small panels from which on a step of one row of the source is no better as one, if larger."""


def most_bytes_of_step(usual: Panel, element_bytes: int, otherwise: int) -> int:
    """
    The size of the largest step that is moved as one panel.

    `usual`: the panels that others are moved by. `otherwise`: what it is where neither these nor their rows say more.
    """
    rows = source_rows(usual).count
    if 1 < rows <= STREAMS:
        return FEW_ROWS_BYTES
    if rows == 1 and usual.run_length * element_bytes >= LONG_RUN_BYTES and usual.size * element_bytes <= WHOLE_BYTES:
        return WHOLE_BYTES
    return otherwise


def group_of_steps(boxes: Sequence[Box]) -> tuple[Group, list[int]] | None:
    """The boxes that fill steps of unknown size together with the first one, and their positions; None if none do."""
    if not is_regular(boxes[0]):
        return None
    stretch = max((axis.destination_stride for axis in boxes[0].axes), default=0)
    return group_of_stretches(boxes, stretch) if is_symbolic(stretch) else None


def step_axis(group: Group) -> int | None:
    """The outermost axis of a group, if its steps are of unknown size and lie without gaps in the destination."""
    axes = group.axes
    if not axes or any(is_symbolic(axis.extent) and not axis.is_full for box in group.boxes for axis in box.axes):
        return None
    outer = max(range(group.shared), key=lambda i: axes[i].destination_stride)
    inside = axes_inside(group, outer)
    is_unknown = is_symbolic(group.stretch) or any(is_symbolic(axes[i].extent) for i in inside)
    is_whole = len(inside) == group.shared - 1 and axes[outer].is_full
    return outer if is_unknown and is_whole and all(map(is_regular, group.boxes)) else None


def axes_inside(group: Group, outer: int) -> list[int]:
    """The axes of a run inside of another one, innermost first."""
    return [i for i in group.run_axes if i != outer]


def step_length(group: Group, outer: int) -> int:
    """Cells of one step of an axis."""
    return math.prod((axis.extent for i, axis in enumerate(group.axes) if i != outer), start=group.stretch)


def panel_of_step(
    group: Group,
    choose_tile: ChooseTile,
    source_size: int,
    element_bytes: int,
    most_bytes: int,
    *,
    part: int | None = None,
) -> Panel | None:
    """
    The panels that take a step of unknown size, no larger than that; None where steps are known or leave gaps.

    What is left of a line goes to the next step where that follows.

    `part`: steps of the outermost axis inside that a panel takes, rather than all; then None where those are no more.
    """
    outer = step_axis(group)
    if outer is None:
        return None
    steps = [1 if i == outer else axis.extent for i, axis in enumerate(group.axes)]
    inside = axes_inside(group, outer)
    if part is not None:
        if not inside or steps[inside[-1]] <= part:
            return None
        steps[inside[-1]] = part
    follows = part is None and outer in group.run_axes and group.axes[outer].extent > 1
    run = (*inside, outer) if follows else tuple(inside)
    pitches, length = [0] * group.shared, group.stretch
    for i in run:
        pitches[i] = length
        length *= steps[i]
    if not is_symbolic(length):
        return None
    lead = LINE_BYTES // element_bytes if follows else 0
    size = lead + (most_bytes + LINE_BYTES) // element_bytes  # a line is read whole behind its end
    without_tiles = Panel(group, tuple(steps), tuple(pitches), run, size, lead, region=outer)
    panel = with_tiles(without_tiles, choose_tile, source_size)
    return panel if panel is not None and all(panel.tiles) else None
