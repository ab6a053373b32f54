"""Names from IR: what becomes of hints, and that no name brings text of its own into a file."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr

from layout_ir.backends.c import emit_c, emit_header
from layout_ir.backends.c_vocabulary import C_VOCABULARY
from layout_ir.backends.names import Names
from layout_ir.errors import LayoutError


@pytest.mark.parametrize(
    "name",
    ["x; system", "a b", "f()", "", "1f", "é", "f\n#include <x>", "a.b", "f$", "*/ int x; /*", "\u017f"],
)
def test_function_names_that_are_no_identifiers_are_refused(name: str, module: Callable[[str], ModuleOp]) -> None:
    parsed = module("func.func @f(%x : memref<4xf32>) { return }")
    next(iter(parsed.ops)).properties["sym_name"] = StringAttr(name)
    for emit in (emit_c, emit_header):
        with pytest.raises(LayoutError, match="expected a function name of ASCII letters"):
            emit(parsed)


@pytest.mark.parametrize(
    "name",
    [
        *("for", "restrict", "_Bool", "__init", "class", "memcpy", "main", "printf", "sinf", "index", "int64_t"),
        *("INT64_MAX", "LAYOUT_FENCE", "layout_stream", "f32x16", "linux"),
    ],
)
def test_reserved_function_names_are_refused(name: str) -> None:
    with pytest.raises(LayoutError, match=f"not reserved, got '{name}'"):
        C_VOCABULARY.function_name(name)


@pytest.mark.parametrize("name", ["pack", "x", "transpose_0", "Pack8", "layout", "kernel", "half", "copy", "t"])
def test_other_function_names_are_kept(name: str) -> None:
    assert C_VOCABULARY.function_name(name) == name


@pytest.mark.parametrize(
    "hint, expected",
    [
        (None, "v"),
        ("row", "row"),
        ("a.b-c$d", "a_b_c_d"),
        ("0", "v0"),
        ("for", "for_"),
        ("int64_t", "int64_t_"),
        ("__x", "x"),
        ("_", "v"),
        ("x;system(1)", "x_system_1"),
        ("é", "v"),
        ("memcpy", "memcpy_"),
        ("index", "index"),
        ("pack", "pack_1"),
        ("LAYOUT_STREAM", "v"),
        ("f32x16", "f32x16_"),
    ],
)
def test_hints(hint: str | None, expected: str) -> None:
    assert Names(C_VOCABULARY, ["pack"]).fresh(hint, "v") == expected


def test_names_are_unique_until_their_scope_ends() -> None:
    names = Names(C_VOCABULARY, ())
    assert [names.fresh("x", "v"), names.fresh("x", "v")] == ["x", "x_1"]
    with names.scope():
        assert [names.fresh("x", "v"), names.fresh("y", "v")] == ["x_2", "y"]
    assert [names.fresh("y", "v"), names.fresh_index(None), names.fresh_index(None)] == ["y", "i", "j"]


def test_locals_with_the_names_of_words_and_functions_compile(
    module: Callable[[str], ModuleOp], compiles: Callable[..., object]
) -> None:
    parsed = module("""
    func.func @f(%for : memref<4xi8>, %f : memref<4xi8>) {
      %int64_t = arith.constant 0 : index
      %sizeof = arith.constant 4 : index
      %c1 = arith.constant 1 : index
      %free = memref.alloc() : memref<4xi8>
      func.call @g(%for, %free) : (memref<4xi8>, memref<4xi8>) -> ()
      scf.for %while = %int64_t to %sizeof step %c1 {
        %int8_t = memref.load %free[%while] : memref<4xi8>
        %g = affine.apply affine_map<(d0) -> (3 - d0)> (%while)
        memref.store %int8_t, %f[%while] : memref<4xi8>
        memref.store %int8_t, %for[%g] : memref<4xi8>
      }
      memref.dealloc %free : memref<4xi8>
      return
    }
    func.func @g(%free : memref<4xi8>, %g : memref<4xi8>) {
      "memref.copy"(%free, %g) : (memref<4xi8>, memref<4xi8>) -> ()
      return
    }
    """)
    compiles(emit_c(parsed), "-pedantic")
