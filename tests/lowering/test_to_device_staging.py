"""What work items of a device do, step by step: right, inside of all buffers, vectors at multiples of their size."""

from __future__ import annotations

import os

import pytest
from random_pairs import random_reorder
from reorder_batch import Reorder, faults, interpreted, module_of
from xdsl.context import Context
from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import ModuleOp

import layout_ir as li
from layout_ir.dialects.aligned import ALIGNED
from layout_ir.lowering.flatten import FlattenPass
from layout_ir.lowering.resolve import ResolvePass
from layout_ir.lowering.to_buffers import ToBuffersPass
from layout_ir.lowering.to_loops import ToLoopsPass

SEEDS = range(0, 1000 if os.environ.get("LAYOUT_IR_TESTS") == "all" else 20)
BATCH = 10

PAIRS = [
    *[("NCHW", "NHWC"), ("NHWC", "NCHW"), ("NCHW", "onednn:nChw16c"), ("onednn:nChw16c", "NCHW"), ("NCHW", "CHWN")],
    *[("NHWC", "onednn:nChw16c"), ("onednn:nChw8c", "onednn:nChw16c"), ("onednn:nChw32c", "NHWC")],
    *[("onednn:oihw", "onednn:OIhw4i16o4i"), ("onednn:OIhw4i16o4i", "onednn:oihw")],
    *[("onednn:oihw", "onednn:OIhw8i16o2i"), ("onednn:OIhw8i16o2i", "onednn:oihw")],
    *[("NCHW", "openvino:bs_fs_yx_bsv16_fsv16"), ("NCHW", "ascend:NC1HWC0"), ("NCHW", "ascend:FRACTAL_Z")],
]
SHAPES = [(1, 16, 2, 4), (1, 18, 3, 3), (17, 4, 2, 2)]


def for_device(reorders: list[Reorder], side: int) -> ModuleOp:
    module = module_of(reorders)
    for stage in (ResolvePass(), ToBuffersPass(), ToLoopsPass(0, device=True, tile=side), FlattenPass()):
        stage.apply(Context(), module)
    return module


@pytest.mark.parametrize("dtype", ["i8", "f16", "f32"])
@pytest.mark.parametrize("side", [2, 8])
def test_groups_do_what_the_interpreter_says(side: int, dtype: str) -> None:
    reorders = [
        Reorder(li.layout(left), li.layout(right), shape, dtype, pad=None if number % 3 == 2 else 7)
        for number, (left, right) in enumerate(PAIRS)
        for shape in SHAPES
    ]
    module = for_device(reorders, side)
    assert any(isinstance(op, memref.AllocaOp) for op in module.walk())
    if dtype != "f32":
        assert any(isinstance(op, vector.StoreOp) and ALIGNED in op.attributes for op in module.walk())
    found = faults(reorders, interpreted(module))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("side", [0, 8])
@pytest.mark.parametrize("start", SEEDS[::BATCH])
def test_random_pairs(start: int, side: int) -> None:
    reorders = [random_reorder(seed) for seed in range(start, start + BATCH)]
    found = faults(reorders, interpreted(for_device(reorders, side)))
    assert not found, "\n".join(found)
