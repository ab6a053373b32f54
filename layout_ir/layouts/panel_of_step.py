"""
Panels that take one step of the outermost axis, where only a kernel that runs knows how much that is.

Panels of a fixed length are too long for small matrices, one for every image. In scratch a step lies as in the
destination, so that it is one run from there, and the source of the next step can be asked for as a whole.
"""

from __future__ import annotations

import math

from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_choice import ChooseTile, with_tiles
from layout_ir.layouts.panel_group import Group, is_regular
from layout_ir.layouts.panel_steps import LINE_BYTES
from layout_ir.layouts.symbols import is_symbolic

SMALL_STEP_BYTES = 64 << 10
"""
Size of the largest step that is moved as one panel where panels within it can be asked for a step ahead as well.

Measured on Zen 4: 35 channels of 14 x 14 are 1.15 to 1.4 times as fast as one panel, and of 28 x 28 in f32 0.55 times.
"""

MOST_BYTES = 160 << 10
"""The same where there are none: NHWC to NCHW, 64 and 100 channels of 28 x 28 in f16 and i8, 1.4 to 1.7 times."""


def step_axis(group: Group) -> int | None:
    """The outermost axis of a group, if its steps are of unknown size and lie without gaps in the destination."""
    axes = group.axes
    if not axes or any(is_symbolic(axis.extent) and not axis.is_full for box in group.boxes for axis in box.axes):
        return None
    outer = max(range(group.shared), key=lambda i: axes[i].destination_stride)
    inside = [i for i in group.run_axes if i != outer]
    is_unknown = any(is_symbolic(axes[i].extent) for i in inside)
    is_whole = len(inside) == group.shared - 1 and axes[outer].is_full
    return outer if is_unknown and is_whole and all(map(is_regular, group.boxes)) else None


def step_length(group: Group, outer: int) -> int:
    """Cells of one step of an axis."""
    return math.prod((axis.extent for i, axis in enumerate(group.axes) if i != outer), start=group.stretch)


def panel_of_step(
    group: Group, choose_tile: ChooseTile, source_size: int, element_bytes: int, most_bytes: int, *, carries: bool
) -> Panel | None:
    """
    The panels that take a step of unknown size, no larger than that; None where steps are known or leave gaps.

    `carries`: whether what is left of a line goes to the next step where that follows; threads share steps otherwise.
    """
    outer = step_axis(group)
    if outer is None:
        return None
    steps = tuple(1 if i == outer else axis.extent for i, axis in enumerate(group.axes))
    follows = carries and outer in group.run_axes
    run = tuple(i for i in group.run_axes if i != outer or follows)
    pitches, length = [0] * group.shared, group.stretch
    for i in run:
        pitches[i] = length
        length *= steps[i]
    lead = LINE_BYTES // element_bytes if follows else 0
    size = lead + (most_bytes + LINE_BYTES) // element_bytes  # a line is read whole behind its end
    panel = with_tiles(Panel(group, steps, tuple(pitches), run, size, lead, region=outer), choose_tile, source_size)
    return panel if panel is not None and all(panel.tiles) else None
