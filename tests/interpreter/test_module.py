"""Modules with layouts, interpreted: results, sentinels, bits of pads, errors."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, FloatAttr, ModuleOp, bf16, f16, f32, f64
from xdsl.dialects.func import Func
from xdsl.dialects.memref import MemRef
from xdsl.parser import Parser

from layout_ir.dialects.layout import LAYOUT
from layout_ir.errors import LayoutError
from layout_ir.interpreter.bits import bits_of, float_bits
from layout_ir.interpreter.functions import arguments, find_function, functions, results
from layout_ir.interpreter.module import interpret
from layout_ir.layouts.element_type import element_type

BLOCKED = "#layout.tiled<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>"


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, MemRef, Arith, LAYOUT):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def reorder(pad: str = "", element: str = "i32") -> ModuleOp:
    source, destination = f"tensor<2x5x{element}>", f"tensor<2x5x{element}, {BLOCKED}>"
    return parse(
        f"func.func @pack(%x: {source}) -> {destination} {{\n"
        f"%y = layout.reorder %x {pad} : {source} to {destination}\n func.return %y : {destination} }}"
    )


X = np.arange(1, 11, dtype=np.int32).reshape(2, 5)
FIRST_BLOCK = [1, 2, 3, 4, 6, 7, 8, 9]


@pytest.mark.parametrize(
    "pad, value", [("", 0), ("pad = 7 : i32", 7), ("pad = -7 : i32", -7), ("pad = undef", 0x11111111)]
)
def test_reorder(pad: str, value: int) -> None:
    (y,) = interpret(reorder(pad), "pack", [X], fill=0x11)
    assert y.dtype == X.dtype
    assert y.tolist() == [*FIRST_BLOCK, 5, *[value] * 3, 10, *[value] * 3]


@pytest.mark.parametrize(
    "element, dtype, pad, bits",
    [
        ("f32", np.float32, "1.5 : f32", struct.unpack("<I", struct.pack("<f", 1.5))[0]),
        ("f16", np.float16, "-2.0 : f16", 0xC000),
        ("bf16", np.uint16, "1.5 : bf16", 0x3FC0),
        ("f64", np.float64, "-0.0 : f64", 1 << 63),
        ("i8", np.int8, "-1 : i8", 0xFF),
        ("ui8", np.uint8, "200 : ui8", 200),
        ("i1", np.bool_, "true", 1),
        ("i64", np.int64, "-2 : i64", 2**64 - 2),
    ],
)
def test_pads_of_every_type(element: str, dtype: type[np.generic], pad: str, bits: int) -> None:
    x = np.ones((2, 5), dtype)
    (y,) = interpret(reorder(f"pad = {pad}", element), "pack", [x])
    assert y.dtype == x.dtype
    assert y.view(f"u{y.itemsize}").tolist()[-3:] == [bits] * 3


@pytest.mark.parametrize(
    "number, kind, bits",
    [
        (1.0, bf16, 0x3F80),
        (1.00390625, bf16, 0x3F80),  # halfway, to even
        (1.01171875, bf16, 0x3F82),  # halfway, to even
        (1.004, bf16, 0x3F81),
        (float("nan"), bf16, 0x7FC0),
        (1e39, f32, 0x7F800000),
        (-1e39, bf16, 0xFF80),
        (65504.0, f16, 0x7BFF),
        (1e5, f16, 0x7C00),
        (1.0, f64, 0x3FF0000000000000),
    ],
)
def test_float_bits(number: float, kind: Any, bits: int) -> None:
    assert float_bits(number, kind) == bits


def test_bits_need_a_number() -> None:
    with pytest.raises(LayoutError, match="expected an integer or a float, got f32"):
        bits_of(f32, element_type("f32"))
    assert bits_of(FloatAttr(1.0, f32), element_type("f32")) == 0x3F800000


CALLS = f"""
func.func @pack(%x: tensor<2x5xi32>) -> tensor<2x5xi32, {BLOCKED}> {{
  %y = layout.reorder %x : tensor<2x5xi32> to tensor<2x5xi32, {BLOCKED}>
  func.return %y : tensor<2x5xi32, {BLOCKED}>
}}
func.func @both(%x: tensor<2x5xi32>) -> (tensor<2x5xi32, {BLOCKED}>, tensor<2x5xi32, #layout.format<"NC">>) {{
  %y = func.call @pack(%x) : (tensor<2x5xi32>) -> tensor<2x5xi32, {BLOCKED}>
  %z = layout.reorder %y : tensor<2x5xi32, {BLOCKED}> to tensor<2x5xi32>
  %w = layout.cast %z : tensor<2x5xi32> to tensor<2x5xi32, #layout.format<"NC">>
  func.return %y, %w : tensor<2x5xi32, {BLOCKED}>, tensor<2x5xi32, #layout.format<"NC">>
}}
func.func @buffers(%x: memref<2x5xi32>, %y: memref<2x5xi32, strided<[8, 1], offset: 2>>) {{
  %t = memref.alloc() : memref<2x5xi32, {BLOCKED}>
  layout.copy %x, %t : memref<2x5xi32> to memref<2x5xi32, {BLOCKED}>
  layout.copy %t, %y : memref<2x5xi32, {BLOCKED}> to memref<2x5xi32, strided<[8, 1], offset: 2>>
  memref.dealloc %t : memref<2x5xi32, {BLOCKED}>
  func.return
}}
func.func @same(%x: tensor<2x5xi32, {BLOCKED}>) -> tensor<2x5xi32, {BLOCKED}> {{
  func.return %x : tensor<2x5xi32, {BLOCKED}>
}}
func.func private @outside(%x: tensor<2x5xi32>)
func.func @constant() -> index {{
  %c = arith.constant 1 : index
  func.return %c : index
}}
"""


def test_calls_and_several_results() -> None:
    blocked, plain = interpret(parse(CALLS), "both", [X])
    assert blocked.tolist() == [*FIRST_BLOCK, 5, 0, 0, 0, 10, 0, 0, 0]
    assert (plain == X.ravel()).all()


def test_a_returned_argument_is_a_copy_with_pads_of_zero() -> None:
    x = np.array([*FIRST_BLOCK, 5, 77, 77, 77, 10, 77, 77, 77], np.int32)
    (y,) = interpret(parse(CALLS), "same", [x])
    assert y.tolist() == [*FIRST_BLOCK, 5, 0, 0, 0, 10, 0, 0, 0]


def test_buffers_are_written_in_place_and_gaps_stay() -> None:
    y = np.full(15, 77, np.int32)
    assert interpret(parse(CALLS), "buffers", [X, y]) == ()
    assert y.tolist() == [77, 77, *X[0], 77, 77, 77, *X[1]]


def test_storages_of_functions() -> None:
    module = parse(CALLS)
    assert [function.sym_name.data for function in functions(module)] == ["pack", "both", "buffers", "same", "constant"]
    function = find_function(module, "both")
    assert [(a.name, a.index_map.storage_size, a.element.name, a.is_tensor) for a in arguments(function)] == [
        ("x", 10, "i32", True)
    ]
    assert [(r.name, r.index_map.storage_size) for r in results(function)] == [("result0", 16), ("result1", 10)]
    assert [a.is_tensor for a in arguments(find_function(module, "buffers"))] == [False, False]
    assert [r.name for r in results(find_function(module, "pack"))] == ["result"]


@pytest.mark.parametrize(
    "name, inputs, message",
    [
        ("pak", [X], "no function 'pak', expected one of: pack, both, buffers, same, constant; did you mean pack?"),
        ("outside", [X], "no function 'outside'"),
        ("pack", [], "pack: expected 1 inputs, got 0"),
        ("pack", [X[:1]], "input 0: expected a contiguous array of at least 10 elements"),
        ("pack", [X.T], "input 0: expected a contiguous array"),
        ("pack", [X.astype(np.int8)], r"input 0: expected elements of 4 bytes \(i32\), got int8"),
        ("constant", [], "expected operations of layout and func, got 'arith.constant'"),
    ],
)
def test_errors(name: str, inputs: list[np.ndarray[Any, Any]], message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        interpret(parse(CALLS), name, inputs)


def test_results_that_are_no_tensors() -> None:
    with pytest.raises(LayoutError, match="result: expected a tensor or a memref, got index"):
        results(find_function(parse(CALLS), "constant"))
