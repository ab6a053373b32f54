"""Copies that read far more lines than they write go by panels wherever the destination begins, on Zen 4."""

from __future__ import annotations

import pytest
from xdsl.context import Context

from layout_ir.api import layout
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.explain import explain_module
from layout_ir.lowering.processor_families import ICE_LAKE, ZEN_4
from layout_ir.lowering.target import Target
from layout_ir.runtime.module import lower_to_c

FAULT = "read four lines and more for each that they write"


@pytest.mark.parametrize(
    ("source", "destination", "shape", "dtype", "picks"),
    [
        ("onednn:nChw16c", "NCHW", (256, 4, 128, 128), "f32", True),
        ("onednn:nChw16c", "NCHW", (256, 3, 128, 128), "f32", True),
        ("ascend:NC1HWC0", "NCHW", (512, 3, 128, 128), "f16", True),
        ("onednn:nChw16c", "NCHW", (1024, 4, 128, 128), "i8", True),
        ("onednn:nChw16c", "NCHW", (128, 8, 128, 128), "f32", False),  # half of each line
        ("onednn:nChw8c", "NCHW", (256, 3, 128, 128), "f32", False),
        ("onednn:nChw32c", "NCHW", (256, 4, 128, 128), "f32", False),  # every second line
        ("onednn:nChw16c", "NHWC", (256, 4, 128, 128), "f32", False),  # the same rows
        ("onednn:nChw16c", "NCHW", (64, 64, 128, 128), "f32", False),
        ("onednn:nChw16c", "NCHW", (64, 20, 128, 128), "f32", False),  # what is left of blocks, with others between
    ],
)
def test_few_channels_of_blocks_go_by_panels(
    source: str, destination: str, shape: tuple[int, ...], dtype: str, picks: bool
) -> None:
    module = reorder_module(layout(source), layout(destination), shape, dtype)
    for processor in (ZEN_4, ICE_LAKE):
        text = explain_module(Context(), module, Target(64, panels=True, processor=processor))
        assert (FAULT in text) == (picks and processor == ZEN_4)


@pytest.mark.parametrize("processor, count", [(ZEN_4, 3), (ICE_LAKE, 4)])
def test_images_of_any_size_are_asked_for_while_one_is_written(processor: str, count: int) -> None:
    """Small ones each by itself, also by shorter tiles, larger ones by panels, wherever lines begin."""
    module = reorder_module(layout("onednn:nChw16c"), layout("NCHW"), (None, 4, None, None), "f32")
    _, text = lower_to_c(module, Target(64, panels=True, processor=processor))
    functions = text.split("\nstatic ")
    panels = [function for function in functions if "float panel" in function]
    assert len(panels) == count
    assert all(("_ahead" in function) == (processor == ZEN_4) for function in panels)
    choice = functions[-1].partition("\nvoid reorder(")[2]
    assert ("% 64 + h_w % 16" in choice) == (processor == ICE_LAKE)
