"""The order of loops around tiles in the caches: no line is read or written again that may be gone by then."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from xdsl.context import Context

from layout_ir import layout
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.symbols import Symbol, Symbols
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.explain import explain_module
from layout_ir.lowering.loop_order import in_reading_order, loop_levels
from layout_ir.lowering.processor_families import EMERALD_RAPIDS, GRANITE_RAPIDS, ICE_LAKE
from layout_ir.lowering.schedule import choose_schedule, staying_in_caches
from layout_ir.lowering.target import Target
from layout_ir.lowering.tile_choice import tile_of


def order(box: Box, element_bytes: int, processor: str = EMERALD_RAPIDS) -> list[str]:
    """The axes of the loops around a box's tiles, outermost first, of copies that stay in the caches."""
    schedule = choose_schedule(Target(64, processor=processor), element_bytes, box.cells, box.cells)
    size = 1 + sum((axis.extent - 1) * axis.source_stride for axis in box.axes)
    tile = tile_of(box, schedule, size)
    assert tile is not None
    return [box.axes[level.axis].name for level in loop_levels(box, tile, schedule)]


@pytest.mark.parametrize(("rows", "expected"), [(43008, ["c", "b"]), (1024, ["b", "c"])])
def test_parts_of_lines_are_read_together_where_no_cache_would_keep_the_lines(rows: int, expected: list[str]) -> None:
    """Five groups of four bytes lie in rows of 120: row by row, or all rows once for each group."""
    box = Box((Axis("b", 5, 24, 4 * rows, 5), Axis("a", 4, 1, rows, 4), Axis("c", rows, 120, 1, rows)))
    assert order(box, 1) == expected


@pytest.mark.parametrize(
    ("columns", "rows", "processor", "outermost"),
    [
        (35, 18432, EMERALD_RAPIDS, "row"),
        (35, 18432, ICE_LAKE, "row"),
        (35, 18435, EMERALD_RAPIDS, "column"),  # blocks leave parts of lines, which the next ones along a row write
        (35, 448, EMERALD_RAPIDS, "row"),
        (35, 448, ICE_LAKE, "column"),  # all of it stays in the nearest cache, and is written in halves of lines
    ],
)
def test_a_matrix_is_read_once_where_blocks_write_whole_lines(
    columns: int, rows: int, processor: str, outermost: str
) -> None:
    box = Box((Axis("column", columns, 1, rows, columns), Axis("row", rows, columns, 1, rows)))
    assert order(box, 4, processor)[0] == outermost


@pytest.mark.parametrize(("extent", "expected"), [(64, ["c", "d", "a"]), (17, ["d", "a", "c"])])
def test_pads_above_all_are_written_in_the_order_of_the_destination(extent: int, expected: list[str]) -> None:
    """One channel of 32: where 17 steps take two tiles of 16, what the second does again is better done at once."""
    rows = 192
    box = Box((
        Axis("c", extent, 1, 160 * rows, extent),
        Axis("d", rows, extent, 160, rows),
        Axis("a", 5, extent * rows, 32, 5),
        Axis("b", 32, 0, 1, 1),
    ))  # fmt: skip
    assert list(dict.fromkeys(order(box, 4))) == expected


def test_elements_are_copied_in_the_order_of_the_source_where_its_lines_would_be_read_again() -> None:
    box = Box((Axis("c", 2, 1, 18432, 2), Axis("hw", 18432, 32, 1, 18432)))
    schedule = choose_schedule(Target(64), 4, box.cells, box.cells)
    assert [axis.name for axis in in_reading_order(box, schedule).axes] == ["hw", "c"]
    assert in_reading_order(box, replace(schedule, threads=True)) == box
    few = Box((Axis("c", 2, 1, 184, 2), Axis("hw", 184, 32, 1, 184)))
    assert in_reading_order(few, schedule) == few
    many = Box((Axis("c", 9, 1, 18432, 9), Axis("hw", 18432, 32, 1, 18432)))
    assert in_reading_order(many, schedule) == many


