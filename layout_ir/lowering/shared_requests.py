"""
What tiles ask for ahead of time together: lines of the source in the order in which they lie, each tile for a share.

A processor follows sequences of lines by itself, each within a page, and has many more lines on the way then than loads
and requests of its own have places for. Tiles that transpose read a line here and a line there; as many lines that
follow each other, asked for in one go, are such a sequence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel_group import is_regular
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.line_sequences import BYTES_ON_THE_WAY, trips_of
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.request_model import PAGE_LINES
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.share_of_requests import Share, ShareTerm

MOST_BYTES = 256 << 10
"""
Size of the largest part of the source that tiles ask for so: caches hold it beside what is read and written.

On Sapphire Rapids five copies of images and matrices of 200 to 240 KB are 1.07 times as fast so as without.
"""

FOLLOWED_ROWS = 64
"""
Rows far from each other that a processor follows at once.

Sapphire Rapids reads 64 rows a page or more apart at 14 GB/s, two lines of each in turn, and 128 rows at 5.
"""

FAR_ROW_LINES = PAGE_LINES // 2
"""Lines from row to row from which on they are sequences of their own: few of them lie in one page."""

PIECE_LINES = 8
"""
Lines of a row from which on it pays to ask for them in one go.

Sapphire Rapids reads 100 rows at 5 GB/s, two lines of each in turn, if four lines are asked for in one go, at 9 if
eight are, and at 10 if sixteen are; while it writes as much past the caches at 4, 8 and 6.
"""


def share_of_next_part(box: Box, tile: Tile, levels: Sequence[LoopLevel], schedule: Schedule) -> Share | None:
    """
    The share of a tile in what the next step of a loop reads, where its tiles read a part without gaps.

    None where there is no such loop, and where rows are so far apart that each is a sequence of its own.
    """
    if not _is_whole(box):
        return None
    page = PAGE_LINES * schedule.lanes
    far = FAR_ROW_LINES * schedule.lanes
    digits = [
        _Digit(axis.source_stride, steps) for axis, steps in zip(box.axes, tile.extents, strict=True) if steps > 1
    ]
    if any(is_symbolic(digit.distance) or digit.distance >= far for digit in digits):
        return None
    if _length_without_gaps(digits):
        return None  # each tile reads lines that follow each other
    inside: list[tuple[LoopLevel, int]] = []
    tiles = 1
    for level in reversed(levels):
        distance = level.step * box.axes[level.axis].source_stride
        length = _length_without_gaps(digits)
        if is_symbolic(distance) or distance <= 0 or length * LINE_BYTES > MOST_BYTES * schedule.lanes:
            return None
        if tiles > 1 and page <= length <= distance:
            return _share(box, inside, length, distance, tiles, schedule.lanes)
        trips = trips_of(box, level)
        if is_symbolic(trips):
            return None
        if inside and inside[-1][0].axis == level.axis:  # in blocks, of which the last may be shorter
            within, steps = inside[-1]
            tiles = tiles // steps * trips_of(box, replace(level, step=within.step))
        else:
            tiles *= trips
        inside.append((level, trips))
        digits.append(_Digit(distance, trips, _end_of(box, level)))
    return None


def _is_whole(box: Box) -> bool:
    """Whether all steps of a box are alike, and read something: what a share leads to lies within the source then."""
    return is_regular(box) and all(axis.is_full for axis in box.axes)


@dataclass(frozen=True)
class _Digit:
    """Steps through the source."""

    distance: int
    count: int
    end: int | None = None
    """Where they end at the latest: the last one may be moved back."""


def _end_of(box: Box, level: LoopLevel) -> int | None:
    axis = box.axes[level.axis]
    return axis.source_stride * axis.extent if level.inside is None else None


def _length_without_gaps(digits: Sequence[_Digit]) -> int:
    """Elements of a part of the source through which all these steps lead; 0 where it has gaps."""
    length = 1
    for digit in sorted(digits, key=lambda digit: digit.distance):
        if not 0 < digit.distance <= length:
            return 0
        end = length + digit.distance * (digit.count - 1)
        length = max(length, end if digit.end is None else min(end, digit.end))
    return length


def _share(
    box: Box, inside: Sequence[tuple[LoopLevel, int]], length: int, distance: int, tiles: int, lanes: int
) -> Share:
    """The share of each of so many tiles, whose loops are given innermost first, in a part of so many elements."""
    lines = -(-length // (tiles * lanes))
    on_the_way = BYTES_ON_THE_WAY * lanes // LINE_BYTES
    terms: list[ShareTerm] = []
    steps: dict[int, int] = {}
    number = 1
    for level, trips in inside:
        step = steps.setdefault(level.axis, level.step)
        position = ((level.axis, 1),)
        terms.append(ShareTerm(number * lines * lanes, position, step, level.step // step, trips))
        number *= trips
    for level in {level.axis: level for level, _ in inside}.values():  # from the tile to where the part begins
        step, stride, position = steps[level.axis], box.axes[level.axis].source_stride, ((level.axis, 1),)
        terms.append(ShareTerm(-stride, position))
        if level.inside is not None:
            terms.append(ShareTerm(stride * level.inside, position, step, level.inside // step))
    ahead = max(-(-on_the_way // distance), 1) * distance
    return Share(ahead, tuple(terms), tuple(line * lanes for line in range(lines)))


def share_of_next_pieces(
    box: Box, tile: Tile, levels: Sequence[LoopLevel], walked: Sequence[LoopLevel], schedule: Schedule
) -> Share | None:
    """
    The share of a tile in pieces of the rows of later panels, some rows of each panel by turns.

    `levels`: the loops inside of a panel; `walked`: those from panel to panel, of which the last goes on along the
    rows. None where the rows are few enough to be followed, or a panel takes long pieces of them itself.
    """
    lanes, innermost = schedule.lanes, walked[-1]
    across = [i for i, axis in enumerate(box.axes) if tile.extents[i] > 1 and axis.source_stride != 1]
    along = [level for level in levels if box.axes[level.axis].source_stride == 1]
    if not _is_whole(box) or len(across) != 1 or len(along) > 1 or box.axes[innermost.axis].source_stride != 1:
        return None
    distance, steps = box.axes[across[0]].source_stride, tile.extents[across[0]]
    rows = steps * math.prod(trips_of(box, level) for level in levels if level not in along)
    if is_symbolic(distance) or is_symbolic(innermost.step) or is_symbolic(rows):
        return None
    turns = PIECE_LINES * lanes // innermost.step
    parts = trips_of(box, along[0]) if along else 1
    if turns < 2 or turns * parts > steps or rows <= FOLLOWED_ROWS or distance < FAR_ROW_LINES * lanes:
        return None
    terms = [ShareTerm(distance, _along_rows(box, walked), innermost.step, count=turns)]
    if along:
        position = ((along[0].axis, 1),)
        terms += [ShareTerm(turns * distance, position, along[0].step), ShareTerm(-1, position)]
    offsets = [
        row * distance + line
        for row in range(0, steps, turns * parts)
        for line in range(0, turns * innermost.step, lanes)
    ]
    return Share(innermost.step, tuple(terms), tuple(offsets))


def _along_rows(box: Box, walked: Sequence[LoopLevel]) -> tuple[tuple[int, int], ...]:
    """The axes along a row, with the distances of their steps: those that go on where the ones inside end."""
    positions: list[tuple[int, int]] = []
    end = 1
    for level in reversed(walked):
        axis = box.axes[level.axis]
        if axis.source_stride != end or is_symbolic(axis.extent):
            break
        positions.append((level.axis, end))
        end *= axis.extent
    return tuple(positions)
