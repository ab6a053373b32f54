"""How far ahead the lines are asked for that tiles write one after the other, in one sequence or in several."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.line_sequences import (
    BYTES_ON_THE_WAY,
    LEAST_LINES_AHEAD,
    joined,
    longest,
    trips_of,
    walked,
)
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.request_model import PAGE_LINES
from layout_ir.lowering.schedule import Schedule

FORWARD_DISTANCES = 4
"""How many distances ahead a sequence of lines that is written is long, at least."""

PLACES_OF_SET = 3
"""Lines of one set of a first-level cache, of 8 or 12 that it has, that a tile may ask for ahead of writing them."""

PLACES_FOR_GAPS = 10
"""The same for lines that the very next tiles write, and for rows that tiles copy to. Measured where a set has 12."""

MIXED_LINES = 256
"""Lines that tiles write in an order of their own, up to which the next ones of several sequences are asked for."""

CACHED_LINES_AHEAD = 16
"""Distance, in lines, in which lines are asked for that stay in the caches, where rows have gaps or threads share."""

LONG_ROW_LINES = 3.5
"""
Lines of a row from which on threads ask for its own next lines, where tiles write several rows that are one sequence.

With two threads on Emerald Rapids 14 copies from blocks to planes of 55 to 196 elements are 1.06 to 1.6 times as fast
so, and one of them 0.98 times; of shorter rows they would be 0.85 to 0.94 times. Not measured on other processors.
"""


def written_ahead(box: Box, tile: Tile, levels: Sequence[LoopLevel], schedule: Schedule) -> int:
    """
    By how many elements ahead of its stores a tile asks for what the next ones write.

    In one sequence of lines or several, or else between those of the tile itself.
    """
    stores, lanes = [(store.offset, store.offset + store.lanes) for store in tile.network.stores], schedule.lanes
    parts, _ = joined(stores, lanes)
    if longest(parts) < MIXED_LINES // 2 * lanes:  # a longer one reaches as far itself as would be asked for
        ahead = _written_forward(box, parts, levels, schedule, mixes_few=True)
        apart = 0 if ahead else _written_apart(box, parts, levels, lanes)
        if not ahead and longest(parts) > apart:
            ahead = _written_forward(box, parts, levels, schedule)
        if ahead or apart:
            return ahead or apart
    return _gap_filled_next(box, stores, levels, lanes)


def _gap_filled_next(box: Box, stores: Sequence[tuple[int, int]], levels: Sequence[LoopLevel], lanes: int) -> int:
    """
    By how many elements ahead a tile asks for the lines between its own, where the next tiles write them at once.

    0 where it leaves no such lines, or so many of one set of a cache that they do not stay.
    """
    starts = sorted(start for start, _ in stores)
    pitch = min((after - before for before, after in itertools.pairwise(starts)), default=0)
    step = levels[-1].step * box.axes[levels[-1].axis].destination_stride if levels else 0
    is_filled = step == lanes and step * trips_of(box, levels[-1]) == pitch
    is_regular = is_filled and all((start - starts[0]) % pitch == 0 for start in starts)
    return step if is_regular and not places_compete(starts, lanes, PLACES_FOR_GAPS) else 0


def _written_forward(
    box: Box,
    parts: Sequence[tuple[int, int]],
    levels: Sequence[LoopLevel],
    schedule: Schedule,
    *,
    mixes_few: bool = False,
) -> int:
    """
    By how many elements ahead, where tiles write one sequence of lines.

    In between they may take an order of their own, in short parts; 0 where they do so in long ones, or write several.
    `mixes_few`: only in such parts that it is no better to ask for the next lines of each row. Threads ask no further
    than where their own lines are sure to be new, or for the next row, as the last ones they ask for are another's: 279
    copies are 1.05 times as fast with two on Emerald Rapids.
    """
    lanes, ahead = schedule.lanes, BYTES_ON_THE_WAY // LINE_BYTES * schedule.lanes
    most = (schedule.processor.few_mixed_lines if mixes_few else schedule.processor.mixed_lines) * lanes
    longest_row = LONG_ROW_LINES * lanes if mixes_few and schedule.threads > 1 else math.inf
    waiting: list[LoopLevel] = []
    near, pitch = 0, 1
    for level in reversed(levels):
        waiting.append(level)
        while waiting:
            steps = {one: one.step * box.axes[one.axis].destination_stride for one in waiting}
            following = next((one for one in waiting if 0 < steps[one] < 2 * longest(parts)), None)
            if following is None:
                break
            waiting.remove(following)
            pitch = _pitch_of_parts(parts, box.axes[following.axis].destination_stride, ahead) or pitch
            sequences = walked(parts, steps[following], trips_of(box, following))
            if len(parts) == 1 and not near:
                near = max(-(-longest(parts) // lanes), CACHED_LINES_AHEAD) * lanes
            if len(sequences) == 1 and not waiting and longest(sequences) >= FORWARD_DISTANCES * ahead:
                lines = min(near, ahead) if schedule.threads > 1 else ahead
                return -(-lines // pitch) * pitch if following is level else 0
            parts, _ = joined(sequences, lanes)
            if len(parts) < len(sequences) and (longest(parts) > most or longest(sequences) >= longest_row):
                return 0
        if waiting and longest(parts) > most:
            break
    return 0


def _pitch_of_parts(parts: Sequence[tuple[int, int]], stride: int, ahead: int) -> int:
    """
    How far rows are apart of which tiles write parts, and leave out at least half as much; 0 where they leave out less.

    What is asked for is in the same part of another row then, not in what is left out. 0 too where rows are long.
    """
    return stride if 3 * longest(parts) <= 2 * stride <= 2 * ahead else 0


def _written_apart(box: Box, parts: Sequence[tuple[int, int]], levels: Sequence[LoopLevel], lanes: int) -> int:
    """The same for several sequences; 0 where all that is on its way would not stay in a near cache."""
    starts = [start for start, _ in parts]
    ahead = LEAST_LINES_AHEAD * lanes
    for level in reversed(levels):
        step, trips = level.step * box.axes[level.axis].destination_stride, trips_of(box, level)
        if 0 < step < 2 * longest(parts):
            parts = walked(parts, step, trips)
            if longest(parts) >= FORWARD_DISTANCES * ahead:
                return 0 if places_compete(starts, lanes) else ahead
        elif trips * len(starts) > MIXED_LINES // 2:
            return 0
        else:
            starts = [start + step * trip for trip in range(trips) for start in starts]
    return 0


def places_compete(places: Sequence[int], lanes: int, most: int = PLACES_OF_SET) -> bool:
    """
    Whether more than so many places belong to one set of a first-level cache, so that it does not keep them all.

    Unknown distances are taken for what most are: no multiples of a page. Where they are, asking is 0.93 to 1.2 times
    as fast.
    """
    if any(is_symbolic(place) for place in places):
        return False
    sets = Counter(place // lanes % PAGE_LINES for place in places)
    return max(sets.values()) > most
