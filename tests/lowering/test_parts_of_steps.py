"""What kernels for unknown sizes take of a large step at once."""

from __future__ import annotations

import re

import pytest

from layout_ir import layout
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.processor_families import EMERALD_RAPIDS, GRANITE_RAPIDS
from layout_ir.lowering.target import Target
from layout_ir.runtime.module import lower_to_c


def c_text(
    source: str, destination: str, shape: tuple[int | None, ...], dtype: str, processor: str = GRANITE_RAPIDS
) -> str:
    module = reorder_module(layout(source), layout(destination), shape, dtype)
    return lower_to_c(module, Target(64, panels=True, processor=processor))[1]


@pytest.mark.parametrize(
    "processor, whole, has_parts", [(EMERALD_RAPIDS, 20 << 10, False), (GRANITE_RAPIDS, 32 << 10, True)]
)
def test_larger_steps_than_that_go_in_parts(processor: str, whole: int, has_parts: bool) -> None:
    """Or by panels of all channels of a few pixels, which go on along the source."""
    text = c_text("NHWC", "onednn:nChw16c", (None, 512, None, None), "i8", processor)
    sizes = [int(size) for size in re.findall(r" panel\[(\d+)\];", text)]
    assert whole + 2 * 64 in sizes  # what is left of a line, and one that is read behind the end
    assert ((64 << 10) + 64 in sizes) == has_parts
    assert has_parts or all(size <= whole + 2 * 64 for size in sizes)


@pytest.mark.parametrize(
    "channels, dtype, steps",
    [(1024, "i8", 8), (192, "i8", 6), (128, "i8", 4), (1024, "f16", 4)],
)
def test_blocks_that_lie_side_by_side_fill_two_lines_of_the_source(channels: int, dtype: str, steps: int) -> None:
    text = c_text("NHWC", "onednn:nChw16c", (None, channels, None, None), dtype)
    assert f"b1_panel += {steps})" in text


@pytest.mark.parametrize("channels, dtype, has_parts", [
    *[(96, "i8", False), (64, "i8", False), (48, "i8", False), (32, "f16", False)],
    *[(192, "i8", True), (64, "f16", True)],
])  # fmt: skip
def test_no_panel_takes_a_part_of_a_line_of_channels(channels: int, dtype: str, has_parts: bool) -> None:
    text = c_text("NHWC", "onednn:nChw16c", (None, channels, None, None), dtype)
    lanes = 64 if dtype == "i8" else 32
    assert (f" panel[{1024 * lanes + lanes}];" in text) == has_parts


@pytest.mark.parametrize(
    "block, dtype, processor, most",
    [
        (8, "f16", EMERALD_RAPIDS, 28 << 10),
        (16, "i8", EMERALD_RAPIDS, 28 << 10),
        (32, "f16", EMERALD_RAPIDS, 40 << 10),  # of rows of 1280 bytes, of which pieces would be short
        (16, "i8", GRANITE_RAPIDS, 160 << 10),
    ],
)
def test_larger_blocks_go_in_pieces_unless_these_were_short(block: int, dtype: str, processor: str, most: int) -> None:
    for channels in (64, 100):  # blocks that are steps, and such that are parts of them
        text = c_text(f"onednn:nChw{block}c", "NCHW", (None, channels, None, None), dtype, processor)
        limits = {int(limit) for limit in re.findall(rf"h_w_x{block} <= (\d+)\b", text)}
        width = 1 if dtype == "i8" else 2
        expected = min(most, 160 << 10 if channels == 64 else 64 << 10)
        assert expected // width in limits
        assert {bytes_ // width for bytes_ in (28 << 10, 40 << 10, 64 << 10)} - {expected // width} & limits == set()


@pytest.mark.parametrize(
    "channels, dtype, pixels, is_taken, processor",
    [
        (512, "i8", 1024, True, GRANITE_RAPIDS),
        (2048, "i8", 512, True, GRANITE_RAPIDS),
        (2048, "i8", 1024, False, GRANITE_RAPIDS),  # so many rows so far apart have no places in a second level cache
        (512, "f16", 1024, False, GRANITE_RAPIDS),
        (256, "i8", 2560, True, EMERALD_RAPIDS),
        (512, "f16", 1024, True, EMERALD_RAPIDS),
        (512, "f16", 2048, False, EMERALD_RAPIDS),
        (2048, "f16", 256, True, EMERALD_RAPIDS),
        (2048, "f16", 512, False, EMERALD_RAPIDS),  # which have half the places of as many bytes
    ],
)
def test_parts_of_short_elements_take_a_line_of_each_row(
    channels: int, dtype: str, pixels: int, is_taken: bool, processor: str
) -> None:
    text = c_text("NHWC", "NCHW", (None, channels, None, None), dtype, processor)
    lanes = 64 if dtype == "i8" else 32
    taking = "".join(function for function in text.split("\n}\n") if f"b_panel += {lanes})" in function)
    assert taking
    assert (f" panel[{lanes * (pixels + 1)}];" in taking) == is_taken


@pytest.mark.parametrize(
    "pair, channels, dtype, is_own",
    [
        (("NCHW", "onednn:nChw16c"), 3, "i8", False),  # pads are exchanged with rows by tiles of any length
        (("NCHW", "ascend:NC1HWC0"), 35, "i8", False),  # two boxes, as one panel where they are large
        (("NCHW", "NHWC"), 3, "i8", True),
        (("NHWC", "NCHW"), 35, "i8", False),  # no rows of the source
        (("NCHW", "onednn:nChw16c"), 64, "i8", False),  # whose tiles take no fewer instructions
        (("NCHW", "onednn:nChw16c"), 64, "f32", False),
        (("NCHW", "onednn:nChw16c"), 3, "f16", False),  # of which 49 pixels hold tiles
        (("NHWC", "onednn:nChw16c"), 35, "i8", False),
    ],
)
def test_planes_of_7_by_7_have_loops_where_their_tiles_are_better(
    pair: tuple[str, str], channels: int, dtype: str, is_own: bool
) -> None:
    text = c_text(*pair, (None, channels, None, None), dtype)
    assert ("h_w == 49" in text) == is_own


@pytest.mark.parametrize("channels", [1, 17, 80])
@pytest.mark.parametrize("pair", [("NCHW", "onednn:nChw16c"), ("NHWC", "onednn:nChw16c"), ("onednn:nChw16c", "NCHW")])
def test_one_channel_and_one_that_is_left_over_have_kernels(pair: tuple[str, str], channels: int) -> None:
    assert "void reorder(" in c_text(*pair, (None, channels, None, None), "i8")


@pytest.mark.parametrize("images, panels", [(20_000, 1), (1_000, 0)])
def test_boxes_in_sequence_go_by_one_panel_where_they_are_large_alone(images: int, panels: int) -> None:
    """35 channels of 7 x 7: blocks of 16, and three channels that are left over."""
    text = c_text("onednn:nChw16c", "NCHW", (images, 35, 7, 7), "f32")
    assert len(re.findall(r"_Alignas\(4096\) float panel", text)) == panels