@pytest.mark.parametrize(
    ("distance", "steps", "expected"),
    [
        (4096, 64, ["d", "c", "b"]),  # one set of the first cache for all steps of c
        (4096, 12, ["d", "b", "c"]),  # which has a place for each of them
        (4112, 64, ["d", "b", "c"]),  # many sets
    ],
)
def test_elements_of_a_line_are_copied_at_once_where_its_set_has_no_place_for_it_later(
    distance: int, steps: int, expected: list[str]
) -> None:
    box = Box((Axis("d", 28, 256, 2 * steps, 28), Axis("b", 2, 1, steps, 2), Axis("c", steps, distance, 1, steps)))
    schedule = choose_schedule(Target(64), 4, box.cells, 1 << 18)
    assert [axis.name for axis in in_reading_order(box, schedule).axes] == expected


@pytest.mark.parametrize(
    ("pair", "shape", "dtype", "is_in_order", "gathers_few"),
    [
        (("ba", "AB16b32a"), (1000, 96), "f32", True, True),  # two lines of each row
        (("ab", "BA16a32b"), (128, 1000), "f32", True, False),
        (("ab", "BA8a16b"), (128, 512), "f32", True, False),  # one line, rows 2 KB apart
        (("AcdB16a4b", "ABcd16a4b"), (64, 64, 1, 96), "i8", False, False),  # one line, rows 1 KB apart
        # more than the second level cache holds beside its source
        (("ba", "AB16b32a"), (2000, 128), "f32", False, False),
        (("ab", "BA16a32b"), (128, 2000), "f32", False, False),
        (("ba", "Ab32a"), (96, 1000), "i8", False, False),  # half a line
    ],
)
def test_lines_are_copied_in_the_order_of_the_destination_where_they_are_long_or_far_apart(
    pair: tuple[str, str], shape: tuple[int, ...], dtype: str, is_in_order: bool, gathers_few: bool
) -> None:
    assert has_blocks(pair, shape, dtype, GRANITE_RAPIDS) != is_in_order
    assert has_blocks(pair, shape, dtype, EMERALD_RAPIDS) != gathers_few


@pytest.mark.parametrize(
    ("pair", "shape", "dtype", "expected"),
    [
        (("aBcd32b", "acdb"), (1, 1024, 14, 14), "f32", "c_d by 1, b1 by 1"),  # 32 sequences are read
        (("aBcd32b", "acdb"), (1, 1056, 14, 14), "f32", "c_d by 2, b1 by 2, b1 by 1 inside 2, c_d by 1 inside 2"),
        (("acdb", "aBcd32b"), (1, 256, 13, 100), "f32", "c_d by 2, b1 by 2, b1 by 1 inside 2, c_d by 1 inside 2"),
        (("aBcd16b", "acdb"), (6, 512, 7, 7), "f32", "a by 1, c_d by 1, b1 by 4"),  # single lines of 32
        (("ab", "BA16a32b"), (96, 3094), "f32", "b1 by 1, a by 1"),  # two lines of 96 rows, for one set of a cache
        (("cdab", "aBcd32b"), (4, 320, 8, 8), "f32", "a_b1 by 1, c_d by 1"),  # of 64 rows from a set for 48
        (("ab", "BA16a32b"), (112, 3094), "f32", "b1 by 2, a by 2, a by 1 inside 2, b1 by 1 inside 2"),
        (("ab", "BA16a32b"), (96, 3094), "f16", "a by 8, b1 by 2, b1 by 1 inside 2, a by 4 inside 8"),  # one line
    ],
)
def test_few_sequences_are_put_together_in_the_order_of_the_destination(
    pair: tuple[str, str], shape: tuple[int, ...], dtype: str, expected: str
) -> None:
    assert f"loops over {expected}\n" in explained(pair, shape, dtype, EMERALD_RAPIDS)


