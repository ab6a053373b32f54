"""Vectors of half a line are for data in the caches, where whole ones would touch two lines each."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from layout_ir import layout
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.planner import make_plan
from layout_ir.layouts.symbols import Symbol, Symbols
from layout_ir.layouts.tile import Tile, loose_pads
from layout_ir.layouts.tiling import Search, choose_tile
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.cached_cycles import cached_cycles, split_share
from layout_ir.lowering.loop_order import loop_levels
from layout_ir.lowering.processor_families import EMERALD_RAPIDS, ICE_LAKE, ZEN_4
from layout_ir.lowering.schedule import Schedule, choose_schedule, covers_whole_lines, of_shorter_tiles
from layout_ir.lowering.target import Target
from layout_ir.lowering.tile_choice import SMALL_PART, TINY_PART, search_for, tile_of
from layout_ir.runtime.module import lower_to_c

LINE = 16
SMALL, LARGE = 1 << 16, 1 << 26


def boxes(source: str, destination: str, shape: tuple[int, ...]) -> tuple[list[Box], int]:
    left, right = (layout(f"onednn:{text}").index_map(shape, "f32") for text in (source, destination))
    return list(make_plan(left, right).boxes), left.storage_size


def schedule_of(vector_bytes: int, cells: int) -> Schedule:
    return choose_schedule(Target(vector_bytes), 4, cells, cells)


@pytest.mark.parametrize(
    ("granularity", "lanes", "share"),
    [
        (16, 16, 0),
        (8, 16, 1 / 2),
        (4, 16, 3 / 4),
        (1, 16, 15 / 16),
        (8, 8, 0),
        (4, 8, 1 / 4),
        (1, 8, 7 / 16),
        (1, 1, 0),
    ],
)
def test_how_many_accesses_touch_two_lines(granularity: int, lanes: int, share: float) -> None:
    assert split_share(granularity, lanes, LINE) == share


@pytest.mark.parametrize(
    ("source", "destination", "shape", "lanes"),
    [
        ("ab", "ba", (256, 256), 16),  # whole lines on both sides
        ("ab", "ba", (331, 199), 8),  # none on either
        ("nhwc", "nChw16c", (1, 64, 32, 32), 8),  # copies whole lines, which any vectors do
        ("nchw", "nhwc", (1, 3, 147, 147), 8),
    ],
)
def test_vectors_of_half_a_line(source: str, destination: str, shape: tuple[int, ...], lanes: int) -> None:
    (box,), size = boxes(source, destination, shape)
    chosen = tile_of(box, schedule_of(64, SMALL), size)
    assert chosen is not None
    assert {store.lanes for store in chosen.network.stores} == {lanes}
    large = tile_of(box, schedule_of(64, LARGE), size)
    assert large == choose_tile(box, LINE, size, 4)
    assert tile_of(box, schedule_of(32, SMALL), size) == choose_tile(box, LINE // 2, size, 4)


@pytest.mark.parametrize(("pixels", "lanes"), [(4096, 64), (4032, 32)])
def test_halves_of_lines_are_not_written_where_all_rows_belong_to_one_set(pixels: int, lanes: int) -> None:
    """35 channels of bytes, whose planes are pages: the first halves would be gone before the second ones' turn."""
    box = Box((Axis("c", 35, 1, pixels, 35), Axis("hw", pixels, 35, 1, pixels)))
    tile = tile_of(box, choose_schedule(Target(64), 1, box.cells, box.cells), box.cells)
    assert tile is not None
    assert {store.lanes for store in tile.network.stores} == {lanes}


@pytest.mark.parametrize(("processor", "lanes"), [(ICE_LAKE, 8), (EMERALD_RAPIDS, 16)])
def test_halves_that_are_a_little_better_are_not_worth_it_on_every_processor(processor: str, lanes: int) -> None:
    for source, destination, shape in (("nhwc", "nchw", (1, 32, 90, 90)), ("nchw", "nChw16c", (1, 32, 31, 33))):
        (box,), size = boxes(source, destination, shape)
        schedule = choose_schedule(Target(64, processor=processor), 4, SMALL, SMALL)
        chosen = tile_of(box, schedule, size)
        assert chosen is not None
        assert {store.lanes for store in chosen.network.stores} == {lanes}


@pytest.mark.parametrize(("processor", "extents"), [(ICE_LAKE, (16, 32)), (EMERALD_RAPIDS, (35, 64))])
def test_nor_are_they_for_bytes(processor: str, extents: tuple[int, ...]) -> None:
    box = Box((Axis("c", 35, 1, 784, 35), Axis("hw", 784, 35, 1, 784)))
    tile = tile_of(box, choose_schedule(Target(64, processor=processor), 1, box.cells, box.cells), box.cells)
    assert tile is not None
    assert tile.extents == extents


