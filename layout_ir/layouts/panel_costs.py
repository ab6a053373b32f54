"""What it costs to move panels, by which one of several is chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from layout_ir.layouts import affine
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_group import contiguous
from layout_ir.layouts.panel_source import STREAMS, SourceRows, is_read_on, places_of_rows, source_rows
from layout_ir.layouts.source_region import pieced_part_bytes, region_axis, takes_parts
from layout_ir.layouts.symbols import is_multiple, is_symbolic

SCRATCH_BYTES = 320 << 10
"""Size of the largest scratch buffer: it has to stay in a second level cache, on the stack of a thread."""

PAGE_BYTES = 4096
"""Bytes after which the sets of a first level cache repeat."""

CROWDED = 3
"""Rows that begin in one set, for every place in it, from which on most are gone when the next panel goes on."""

WIDE_BYTES = 4
"""
Width of elements of which single lines of a row are no good pieces of a region.

On Emerald Rapids 346 images of 128 channels of 19 x 19 in f32 take 1.4 times as long by them as by two lines of each
row, but in f16 and i8 others are up to 1.2 times as fast by single lines.
"""

LEAST_PIECES = 3
"""Panels that long rows are cut into, at least."""


@dataclass(frozen=True)
class PanelCosts:
    """What the parts of a panel cost, in bytes that might be moved instead; by default on Intel's Ice Lake."""

    end_bytes: float = 370
    """The two ends of what is written in one go, which are parts of lines."""

    short_run_bytes: float = 5
    """A short run, far from the one before, where lines are carried."""

    far_run_bytes: float = 41
    """The same with a scratch buffer that is not near."""

    carrying: float = 0.06
    """To carry lines, for every byte."""

    visit_bytes: float = 145
    """A visit to a row of the source."""

    near_visit_bytes: float = 28
    """The same where the next panel goes on with the row, and little is moved until then."""

    far_visit_bytes: float = 500
    """The same where the next panel carries lines on and begins other rows."""

    region_visit_bytes: float = 14
    """The same where rows are parts of a region of the source that has come into a second level cache before."""

    region_part_bytes: float = 14
    """The same where a short row ends inside of a line, which the next panel reads again."""

    many_rows: float = 1
    """The part of a visit that is left where there are so many that they are asked for while panels are written."""

    read_on_bytes: int = 96
    """Length of a row from which on it is cheap to go on with it: two panels read most lines of a shorter one."""

    near_bytes: int = 26 << 10
    """Size of a scratch buffer that mostly stays in a first level cache."""

    region_bytes: int = 96 << 10
    """Size of the largest region of which the next one is asked for, so that caches hold both and the scratch."""

    kept_region_bytes: int = 96 << 10
    """The same for panels that mostly stay in a first level cache, and go on with rows."""

    pieced_region_bytes: tuple[int, int] = (0, 0)
    """
    Sizes of the smallest and the largest region that is asked for by panels which take whole lines of rows, and a third
    of each row at most; 0 where these are like any others.
    """

    large_region: float = 0
    """What a region of more than `kept_region_bytes` costs, for every byte."""

    region_near_bytes: int = 80 << 10
    """The same for parts of such a region."""

    kept_source_bytes: int = 0
    """
    Size of the largest part of the source without gaps that stays in a second level cache while panels take one piece
    of it after the other; 0 where such parts are like any others. The source is taken to begin at a line.
    """

    kept_visit_bytes: float = 22
    """A visit to a row of such a part."""

    kept_end_bytes: float = 300
    """`end_bytes` where lines are carried between panels that take rows of such a part: the next row comes soon."""

    kept_near_bytes: int = 80 << 10
    """`near_bytes` for panels that take rows of such a part: they read from a second level cache in any case."""

    kept_far: float = 0.9
    """`far` for these."""

    tiny_bytes: int = 1 << 10
    """Size of one through which so little goes at once that it is as good as none."""

    far: float = 0.6
    """A buffer that is not near, for every byte; one between tiny and near costs a part of that."""

    kept_bytes: int = 370 << 10
    """Size of all that is kept in a cache for panels, up to which little is driven out of a second level cache."""

    driven_out: float = 0.45
    """What more than that costs, for every byte."""

    evenly: bool = False
    """Whether panels between which lines are carried are made about equally large: a short one cannot ask for more."""

    counts_first_visits: bool = False
    """Whether the first visit to a row is counted as one to another row, which matters where rows are short."""

    set_places: int | None = None
    """Places of a set of a first level cache; None where rows that have too few of them cost no more."""


