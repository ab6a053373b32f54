"""Parts of tiles that have nothing to do with each other are moved one after the other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from xdsl.context import Context
from xdsl.dialects import vector
from xdsl.ir import Block

from layout_ir.api import layout
from layout_ir.dialects.nested import nested
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.pipeline import lower
from layout_ir.lowering.processor_families import ZEN_4
from layout_ir.lowering.register_order import most_live
from layout_ir.lowering.target import Target

LINES = Target(vector_bytes=64, panels=True, processor=ZEN_4)
HALVES = replace(LINES, register_bytes=32)


def live(source: str, destination: str, shape: tuple[int, ...], dtype: str, target: Target) -> int:
    """How many vectors the tile of a copy keeps at the same time that writes whole lines past the caches."""
    module = reorder_module(layout(source), layout(destination), shape, dtype)
    lower(Context(), module, target)
    streaming = (op for op in nested(module) if isinstance(op, vector.StoreOp) and "at_line" in op.attributes)
    block = next(streaming).parent
    assert isinstance(block, Block)
    return most_live(block.ops)


@pytest.mark.parametrize(
    "source, destination, shape, dtype",
    [
        ("NCHW", "onednn:nChw16c", (16, 64, 56, 56), "f32"),
        ("NHWC", "NCHW", (16, 64, 56, 56), "f32"),
        ("onednn:ab", "onednn:ba", (4096, 4096), "f32"),
        ("NCHW", "NHWC", (64, 64, 56, 56), "f16"),
        ("onednn:ab", "onednn:ba", (8192, 8192), "i8"),
    ],
)
def test_halves_of_lines_take_about_as_many_registers_as_lines_do(
    source: str, destination: str, shape: tuple[int, ...], dtype: str
) -> None:
    lines, halves = (live(source, destination, shape, dtype, target) for target in (LINES, HALVES))
    assert halves <= lines + 2  # twice as many where each keeps to the order of whole lines
