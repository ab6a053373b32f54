"""Tiles of kernels for unknown sizes: a function each, however many loops go by them."""

import itertools
import re

import pytest
from xdsl.dialects.func import CallOp, FuncOp

from layout_ir import element_type, layout
from layout_ir.backends.c import emit_c
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.target import Target
from layout_ir.runtime.module import lower_to_c

PAIRS = [("NCHW", "NHWC"), ("NHWC", "NCHW"), ("NCHW", "onednn:nChw16c"), ("onednn:nChw16c", "NCHW")]
TARGET = Target(64, panels=True, threads=True)


def _lowered(source: str, destination: str, channels: int, dtype: str, target: Target = TARGET):
    shape = (None, channels, None, None)
    return lower_to_c(reorder_module(layout(source), layout(destination), shape, element_type(dtype)), target)


@pytest.mark.parametrize("dtype", ["f32", "i8"])
@pytest.mark.parametrize("source, destination", PAIRS)
def test_no_two_functions_of_tiles_do_the_same_and_most_are_called_by_several_loops(
    source: str, destination: str, dtype: str
) -> None:
    module, _ = _lowered(source, destination, 64, dtype)
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    tiles = [op for name, op in functions.items() if "_tile" in name]
    assert tiles
    for one, other in itertools.combinations(tiles, 2):
        assert not (one.function_type == other.function_type and one.body.is_structurally_equivalent(other.body)), (
            one.sym_name,
            other.sym_name,
        )
    calls = [op.callee.string_value() for op in module.walk() if isinstance(op, CallOp) and "_tile" in str(op.callee)]
    assert {*calls} == {op.sym_name.data for op in tiles}
    assert len(calls) > len(tiles)


def test_panels_and_destinations_are_written_by_one_tile() -> None:
    _, text = _lowered("NHWC", "NCHW", 64, "f32")
    written = re.findall(r"(\w+_tile\d+)\(source, (\w+), from", text)
    into_panels = {tile for tile, buffer in written if buffer == "panel"}
    shared = into_panels & {tile for tile, buffer in written if buffer == "destination"}
    assert shared
    assert all("pitch" in text.split(f"void {tile}(")[1].split(") {")[0] for tile in shared)


def test_a_tile_neither_fences_its_stores_nor_is_fenced_from_other_threads() -> None:
    _, text = _lowered("NHWC", "NCHW", 64, "f32")
    for body in re.findall(r"void \w+_tile\d+\((.*?)^}$", text, re.DOTALL | re.MULTILINE):
        assert "LAYOUT_FENCE" not in body
    assert "LAYOUT_STREAM" in text
    assert not re.search(r"LAYOUT_FENCE\(\);\s+\w+_tile\d+\(", text)


def test_pads_are_constants_of_the_function_that_writes_them() -> None:
    module, text = _lowered("NCHW", "onednn:nChw16c", 35, "i8", Target(64))
    assert "_tile" in text
    module.verify()


def test_known_sizes_have_no_functions_of_tiles() -> None:
    module = reorder_module(layout("NHWC"), layout("NCHW"), (4, 64, 56, 56), element_type("f32"))
    lowered, text = lower_to_c(module, TARGET)
    assert "_tile" not in text
    assert text == emit_c(lowered)