DEFAULT_COSTS = PanelCosts()


def overhead(panel: Panel, costs: PanelCosts, element_bytes: int, *, at_lines: bool, threads: int) -> float:
    """What the ends of runs and the visits to rows cost, in bytes for every byte that is moved."""
    rows = source_rows(panel)
    run, row = panel.run_length * element_bytes, rows.length * element_bytes
    written = min(panel.written_length(threads) * element_bytes, SCRATCH_BYTES)  # more, or unknown, makes no difference
    size = panel.size * element_bytes
    kept = size if panel.carried is not None else 2 * size  # the source of the next panel has been asked for already
    has_come = panel.region is not None or next_region(panel, panel.walked, element_bytes, costs) is not None
    far, end = costs.far, costs.end_bytes
    if has_come:
        visit, near = _region_visit_bytes(row, costs), costs.region_near_bytes
    elif takes_pieces_of_kept_part(panel, costs, element_bytes, threads):
        visit, near, far = costs.kept_visit_bytes, costs.kept_near_bytes, costs.kept_far
        end = end if panel.carried is None else costs.kept_end_bytes
    else:
        visit, near = _visit_bytes(panel, rows, costs, element_bytes), costs.near_bytes
    cost = (end if has_ends(panel, element_bytes, at_lines) else end / 16) / written
    if panel.carried is not None:
        cost += (costs.short_run_bytes if size <= costs.near_bytes else costs.far_run_bytes) / run + costs.carrying
    cost += visit / row * _density(panel)
    cost += far * min(max((size - costs.tiny_bytes) / (near - costs.tiny_bytes), 0), 1)
    if has_come and panel.region is None and _is_large_region(panel, element_bytes, costs):
        cost += costs.large_region
    return cost + (costs.driven_out if kept > costs.kept_bytes else 0)


def next_region(panel: Panel, walk: Sequence[int], element_bytes: int, costs: PanelCosts) -> int | None:
    """The axis that leads to the region of the source that is asked for while one is moved; None for no such region."""
    rows = source_rows(panel)
    goes_on = _goes_on_near(panel, rows, costs, element_bytes)
    usual = region_axis(panel, walk, element_bytes, costs.kept_region_bytes if goes_on else costs.region_bytes)
    least, most = costs.pieced_region_bytes
    if usual is not None or not most or not _takes_lines_of_rows(panel, rows, element_bytes):
        return usual
    return region_axis(panel, walk, element_bytes, most, least)


def _takes_lines_of_rows(panel: Panel, rows: SourceRows, element_bytes: int) -> bool:
    """Whether panels take whole lines of long rows of the source; two at least of wide elements."""
    if not rows.along or not _are_whole_lines(panel, rows, element_bytes):
        return False
    least = LINE_BYTES if element_bytes < WIDE_BYTES else 2 * LINE_BYTES
    last = rows.along[-1]
    is_piece = panel.group.main.axes[last].extent >= LEAST_PIECES * rows.taken[last]
    return is_piece and rows.length * element_bytes >= least


