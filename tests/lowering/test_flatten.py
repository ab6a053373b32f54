"""`layout-flatten`: every memref becomes flat wherever a type stands, and nothing else changes."""

from __future__ import annotations

import pytest
from layout_ir_text import left_of_layouts, parse
from xdsl.context import Context
from xdsl.utils.exceptions import PassFailedException

from layout_ir.lowering.flatten import FlattenPass

BLOCKED = "memref<2x5xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>>"


def flattened(text: str) -> str:
    module = parse(text)
    FlattenPass().apply(Context(), module)
    module.verify()
    assert left_of_layouts(module) == []
    return str(module)


@pytest.mark.parametrize(
    "buffer, flat",
    [
        ("memref<2x5xf32>", "memref<10xf32>"),
        (BLOCKED, "memref<16xf32>"),
        ('memref<2x5xf16, #layout.format<"CN">>', "memref<10xf16>"),
        ("memref<2x5xf32, strided<[8, 1], offset: 3>>", "memref<16xf32>"),
        ("memref<2x5xf32, affine_map<(d0, d1) -> (d1, d0)>>", "memref<10xf32>"),
        ('memref<1x5x2x3xf32, #layout.format<"mace:IN_OUT_CHANNEL", dims = "NCHW">>', "memref<48xf32>"),
        ("memref<7xui8>", "memref<7xi8>"),
        ("memref<f32>", "memref<1xf32>"),
        ("memref<0x5xf32>", "memref<0xf32>"),
        ("memref<2x5xf32, 1 : i32>", "memref<10xf32, 1 : i32>"),
    ],
)
def test_types(buffer: str, flat: str) -> None:
    assert f"@f({flat})" in flattened(f"func.func private @f({buffer})")


@pytest.mark.parametrize("kind", ["memref<7xf32>", "f32", "vector<4xf32>", "index", "memref<7xi1>"])
def test_what_is_flat_stays(kind: str) -> None:
    text = f"func.func private @f({kind})"
    assert flattened(text) == str(parse(text))


def test_types_inside_of_regions_and_attributes() -> None:
    text = f"""
    func.func @f(%n: index, %x: {BLOCKED}) attributes {{holds = {BLOCKED}, nested = [{{a = {BLOCKED}}}]}} {{
      scf.for %i = %n to %n step %n {{
        "test.op"(%x) ({{
        ^bb0(%y: {BLOCKED}):
          "test.termop"(%y) : ({BLOCKED}) -> ()
        }}) : ({BLOCKED}) -> ()
      }}
      func.return
    }}"""
    result = flattened(text)
    assert result.count("memref<16xf32>") == 6
    assert "2x5" not in result


def test_flattening_twice_is_flattening_once() -> None:
    text = f"func.func @f(%x: {BLOCKED}) -> {BLOCKED} {{ func.return %x : {BLOCKED} }}"
    once = flattened(text)
    assert flattened(once) == once


def test_what_still_moves_tensors_is_refused_and_nothing_changes() -> None:
    plain = "memref<2x5xf32>"
    module = parse(
        f"func.func @f(%x: {plain}, %y: {BLOCKED}) {{ layout.copy %x, %y : {plain} to {BLOCKED} func.return }}"
    )
    before = str(module)
    with pytest.raises(PassFailedException, match=r"layout-flatten: expected loops, got 'layout\.copy'; run layout-to"):
        FlattenPass().apply(Context(), module)
    assert str(module) == before


@pytest.mark.parametrize(
    "buffer", ["memref<?x5xf32>", 'memref<?x5xf32, #layout.format<"CN">>', "memref<4xf32, #layout.any>"]
)
def test_a_size_that_is_not_known_is_refused(buffer: str) -> None:
    with pytest.raises(PassFailedException, match="layout-flatten: expected"):
        flattened(f"func.func private @f({buffer})")


NEEDS_SIZES = """%zero = arith.constant 0 : index
      %n = memref.dim %y, %zero : memref<?x64xf32>
      memref.store %v, %y[%n, %n] : memref<?x64xf32>"""


@pytest.mark.parametrize("attributes", ["", "attributes {no_inline} "])
@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_sizes_do_not_go_through_calls_whatever_stands_first(attributes: str, order: list[int]) -> None:
    kind = "memref<?x64xf32>"
    functions = [
        f"func.func private @f(%y: {kind}, %v: f32) {attributes}{{\n {NEEDS_SIZES}\n func.return }}",
        f"func.func @g(%x: {kind}, %v: f32) {{ func.call @f(%x, %v) : ({kind}, f32) -> () func.return }}",
    ]
    with pytest.raises(PassFailedException, match="layout-flatten: expected sizes that are known in calls"):
        flattened("\n".join(functions[number] for number in order))
