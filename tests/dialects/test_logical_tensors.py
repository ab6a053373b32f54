"""Logical tensors as types: what is unknown is `?`, and nothing is lost on the way there and back."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, UnrankedTensorType, f32
from xdsl.parser import Parser
from xdsl.utils.hints import isa

from layout_ir.dialects.layout import LAYOUT
from layout_ir.dialects.logical_tensors import LogicalType, logical_tensor, tensor_type
from layout_ir.errors import LayoutError
from layout_ir.formats.onednn_graph import UNKNOWN_DIM
from layout_ir.formats.onednn_logical_tensor import LogicalTensor

U = UNKNOWN_DIM


def parsed(text: str) -> LogicalType:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(LAYOUT)
    result = Parser(context, text).parse_type()
    assert isa(result, LogicalType)
    return result


CASES = [
    (LogicalTensor.init(7, "f32"), "tensor<*xf32>"),
    (LogicalTensor.init(7, "f32", 2, "any"), "tensor<?x?xf32, #layout.any>"),
    (LogicalTensor.init_with_dims(7, "f32", (U, 3), "any", "constant"), "tensor<?x3xf32, #layout.any>"),
    (LogicalTensor.init_with_dims(7, "u8", (2, U), "undef"), "tensor<2x?xui8, #layout.undef>"),
    (LogicalTensor.init_with_dims(7, "s8", (2, 3)), "tensor<2x3xi8, strided<[3, 1]>>"),
    (LogicalTensor.init_with_dims(7, "bf16", (2, U)), "tensor<2x?xbf16, strided<[?, ?]>>"),
    (LogicalTensor.init_with_strides(7, "s32", (2, 3), (U, 1)), "tensor<2x3xi32, strided<[?, 1]>>"),
    (
        LogicalTensor.init_with_dims(7, "f16", (2, U), "any").with_layout_type("opaque", 17),
        "tensor<2x?xf16, #layout.opaque<17>>",
    ),
    (LogicalTensor.init_with_dims(7, "f32", (), property="host_scalar"), "tensor<f32, strided<[]>>"),
    (LogicalTensor.init_with_dims(7, "boolean", (0, 4)), "tensor<0x4xi1, strided<[4, 1]>>"),
]


@pytest.mark.parametrize(("tensor", "text"), CASES, ids=[text for _, text in CASES])
def test_a_logical_tensor_is_a_type_and_comes_back(tensor: LogicalTensor, text: str):
    assert str(tensor_type(tensor)) == text
    back = logical_tensor(parsed(text), 7, str(tensor.property))
    assert back == tensor
    assert back.is_equal(tensor)


@pytest.mark.parametrize(
    ("text", "strides"),
    [
        ("tensor<2x3x4xf32>", (12, 4, 1)),
        ("tensor<2x3x?xf32>", (U, U, U)),
        ('tensor<2x3x4x5xf32, #layout.format<"NHWC">>', (60, 1, 15, 3)),
        ('tensor<2x16x4x5xf32, #layout.format<"onednn:nChw16c">>', (320, 1, 80, 16)),
        ("tensor<2x3xf32, #layout.tiled<(d0, d1) -> (d1, d0)>>", (1, 2)),
    ],
)
def test_other_layouts_are_strided_where_strides_can_say_it(text: str, strides: tuple[int, ...]):
    assert logical_tensor(parsed(text), 1).strides == strides


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('tensor<2x17x4x5xf32, #layout.format<"onednn:nChw16c">>', "expected a layout id for a layout that strides"),
        ('tensor<2x?xf32, #layout.format<"NC">>', "expected known dims to choose a layout"),
        ("tensor<2x3xf32, strided<[3, 1], offset: 5>>", r"without an offset, got strided<\[3, 1\], offset: 5>"),
        ("tensor<2x3xf32, strided<[3, 1], offset: ?>>", "without an offset"),
        ("tensor<2x3xui64>", "expected one of .*, got u64"),
        ("tensor<2x3xindex>", "expected an element type of fixed width"),
        ('tensor<2x3xf32, "other">', 'expected a layout, got the encoding "other"'),
    ],
)
def test_types_that_are_no_logical_tensors(text: str, message: str):
    with pytest.raises(LayoutError, match=message):
        logical_tensor(parsed(text), 1)


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (LogicalTensor.init(3, "f8_e4m3", 2), "logical tensor 3: expected a data type that the IR has, got f8_e4m3"),
        (LogicalTensor.init(3, "f32", -1, "any"), "expected a known rank for a layout in IR, got layout any"),
        (LogicalTensor.init_with_dims(3, "f32", (2,), "opaque"), "expected the id of its opaque layout, got none"),
    ],
)
def test_logical_tensors_that_are_no_types(tensor: LogicalTensor, message: str):
    with pytest.raises(LayoutError, match=message):
        tensor_type(tensor)


def test_types_without_a_layout_may_be_of_unknown_rank():
    assert logical_tensor(UnrankedTensorType(f32), 1) == LogicalTensor.init(1, "f32")