@pytest.mark.parametrize(("processor", "channels"), [(ICE_LAKE, 16), (EMERALD_RAPIDS, 35)])
def test_channels_that_fit_into_a_vector_are_read_at_once_on_some_processors(processor: str, channels: int) -> None:
    box = Box((Axis("c", 35, 1, 4032, 35), Axis("hw", 4032, 35, 1, 4032)))
    tile = tile_of(box, choose_schedule(Target(64, processor=processor), 1, box.cells, box.cells), box.cells)
    assert tile is not None
    assert tile.extents[0] == channels


@pytest.mark.parametrize("channels", [35, 64])
def test_halves_of_lines_where_rows_of_unknown_distances_are_read(channels: int) -> None:
    module = reorder_module(layout("NCHW"), layout("NHWC"), (None, channels, None, None), "f32")
    _, text = lower_to_c(module, Target(64, processor=ICE_LAKE))
    assert set(re.findall(r"\*\(f32x(\d+)_unaligned \*\)&destination", text)) == {"8", "16"}


@pytest.mark.parametrize(
    ("source", "destination", "shape", "lanes"),
    [
        ("nchw", "nhwc", (1, 35, 57, 57), 8),  # 35 channels are three tiles of whole lines, but five of halves
        ("nchw", "nhwc", (1, 32, 57, 57), 16),  # a little less work is not worth it where rows lie apart
        ("nchw", "nChw16c", (1, 32, 31, 33), 8),  # here written lines follow each other
        ("nchw", "nhwc", (1, 100, 57, 57), 8),
        ("nchw", "nhwc", (1, 100, 64, 64), 16),  # rows that are read are whole pages apart
        ("nhwc", "nchw", (1, 35, 57, 57), 8),
        ("nhwc", "nchw", (1, 35, 64, 64), 16),  # and rows that are written
    ],
)
def test_halves_of_lines_where_sets_of_a_cache_are_small(
    source: str, destination: str, shape: tuple[int, ...], lanes: int
) -> None:
    (box,), size = boxes(source, destination, shape)
    chosen = tile_of(box, choose_schedule(Target(64, processor=ZEN_4), 4, SMALL, SMALL), size)
    assert chosen is not None
    assert {store.lanes for store in chosen.network.stores} == {lanes}


@pytest.mark.parametrize(
    ("source", "destination", "shape", "is_in_blocks"),
    [
        ("nchw", "nhwc", (1, 64, 56, 56), False),
        ("nchw", "nhwc", (1, 64, 64, 64), False),
        ("nchw", "nhwc", (1, 256, 56, 56), True),  # lines of four sets only
        ("nchw", "nhwc", (1, 35, 64, 64), True),  # parts of lines
        ("nhwc", "nchw", (1, 64, 64, 64), True),
    ],
)
def test_tiles_follow_each_other_along_the_source_where_they_write_lines_of_many_sets(
    source: str, destination: str, shape: tuple[int, ...], is_in_blocks: bool
) -> None:
    (box,), size = boxes(source, destination, shape)
    schedule = choose_schedule(Target(64, processor=ZEN_4), 4, SMALL, SMALL)
    tile = tile_of(box, schedule, size)
    assert tile is not None
    levels = loop_levels(box, tile, schedule)
    assert any(level.inside is not None for level in levels) == is_in_blocks
    assert is_in_blocks or box.axes[levels[-1].axis].source_stride == 1


@pytest.mark.parametrize(("element_bytes", "lanes"), [(4, 8), (2, 32), (1, 64)])
def test_shuffles_of_small_elements_are_several_instructions(element_bytes: int, lanes: int) -> None:
    (box,), size = boxes("nhwc", "nchw", (1, 3, 209, 209))
    schedule = choose_schedule(Target(64), element_bytes, SMALL, SMALL)
    chosen = tile_of(box, schedule, size)
    assert chosen is not None
    assert {store.lanes for store in chosen.network.stores} == {lanes}


@pytest.mark.parametrize("channels", [3, 5, 16, 35])
@pytest.mark.parametrize("destination", ["nhwc", "nChw8c", "nChw16c", "nChw32c"])
def test_no_choice_is_worse_than_the_wide_one(channels: int, destination: str) -> None:
    found, size = boxes("nchw", destination, (2, channels, 13, 9))
    for box in found:
        schedule = schedule_of(64, SMALL)
        wide, chosen = choose_tile(box, LINE, size, 4), tile_of(box, schedule, size)
        assert (wide is None) == (chosen is None)
        if wide is not None and chosen is not None and chosen != wide:
            assert cached_cycles(box, chosen, schedule) <= cached_cycles(box, wide, schedule)
            assert not loose_pads(box, chosen)


@pytest.mark.parametrize("shape", [(331, 199), (256, 272), (200, 240), (75, 77)])
def test_lines_in_parts_are_completed_at_once(shape: tuple[int, int]) -> None:
    """In the caches blocks of tiles follow each other along the destination, unless tiles write whole lines of it."""
    (box,), size = boxes("ab", "ba", shape)
    schedule = schedule_of(64, SMALL)
    tile = tile_of(box, schedule, size)
    assert tile is not None
    innermost = [level.axis for level in loop_levels(box, tile, schedule) if level.inside is None][-1]
    continues = box.axes[innermost].destination_stride == 1
    assert continues == (not covers_whole_lines(box, tile, LINE))


