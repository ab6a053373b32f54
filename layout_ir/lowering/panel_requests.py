"""
What panels ask for ahead of time.

The next region of the source while one is moved, or the rows of the next panel while one is written; and of the
destination the lines at the ends of later runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_costs import has_ends, next_region
from layout_ir.layouts.panel_source import STREAMS, SourceRows, places_of_rows, source_rows
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.lowering.picked_lines import picks_from_lines
from layout_ir.lowering.request_model import PAGE_LINES
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.source_prefetching import MANY_ROWS

ENDS_AHEAD_BYTES = 4096
"""What is written between asking for the lines at the ends of runs and writing them, at least."""

SETS_BYTES, PLACES_OF_SET = 128 << 10, 8
"""Bytes after which the sets of a second level cache repeat, and lines of each, as in the first: 1 MiB on Zen 4."""

LONG_RUN_BYTES = 4096
"""Length of what is written in one go up to which requests for rows between its lines do not slow it down."""

PANELS_READ_ON = 8
"""Panels that a sequence of lines goes on for, at least, where each asks for what the next one reads."""


def asked_region(panel: Panel, walk: Sequence[int], schedule: Schedule) -> int | None:
    """The axis of which a panel asks for the next region; None where there are none, or it asks in another way."""
    if not schedule.prefetches or schedule.preferences.prefetch_tiles:
        return None
    costs = schedule.processor.costs_of_panels(at_lines=schedule.at_line)
    return next_region(panel, walk, LINE_BYTES // schedule.lanes, costs)


def asked_rows(panel: Panel, walk: Sequence[int], schedule: Schedule) -> SourceRows | None:
    """The rows of the next panel that a panel asks for while it is written; None where there are none, or no need."""
    if not walk or not schedule.prefetches or not schedule.processor.asks_for_next_panel:
        return None
    if _follows_itself(panel, schedule) and _next_in_sequence(panel, walk, schedule.lanes):
        return None
    if panel.region is not None:
        asks = picks_from_lines(panel.group.main, schedule) or _follows_along_rows(panel, walk[-1], schedule)
        return source_rows(panel) if asks else None
    if asked_region(panel, walk, schedule) is not None:
        return None
    rows = _next_rows(panel, walk[-1], LINE_BYTES // schedule.lanes)
    return rows if rows is not None and _are_in_time(panel, rows, schedule) else None


def _are_in_time(panel: Panel, rows: SourceRows, schedule: Schedule) -> bool:
    """
    Whether rows that are asked for while a panel is written come in time to be of use, and hold up no writes.

    Where lines are carried, tiles ask along the rows already, and a processor follows as many as `STREAMS` by itself.
    """
    most = schedule.processor.next_panel_bytes
    if most is None:
        return True
    is_short = _bytes_of(panel.size, schedule) <= most and _bytes_of(panel.run_length, schedule) <= LONG_RUN_BYTES
    return is_short and rows.length >= schedule.lanes and (panel.carried is None or rows.count > STREAMS)


def _bytes_of(elements: int, schedule: Schedule) -> int:
    return elements * LINE_BYTES // schedule.lanes


def _follows_along_rows(panel: Panel, following: int, schedule: Schedule) -> bool:
    """
    Whether the next panel is another part of the same step: of rows of unknown number, a known distance apart.

    Bytes are 0.62 to 1.05 times as fast on Granite Rapids where those are asked for.
    """
    if not schedule.processor.asks_for_next_part or schedule.lanes == LINE_BYTES or following == panel.region:
        return False
    axes, rows = panel.group.main.axes, source_rows(panel)
    if axes[following].source_stride != 1 or not rows.across or not all(axis.is_full for axis in axes):
        return False
    return is_symbolic(rows.taken[rows.longest_across]) and not is_symbolic(axes[rows.longest_across].source_stride)


def _next_rows(panel: Panel, following: int, element_bytes: int) -> SourceRows | None:
    """
    The rows that are worth to be asked for ahead, where the next panel follows along the axis `following`.

    None where they are so few that a processor's own prefetcher follows them, where so many belong to one set of a
    second level cache that they drive each other out, and where it is not known how far away the next ones are.
    """
    rows = source_rows(panel)
    axes = panel.group.main.axes
    if is_symbolic(axes[following].source_stride) or any(map(is_symbolic, rows.taken)):
        return None
    if any(not axis.is_full for axis in axes) or rows.count < STREAMS:
        return None
    places = places_in_second_level(panel, rows, element_bytes)
    return rows if places is None or rows.taken[rows.longest_across] <= places else None


def places_in_second_level(panel: Panel, rows: SourceRows, element_bytes: int) -> int | None:
    """How many of the rows a second level cache has places for; None for rows an unknown distance apart."""
    return places_of_rows(panel, rows, SETS_BYTES // element_bytes, PLACES_OF_SET)


def is_asked_before(panel: Panel, walk: Sequence[int], rows_of_tile: int, schedule: Schedule) -> bool:
    """
    Whether what tiles ask for within a panel has been asked for before, so that they need not ask again and again.

    Measured on Zen 4, for tiles of many rows where lines are carried: with requests that are repeated they take 1.05
    times as long, but where a first level cache has no places for the rows of a tile, 0.9 times. Those that pick few
    elements of lines, of 1 and 2 bytes, take 1.05 to 1.15 times as long with them.
    """
    rows = asked_rows(panel, walk, schedule)
    if rows is None:
        return False
    if picks_from_lines(panel.group.main, schedule):
        return True
    if panel.region is not None or panel.carried is None or rows_of_tile < MANY_ROWS:
        return False
    places = places_of_rows(panel, rows, PAGE_LINES * schedule.lanes, PLACES_OF_SET)
    return places is not None and places >= rows_of_tile


def sequence_ahead(panel: Panel, walk: Sequence[int], schedule: Schedule) -> int:
    """
    How many elements behind what a panel reads the next one does, where all of them read one sequence of lines; else 0.

    A panel reads nothing while it is written, and then faster than memory delivers: what is asked for only a few lines
    ahead comes too late. Half a line further than where the next panel begins, loads inside of lines lead to lines that
    the last ones left out. On Zen 4 three or four channels out of blocks of 16 are taken 1.1 to 1.8 times as fast so,
    and most other sequences up to 1.2 times.
    """
    if not schedule.processor.asks_for_next_panel or _follows_itself(panel, schedule):
        return 0
    return _next_in_sequence(panel, walk, schedule.lanes)


def _follows_itself(panel: Panel, schedule: Schedule) -> bool:
    """Whether the processor goes on with one sequence of lines by itself while a panel is written."""
    most = schedule.processor.followed_sequence_bytes
    return most is None or _bytes_of(panel.size, schedule) <= most


def _next_in_sequence(panel: Panel, walk: Sequence[int], lanes: int) -> int:
    """
    How many elements behind what a panel reads of one sequence of lines the next one does, and half a line.

    0 where they read several sequences, or too short a one.
    """
    if sum(not box.is_fill for box in panel.group.boxes) > 1:
        return 0
    axes, rows = panel.group.main.axes, source_rows(panel)
    length, ahead = rows.length, 0
    for i in sorted(rows.across, key=lambda i: axes[i].source_stride):
        if not 0 < axes[i].source_stride < length + lanes:
            return 0
        length += axes[i].source_stride * (rows.taken[i] - 1)
    for i in reversed(walk):
        step = axes[i].source_stride * panel.steps[i]
        if not 0 < step < length + lanes:
            break
        ahead = ahead or step
        length += step * (-(-axes[i].extent // panel.steps[i]) - 1)
    reads_on = length >= PANELS_READ_ON * ahead and not is_symbolic(ahead)
    return ahead + lanes // 2 if ahead and reads_on else 0


def line_behind(schedule: Schedule) -> int:
    """
    Elements by which a panel asks for more than where the next one begins along the rows of the source.

    Where rows begin inside of lines, the line there is this panel's last.
    """
    return schedule.lanes if schedule.processor.asks_line_behind else 0


def ends_ahead(panel: Panel, walk: Sequence[int], schedule: Schedule) -> int:
    """
    How many elements behind the runs of a panel those of a later one are whose ends it asks for; 0: it does not.

    A part of a line is an ordinary store, for which the line has to come from memory first, and all stores behind it
    wait. Where lines are carried there are next to none.
    """
    if not walk or panel.carried is not None or not schedule.processor.asks_for_ends:
        return 0
    if not has_ends(panel, LINE_BYTES // schedule.lanes, at_lines=schedule.at_line):
        return 0
    if panel.region is not None:
        return 0  # how far away later runs are is not known
    panels = -(-ENDS_AHEAD_BYTES * schedule.lanes // (panel.size * LINE_BYTES))
    return panels * panel.steps[walk[-1]] * panel.group.axes[walk[-1]].destination_stride
