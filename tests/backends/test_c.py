"""Lowered modules without vectors: their C text, and what it does to buffers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from layout_ir.backends.c import emit_c, emit_header
from layout_ir.errors import LayoutError

Run = Callable[..., None]
Text = Callable[[str], str]
Parse = Callable[[str], ModuleOp]

CONSTANTS = "\n".join(f"%c{value} = arith.constant {value} : index" for value in (0, 1, 2, 3, 4, 5, 6, 7, 8, 16))

TRANSPOSE = f"""
func.func @transpose(%source : memref<24xELEMENT>, %destination : memref<24xELEMENT>) {{
  {CONSTANTS}
  scf.for %i = %c0 to %c4 step %c1 {{
    scf.for %j = %c0 to %c6 step %c1 {{
      %from = affine.apply affine_map<(d0, d1) -> (d0 * 6 + d1)> (%i, %j)
      %to = affine.apply affine_map<(d0, d1) -> (d1 * 4 + d0)> (%i, %j)
      %value = memref.load %source[%from] : memref<24xELEMENT>
      memref.store %value, %destination[%to] : memref<24xELEMENT>
    }}
  }}
  return
}}
"""

PACK = f"""
func.func @pack(%source : memref<35xf32>, %destination : memref<40xf32>) {{
  {CONSTANTS}
  %pad = arith.constant 0.0 : f32
  scf.for %block = %c0 to %c2 step %c1 {{
    scf.for %row = %c0 to %c5 step %c1 {{
      scf.for %lane = %c0 to %c4 step %c1 {{
        %column = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)> (%block, %lane)
        %to = affine.apply affine_map<(d0, d1, d2) -> (d0 * 20 + d1 * 4 + d2)> (%block, %row, %lane)
        %inside = arith.cmpi ult, %column, %c7 : index
        scf.if %inside {{
          %from = affine.apply affine_map<(d0, d1) -> (d0 * 7 + d1)> (%row, %column)
          %value = memref.load %source[%from] : memref<35xf32>
          memref.store %value, %destination[%to] : memref<40xf32>
        }} else {{
          memref.store %pad, %destination[%to] : memref<40xf32>
        }}
      }}
    }}
  }}
  return
}}
"""


def guarded(count: int, dtype: Any) -> np.ndarray:
    """A destination of `count` elements and a guard zone, all filled with a sentinel."""
    return np.full((count + 8) * np.dtype(dtype).itemsize, 0xA5, np.uint8).view(dtype)


def random_bits(count: int, dtype: Any) -> np.ndarray:
    size = count * np.dtype(dtype).itemsize
    return np.random.default_rng(7).integers(0, 256, size, dtype=np.uint8).view(dtype)


def same_bits(left: np.ndarray, right: np.ndarray) -> bool:
    return left.tobytes() == right.tobytes()


def test_text_of_a_transposition(c_text: Text) -> None:
    assert (
        c_text(TRANSPOSE.replace("ELEMENT", "f32"))
        == """\
void transpose(const float *restrict source, float *restrict destination) {
  for (int64_t i = 0; i < 4; i++) {
    for (int64_t j = 0; j < 6; j++) {
      destination[4 * j + i] = source[6 * i + j];
    }
  }
}
"""
    )


def test_text_of_a_pack_with_a_tail(c_text: Text) -> None:
    assert (
        c_text(PACK)
        == """\
