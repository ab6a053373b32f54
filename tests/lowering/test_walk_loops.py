"""Which boxes that share lines go together in the caches: those not much dearer so, by source or destination."""

from __future__ import annotations

import pytest
from xdsl.context import Context

import layout_ir as li
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.explain import explain_module
from layout_ir.lowering.target import Target


@pytest.mark.parametrize("source, destination, shape, dtype, shared", [
    ("acdb", "aBcd16b", (1, 35, 56, 56), "f32", "read"),
    ("acdb", "aBcd16b", (1, 65, 56, 56), "i8", "read"),  # a block of one channel, and pads
    ("bac", "ABc32a32b", (4, 64, 56), "f32", "write"),  # the pads of the only block
    ("acdb", "aBcd16b", (64, 35, 3, 3), "f32", "read"),  # several images at once
    ("acdb", "ABcd16b16a", (64, 24, 14, 14), "i8", "read"),  # every part has all images of a block
    ("aCB16c8b", "ABc16b16a4b", (32, 13, 2048), "i8", "write"),
    ("cab", "aCB24c8b", (512, 14, 96), "f16", "read"),
    ("ba", "BA16a64b", (1000, 1000), "i8", None),  # shorter tiles
    ("ab", "AB16b64a2b", (1000, 1000), "i8", None),  # shorter tiles, too
])  # fmt: skip
def test_boxes_go_together_where_that_pays(
    source: str, destination: str, shape: tuple[int, ...], dtype: str, shared: str | None
) -> None:
    module = reorder_module(li.layout(f"onednn:{source}"), li.layout(f"onednn:{destination}"), shape, dtype)
    text = explain_module(Context(), module, Target(64))
    assert ("inside of loops over" in text) == (shared is not None)
    assert shared is None or f" {shared} the same lines, inside of loops over" in text
