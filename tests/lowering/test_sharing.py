"""What threads write: every cell once or, in tiles that are moved back, by one thread; lines of one thread only."""

from __future__ import annotations

import itertools
import math
import re

import pytest
from xdsl.context import Context

from layout_ir import layout
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.thread_shares import evenness
from layout_ir.layouts.tile import Tile
from layout_ir.layouts.tiling import choose_tile
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.explain import explain_module
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.loop_order import loop_levels
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.shared_loops import EVEN_LOOP, EVEN_PARTS
from layout_ir.lowering.target import Target

LANES = 16


def transpose(rows: int, columns: int) -> Box:
    return Box((Axis("a", rows, columns, 1, rows), Axis("b", columns, 1, rows, columns)))


def images(count: int, channels: int, pixels: int) -> Box:
    size = channels * pixels
    return Box(
        (
            Axis("n", count, size, size, count),
            Axis("p", pixels, 1, channels, pixels),
            Axis("c", channels, pixels, 1, channels),
        )
    )


def blocks(count: int, blocks_of_channels: int, pixels: int) -> Box:
    """Blocks of 32 channels whose pixels become planes."""
    size = 32 * blocks_of_channels * pixels
    return Box(
        (
            Axis("n", count, size, size, count),
            Axis("c1", blocks_of_channels, 32 * pixels, 32 * pixels, blocks_of_channels),
            Axis("c0", 32, 1, pixels, 32),
            Axis("p", pixels, 32, 1, pixels),
        )
    )


def starts(axis: Axis, level: LoopLevel, outer: int | None) -> list[int]:
    """The starts of one loop, inside of a step of the loop that cuts the same axis before."""
    first, end = (0, axis.extent - level.longer) if outer is None else (outer, outer + (level.inside or 0))
    if outer is not None and end >= axis.extent - level.longer:
        end = axis.extent
    found = range(first, end, level.step)
    return [min(start, axis.extent - level.step) if level.is_last else start for start in found]


def written(box: Box, tile: Tile, levels: list[LoopLevel], fixed: dict[int, int]) -> set[int]:
    """The cells that the loops inside of `fixed` write."""
    if not levels:
        steps = [range(fixed.get(i, 0), fixed.get(i, 0) + extent) for i, extent in enumerate(tile.extents)]
        strides = [axis.destination_stride for axis in box.axes]
        return {sum(map(int.__mul__, strides, place)) for place in itertools.product(*steps)}
    level, *inner = levels
    outer = None if level.inside is None else fixed[level.axis]
    return set().union(
        *(
            written(box, tile, inner, {**fixed, level.axis: start})
            for start in starts(box.axes[level.axis], level, outer)
        )
    )


def shared_and_inner(levels: list[LoopLevel]) -> tuple[list[LoopLevel], list[LoopLevel]]:
    """The loops that threads share as one, outermost, and those inside of them."""
    shared = list(itertools.takewhile(lambda level: level.is_parallel, levels))
    return shared, levels[len(shared) :]


def trips(box: Box, levels: list[LoopLevel]) -> int:
    """How many parts the loops that threads share have, all together."""
    return math.prod(len(starts(box.axes[level.axis], level, None)) for level in shared_and_inner(levels)[0])


