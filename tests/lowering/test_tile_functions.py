"""Tiles of kernels for unknown sizes: a function each, however many loops go by them."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from layout_ir_text import parse
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp

from layout_ir import element_type, layout
from layout_ir.backends.c import emit_c
from layout_ir.interpreter.loops import run_loops
from layout_ir.interpreter.reference import reorder_reference
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.pipeline import lower
from layout_ir.lowering.target import Target
from layout_ir.runtime.module import lower_to_c

PAIRS = [("NCHW", "NHWC"), ("NHWC", "NCHW"), ("NCHW", "onednn:nChw16c"), ("onednn:nChw16c", "NCHW")]
TARGET = Target(64, panels=True, threads=True)


def _lowered(source: str, destination: str, channels: int, dtype: str, target: Target = TARGET):
    shape = (None, channels, None, None)
    return lower_to_c(reorder_module(layout(source), layout(destination), shape, element_type(dtype)), target)


@pytest.mark.parametrize("source, destination, dtype", [*((*pair, "f32") for pair in PAIRS), (*PAIRS[0], "i8")])
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
    assert all("to_step" in text.split(f"void {tile}(")[1].split(") {")[0] for tile in shared)


def test_a_tile_neither_fences_its_stores_nor_is_fenced_from_other_threads() -> None:
    _, text = _lowered("NHWC", "NCHW", 64, "f32")
    bodies = re.findall(r"void \w+_tile\d+\((.*?)^}$", text, re.DOTALL | re.MULTILINE)
    assert bodies
    assert not any("LAYOUT_FENCE" in body for body in bodies)
    assert not re.search(r"LAYOUT_FENCE\(\);\s+\w+_tile\d+\(", text)


@pytest.mark.parametrize("threads", [False, True], ids=["alone", "threads"])
def test_who_calls_a_tile_that_writes_past_the_caches_fences_its_stores(threads: bool) -> None:
    _, text = _lowered("NCHW", "onednn:nChw16c", 64, "f32", replace(TARGET, threads=threads))
    functions = dict(re.findall(r"^(?:static [^\n]*)?void (\w+)\((.*?)^}$", text, re.DOTALL | re.MULTILINE))
    streaming = {name for name, body in functions.items() if "_tile" in name and "LAYOUT_STREAM" in body}
    assert streaming
    calls = re.compile(rf"\b(?:{'|'.join(streaming)})\(source.*?;\n(.*)", re.DOTALL)
    callers = {name: found[1] for name, body in functions.items() if (found := calls.search(body))}
    assert callers
    assert all("LAYOUT_FENCE();" in behind for behind in callers.values()), callers.keys()


def test_batches_of_any_size_and_of_one_go_by_the_same_tiles() -> None:
    _, text = _lowered("CHWN", "NHWC", 128, "i8")
    functions = dict(re.findall(r"^(?:static [^\n]*)?void (\w+)\((.*?)^}$", text, re.DOTALL | re.MULTILINE))
    large = {
        name for name, body in functions.items() if "_tile" in name and body.count("__builtin_shufflevector(") > 300
    }
    called: dict[bool, set[str]] = {True: set(), False: set()}
    for name, body in functions.items():
        if "_tile" not in name:
            called["int64_t n," in body] |= {*re.findall(r"\b(\w+_tile\d+)\(", body)} & large
    assert called[True] & called[False]


def _tile_texts(module: ModuleOp) -> dict[str, str]:
    return {op.sym_name.data: str(op) for op in module.ops if isinstance(op, FuncOp) and "_tile" in op.sym_name.data}


def _copies(text: str, target: Target = TARGET) -> ModuleOp:
    module = parse(text)
    lower(Context(), module, target)
    module.verify()
    return module


@pytest.mark.parametrize(
    "first, second, are_shared",
    [
        (("7", "7"), ("?", "?"), False),
        (("?", "?"), ("?", "?"), True),
    ],
    ids=["other plans", "one plan"],
)
def test_copies_in_one_function_share_tiles_where_their_plans_are_alike(
    first: tuple[str, str], second: tuple[str, str], are_shared: bool
) -> None:
    def buffers(sizes: tuple[str, str]) -> tuple[str, str]:
        plain = f"memref<?x64x{'x'.join(sizes)}xf32>"
        return plain, plain.replace(">", ', #layout.format<"NHWC">>')

    one, other = buffers(first), buffers(second)
    copies = {
        "one": f"layout.copy %a, %b : {one[0]} to {one[1]}",
        "other": f"layout.copy %c, %d : {other[0]} to {other[1]}",
    }
    arguments = f"%a: {one[0]}, %b: {one[1]}, %c: {other[0]}, %d: {other[1]}"
    count = {
        name: len(_tile_texts(_copies(f"func.func @main({arguments}) {{ {text} func.return }}")))
        for name, text in {**copies, "both": " ".join(copies.values())}.items()
    }
    assert count["other"] > 0
    assert (count["both"] == count["other"]) == are_shared
    assert count["both"] <= count["one"] + count["other"]


def test_pads_are_constants_of_the_function_that_writes_them() -> None:
    plain, blocked = "memref<?x35x?x?xi8>", 'memref<?x35x?x?xi8, #layout.format<"onednn:nChw16c">>'
    text = f"""func.func @main(%a: {plain}, %b: {blocked}, %c: {plain}, %d: {blocked}) {{
      layout.copy %a, %b pad = 7 : i8 : {plain} to {blocked}
      layout.copy %c, %d pad = 9 : i8 : {plain} to {blocked}
      func.return
    }}"""
    tiles = _tile_texts(_copies(text, Target(64)))
    padded = [sum(f"dense<{pad}>" in text for text in tiles.values()) for pad in (7, 9)]
    assert padded[0] == padded[1] > 0
    assert sum("dense<" not in text for text in tiles.values()) > 0


@pytest.mark.parametrize("registers, dtype", [(64, "f32"), (32, "i8")])
@pytest.mark.parametrize("source, destination", PAIRS)
def test_functions_of_tiles_give_the_bits_of_the_interpreter(
    source: str, destination: str, registers: int, dtype: str
) -> None:
    shape, element = (None, 16, None, None), element_type(dtype)
    module = reorder_module(layout(source), layout(destination), shape, element, "main")
    lower(Context(), module, Target(64, panels=True, stream_bytes=4096, register_bytes=registers))
    assert _tile_texts(module)
    for n, h, w in ((1, 4, 4), (2, 5, 9), (1, 8, 8), (3, 11, 13)):
        maps = [layout(name).index_map((n, 16, h, w), dtype) for name in (source, destination)]
        values = np.arange(maps[0].storage_size, dtype=np.int64).astype(np.int8 if dtype == "i8" else np.float32)
        result = np.full(maps[1].storage_size, -1, values.dtype)
        run_loops(module, "main", [values, result], (n, h, w))
        assert np.array_equal(result, reorder_reference(values, *maps))


def test_names_that_are_taken_are_left() -> None:
    plain, other = "memref<?x64x?x?xf32>", 'memref<?x64x?x?xf32, #layout.format<"NHWC">>'
    text = f"""
    func.func @main_tile0(%a: memref<4xf32>) {{ func.return }}
    func.func @main(%a: {plain}, %b: {other}) {{ layout.copy %a, %b : {plain} to {other} func.return }}"""
    names = [op.sym_name.data for op in _copies(text).ops if isinstance(op, FuncOp)]
    assert len(names) == len({*names})
    assert "main_tile1" in names


def test_known_sizes_have_no_functions_of_tiles() -> None:
    module = reorder_module(layout("NHWC"), layout("NCHW"), (4, 64, 56, 56), element_type("f32"))
    lowered, text = lower_to_c(module, TARGET)
    assert "_tile" not in text
    assert text == emit_c(lowered)