def test_unknown_extents_have_both_widths() -> None:
    """A kernel that finds its sizes small when it is called takes vectors of half a line, else of whole ones."""
    module = reorder_module(layout("NCHW"), layout("NHWC"), (None, 64, None, None), "f32")
    lowered, _ = lower_to_c(module, Target(64))
    text = str(lowered)
    assert "vector<16xf32>" in text
    assert "vector<8xf32>" in text


def test_a_small_part_of_a_copy_is_not_searched_for_larger_tiles():
    """Eight rows of channels behind 512: a tile of 25 taps is enough, where the others take four times as much."""
    whole, size = boxes("OIhw8i16o2i", "oihw", (520, 510, 5, 5))
    part = min(whole, key=lambda box: box.cells)
    schedule = choose_schedule(Target(64), 1, LARGE, LARGE)
    small, thorough = tile_of(part, schedule, size), tile_of(part, replace(schedule, cells=0), size)
    assert small is not None
    assert thorough is not None
    assert small.elements < thorough.elements


def test_a_tiny_part_of_a_copy_of_known_size_is_moved_by_the_first_tile():
    """28 rows behind some hundred thousand: half the time that it took to compile was spent on them."""
    whole, size = boxes("Acdb32a", "abcd", (97884, 24, 5, 5))
    part = min(whole, key=lambda box: box.cells)
    schedule = choose_schedule(Target(64), 1, LARGE, LARGE)
    searches = [Search.WHOLE, Search.NO_LARGER, Search.FIRST, Search.FIRST]
    factors = (1, SMALL_PART + 1, TINY_PART + 1, TINY_PART**2)
    assert [search_for(part, replace(schedule, cells=factor * part.cells)) for factor in factors] == searches
    any_size = replace(schedule, cells=Symbols(((Symbol(0),),)).number((Symbol(0),)))
    assert search_for(part, any_size) is Search.NO_LARGER, "a stand-in is larger than any size"
    first, best = (choose_tile(part, LINE, size, 16, search=search) for search in (Search.FIRST, Search.WHOLE))
    assert first is not None
    assert best is not None
    assert first.cost / first.elements > best.cost / best.elements


def test_a_small_part_with_pads_is_moved_by_the_tile_that_it_was_cut_for():
    """Steps of which some copy and others pad have to be in one tile."""
    whole, size = boxes("Acdb32a", "Acdb48a", (1400, 1344, 3, 3))
    (padded,) = [box for box in whole if box.is_padded]
    assert loose_pads(padded, choose_small(padded, size))
    for cells in (SMALL, LARGE):
        tile = tile_of(padded, replace(schedule_of(64, cells), cells=LARGE * LARGE), size)
        assert tile is not None
        assert not loose_pads(padded, tile)


def choose_small(box: Box, size: int) -> Tile:
    tile = choose_tile(box, LINE, size, 4, search=Search.NO_LARGER)
    assert tile is not None
    return tile


@pytest.mark.parametrize(
    "element_bytes, register_bytes, expected",
    [
        (1, 64, [(64, 64), (64, 32), (16, 16), (16, 8)]),
        (2, 64, [(32, 32), (32, 16), (16, 8)]),
        (4, 64, [(16, 16), (16, 8)]),
        (8, 64, [(8, 8)]),
        (1, 32, [(32, 32), (32, 16), (16, 8)]),
        (4, 32, [(8, 8)]),
        (8, 32, []),
    ],
)
def test_tiles_get_shorter_and_then_their_vectors(
    element_bytes: int, register_bytes: int, expected: list[tuple[int, int | None]]
) -> None:
    found: list[tuple[int, int | None]] = []
    schedule = choose_schedule(Target(64, panels=True, register_bytes=register_bytes), element_bytes, 1 << 30, 1 << 30)
    for shorter in of_shorter_tiles(schedule):
        assert shorter.register_lanes == 0
        assert shorter == replace(shorter, streams=False, prefetches=False, panels=False, narrows=False)
        found.append((shorter.lanes, shorter.most_steps))
        left = [(other.lanes, other.most_steps) for other in of_shorter_tiles(shorter)]
        assert [*found, *left] == expected
    assert found == expected


@pytest.mark.parametrize("pixels, vector", [(32, "i8x32"), (16, "i8x16"), (8, "i8x8")])
def test_images_of_any_size_go_by_tiles_that_they_hold(pixels: int, vector: str) -> None:
    module = reorder_module(layout("NCHW"), layout("NHWC"), (None, 64, None, None), "i8")
    _, text = lower_to_c(module, Target(64))
    called = re.findall(rf"if \(h_w >= {pixels}\) {{\s+(reorder_\d+)", text)
    functions = dict(re.findall(r"void (reorder_\w+)\((.*?)^}$", text, re.DOTALL | re.MULTILINE))
    called += [tile for name in called for tile in re.findall(r"(reorder_tile\d+)\(", functions[name])]
    loads = {kind for name in called for kind in re.findall(r"const (\w+) line", functions[name])}
    assert loads == {vector}