@pytest.mark.parametrize(
    "box",
    [
        transpose(64, 64),
        transpose(99, 300),
        transpose(100, 257),
        images(5, 16, 49),
        images(3, 19, 528),
        images(300, 4, 9),
        images(2, 64, 196),
        blocks(2, 2, 1024),
        blocks(3, 3, 49),
    ],
    ids=str,
)
@pytest.mark.parametrize("threads", [2, 7, 16])
def test_threads_share_no_line(box: Box, threads: int):
    tile = choose_tile(box, LANES, box.elements)
    assert tile is not None
    levels = loop_levels(box, tile, Schedule(LANES, threads=threads))
    shared, inner = shared_and_inner(levels)
    assert not any(level.is_parallel for level in inner)
    axes = [level.axis for level in shared]
    places = itertools.product(*(starts(box.axes[level.axis], level, None) for level in shared))
    parts = [written(box, tile, inner, dict(zip(axes, place, strict=True))) for place in places]
    assert len(parts) > 1
    assert set().union(*parts) == set(range(box.cells))
    lines = [{cell // LANES for cell in part} for part in parts]
    assert sum(map(len, lines)) == len(set().union(*lines))


@pytest.mark.parametrize(
    ("box", "threads", "expected"),
    [
        (images(21, 35, 1369), 2, ("n", 1)),
        (images(21, 35, 1369), 16, ("p", 32)),  # 21 images are too few to be even
        (images(21, 5, 333), 2, ("n", 1)),
        (images(21, 3, 99), 2, ("n", 1)),
    ],
    ids=str,
)
def test_threads_meet_in_few_lines_where_no_loop_keeps_them_apart(box: Box, threads: int, expected: tuple[str, int]):
    """Of 21 images of odd sizes 16 are whole lines; each of their rows would be cut within one."""
    tile = choose_tile(box, LANES, box.elements)
    assert tile is not None
    shared, _ = shared_and_inner(loop_levels(box, tile, Schedule(LANES, threads=threads)))
    assert [(box.axes[level.axis].name, level.step) for level in shared] == [expected]


def test_threads_that_meet_write_no_cell_of_another():
    box = images(21, 3, 99)
    tile = choose_tile(box, LANES, box.elements)
    assert tile is not None
    (shared,), inner = shared_and_inner(loop_levels(box, tile, Schedule(LANES, threads=2)))
    starting = starts(box.axes[shared.axis], shared, None)
    parts = [written(box, tile, inner, {shared.axis: start}) for start in starting]
    assert sum(map(len, parts)) == box.cells == len(set().union(*parts))
    halves = [set().union(*parts[:11]), set().union(*parts[11:])]
    first, second = ({cell // LANES for cell in half} for half in halves)
    assert len(first & second) <= 1


def test_a_short_loop_is_not_shared():
    box = transpose(16, 17)
    tile = choose_tile(box, LANES, box.elements)
    assert tile is not None
    assert not any(level.is_parallel for level in loop_levels(box, tile, Schedule(LANES, threads=2)))


@pytest.mark.parametrize("threads", [2, 6, 16, 48])
@pytest.mark.parametrize("count", [100, 335, 1000])
def test_threads_share_images_evenly(count: int, threads: int):
    box = images(count, 64, 64)
    tile = choose_tile(box, LANES, box.elements)
    assert tile is not None
    shared = loop_levels(box, tile, Schedule(LANES, threads=threads))[0]
    best = max(evenness(count, threads, part) for part in range(1, 5))
    assert evenness(box.axes[shared.axis].extent, threads, shared.step) >= min(best, EVEN_PARTS)


def test_threads_leave_an_outer_loop_that_they_cannot_share_evenly():
    box = images(9, 64, 4096)
    tile = choose_tile(box, LANES, box.elements)
    assert tile is not None
    two, sixteen = (loop_levels(box, tile, Schedule(LANES, threads=threads))[0] for threads in (2, 16))
    assert box.axes[two.axis].name == "n"
    assert evenness(9, 16) < EVEN_LOOP <= evenness(box.axes[sixteen.axis].extent, 16, sixteen.step)


@pytest.mark.parametrize(
    "box",
    [transpose(256, 256), transpose(320, 199), images(2, 256, 196), images(1, 64, 1024), blocks(1, 2, 1024)],
    ids=str,
)
def test_threads_share_several_loops_where_each_is_short(box: Box):
    tile = choose_tile(box, LANES, box.elements)
    assert tile is not None
    parts = trips(box, loop_levels(box, tile, Schedule(LANES, threads=16)))
    assert evenness(parts, 16) >= EVEN_LOOP


def test_the_last_part_takes_what_a_tile_of_its_own_would_share_lines_for():
    box = transpose(99, 100)  # rows of 99 elements: lines begin where 16 of them do
    tile = choose_tile(box, LANES, box.elements)
    assert tile is not None
    levels = loop_levels(box, tile, Schedule(LANES, threads=16))
    shared = levels[0]
    part = next(level for level in levels[1:] if level.axis == shared.axis)
    assert shared.longer == part.longer == 100 % tile.extents[1] > 0
    assert shared.step == part.inside
    assert trips(box, levels) * shared.step + shared.longer == 100


def test_no_part_ends_inside_of_a_tile_where_another_extent_is_unknown():
    """100 channels of any number of images of 10 x 10: the last tile of 16 would be moved back into another's lines."""
    module = reorder_module(layout("NHWC"), layout("NCHW"), (None, 100, 10, 10), "f32")
    text = explain_module(Context(), module, Target(vector_bytes=64, threads=True, team=16))
    assert "tile of c_d 16 x b 16" in text or "tile of b 16 x c_d 16" in text
    (length,) = re.findall(r"\bb by (\d+) \(parallel", text)
    assert 100 % int(length) not in range(1, 16)
