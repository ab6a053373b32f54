"""Where a vector takes several registers: what goes past the caches by such vectors, and what by single registers."""

from __future__ import annotations

import re

import pytest
from xdsl.context import Context

from layout_ir.api import layout
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.explain import explain_module
from layout_ir.lowering.processor_families import ZEN_3
from layout_ir.lowering.target import Target
from layout_ir.runtime.module import lower_to_c

HALVES = Target(vector_bytes=64, panels=True, processor=ZEN_3, register_bytes=32)
PHOTOS, SMALL, FILTERS = (84, 64, 56, 56), (1, 64, 56, 56), (1344, 1344, 3, 3)

LINES = "stores of up to 16 elements, 0.38 an element\n"
DEAR = "tiles alone would take several registers for a vector, and dear shuffles"
MANY = "tiles alone would take more registers than there are"


@pytest.mark.parametrize(
    "source, destination, shape, dtype, expected",
    [
        ("NCHW", "onednn:nChw16c", PHOTOS, "f32", LINES),
        ("onednn:nChw16c", "NCHW", PHOTOS, "f32", LINES),
        ("onednn:ab", "onednn:ba", (4096, 4096), "f32", LINES),
        ("onednn:ab", "onednn:ba", (8192, 8192), "i8", MANY),
        ("NCHW", "onednn:nChw8c", PHOTOS, "f32", DEAR),
        ("onednn:oihw", "onednn:OIhw16i16o", FILTERS, "f32", DEAR),
        ("onednn:OIhw4i16o4i", "onednn:oihw", FILTERS, "f32", DEAR),
        # in several runs, panels cost more than such shuffles
        ("NHWC", "NCHW", (668, 32, 56, 56), "i8", "stores of up to 64 elements, 0.12 an element\n"),
    ],
)
def test_large_copies(source: str, destination: str, shape: tuple[int, ...], dtype: str, expected: str) -> None:
    module = reorder_module(layout(source), layout(destination), shape, dtype)
    text = explain_module(Context(), module, HALVES).split("if the destination does not begin")[0]
    assert re.search(r"vectors of (64|16) elements in registers of (32|8), streams", text)
    assert expected in text


def test_copies_in_the_caches_take_single_registers() -> None:
    module = reorder_module(layout("NCHW"), layout("NHWC"), SMALL, "f32")
    assert explain_module(Context(), module, HALVES) == explain_module(
        Context(), module, Target(vector_bytes=32, processor=ZEN_3)
    )


@pytest.mark.parametrize("shape", [PHOTOS, SMALL, (None, 64, None, None)])
@pytest.mark.parametrize("destination", ["NHWC", "onednn:nChw16c"])
def test_no_shuffle_is_left_of_more_than_a_register(shape: tuple[int | None, ...], destination: str) -> None:
    module = reorder_module(layout("NCHW"), layout(destination), shape, "f32")
    _, text = lower_to_c(module, HALVES)
    assert set(re.findall(r"const (\w+) mixed", text)) == {"f32x8"}
    assert ("f32x16" in text) == (shape != SMALL)  # lines of panels, and their ends
