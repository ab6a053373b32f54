"""What kernels for unknown sizes take of a large step at once."""

from __future__ import annotations

import re

import pytest

from layout_ir import layout
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.processor_families import GRANITE_RAPIDS
from layout_ir.lowering.target import Target
from layout_ir.runtime.module import lower_to_c


def c_text(source: str, destination: str, shape: tuple[int | None, ...], dtype: str) -> str:
    module = reorder_module(layout(source), layout(destination), shape, dtype)
    return lower_to_c(module, Target(64, panels=True, processor=GRANITE_RAPIDS))[1]


@pytest.mark.parametrize(
    "channels, dtype, steps",
    [(1024, "i8", 4), (96, "i8", 3), (64, "i8", 2), (1024, "f16", 2)],
)
def test_blocks_that_lie_side_by_side_fill_a_line_of_the_source(channels: int, dtype: str, steps: int) -> None:
    text = c_text("NHWC", "onednn:nChw16c", (None, channels, None, None), dtype)
    assert f"b1_panel += {steps})" in text


@pytest.mark.parametrize("channels", [1, 17, 80])
@pytest.mark.parametrize("pair", [("NCHW", "onednn:nChw16c"), ("NHWC", "onednn:nChw16c"), ("onednn:nChw16c", "NCHW")])
def test_one_channel_and_one_that_is_left_over_have_kernels(pair: tuple[str, str], channels: int) -> None:
    assert "void reorder(" in c_text(*pair, (None, channels, None, None), "i8")


@pytest.mark.parametrize("images, panels", [(20_000, 1), (1_000, 0)])
def test_boxes_in_sequence_go_by_one_panel_where_they_are_large_alone(images: int, panels: int) -> None:
    """35 channels of 7 x 7: blocks of 16, and three channels that are left over."""
    text = c_text("onednn:nChw16c", "NCHW", (images, 35, 7, 7), "f32")
    assert len(re.findall(r"_Alignas\(4096\) float panel", text)) == panels
