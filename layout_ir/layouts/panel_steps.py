"""How the axes of a group are cut into panels of a wanted size, and how a panel lies in its scratch buffer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_group import Group, contiguous
from layout_ir.layouts.symbols import is_symbolic

FEW_PANELS = 4
"""Panels of which a last one that is shorter than the others counts."""


@dataclass(frozen=True)
class Wanted:
    """About how large panels are to be."""

    run_bytes: int
    """Length of the runs of the destination."""

    row_bytes: int
    """Length of the rows of the source."""

    carries: bool
    """Whether what is left of lines is carried from a panel to the one that continues its runs."""

    evenly: bool = False
    """Whether the last panel of these is about as large as the others; otherwise as short as it likes."""


def panel_of(group: Group, least: Sequence[int], wanted: Wanted, element_bytes: int) -> Panel:
    """The panels of about a size, in which every shared axis has `least` steps at least."""
    lanes = LINE_BYTES // element_bytes
    steps, last = _steps(group, least, wanted, element_bytes)
    run: list[int] = []
    pitches = [0] * group.shared
    length = group.stretch
    for i in group.run_axes:
        pitches[i] = length
        run.append(i)
        length *= steps[i]
        if steps[i] < group.axes[i].extent:
            break
    lead = 0
    goes_on = last is not None and run and run[-1] == last and steps[last] < group.axes[last].extent
    if last is not None and goes_on and length >= lanes and not group.overrun:
        lead = _in_lines(max((least[last] - 1) * pitches[last], lanes), lanes)
    size = lead + _in_lines(length, lanes)
    if size & (size - 1) == 0:  # runs a power of two apart would share a set of the cache
        size += lanes
    # what follows in the source follows in scratch: a tile's stores lie in few pages, and axes can become one
    for i in sorted(range(group.shared), key=lambda i: group.main.axes[i].source_stride):
        if i not in run:
            pitches[i] = size
            size *= steps[i]
    behind = max(lanes, group.overrun)  # a line is read whole behind its end
    return Panel(group, steps, tuple(pitches), tuple(run), size + behind, lead)


def _in_lines(elements: int, lanes: int) -> int:
    return -(-elements // lanes) * lanes


def _rounded(wanted: Wanted, length: int) -> int:
    """Steps of `length` bytes in a run of about the wanted length; of no more where lines are carried."""
    return wanted.run_bytes // length if wanted.carries else -(-wanted.run_bytes // length)


def _steps(
    group: Group, least: Sequence[int], wanted: Wanted, element_bytes: int
) -> tuple[tuple[int, ...], int | None]:
    """Steps of every shared axis in a panel, and the axis along which parts of lines can be carried."""
    axes, main = group.axes, group.main
    sizes, unit = list(least), list(least)
    last: int | None = None
    length = group.stretch * element_bytes
    for i in group.run_axes:
        unit[i] = math.lcm(least[i], LINE_BYTES // math.gcd(LINE_BYTES, length))
        sizes[i] = max(least[i], _rounded(wanted, length))
        length *= axes[i].extent
        if length > wanted.run_bytes:
            last = i if wanted.carries and axes[i].is_full else None
            break
    length = element_bytes
    for i in contiguous(main.axes, [axis.source_stride for axis in main.axes]):
        if i < group.shared:
            sizes[i] = max(sizes[i], -(-wanted.row_bytes // length))
        length *= main.axes[i].extent
        if length >= wanted.row_bytes:
            break
    steps: list[int] = []
    for i, axis in enumerate(axes):
        if i == last:
            whole = -(-sizes[i] // least[i]) * least[i]
            if wanted.evenly and axis.extent < FEW_PANELS * whole:
                parts = max(round(axis.extent / whole), 1)
                whole = -(-axis.extent // (parts * least[i])) * least[i]
            steps.append(whole if is_symbolic(axis.extent) else min(whole, axis.extent))
        elif axis.is_full:
            steps.append(_even_steps(axis.extent, sizes[i], unit[i], least[i]))
        else:
            steps.append(axis.extent)  # pads stay with what they end
    return tuple(steps), last


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
