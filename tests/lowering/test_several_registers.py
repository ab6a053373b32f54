"""Where a vector takes several registers: what goes past the caches by such vectors, and what by single registers."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby

import pytest
from xdsl.context import Context

from layout_ir.api import layout
from layout_ir.layouts.layout import Layout
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.explain import explain_module
from layout_ir.lowering.processor_families import ZEN_3, ZEN_4
from layout_ir.lowering.target import Target
from layout_ir.runtime.module import lower_to_c

HALVES = Target(vector_bytes=64, panels=True, processor=ZEN_3, register_bytes=32)
PHOTOS, SMALL, FILTERS = (84, 64, 56, 56), (1, 64, 56, 56), (1344, 1344, 3, 3)

LINES = "stores of up to 16 elements, 0.38 an element\n"
BYTES = "stores of up to 64 elements, 0.12 an element\n"
DEAR = "tiles alone would take several registers for a vector, and dear shuffles"
MANY = "tiles alone would take more registers than there are"


@pytest.mark.parametrize(
    "source, destination, shape, dtype, expected",
    [
        ("NCHW", "onednn:nChw16c", PHOTOS, "f32", LINES),
        ("onednn:nChw16c", "NCHW", PHOTOS, "f32", LINES),
        ("onednn:ab", "onednn:ba", (4096, 4096), "f32", LINES),
        ("onednn:ab", "onednn:ba", (8192, 8192), "i8", BYTES),
        ("onednn:oihw", "onednn:OIhw16i16o", (2688, 2688, 3, 3), "i8", MANY),
        ("NCHW", "onednn:nChw8c", PHOTOS, "f32", DEAR),
        ("onednn:oihw", "onednn:OIhw16i16o", FILTERS, "f32", LINES),
        ("onednn:OIhw4i16o4i", "onednn:oihw", FILTERS, "f32", DEAR),
        # rows of half a line are put together in registers, and need no such shuffles
        ("NHWC", "NCHW", (668, 32, 56, 56), "i8", "stores of up to 64 elements, 0.14 an element\n"),
        ("onednn:nChw16c", "NCHW", (335, 64, 56, 56), "i8", "tile of b0 16 x c_d 64: 64 loads"),
    ],
)
def test_large_copies(source: str, destination: str, shape: tuple[int, ...], dtype: str, expected: str) -> None:
    module = reorder_module(layout(source), layout(destination), shape, dtype)
    text = explain_module(Context(), module, HALVES).split("if the destination does not begin")[0]
    assert re.search(r"vectors of (64|16) elements in registers of (32|8), streams", text)
    assert expected in text


def explained(target: Target, source: str, destination: str, shape: tuple[int, ...], dtype: str) -> str:
    return explain_module(Context(), reorder_module(layout(source), layout(destination), shape, dtype), target)


@pytest.mark.parametrize(
    "source, destination, shape, dtype, on_zen_3, on_zen_4",
    [
        ("onednn:ab", "onednn:ba", (8192, 8192), "i8", BYTES, BYTES),
        ("NCHW", "onednn:nChw8c", PHOTOS, "f32", DEAR, LINES),
        ("onednn:OIhw4i16o4i", "onednn:oihw", FILTERS, "f32", DEAR, DEAR),
        ("onednn:oihw", "onednn:OIhw16i16o", FILTERS, "f32", LINES, LINES),  # rows alone make runs, by cheap shuffles
        # of so many elements dear shuffles take longer than panels there as well
        ("onednn:oihw", "onednn:OIhw16i16o", (2688, 2688, 3, 3), "i8", MANY, MANY),
    ],
)
def test_dear_shuffles_of_few_elements_are_no_reason_for_panels_on_zen_4(
    source: str, destination: str, shape: tuple[int, ...], dtype: str, on_zen_3: str, on_zen_4: str
) -> None:
    for target, expected in ((HALVES, on_zen_3), (replace(HALVES, processor=ZEN_4), on_zen_4)):
        text = explained(target, source, destination, shape, dtype).split("if the destination does not begin")[0]
        assert expected in text


BLOCKS = "tile of c_d 8 x b 8", "loops over b by 16, c_d by 16, c_d by 8 inside 16, b by 8 inside 16"
READING_ON = "tile of c_d 8 x b 8", "loops over b by 8, c_d by 8"
MATRIX = (256, 256)


@pytest.mark.parametrize(
    "source, destination, shape, dtype, tile, loops",
    [
        ("NCHW", "NHWC", SMALL, "f32", *BLOCKS),
        # rows that are read, or written, belong to one set, or crowd few sets on both sides
        ("NCHW", "NHWC", (1, 64, 32, 32), "f32", *READING_ON),
        ("NHWC", "NCHW", (1, 64, 32, 32), "f32", "tile of b 8 x c_d 8", "loops over b by 8, c_d by 8"),
        ("ab", "ba", MATRIX, "f32", "tile of b 8 x a 8", "loops over b by 16, a by 16, a by 8 inside 16, b by 8"),
        # 3 x 3 filters have so few tiles along the source that blocks keep nothing
        ("oihw", "OIhw16i16o", (96, 80, 3, 3), "f32", "tile of c_d 4 x a0 8", "b0 by 1, a0 by 8, c_d by 4"),
        # whole lines, of which no half is left, where rows belong to one set and their halves would be gone
        ("nChw32c", "NCHW", (1, 64, 32, 32), "f32", "tile of b0 16 x c_d 16", "b0 by 16, c_d by 16"),
        ("NCHW", "NHWC", (1, 64, 64, 64), "i8", "tile of c_d 64 x b 64", "loops over c_d by 64"),
        (
            "NCHW",
            "NHWC",
            (1, 64, 60, 60),
            "i8",
            "tile of c_d 32 x b 32",
            "loops over c_d by 64, c_d by 32 inside 64, b by 32",
        ),
    ],
)
def test_tiles_in_the_caches_are_of_single_registers_but_where_halves_of_lines_would_be_gone(
    source: str, destination: str, shape: tuple[int, ...], dtype: str, tile: str, loops: str
) -> None:
    layouts = (name if name in ("NCHW", "NHWC") else f"onednn:{name}" for name in (source, destination))
    text = explained(HALVES, *layouts, shape, dtype)
    assert f"{tile}: " in text
    assert loops in text


def test_kernels_for_unknown_sizes_leave_whole_lines_to_tiles_on_zen_4() -> None:
    module = reorder_module(layout("NCHW"), layout("onednn:nChw16c"), (None, 64, None, None), "f32")
    _, on_zen_3 = lower_to_c(module.clone(), HALVES)
    _, on_zen_4 = lower_to_c(module, replace(HALVES, processor=ZEN_4))
    assert len(re.findall(r"LAYOUT_STREAM\w*\(&", on_zen_3)) < 16  # of panels alone
    assert on_zen_4.count("LAYOUT_STREAM_AT_LINE(&") >= 32  # 16 lines of two registers each


PITCHED = layout("strided", strides=(64 * 56 * 120, 56 * 120, 120, 1))


def most_asked(target: Target, source: Layout, destination: str, dtype: str) -> int:
    """How often in a row the loads of a kernel ask for the same line."""
    _, text = lower_to_c(reorder_module(source, layout(destination), PHOTOS, dtype), target)
    tiles = text.split("_ahead")[0].splitlines()  # before panels ask for the rows of the next one
    runs = (len(list(run)) for line, run in groupby(tiles) if "__builtin_prefetch(&source" in line)
    return max(runs, default=0)


def test_lines_are_asked_for_half_as_often_by_registers_of_half_a_line() -> None:
    zen_4 = replace(HALVES, processor=ZEN_4)
    for target, times in ((zen_4, 2), (replace(zen_4, register_bytes=64), 4)):
        assert most_asked(target, layout("NCHW"), "NHWC", "f32") == times


def test_short_rows_are_asked_for_by_the_panel_before_alone() -> None:
    assert most_asked(HALVES, PITCHED, "NCHW", "i8") == 0  # of 56 bytes
    assert most_asked(HALVES, PITCHED, "NCHW", "f16") > 0


def test_loads_leave_their_lines_where_only_so_a_line_of_pads_is_stored_in_one_piece() -> None:
    shape = (153, 35, 56, 56)
    text = explained(HALVES, "NHWC", "onednn:nChw16c", shape, "f32").split("if the destination does not begin")[0]
    assert "tile of c_d 8 x b 16: 8 loads, 8 shuffles, 8 stores of up to 16 elements" in text
    assert "all 2 read the same lines" in text
    assert "panel of" not in text


@pytest.mark.parametrize("shape", [PHOTOS, SMALL, (None, 64, None, None)])
@pytest.mark.parametrize("destination", ["NHWC", "onednn:nChw16c"])
def test_no_shuffle_is_left_of_more_than_a_register(shape: tuple[int | None, ...], destination: str) -> None:
    module = reorder_module(layout("NCHW"), layout(destination), shape, "f32")
    _, text = lower_to_c(module, HALVES)
    assert set(re.findall(r"const (\w+) mixed", text)) == {"f32x8"}
    assert ("f32x16" in text) == (shape != SMALL)  # lines of panels, and their ends
