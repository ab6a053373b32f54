"""`layout-to-loops`: no division where blocks nest, constants made once, pads as constants of the storage's type."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from layout_ir_text import index_expressions, parse
from reorder_batch import Reorder, lowered, module_of
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    BFloat16Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    bf16,
    f32,
    i1,
    i8,
    i32,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import PassFailedException

import layout_ir as li
from layout_ir.interpreter.loops import run_loops
from layout_ir.interpreter.module import interpret
from layout_ir.layouts import affine
from layout_ir.lowering.flatten import FlattenPass
from layout_ir.lowering.to_buffers import ToBuffersPass
from layout_ir.lowering.to_loops import ToLoopsPass, pad_constant, storage_element_type

NESTED = (
    "NCHW",
    "NHWC",
    "onednn:nChw16c",
    "onednn:NChw16n16c",
    "openvino:b_fs_yx_fsv4",
    "openvino:bs_fs_yx_bsv8_fsv4",
    "openvino:fs_b_yx_fsv32",
    "ascend:NC1HWC0",
    "mace:IN_OUT_CHANNEL",
    "mace:IN_OUT_WIDTH",
)
"""Layouts whose blocks are powers of two."""


def layout(text: str) -> li.Layout:
    return li.layout(text, dims="NCHW") if text.startswith("mace") else li.layout(text)


@pytest.mark.parametrize("vector_bytes", [0, 64])
def test_no_division_is_left_where_blocks_nest(vector_bytes: int) -> None:
    pairs = itertools.product(NESTED, repeat=2)
    cases = [Reorder(layout(left), layout(right), (3, 35, 5, 7)) for left, right in pairs]
    expressions = index_expressions(lowered(cases, vector_bytes))
    assert len(expressions) > len(cases)
    assert all(affine.is_linear(expr) for expr in expressions)


def test_blocks_that_do_not_nest_need_no_division_either() -> None:
    by48, by32 = (li.layout(f"(n, c) -> (c floordiv {size}, n, c mod {size})") for size in (48, 32))
    assert all(map(affine.is_linear, index_expressions(lowered([Reorder(by48, by32, (3, 200))]))))


def test_what_fits_nothing_keeps_its_divisions_and_is_right() -> None:
    """Storage order mixes dims in a way that few boxes describe; the loops divide, never a negative number."""
    odd = li.layout("(d0, d1) -> ((d0 * 17 + d1) floordiv 13, d0, d1, (d0 * 17 + d1) mod 13)")
    case = Reorder(odd, li.layout("(d0, d1) -> (d1, d0)"), (14, 15))
    loops = lowered([case])
    assert not all(map(affine.is_linear, index_expressions(loops)))
    source = np.arange(odd.index_map(case.shape).storage_size, dtype=np.float32)
    (expected,) = interpret(module_of([case]), "case_0", [source])
    result = np.zeros_like(expected)
    run_loops(loops, "case_0", [source, result])
    assert np.array_equal(result, expected)


def test_constants_are_made_once_a_function() -> None:
    text = "\n".join(
        f"""func.func @f{number}(%x: memref<8x9xi8>, %y: memref<8x9xi8, #l>, %z: memref<8x9xi8, #l>) {{
          layout.copy %x, %y pad = 5 : i8 : memref<8x9xi8> to memref<8x9xi8, #l>
          layout.copy %x, %z pad = 5 : i8 : memref<8x9xi8> to memref<8x9xi8, #l>
          func.return
        }}"""
        for number in range(2)
    ).replace("#l", "#layout.tiled<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>")
    module = parse(text)
    ToLoopsPass().apply(Context(), module)
    for function in module.ops:
        constants = [op for op in function.walk() if isinstance(op, arith.ConstantOp)]
        assert max(Counter(op.value for op in constants).values()) == 1
        body = function.regions[0].block
        assert list(body.ops)[: len(constants)] == constants, "expected the constants in front of everything else"


def test_the_number_of_operations_does_not_grow_with_the_tensor() -> None:
    counts = []
    for size in (5, 50, 500):
        case = Reorder(layout("NCHW"), layout("onednn:nChw16c"), (size, 35, size, size))
        counts.append(sum(1 for _ in lowered([case]).walk()))
    assert counts[0] == counts[1] == counts[2]


def test_threads_share_one_level_of_loops() -> None:
    case = Reorder(layout("NCHW"), layout("NHWC"), (8, 64, 16, 16))
    module = module_of([case])
    ToBuffersPass().apply(Context(), module)
    ToLoopsPass(threads=True).apply(Context(), module)
    parallel = [op for op in module.walk() if isinstance(op, scf.ParallelOp)]
    assert len(parallel) == 1
    assert not any(isinstance(parent, (scf.ForOp, scf.ParallelOp)) for parent in parents(parallel[0]))


def parents(op: scf.ParallelOp) -> list[object]:
    result: list[object] = []
    parent = op.parent_op()
    while parent is not None:
        result.append(parent)
        parent = parent.parent_op()
    return result


@pytest.mark.parametrize(
    "element, storage",
    [
        (f32, f32),
        (i8, i8),
        (i1, i1),
        (IntegerType(8, Signedness.UNSIGNED), i8),
        (IntegerType(32, Signedness.SIGNED), i32),
        (bf16, BFloat16Type()),
    ],
)
def test_storage_element_type(element: Attribute, storage: Attribute) -> None:
    assert storage_element_type(element) == storage


@pytest.mark.parametrize(
    "element, pad, constant",
    [
        (f32, None, FloatAttr(0.0, f32)),
        (f32, FloatAttr(1.5, f32), FloatAttr(1.5, f32)),
        (i8, None, IntegerAttr(0, i8)),
        (i8, IntegerAttr(-3, i8), IntegerAttr(-3, i8)),
        (
            IntegerType(8, Signedness.UNSIGNED),
            IntegerAttr(200, IntegerType(8, Signedness.UNSIGNED)),
            IntegerAttr(-56, i8),
        ),
        (
            IntegerType(8, Signedness.UNSIGNED),
            IntegerAttr(127, IntegerType(8, Signedness.UNSIGNED)),
            IntegerAttr(127, i8),
        ),
        (i1, IntegerAttr(1, i1), IntegerAttr(1, i1)),
    ],
)
def test_pad_constant_has_the_same_bits(element: Attribute, pad: Attribute | None, constant: Attribute) -> None:
    assert pad_constant(element, pad) == constant


def test_packed_elements_are_refused_by_name() -> None:
    kinds = "memref<8x8xi4>", 'memref<8x8xi4, #layout.format<"CN">>'
    module = parse(
        f"func.func @f(%x: {kinds[0]}, %y: {kinds[1]}) {{ layout.copy %x, %y : {kinds[0]} to {kinds[1]} func.return }}"
    )
    with pytest.raises(PassFailedException, match="layout-to-loops: expected an element type of whole bytes, got i4"):
        ToLoopsPass().apply(Context(), module)


@pytest.mark.parametrize("element", ["ui8", "si16", "i1", "f64", "bf16"])
def test_every_stage_verifies(element: str) -> None:
    kinds = f"tensor<3x5x{element}>", f'tensor<3x5x{element}, #layout.format<"onednn:aB4b">>'
    module: ModuleOp = parse(
        f"func.func @f(%x: {kinds[0]}) -> {kinds[1]} {{ %y = layout.reorder %x : {kinds[0]} to {kinds[1]} "
        f"func.return %y : {kinds[1]} }}"
    )
    for stage in (ToBuffersPass(), ToLoopsPass(vector_bytes=16), FlattenPass()):
        stage.apply(Context(), module)
        module.verify()
