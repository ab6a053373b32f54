"""Parts of tiles that have nothing to do with each other are moved one after the other."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from layout_ir_text import parse
from xdsl.context import Context
from xdsl.dialects import vector
from xdsl.ir import Block

from layout_ir.api import layout
from layout_ir.dialects.nested import nested
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.explain import explain_module
from layout_ir.lowering.pipeline import lower
from layout_ir.lowering.processor_families import ZEN_4
from layout_ir.lowering.register_order import most_live
from layout_ir.lowering.split_vectors import SplitVectorsPass
from layout_ir.lowering.target import Target
from layout_ir.runtime.module import lower_to_c

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


def test_requests_and_casts_change_places_with_what_they_belong_to() -> None:
    low, high = (", ".join(f"{lane}, {lane + 16}" for lane in range(start, start + 8)) for start in (0, 8))
    text = f"""
    func.func @f(%x: memref<?xf32>, %y: memref<?xf32>, %i: index) {{
      %other = "memref.cast"(%x) : (memref<?xf32>) -> memref<96xf32>
      %j = affine.apply affine_map<(d0) -> (d0 + 16)> (%i)
      %ahead = vector.load %x[%j] {{prefetch = 64 : index}} : memref<?xf32>, vector<16xf32>
      %a = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
      %b = vector.load %x[%j] : memref<?xf32>, vector<16xf32>
      %c = vector.shuffle %a, %b [{low}] : vector<16xf32>, vector<16xf32>
      %d = vector.shuffle %a, %b [{high}] : vector<16xf32>, vector<16xf32>
      vector.store %c, %BUFFER[%i] : memref<TYPE>, vector<16xf32>
      vector.store %d, %BUFFER[%j] : memref<TYPE>, vector<16xf32>
      %behind = vector.load %x[%i] {{prefetch = 128 : index}} : memref<?xf32>, vector<16xf32>
      func.return
    }}"""
    apart, in_place = (
        parse(text.replace("BUFFER", buffer).replace("TYPE", kind))
        for buffer, kind in (("y", "?xf32"), ("other", "96xf32"))
    )
    for module, is_ordered in ((apart, True), (in_place, False)):
        SplitVectorsPass(32, stores_apart=True).apply(Context(), module)
        module.verify()
        kinds = [type(op) for op in nested(module) if isinstance(op, vector.LoadOp | vector.StoreOp)]
        assert kinds.count(vector.LoadOp) == 6
        first_store = kinds.index(vector.StoreOp)
        assert (vector.LoadOp in kinds[first_store:-1]) == is_ordered
        assert kinds[-1] is vector.LoadOp  # the request behind all


def test_tiles_of_very_many_registers_come_once() -> None:
    """Where the destination begins inside of a line such copies go through panels, as compilers take long for tiles."""
    module = reorder_module(layout("NHWC"), layout("NCHW"), (214, 100, 56, 56), "i8")
    inside = explain_module(Context(), module, HALVES).split("if the destination does not begin at a cache line")[1]
    assert "to a panel" in inside
    assert "puts lines together" not in inside


def test_kernels_for_unknown_sizes_look_for_rows_whole_pages_apart() -> None:
    module = reorder_module(layout("NCHW"), layout("NHWC"), (None, 64, None, None), "f32")
    _, text = lower_to_c(module, HALVES)
    assert "if (h_w % 1024 == 0) {" in text


def test_copies_of_rows_that_always_begin_at_lines_ask_as_often_for_unknown_sizes() -> None:
    times = []
    for shape in ((None, 64, None, None), (83, 64, 56, 56)):
        _, text = lower_to_c(reorder_module(layout("NHWC"), layout("onednn:nChw16c"), shape, "f32"), HALVES)
        requests = re.search(r"(?: *__builtin_prefetch[^\n]*\n)+[^\n]*\n[^\n]*\n *LAYOUT_STREAM_AT_LINE", text)
        assert requests is not None
        times.append(requests[0].count("__builtin_prefetch"))
    assert times == [4, 4]
