"""Tiles of copies whose sizes only a kernel knows that runs: which are taken, and how far ahead they ask."""

from __future__ import annotations

import re
from dataclasses import replace
from unittest.mock import patch

import pytest

from layout_ir import element_type, layout
from layout_ir.layouts import tile_costs
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.symbols import Symbol, Symbols
from layout_ir.layouts.tile import Tile
from layout_ir.layouts.tiling import choose_tile
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.destination_prefetching import rows_written_together
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.processor_families import EMERALD_RAPIDS
from layout_ir.lowering.schedule import choose_schedule
from layout_ir.lowering.target import Target
from layout_ir.lowering.tile_choice import cached_tile_of_unknown
from layout_ir.runtime.module import lower_to_c

SYMBOLS = Symbols(((Symbol(0),), (Symbol(2),), (Symbol(3),)))
N, H, W = (SYMBOLS.stand_ins[symbol] for symbol in (Symbol(0), Symbol(2), Symbol(3)))
AREA = H * W
PLANES = Box((Axis("a", N, 35 * AREA, 35 * AREA, N), Axis("b", 35, 1, AREA, 35), Axis("c", AREA, 35, 1, AREA)))
IMAGES, CHANNELS, PIXELS = range(3)
SMALL = 1 << 16


def tile_of_extents(*extents: int) -> Tile:
    found = choose_tile(PLANES, 16, 35 * N * AREA)
    assert found is not None
    return replace(found, extents=extents)


@pytest.mark.parametrize(
    ("levels", "rows"),
    [
        ([LoopLevel(IMAGES, 1), LoopLevel(CHANNELS, 16), LoopLevel(PIXELS, 16)], 16),
        ([LoopLevel(IMAGES, 1), LoopLevel(PIXELS, 16), LoopLevel(CHANNELS, 16)], 35),
        ([LoopLevel(CHANNELS, 32), LoopLevel(PIXELS, 32), LoopLevel(PIXELS, 16, 32), LoopLevel(CHANNELS, 16, 32)], 32),
        ([LoopLevel(PIXELS, 32), LoopLevel(CHANNELS, 32), LoopLevel(CHANNELS, 16, 32), LoopLevel(PIXELS, 16, 32)], 35),
        ([], 16),
    ],
    ids=["planes one by one", "all planes", "in blocks of planes", "in blocks of pixels", "no loops"],
)
def test_rows_count_that_tiles_write_before_they_are_done_with_any(levels: list[LoopLevel], rows: int) -> None:
    assert rows_written_together(PLANES, tile_of_extents(1, 16, 16), levels) == rows * AREA


def test_rows_that_do_not_follow_each_other_do_not_count() -> None:
    apart = PLANES.with_axis(CHANNELS, Axis("b", 35, 1, 2 * AREA, 35))
    levels = [LoopLevel(CHANNELS, 16), LoopLevel(PIXELS, 16)]
    assert rows_written_together(apart, tile_of_extents(1, 16, 16), levels) == 0
    assert rows_written_together(PLANES, tile_of_extents(1, 1, 16), levels) == 0


@pytest.mark.parametrize(("channels", "rows"), [(64, {32, 64}), (35, {16, 35}), (20, {16, 20})])
def test_small_images_are_asked_for_by_all_planes_of_a_block(channels: int, rows: set[int]) -> None:
    module = reorder_module(layout("NHWC"), layout("NCHW"), (None, channels, None, None), "f32")
    text = lower_to_c(module, Target(64, processor=EMERALD_RAPIDS))[1]
    assert {int(number) for number in re.findall(r"h_w_x(\d+) <= \d+ \? \d+ : \d+;", text)} == rows


def cached_tile_of(
    channels: int,
    element_bytes: int,
    *,
    from_planes: bool = False,
    are_pages: bool = False,
    most_steps: int | None = None,
    **model: int,
) -> tuple[int, ...]:
    """
    The extents of the tile for planes in the caches of Sapphire Rapids, or of a processor that differs from it.

    `from_planes`: whether they are the source. `are_pages`: whether they are whole pages. `most_steps`: of pixels.
    """
    step, distance = (AREA, 1) if from_planes else (1, AREA)
    box = PLANES.with_axis(CHANNELS, Axis("b", channels, step, distance, channels))
    step, distance = (1, channels) if from_planes else (channels, 1)
    box = box.with_axis(PIXELS, Axis("c", AREA, step, distance, AREA))
    schedule = choose_schedule(Target(64, processor=EMERALD_RAPIDS), element_bytes, SMALL, SMALL)
    schedule = replace(
        schedule,
        processor=replace(schedule.processor, **model),
        may_be_pages=are_pages,
        looks_for_pages=True,
        most_steps=most_steps,
    )
    fitting = choose_tile(box, schedule.lanes, SMALL * N, schedule.segment)
    assert fitting is not None
    return cached_tile_of_unknown(box, fitting, schedule, SMALL * N).extents


