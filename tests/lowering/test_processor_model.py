"""What is made differently for a family of processors, as `--explain` tells it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from xdsl.context import Context

from layout_ir.api import layout
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.explain import explain_module
from layout_ir.lowering.processor_families import (
    EMERALD_RAPIDS,
    GRANITE_RAPIDS,
    ICE_LAKE,
    MODELS,
    SAPPHIRE_RAPIDS,
    ZEN_4,
)
from layout_ir.lowering.target import Target
from layout_ir.runtime.module import lower_to_c


def explained(processor: str, source: str, destination: str, shape: tuple[int, ...], dtype: str) -> str:
    """The plan for a destination that begins at a line."""
    module = reorder_module(layout(source), layout(destination), shape, dtype)
    text = explain_module(Context(), module, Target(vector_bytes=64, panels=True, processor=processor))
    return text.split("if the destination does not begin")[0]


BATCH_BLOCKS = "openvino:bs_fs_yx_bsv16_fsv16"
PITCHED = "strided<[430080, 6720, 120, 1]>"


@pytest.mark.parametrize(
    ("source", "destination", "shape", "dtype", "on_ice_lake", "on_zen_4"),
    [
        ("NHWC", "NCHW", (84, 64, 56, 56), "f32", "streams, panels, prefetches\n", "prefetches into a second level"),
        # goes on along the source where the next lines of the destination are near, in blocks where they are not
        ("NCHW", "NHWC", (84, 64, 56, 56), "f32", "b by 32, c_d by 32, c_d by 16 inside", "by 1, b by 16, c_d by 16 ("),
        ("NHWC", "NCHW", (84, 100, 56, 56), "f32", "c_d by 16 inside 32", "c_d by 16 inside 32"),
        ("NHWC", "NCHW", (667, 100, 20, 20), "f32", "c_d by 16 inside 32", "c_d by 16, b by 16 ("),
        # and in blocks where those crowd each other, or where tiles read many rows
        ("NHWC", "NCHW", (1042, 100, 16, 16), "f32", "c_d by 16 inside 32", "c_d by 16 inside 32"),
        ("NHWC", "NCHW", (926, 128, 24, 24), "f16", "c_d by 32 inside 64", "c_d by 32 inside 64"),
        # asks for whole rows of the next step where tiles would ask behind the end of theirs
        (
            PITCHED,
            "NHWC",
            (335, 64, 56, 56),
            "i8",
            "d by 32 (prefetching 128 ",
            "d by 32 (asking for the rows of the next c)",
        ),
        (
            PITCHED,
            "NHWC",
            (168, 64, 56, 56),
            "f16",
            "d by 32 (prefetching 64 ",
            "d by 32 (asking for the rows of the next c)",
        ),
        (
            PITCHED,
            "NHWC",
            (84, 64, 56, 56),
            "f32",
            "inside 32 (prefetching 32 ",
            "d by 16 (asking for the rows of the next c)",
        ),
        (
            "NCHW",
            BATCH_BLOCKS,
            (19568, 35, 7, 7),
            "f16",
            "write many lines twice",
            "c_d by 32 (asking for the rows of the next b1)",
        ),
        # rows with gaps between them: parts of lines are left to the caches, and asked for
        ("NCHW", PITCHED, (168, 64, 56, 56), "f16", "  streams whole lines\n", "but for 8 stores of parts of them"),
        ("NCHW", PITCHED, (168, 64, 56, 56), "f16", "by 4 (prefetching", "asks for the destination 2400 elements"),
        (
            "NHWC",
            "strided<[87000, 870, 29, 1]>",
            (510, 100, 28, 28),
            "i8",
            "(prefetching 51",
            "destination 145 elements",
        ),
        # seven lines of which one is written twice: panels or tiles alone
        (
            "openvino:bfyx",
            BATCH_BLOCKS,
            (5360, 64, 7, 7),
            "f32",
            "write many lines twice",
            "a0 by 1 inside 2 (prefetching 6272",
        ),
        # panels that need not stay in a first level cache
        ("onednn:abcde", "onednn:edcba", (157, 20, 24, 28, 32), "i8", "e 32 x d 8 x b 4 x", "e 32 x d 14 x b 2 x"),
        # filters: what a tile writes of a row is many lines, and what it reads of one is a part of a line
        ("onednn:oihw", "onednn:iohw", (2000, 1000, 3, 3), "f32", "a by 32, b by 2, b by 1", "over a by 16, b by 1 ("),
        # the caches: no requests for the destination, no blocks of rows that belong to one set, lines in blocks
        ("NCHW", "onednn:nChw16c", (1, 64, 56, 60), "f32", "asks for the destination 1280", "loops over b1"),
        ("NCHW", "NHWC", (1, 64, 32, 32), "f32", "c_d by 16 inside 32", "loops over b by 16, c_d by 16\n"),
        ("NCHW", "ascend:FRACTAL_Z", (192, 160, 3, 3), "f32", "tile of c_d 9 x b0 16:", "tile of c_d 9 x b0 16:"),
        ("NCHW", "ascend:FRACTAL_Z", (192, 160, 3, 3), "f32", "over b1 by 1, a by 1", "over b1 by 1, a by 1"),
        ("ascend:FRACTAL_Z", "NCHW", (192, 160, 3, 3), "f32", "over b1 by 1, a by 1", "over b1 by 1, a by 1"),
        ("onednn:abcde", "onednn:edcba", (5, 10, 12, 14, 16), "f32", "c by 2 inside 4", "over d by 1, c by 2, e by 8"),
        ("ascend:FRACTAL_NZ", "NC", (256, 256), "f32", "loops over a by 1, b1 by 4\n", "b1 by 4 inside 8"),
    ],
)
def test_choices(
    source: str, destination: str, shape: tuple[int, ...], dtype: str, on_ice_lake: str, on_zen_4: str
) -> None:
    assert on_ice_lake in explained(ICE_LAKE, source, destination, shape, dtype)
    assert on_zen_4 in explained(ZEN_4, source, destination, shape, dtype)


@pytest.mark.parametrize(
    ("source", "destination", "shape", "dtype", "expected"),
    [
        # a source in memory
        ("NHWC", "NCHW", (84, 64, 56, 56), "f32", "streams, panels, prefetches into a second level cache\n"),
        # rows with gaps between them: parts of lines are left to the caches, which are asked for rows further on
        ("NCHW", PITCHED, (168, 64, 56, 56), "f16", "asks for the destination 2400 elements"),
        ("NCHW", PITCHED, (1, 64, 56, 56), "f16", "asks for the destination 600 elements"),
        # ends of runs cost more than on Ice Lake
        ("onednn:abc", "onednn:cba", (1119, 200, 300), "i8", "goes on to the next a or b"),
    ],
)
def test_choices_on_sapphire_rapids(
    source: str, destination: str, shape: tuple[int, ...], dtype: str, expected: str
) -> None:
    assert expected in explained(EMERALD_RAPIDS, source, destination, shape, dtype)
    assert expected not in explained(ICE_LAKE, source, destination, shape, dtype)


@pytest.mark.parametrize(
    ("source", "destination", "shape", "dtype", "expected"),
    [
        # rows in reverse order of axes
        ("onednn:abcde", "onednn:edcba", (157, 20, 24, 28, 32), "i8", "asks for the rows of the next b while"),
        # planes that end soon: what follows all rows of a tile
        ("NCHW", "onednn:nChw16c", (335, 256, 14, 14), "f32", "c_d by 16 (prefetching 3152 elements ahead)"),
        # parts of lines that are all that a line gets
        ("NCHW", PITCHED, (168, 64, 56, 56), "f16", "  streams whole lines\n"),
        # few rows, pages apart, that begin at lines or their middles: the next tile's part of them alone
        ("NCHW", "NHWC", (168, 64, 56, 56), "f16", "c_d by 32 inside 64 (prefetching 32 elements ahead)"),
        ("NCHW", "NHWC", (168, 64, 60, 60), "f16", "c_d by 32 inside 64 (prefetching 32 elements ahead)"),
        # rows of less than a page
        ("NCHW", "NHWC", (330, 64, 40, 40), "f16", "c_d by 32 inside 64 (prefetching 64 elements ahead)"),
        # 64 rows of few sets of a second level cache
        ("NCHW", "NHWC", (32, 64, 128, 128), "f16", "loops over a by 1, b by 32, c_d by 32 (prefetching "),
        # last tiles that write more than a fifth of all lines again
        ("NCHW", "onednn:nChw16c", (6990, 96, 5, 5), "f32", "tiles alone would write many lines twice"),
        # one sequence of lines
        ("onednn:nChw16c", "NCHW", (168, 64, 56, 56), "f16", "c_d by 32 (prefetching 1536 elements ahead)"),
    ],
)
def test_choices_on_granite_rapids(source: str, destination: str, shape: tuple[int, ...], dtype: str, expected: str):
    assert expected in explained(GRANITE_RAPIDS, source, destination, shape, dtype)
    assert expected not in explained(EMERALD_RAPIDS, source, destination, shape, dtype)


@pytest.mark.parametrize(("height", "width"), [(58, 58), (57, 57), (113, 111)])
def test_rows_that_begin_anywhere_are_asked_for_two_tiles_ahead(height: int, width: int):
    text = explained(GRANITE_RAPIDS, "NCHW", "NHWC", (160, 64, height, width), "f16")
    assert "c_d by 32 inside 64 (prefetching 64 elements ahead)" in text


@pytest.mark.parametrize(
    ("shape", "dtype", "processor", "has_blocks"),
    [
        ((168, 64, 56, 56), "f16", SAPPHIRE_RAPIDS, False),  # of 64 rows
        ((168, 64, 56, 56), "f16", EMERALD_RAPIDS, True),
        ((168, 64, 56, 56), "f32", SAPPHIRE_RAPIDS, True),  # of 32
        ((168, 64, 57, 57), "f16", SAPPHIRE_RAPIDS, True),  # of rows that begin anywhere within lines
    ],
)
def test_no_more_rows_are_read_in_turn_than_are_followed(
    shape: tuple[int, ...], dtype: str, processor: str, has_blocks: bool
):
    assert (" inside " in explained(processor, "NCHW", "NHWC", shape, dtype)) == has_blocks


def test_kernels_for_any_size_find_what_rows_they_read_when_they_run():
    module = reorder_module(layout("NCHW"), layout("NHWC"), (None, 64, None, None), "f16")
    for processor in (EMERALD_RAPIDS, GRANITE_RAPIDS):
        _, text = lower_to_c(module, Target(vector_bytes=64, panels=True, processor=processor))
        is_granite = processor == GRANITE_RAPIDS
        # 32 rows that begin at lines or their middles
        assert ("h_w_x32 % 512 == 0 && h_w_x32 >= 65536 ? 32 : 64" in text) == is_granite
        # 32 KB from row to row
        assert ("h_w % 16384 == 0" in text) == is_granite


@pytest.mark.parametrize(("shape", "condition"), [
    ((None, None, None, None), "h_w % 16384 == 0"),  # whatever the channels are
    ((None, 64, None, 16384), None),  # always
    ((None, 64, None, 32), "h_x32 % 16384 == 0"),
])  # fmt: skip
def test_kernels_for_any_size_compare_what_they_do_not_know(shape: tuple[int | None, ...], condition: str | None):
    module = reorder_module(layout("NCHW"), layout("NHWC"), shape, "f16")
    texts = [
        lower_to_c(module, Target(vector_bytes=64, panels=True, processor=processor))[1]
        for processor in (EMERALD_RAPIDS, GRANITE_RAPIDS)
    ]
    assert [condition is not None and condition in text for text in texts] == [False, condition is not None]
    assert [f"{condition} &&" in text for text in texts] == [False, False]


ROWS = ("onednn:abcd", "onednn:acbd")


@pytest.mark.parametrize(
    ("copied", "shape", "loops"),
    [
        (ROWS, (6, 32, 12, 32), "a by 1, c by 1, b by 1"),  # twelve lines of one set would be written in turn
        (ROWS, (6, 32, 8, 32), "a by 1, b by 1, c by 1"),  # eight have places there
        (ROWS, (4, 60, 16, 32), "a by 1, b by 1, c by 1"),  # no collision: few sequences are written
        (ROWS, (4, 16, 60, 32), "a by 1, c by 1, b by 1"),  # or few are read
        (ROWS, (2, 12, 64, 32), "a by 1, b by 1, c by 1"),  # twelve lines of one set would be read in turn
        (ROWS, (2, 128, 64, 32), "a by 1, b by 8, c by 8, c by 1 inside 8, b by 1 inside 8"),  # on either side
        (ROWS, (90, 64, 12, 32), "a by 1, c by 1, b by 1"),  # 8 MiB
        (("onednn:abc", "onednn:bac"), (100, 300, 32), "a by 8, b by 8, b by 1 inside 8, a by 1 inside 8"),  # too many
        (("onednn:nChw16c", "NHWC"), (1, 512, 50, 50), "c_d by 1, b1 by 4"),  # a tile takes four lines
        (("onednn:nChw16c", "NHWC"), (1, 1024, 32, 32), "b1 by 8, c_d by 8, c_d by 1 inside 8, b1 by 4 inside 8"),
    ],
)
def test_lines_in_the_caches_of_zen_4_keep_out_of_each_others_way(
    copied: tuple[str, str], shape: tuple[int, ...], loops: str
) -> None:
    assert f"loops over {loops}\n" in explained(ZEN_4, *copied, shape, "f32") + "\n"


def test_nothing_is_asked_for_in_the_caches_of_zen_4():
    assert "asks for the destination" not in explained(ZEN_4, "NCHW", "onednn:nChw16c", (1, 64, 56, 60), "f32")


def test_panels_ask_for_lines_that_they_write_parts_of():
    asks = "asks for the lines of their ends"
    module = reorder_module(layout("NCHW"), layout(PITCHED), (84, 64, 56, 56), "f32")
    texts = {
        processor: explain_module(Context(), module, Target(vector_bytes=64, panels=True, processor=processor))
        for processor in (ICE_LAKE, ZEN_4)
    }
    assert asks not in texts[ICE_LAKE]
    at_line, inside = texts[ZEN_4].split("if the destination does not begin")
    assert asks not in at_line
    assert f"{asks} {-(-4096 // 1984) * 6 * 120} elements ahead" in inside  # 1984 bytes of scratch for six rows


@pytest.mark.parametrize(
    ("source", "destination", "shape", "on_ice_lake", "on_zen_4"),
    [
        # all rows begin in one set, or in four
        ("ascend:FRACTAL_NZ", "onednn:ab", (4096, 4096), "a 4 x b1 32 x", "a 4 x b1 24 x"),
        ("ascend:FRACTAL_NZ", "onednn:ab", (4112, 4096), "a 3 x b1 32 x", "a 2 x b1 64 x"),
        # half of the visits to rows of two panels are to new rows
        (PITCHED, "NHWC", (84, 64, 56, 56), "d 32 x b 64", "d 56 x b 64"),
    ],
)
def test_panels_inside_of_lines(
    source: str,
    destination: str,
    shape: tuple[int, ...],
    on_ice_lake: str,
    on_zen_4: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(MODELS, ZEN_4, replace(MODELS[ZEN_4], stages_lines=False))
    module = reorder_module(layout(source), layout(destination), shape, "f32")
    for processor, panel in ((ICE_LAKE, on_ice_lake), (ZEN_4, on_zen_4)):
        text = explain_module(Context(), module, Target(vector_bytes=64, panels=True, processor=processor))
        assert f"panel of {panel}" in text.split("if the destination does not begin")[1]


STAGED, PANEL = "puts lines together in ", "panel of "


@pytest.mark.parametrize(
    ("source", "destination", "shape", "expected"),
    [
        ("onednn:ab", "ascend:FRACTAL_NZ", (4096, 4096), f"{STAGED}131072 bytes, while rows of 65536 elements"),
        ("NCHW", "ascend:FRACTAL_Z", (1376, 1376, 3, 3), f"{STAGED}99072 bytes, while rows of 22016 elements"),
        ("ascend:FRACTAL_NZ", "onednn:ab", (4096, 4096), "a by 512, b1 by 4, a by 1 inside 512"),
        ("onednn:ab", "onednn:ba", (320, 52480), PANEL),  # room for too few rows at a time
        ("onednn:ab", "onednn:ba", (16384, 1024), PANEL),  # all rows begin in one set
        ("HWCN", "ascend:FRACTAL_Z", (3, 3, 1376, 1376), PANEL),  # a row is written at once
        ("openvino:b_fs_yx_fsv32", "NHWC", (30, 256, 48, 48), PANEL),  # rows are short
        ("NHWC", "onednn:nChw16c", (84, 64, 56, 56), PANEL),  # so few rows that lines still wait in the queue
    ],
)
def test_lines_are_put_together_where_rows_go_on(
    source: str, destination: str, shape: tuple[int, ...], expected: str
) -> None:
    module = reorder_module(layout(source), layout(destination), shape, "f32")
    for processor, text in ((ICE_LAKE, PANEL), (ZEN_4, expected)):
        words = explain_module(Context(), module, Target(vector_bytes=64, panels=True, processor=processor))
        at_line, inside = words.split("if the destination does not begin")
        assert PANEL not in at_line
        assert text in inside


@pytest.mark.parametrize(
    ("source", "destination", "shape", "dtype", "asks"),
    [
        ("onednn:abcd", "onednn:dcba", (350, 40, 60, 80), "i8", "the next b"),
        ("NCHW", "NHWC", (84, 100, 56, 56), "f32", "the next c_d"),
        ("onednn:ab", "onednn:ba", (5000, 3001), "f32", "the next a"),
        ("onednn:nChw16c", "NHWC", (84, 35, 56, 56), "f32", ""),  # few rows, which the processor follows by itself
        ("onednn:ab", "onednn:ba", (8193, 8192), "f32", ""),  # a row of a power of two: all of them belong to few sets
        ("onednn:abc", "onednn:acb", (2250, 77, 100), "f32", ""),  # asks for the next matrix while one is moved
    ],
)
def test_panels_ask_for_the_rows_of_the_next_one(
    source: str, destination: str, shape: tuple[int, ...], dtype: str, asks: str
) -> None:
    expected = f"asks for the rows of {asks} while it is written" if asks else ""
    text = explained(ZEN_4, source, destination, shape, dtype)
    assert "to a panel" in text
    assert expected in text
    assert ("while it is written" in text) == bool(asks)
    assert "while it is written" not in explained(ICE_LAKE, source, destination, shape, dtype)


@pytest.mark.parametrize("channels", [40, 35])
@pytest.mark.parametrize("size", [160, 113])
def test_rows_that_other_boxes_complete_share_panels_with_them(channels: int, size: int):
    """Whole blocks of channels are rows with gaps, as of a sub-box; here the last channels lie in these."""
    for processor in (ICE_LAKE, GRANITE_RAPIDS):  # which would write parts of lines past the caches
        text = explained(processor, "onednn:nChw32c", "NHWC", (32, channels, size, size), "f16")
        assert f" x {channels} cells that 2 copies share" in text
