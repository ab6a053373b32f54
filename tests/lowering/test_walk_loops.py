"""Which boxes that share lines go together in the caches: those not much dearer so, by source or destination."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.ir.affine import AffineConstantExpr

import layout_ir as li
from layout_ir.layouts.line_copy import LineCopy
from layout_ir.layouts.plan import Axis, Box
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.explain import explain_module
from layout_ir.lowering.processor_families import ZEN_4
from layout_ir.lowering.schedule import choose_schedule
from layout_ir.lowering.target import Target
from layout_ir.lowering.walk_loops import TiledWalk, with_walks


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


@pytest.mark.parametrize(("outer", "is_walked"), [(10240, True), (10244, False)])
def test_rows_are_cut_into_lines_only_inside_of_loops_that_keep_to_lines(outer: int, is_walked: bool) -> None:
    """Such a tile sees its own axes alone: that they begin at lines wherever the common ones are is looked for here."""

    def axis(name: str, extent: int, source: int, destination: int) -> Axis:
        return Axis(name, extent, source, destination, extent)

    common = axis("a", 6, 8192, outer), axis("b", 64, 128, 160), axis("d", 4, 16, 40)
    rows = Box((*common, axis("c", 16, 1, 1)))
    rest = Box((*common, axis("c", 8, 1, 1)), AffineConstantExpr(64), AffineConstantExpr(16))
    target = Target(64, panels=True, processor=ZEN_4, stream_bytes=0)
    schedule = choose_schedule(target, 4, 6 * outer, 6 * 8192)
    found = with_walks([rows, rest], schedule, 6 * 8192, writes_pads=False)
    tiles = [tile for walk in found if isinstance(walk, TiledWalk) for tile in walk.tiles]
    assert any(isinstance(tile, LineCopy) for tile in tiles) == is_walked
    assert is_walked or found == [rows, rest]