TO_PLANES = (
    (20, 1, (1, 20, 32)),  # of all channels, where whole lines take 16 at a time
    (24, 1, (1, 24, 32)),
    (100, 1, (1, 64, 64)),
    (64, 1, (1, 64, 64)),
    (64, 2, (1, 32, 32)),
    (24, 4, (1, 8, 16)),
)
FROM_PLANES = (
    (35, 4, (1, 8, 8)),  # of rows that begin inside lines halves touch far fewer of them
    (64, 4, (1, 16, 16)),
    (24, 2, (1, 24, 16)),
    (64, 2, (1, 32, 32)),
    (35, 1, (1, 32, 64)),  # which move some channels twice, and still are faster than those of all
    (64, 1, (1, 64, 64)),
)


@pytest.mark.parametrize(
    ("from_planes", "channels", "element_bytes", "extents"),
    [*((False, *case) for case in TO_PLANES), *((True, *case) for case in FROM_PLANES)],
)
def test_halves_of_lines_for_rows_of_unknown_distances(
    from_planes: bool, channels: int, element_bytes: int, extents: tuple[int, ...]
) -> None:
    assert cached_tile_of(channels, element_bytes, from_planes=from_planes) == extents


@pytest.mark.parametrize(
    ("channels", "halves", "of_pages"),
    [(12, (1, 8, 32), (1, 8, 32)), (20, (1, 20, 32), (1, 16, 64)), (24, (1, 24, 32), (1, 16, 64))],
)
def test_whole_lines_where_those_of_many_planes_belong_to_one_set(
    channels: int, halves: tuple[int, ...], of_pages: tuple[int, ...]
) -> None:
    assert cached_tile_of(channels, 1) == halves
    assert cached_tile_of(channels, 1, are_pages=True) == of_pages


@pytest.mark.parametrize(
    ("channels", "element_bytes", "extents"),
    [
        (35, 1, (1, 16, 32)),
        (72, 1, (1, 16, 32)),
        (100, 1, (1, 16, 32)),
        (64, 1, (1, 64, 32)),  # no channels twice, and no more instructions
        (100, 2, (1, 32, 16)),  # those of halves would have 256 elements
    ],
)
def test_large_tiles_of_halves_for_short_planes(channels: int, element_bytes: int, extents: tuple[int, ...]) -> None:
    for are_pages in (False, True):  # as short planes seldom are
        assert cached_tile_of(channels, element_bytes, are_pages=are_pages, most_steps=32 // element_bytes) == extents


def test_small_tiles_take_more_of_their_time_to_find_rows_of_unknown_distances() -> None:
    assert cached_tile_of(35, 2) == (1, 16, 32)
    assert cached_tile_of(35, 2, unknown_tile_cycles=1) == (1, 8, 16)


def test_channels_moved_twice_weigh_more_where_pixels_are_as_well() -> None:
    assert cached_tile_of(24, 1) == (1, 24, 32)
    choose_tile.cache_clear()
    try:
        with patch.object(tile_costs, "OVERLAP_OF_UNKNOWN", 1):
            assert cached_tile_of(24, 1) == (1, 16, 32)
    finally:
        choose_tile.cache_clear()  # or other tests would find what was chosen here


def test_panels_are_filled_by_the_tiles_of_known_sizes() -> None:
    """
    Bytes of 35 channels are moved 32 at a time, twice: 64 pixels by 192 shuffles, or 32 in short images by 96.

    All channels at once they would be moved by 347.
    """
    module = reorder_module(layout("NCHW"), layout("NHWC"), (None, 35, None, None), "i8")
    text = lower_to_c(module, Target(64, panels=True, processor=EMERALD_RAPIDS))[1]
    bodies = re.findall(r"void (\w+)\(([^}]*?\n})", text)
    shuffles = {name: body.count("shufflevector(") for name, body in bodies}
    filling = {shuffles[name] for name in re.findall(r"(\w+)\(source, panel,", text)}
    assert filling == {96, 192}


@pytest.mark.parametrize(
    ("shape", "looks"),
    [((None, 20, None, None), True), ((None, 35, None, None), False), ((None, 20, None, 4096), False)],
    ids=["halves of many planes", "whole lines", "always pages"],
)
def test_a_kernel_looks_whether_planes_are_whole_pages(shape: tuple[int | None, ...], looks: bool) -> None:
    module = reorder_module(layout("NHWC"), layout("NCHW"), shape, "i8")
    text = lower_to_c(module, Target(64, processor=EMERALD_RAPIDS))[1]
    assert ("% 4096 == 0" in text) == looks
    assert text.count("*(i8x64_unaligned *)&destination") >= 2 * 16  # whole lines of 16 planes, in large copies or not


@pytest.mark.parametrize("dtype", ["i8", "f32"])
def test_what_is_behind_full_blocks_is_looked_for_once_and_goes_by_tiles_that_may_fit_in(dtype: str) -> None:
    module = reorder_module(layout("NHWC"), layout("onednn:nChw16c"), (None,) * 4, element_type(dtype))
    text = lower_to_c(module, Target(64))[1]
    main = text[text.rindex("void reorder(") :]
    defined = dict(re.findall(r"const int64_t (\w+) = (.*?);", main))
    (rest,) = (name for name, value in defined.items() if value == "c - 16 * c_full")
    assert main.count(f"if ({rest} != 0) {{") == 1
    assert len(re.findall(r"if \(.* - c_full != 0\) {", main)) == 1  # pads of a last block
    assert all(int(steps) < 16 for steps in re.findall(rf"\b{rest} >= (\d+)", main))