void pack(const float *restrict source, float *restrict destination) {
  for (int64_t block = 0; block < 2; block++) {
    for (int64_t row = 0; row < 5; row++) {
      for (int64_t lane = 0; lane < 4; lane++) {
        const int64_t column = 4 * block + lane;
        const int64_t to = 20 * block + 4 * row + lane;
        if (column < 7) {
          destination[to] = source[7 * row + column];
        } else {
          destination[to] = 0.0f;
        }
      }
    }
  }
}
"""
    )


@pytest.mark.parametrize(
    "element, c_type, dtype",
    [
        ("f32", "float", np.uint32),  # random bits hold signalling NaNs, which must stay what they are
        ("f64", "double", np.uint64),
        ("f16", "uint16_t", np.uint16),
        ("bf16", "uint16_t", np.uint16),
        ("i1", "uint8_t", np.uint8),
        ("i8", "int8_t", np.int8),
        ("ui8", "uint8_t", np.uint8),
        ("i16", "int16_t", np.int16),
        ("i32", "int32_t", np.int32),
        ("i64", "int64_t", np.int64),
        ("ui64", "uint64_t", np.uint64),
        ("index", "int64_t", np.int64),
    ],
)
def test_every_element_type_is_moved_bit_for_bit(element: str, c_type: str, dtype: Any, run: Run, c_text: Text) -> None:
    ir = TRANSPOSE.replace("ELEMENT", element)
    source, destination = random_bits(24, dtype), guarded(24, dtype)
    if element == "f32":
        source[:2] = 0x7FA00001, 0xFFBFFFFF
    run(ir, "transpose", source, destination)
    assert same_bits(destination[:24], source.reshape(4, 6).T.copy())
    assert same_bits(destination[24:], guarded(0, dtype))
    assert f"void transpose(const {c_type} *restrict source, {c_type} *restrict destination)" in c_text(ir)


@pytest.mark.parametrize("element", ["i4", "i2", "i7", "f8E4M3FN", "complex<f32>"])
def test_element_types_without_a_c_type_are_refused(element: str, c_text: Text) -> None:
    with pytest.raises(LayoutError, match=r"expected elements of f64, f32, .* got"):
        c_text(TRANSPOSE.replace("ELEMENT", element))


def test_pack_fills_the_tail(run: Run) -> None:
    source, destination = random_bits(35, np.float32), guarded(40, np.float32)
    run(PACK, "pack", source, destination)
    padded = np.zeros((5, 8), np.float32)
    padded.view(np.uint32)[:, :7] = source.view(np.uint32).reshape(5, 7)
    assert same_bits(destination[:40], padded.reshape(5, 2, 4).transpose(1, 0, 2).copy())
    assert same_bits(destination[40:], guarded(0, np.float32))


def stores(*lines: str, results: int = 1) -> str:
    """A function that stores the index `%r` (or %r0, %r1, ...), which `lines` make from %a and %b."""
    names = ["r"] if results == 1 else [f"r{number}" for number in range(results)]
    store = [f"memref.store %{name}, %out[%c{number}] : memref<8xindex>" for number, name in enumerate(names)]
    body = "\n".join([CONSTANTS, *lines, *store])
    return f"func.func @f(%out : memref<8xindex>, %a : index, %b : index) {{\n{body}\nreturn }}"


@pytest.mark.parametrize(
    "lines, text, expected",
    [
        ("%r = affine.apply affine_map<(d0, d1) -> (d0 floordiv 4 + d1 mod 8)> (%a, %b)", "a / 4 + b % 8", 7),
        ("%r = affine.apply affine_map<(d0, d1) -> ((d0 + d1) floordiv 4 * 4)> (%a, %b)", "4 * ((a + b) / 4)", 28),
        ("%r = affine.apply affine_map<(d0, d1) -> ((d0 * 6) mod 4 + d1)> (%a, %b)", "6 * a % 4 + b", 13),
        ("%r = affine.apply affine_map<(d0, d1) -> (d0 - d1 * 1 + 3)> (%a, %b)", "a - b + 3", 9),
        ("%r = affine.apply affine_map<(d0, d1) -> (d0 * 4 - d1 * 2 - 1)> (%a, %b)", "4 * a - 2 * b - 1", 45),
        ("%r = affine.apply affine_map<(d0)[s0] -> (d0 ceildiv 4 + s0)> (%a)[%b]", "(a + 3) / 4 + b", 16),
        (
            "%r = affine.apply affine_map<(d0, d1) -> (d0 * 3000000000 + d1)> (%a, %b)",
            "3000000000 * a + b",
            51000000011,
        ),
        ("%r = affine.apply affine_map<(d0) -> (d0 * 5 + 2)> (%c3)", "= 17;", 17),
        ("%r = affine.apply affine_map<(d0, d1) -> (d0 * 5 - d1 * 2 + 8)> (%a, %c3)", "5 * a + 2;", 87),
        ("%r = affine.min affine_map<(d0, d1) -> (d0, d1 + 3)> (%a, %b)", "a < b + 3 ? a : b + 3", 14),
        ("%r = arith.minui %a, %b : index", "a < b ? a : b", 11),
        ("%r = arith.maxsi %a, %b : index", "a > b ? a : b", 17),
        ("%s = arith.subi %a, %b : index\n%r = arith.subi %a, %s : index", "a - (a - b)", 11),
        ("%s = arith.addi %a, %b : index\n%r = arith.remui %s, %c8 : index", "(a + b) % 8", 4),
        ("%s = arith.divui %a, %c2 : index\n%r = arith.muli %s, %b : index", "a / 2 * b", 88),
        ("%s = arith.muli %a, %b : index\n%r = arith.divui %c16, %s : index", "16 / (a * b)", 0),
        ("%p = arith.cmpi sgt, %a, %b : index\n%r = arith.select %p, %c5, %c6 : index", "a > b ? 5 : 6", 5),
        (
            "%p = arith.cmpi ult, %a, %b : index\n%q = arith.cmpi ne, %a, %b : index\n%t = arith.andi %p, %q : i1\n"
            "%u = arith.ori %t, %q : i1\n%r = arith.select %u, %c5, %c6 : index",
            "(a < b && q) || q ? 5 : 6",
            5,
        ),
    ],
)
def test_index_arithmetic(lines: str, text: str, expected: int, run: Run, c_text: Text) -> None:
    assert text in c_text(stores(lines))
    out = guarded(8, np.int64)
    run(stores(lines), "f", out, 17, 11)
    assert out[0] == expected


def test_narrow_integers_wrap_as_in_the_ir(run: Run) -> None:
    ir = """func.func @f(%x : memref<3xi8>, %y : memref<2xi16>, %z : memref<2xi1>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %a = memref.load %x[%c0] : memref<3xi8>
      %b = memref.load %x[%c1] : memref<3xi8>
      %sum = arith.addi %a, %b : i8
      memref.store %sum, %x[%c2] : memref<3xi8>
      %w = memref.load %y[%c0] : memref<2xi16>
      %square = arith.muli %w, %w : i16
      memref.store %square, %y[%c1] : memref<2xi16>
      %signed = arith.cmpi slt, %a, %b : i8
      memref.store %signed, %z[%c0] : memref<2xi1>
      %unsigned = arith.cmpi ult, %a, %b : i8
      memref.store %unsigned, %z[%c1] : memref<2xi1>
      return
    }"""
    x, y, z = np.array([-100, 100, 0], np.int8), np.array([-1, 0], np.int16), np.zeros(2, np.uint8)
    x[0], x[1] = -100, -101
    run(ir, "f", x, y, z)
    assert (x[2], y[1], z.tolist()) == (55, 1, [0, 0])


@pytest.mark.parametrize(
    "constant, dtype, bits",
    [
        ("0.0 : f32", np.uint32, 0),
        ("-0.0 : f32", np.uint32, 0x80000000),
        ("1.1 : f32", np.uint32, 0x3F8CCCCD),
        ("0x7F800000 : f32", np.uint32, 0x7F800000),
        ("0xFF800000 : f32", np.uint32, 0xFF800000),
        ("0x7FC00000 : f32", np.uint32, 0x7FC00000),
        ("1.4e-45 : f32", np.uint32, 1),
        ("-2.5 : f64", np.uint64, 0xC004000000000000),
        ("0x7FF0000000000000 : f64", np.uint64, 0x7FF0000000000000),
        ("1.5 : f16", np.uint16, 0x3E00),
        ("0x7C00 : f16", np.uint16, 0x7C00),
        ("-2.0 : bf16", np.uint16, 0xC000),
        ("7 : i8", np.uint8, 7),
        ("-128 : i8", np.uint8, 128),
        ("255 : i8", np.uint8, 255),
        ("true", np.uint8, 1),
        ("-9223372036854775808 : i64", np.uint64, 1 << 63),
        ("9223372036854775807 : i64", np.uint64, (1 << 63) - 1),
    ],
)
def test_constants_keep_their_bits(constant: str, dtype: Any, bits: int, run: Run) -> None:
    element = constant.partition(" : ")[2] or "i1"
    ir = f"""func.func @f(%x : memref<1x{element}>) {{
      %c0 = arith.constant 0 : index
      %value = "arith.constant"() <{{value = {constant}}}> : () -> {element}
      memref.store %value, %x[%c0] : memref<1x{element}>
      return
    }}"""
    x = guarded(1, dtype)
    run(ir, "f", x)
    assert int(x[0]) == bits


def test_a_load_is_not_moved_past_a_store(run: Run) -> None:
    ir = f"""func.func @swap(%x : memref<2xi32>) {{
      {CONSTANTS}
      %a = memref.load %x[%c0] : memref<2xi32>
      %b = memref.load %x[%c1] : memref<2xi32>
      memref.store %b, %x[%c0] : memref<2xi32>
      memref.store %a, %x[%c1] : memref<2xi32>
      return
    }}"""
    x = np.array([1, 2], np.int32)
    run(ir, "swap", x)
    assert x.tolist() == [2, 1]


CALLS = """
func.func @both(%source : memref<6xi32>, %destination : memref<6xi32>, %unused : memref<?xi32>) {
  %half = memref.alloc() : memref<6xi32>
  %never = memref.alloc() : memref<6xi32>
  func.call @move(%source, %half) : (memref<6xi32>, memref<6xi32>) -> ()
  %dead = memref.load %half[%c5] : memref<6xi32>
  "memref.copy"(%half, %destination) : (memref<6xi32>, memref<6xi32>) -> ()
  memref.dealloc %half : memref<6xi32>
  return
}
func.func private @move(%from : memref<6xi32>, %to : memref<6xi32>) {
  CONSTANTS
  scf.for %i = %c0 to %c6 step %c2 {
    %value = memref.load %from[%i] : memref<6xi32>
    %next = affine.apply affine_map<(d0) -> (d0 + 1)> (%i)
    %other = memref.load %from[%next] : memref<6xi32>
    memref.store %other, %to[%i] : memref<6xi32>
    memref.store %value, %to[%next] : memref<6xi32>
  }
  return
}
func.func private @never_called(%x : memref<6xi32>) {
  return
}
""".replace("  %half = memref", f"  {CONSTANTS}\n  %half = memref").replace("CONSTANTS", CONSTANTS)


def test_calls_buffers_and_copies(run: Run, c_text: Text) -> None:
    source, destination = np.arange(6, dtype=np.int32), guarded(6, np.int32)
    run(CALLS, "both", source, destination, source)
    assert destination[:6].tolist() == [1, 0, 3, 2, 5, 4]
    text = c_text(CALLS)
    assert "static void move(const int32_t *restrict from, int32_t *restrict to);" in text
    assert (
        "void both(const int32_t *restrict source, int32_t *restrict destination, const int32_t *restrict unused)"
        in (text.replace("\n    ", " ").replace("( ", "("))
    )
    assert "(void)unused;" in text
    assert "int32_t *restrict half = layout_allocate(64, 6 * sizeof(int32_t));" in text
    assert "never" not in text


def test_loops_of_one_trip_are_no_loops(run: Run, c_text: Text) -> None:
    ir = f"""func.func @f(%x : memref<8xi32>) {{
      {CONSTANTS}
      %value = arith.constant 9 : i32
      scf.for %i = %c2 to %c3 step %c1 {{
        %to = affine.apply affine_map<(d0) -> (d0 * 2 + 1)> (%i)
        memref.store %value, %x[%to] : memref<8xi32>
      }}
      scf.for %i = %c0 to %c0 step %c1 {{
        memref.store %value, %x[%i] : memref<8xi32>
      }}
      return
    }}"""
    assert "{\n  x[5] = 9;\n" in c_text(ir)
    x = np.zeros(8, np.int32)
    run(ir, "f", x)
    assert x.tolist() == [0, 0, 0, 0, 0, 9, 0, 0]


@pytest.mark.parametrize(
    "ir, message",
    [
        ("func.func @f(%x : memref<4x4xf32>) { return }", r"expected a flat memref .* got memref<4x4xf32>"),
        ("func.func @f(%x : memref<4xf32, strided<[2]>>) { return }", "expected a flat memref"),
        ("func.func @f(%x : i32) -> i32 { return %x : i32 }", "expected a function without results"),
        ('func.func @f() { "test.op"() : () -> ()\n return }', "c: no rule for operation 'test.op'"),
        ('func.func @f() { %0 = "test.op"() : () -> index\n return }', "c: no rule for operation 'test.op'"),
        ("builtin.module { builtin.module { } }", "c: no rule for operation 'builtin.module'"),
        (
            "func.func @f(%x : memref<4xf32>, %i : index) { %a = memref.load %x[%i] : memref<4xf32>\n"
            "%b = arith.addf %a, %a : f32\nmemref.store %b, %x[%i] : memref<4xf32>\nreturn }",
            "c: no rule for operation 'arith.addf'",
        ),
        (
            "func.func @f(%n : index) { cf.br ^bb1\n^bb1:\n return }",
            "expected a body of one block",
        ),
    ],
)
def test_what_is_not_lowered_is_refused(ir: str, message: str, c_text: Text) -> None:
    with pytest.raises(LayoutError, match=message):
        c_text(ir)


def test_header(module: Parse, compiles: Callable[..., Any]) -> None:
    assert (
        emit_header(module(PACK))
        == """\
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The buffers must not overlap.
 * source: 35 elements of f32
 * destination: 40 elements of f32
 */
void pack(const float *source, float *destination);

#ifdef __cplusplus
}
#endif
"""
    )
    assert "move" not in emit_header(module(CALLS))
    header = emit_header(module(CALLS)).replace("#pragma once\n", "")  # which a main file must not have
    compiles(header + emit_c(module(CALLS)), "-pedantic")  # the prototypes agree with the definitions


def test_the_module_is_left_as_it_was(module: Parse) -> None:
    parsed = module(CALLS)
    before = str(parsed)
    assert emit_c(parsed) == emit_c(parsed)
    assert str(parsed) == before