@pytest.mark.parametrize(
    ("pair", "shape", "dtype", "is_in_order"),
    [
        (("abcd", "acdb"), (1, 256, 20, 20), "f32", True),  # 400 lines of 4 sets
        (("abcd", "acdb"), (1, 208, 20, 20), "f32", False),  # of 64 sets
        (("abcd", "acdb"), (1, 512, 10, 10), "f32", False),  # more rows than a first level cache keeps
        (("acb", "aBc8b"), (2, 112, 256), "f16", True),  # 14 lines of one set
        (("bcda", "acdb"), (8, 80, 40, 40), "f16", False),  # parts of source lines would be gone meanwhile
        (("AB16b48a", "ba"), (1280, 512), "i8", True),  # no parts of them
    ],
)
def test_tiles_finish_lines_that_compete_for_few_sets(
    pair: tuple[str, str], shape: tuple[int, ...], dtype: str, is_in_order: bool
) -> None:
    assert has_blocks(pair, shape, dtype, GRANITE_RAPIDS) != is_in_order
    assert has_blocks(pair, shape, dtype, EMERALD_RAPIDS)


@pytest.mark.parametrize(("blocks", "expected"), [(16, ["c", "b1"]), (48, ["b1", "c", "c", "b1"])])
def test_few_sequences_are_put_together_where_it_is_not_known_how_long_they_are(
    blocks: int, expected: list[str]
) -> None:
    symbols = Symbols(((Symbol(2),),))
    pixels = symbols.stand_ins[Symbol(2)]
    channels = Axis("b1", blocks, 16 * pixels, 16, blocks)
    box = Box((Axis("c", pixels, 16, 16 * blocks, pixels), channels, Axis("b0", 16, 1, 1, 16)))
    large = choose_schedule(Target(64, processor=EMERALD_RAPIDS), 4, box.cells, box.cells)
    schedule = staying_in_caches(large)
    tile = tile_of(box, schedule, box.cells)
    assert tile is not None
    assert [box.axes[level.axis].name for level in loop_levels(box, tile, schedule)] == expected


@pytest.mark.parametrize(
    ("pair", "shape", "dtype", "processor", "expected"),
    [
        (("bcda", "cdab"), (1, 192, 40, 40), "f32", EMERALD_RAPIDS, "c_d by 32, b by 32"),
        (("bcda", "cdab"), (1, 192, 40, 40), "f32", ICE_LAKE, "b by 32, c_d by 32"),
        (("bcda", "cdab"), (1, 192, 24, 24), "f32", EMERALD_RAPIDS, "b by 32, c_d by 32"),  # 432 KB
        (("decba", "aCBde16c16b"), (32, 16, 144, 3, 3), "f32", EMERALD_RAPIDS, "c0_b by 32, a by 16"),  # not so either
        (("BA16a16b", "AB16b16a"), (3088, 64), "f32", EMERALD_RAPIDS, "b1 by 2, a1 by 2"),  # asks anyway
    ],
)
def test_tiles_go_on_along_the_destination_to_ask_for_its_lines(
    pair: tuple[str, str], shape: tuple[int, ...], dtype: str, processor: str, expected: str
) -> None:
    assert expected in explained(pair, shape, dtype, processor)


def has_blocks(pair: tuple[str, str], shape: tuple[int, ...], dtype: str, processor: str) -> bool:
    """Whether a copy goes along its two sides in blocks of tiles."""
    return re.search(r"by \d+ inside \d", explained(pair, shape, dtype, processor)) is not None


def explained(pair: tuple[str, str], shape: tuple[int, ...], dtype: str, processor: str) -> str:
    """How a copy between layouts of oneDNN is made."""
    source, destination = (layout(f"onednn:{name}") for name in pair)
    module = reorder_module(source, destination, shape, dtype)
    return explain_module(Context(), module, Target(64, processor=processor))