def takes_pieces_of_kept_part(panel: Panel, costs: PanelCosts, element_bytes: int, threads: int) -> bool:
    """
    Whether panels take pieces of a part of the source that stays in a cache until all of it has been taken.

    They take whole lines of it, and two at least: a part of a line would come from there twice, and with a line comes
    its neighbour. Threads that share a part have caches of their own.
    """
    rows = source_rows(panel)
    if not costs.kept_source_bytes or rows.length * element_bytes < 2 * LINE_BYTES:
        return False
    if not _are_whole_lines(panel, rows, element_bytes):
        return False
    if panel.kept_step is not None:  # of which a kernel looks at the size
        return takes_parts(panel)
    shared = panel.divided(threads)
    size = pieced_part_bytes(panel, [i for i in panel.walked if i not in shared], element_bytes)
    return size is not None and size <= costs.kept_source_bytes


def _are_whole_lines(panel: Panel, rows: SourceRows, element_bytes: int) -> bool:
    """Whether rows of the source begin and end at lines, if it begins at one; a step that is kept has no gaps."""
    main, line = panel.group.main, LINE_BYTES // element_bytes
    apart = [axis.source_stride for i, axis in enumerate(main.axes) if i not in rows.along and i != panel.kept_step]
    return all(is_multiple(place, line) for place in (affine.constant_value(main.source_offset), rows.length, *apart))


def _is_large_region(panel: Panel, element_bytes: int, costs: PanelCosts) -> bool:
    return region_axis(panel, panel.walked, element_bytes, costs.kept_region_bytes) is None


def has_ends(panel: Panel, element_bytes: int, at_lines: bool) -> bool:
    """Whether runs end inside of lines."""
    others = [axis.destination_stride for i, axis in enumerate(panel.group.axes) if i not in panel.run]
    return not at_lines or any(length * element_bytes % LINE_BYTES for length in (*others, panel.run_length))


def _density(panel: Panel) -> float:
    """The share of cells that get elements and no pads; about that where extents are not known."""
    boxes = panel.group.boxes
    return sum(box.elements for box in boxes) / sum(box.cells for box in boxes)


def _region_visit_bytes(row: int, costs: PanelCosts) -> float:
    """What a visit costs to a row, of so many bytes, that has come into a cache."""
    is_part = row < costs.read_on_bytes and row % LINE_BYTES != 0
    return costs.region_part_bytes if is_part else costs.region_visit_bytes


def _visit_bytes(panel: Panel, rows: SourceRows, costs: PanelCosts, element_bytes: int) -> float:
    """What a visit to a row of the source costs."""
    if _goes_on_near(panel, rows, costs, element_bytes):
        return _near_visit_bytes(panel, rows, costs) if costs.counts_first_visits else costs.near_visit_bytes
    visit = costs.visit_bytes if is_read_on(panel, panel.walked) or panel.carried is None else costs.far_visit_bytes
    return visit * costs.many_rows if rows.count >= STREAMS else visit


def _goes_on_near(panel: Panel, rows: SourceRows, costs: PanelCosts, element_bytes: int) -> bool:
    """Whether the next panel goes on with long rows of the source, and little is moved until then."""
    is_near = panel.size * element_bytes <= costs.near_bytes and not _are_crowded(panel, rows, costs, element_bytes)
    return is_near and rows.length * element_bytes >= costs.read_on_bytes and is_read_on(panel, panel.walked)


def _near_visit_bytes(panel: Panel, rows: SourceRows, costs: PanelCosts) -> float:
    """What a visit costs where panels go on with rows, in the mean of a whole row: the first one is to a new row."""
    axes = panel.group.main.axes
    extents = [axes[i].extent for i in contiguous(axes, [axis.source_stride for axis in axes])]
    if any(map(is_symbolic, extents)):
        return costs.near_visit_bytes
    whole = math.prod(extents)
    return (costs.visit_bytes + (math.ceil(whole / rows.length) - 1) * costs.near_visit_bytes) * rows.length / whole


def _are_crowded(panel: Panel, rows: SourceRows, costs: PanelCosts, element_bytes: int) -> bool:
    """Whether the rows of the source leave a first level cache before the next panel goes on."""
    if costs.set_places is None or not rows.across:
        return False
    places = places_of_rows(panel, rows, PAGE_BYTES // element_bytes, costs.set_places)
    return places is not None and rows.taken[rows.longest_across] > CROWDED * places
