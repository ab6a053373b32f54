"""Types of the IR as element types and index maps."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    IndexType,
    IntegerType,
    MemRefLayoutAttr,
    MemRefType,
    NoneAttr,
    Signedness,
    StridedLayoutAttr,
    StringAttr,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    f80,
    i1,
    i8,
)
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineExpr, AffineMap

from layout_ir.dialects.attributes import TiledAttr
from layout_ir.dialects.types import buffer_type, element_type_of, index_map_of, mlir_type, with_layout
from layout_ir.errors import LayoutError
from layout_ir.layouts.blocked import blocked_layout
from layout_ir.layouts.element_type import element_type
from layout_ir.layouts.tiled import TiledLayout

D0, D1 = AffineExpr.dimension(0), AffineExpr.dimension(1)
UNSIGNED, SIGNED = Signedness.UNSIGNED, Signedness.SIGNED


@pytest.mark.parametrize(
    "attribute, name",
    [
        *((f64, "f64"), (f32, "f32"), (f16, "f16"), (bf16, "bf16"), (i1, "i1"), (i8, "i8")),
        *((IntegerType(width), f"i{width}") for width in (4, 16, 32, 64)),
        *((IntegerType(width, SIGNED), f"i{width}") for width in (4, 8, 16, 32, 64)),
        *((IntegerType(width, UNSIGNED), f"u{width}") for width in (1, 2, 4, 8, 16, 32, 64)),
        (TensorType(IntegerType(8, UNSIGNED), [2]), "u8"),
        (MemRefType(f16, [2]), "f16"),
    ],
    ids=str,
)
def test_element_type(attribute: Attribute, name: str) -> None:
    assert element_type_of(attribute) == element_type(name)


@pytest.mark.parametrize("name", ["f64", "f32", "f16", "bf16", "i64", "u64", "i8", "u8", "i1", "i4", "u4", "u2", "u1"])
def test_mlir_type_is_the_inverse(name: str) -> None:
    assert element_type_of(mlir_type(element_type(name))) == element_type(name)


@pytest.mark.parametrize("attribute", [IndexType(), f80, IntegerType(7), TensorType(IndexType(), [2])], ids=str)
def test_element_type_of_no_fixed_width_is_refused(attribute: Attribute) -> None:
    with pytest.raises(LayoutError, match="element type"):
        element_type_of(attribute)


@pytest.mark.parametrize(
    "layout, offsets",
    [
        (NoneAttr(), [[0, 1, 2], [3, 4, 5]]),
        (StridedLayoutAttr([8, 2], 1), [[1, 3, 5], [9, 11, 13]]),
        (AffineMapAttr(AffineMap(2, 0, (D0 * 8 + D1 * 2 + 1,))), [[1, 3, 5], [9, 11, 13]]),
        (AffineMapAttr(AffineMap(2, 0, (D1, D0))), [[0, 2, 4], [1, 3, 5]]),
        (AffineMapAttr(AffineMap(2, 0, (D1 // 2, D0, D1 % 2))), [[0, 1, 4], [2, 3, 6]]),
        (TiledAttr(blocked_layout(2, [1, 0], [(1, 2)])), [[0, 1, 4], [2, 3, 6]]),
    ],
    ids=str,
)
def test_index_map_of_every_layout(layout: MemRefLayoutAttr | NoneAttr, offsets: list[list[int]]) -> None:
    for stored in (TensorType(f32, [2, 3], layout), MemRefType(f32, [2, 3], layout)):
        assert index_map_of(stored).offsets().tolist() == offsets


def test_a_linear_affine_map_has_gaps_and_no_pads() -> None:
    layout = AffineMapAttr(AffineMap(2, 0, (D0 * 8 + D1,)))
    assert index_map_of(MemRefType(f32, [2, 3], layout)).pad_count == 0
    assert index_map_of(MemRefType(f32, [2, 3], layout)) == index_map_of(
        MemRefType(f32, [2, 3], StridedLayoutAttr([8, 1]))
    )


@pytest.mark.parametrize(
    "stored, message",
    [
        (
            TensorType(f32, [DYNAMIC_INDEX, 6], TiledAttr(TiledLayout(2, ((D0 * 6 + D1) // 4, (D0 * 6 + D1) % 4)))),
            r"expected a size that is known for dim d0, got \?: the layout cuts it together with others",
        ),
        (MemRefType(f32, [2], StridedLayoutAttr([None])), "expected strides and an offset that are known"),
        (MemRefType(f32, [2], StridedLayoutAttr([1], None)), "expected strides and an offset that are known"),
        (MemRefType(f32, [2], StridedLayoutAttr([-1], 1)), "expected strides that are not negative"),
        (TensorType(f32, [2], StringAttr("csr")), 'expected a layout such as .*, got "csr"'),
        (TensorType(f32, [2, 2], StridedLayoutAttr([1])), "expected a shape of rank 1, got rank 2"),
        (MemRefType(f32, [4], TiledAttr(TiledLayout(1, (D0 - 2,)))), r"from 0 to 1, got -2 to 1 from d0 - 2 for \[4\]"),
        (MemRefType(f32, [4], AffineMapAttr(AffineMap(1, 0, (D0 * -1,)))), "expected strides that are not negative"),
        (MemRefType(f32, [4, 2], AffineMapAttr(AffineMap(2, 0, (D0 * -1, D1)))), "from 0 to 0, got -3 to 0"),
    ],
    ids=str,
)
def test_index_map_of_says_what_is_missing(stored: TensorType[Attribute], message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        index_map_of(stored)


def test_coordinates_that_only_look_negative_are_fine() -> None:
    reversed_rows = TiledAttr(TiledLayout(2, (D0 * -1 + 3, D1)))
    assert index_map_of(MemRefType(f32, [4, 2], reversed_rows)).offsets().tolist() == [[6, 7], [4, 5], [2, 3], [0, 1]]


def test_buffer_of_a_tensor_keeps_its_layout() -> None:
    layout = StridedLayoutAttr([1, 2])
    assert buffer_type(TensorType(f32, [2, 3], layout)) == MemRefType(f32, [2, 3], layout)
    assert with_layout(MemRefType(f32, [2, 3], layout, StringAttr("space")), NoneAttr()) == MemRefType(
        f32, [2, 3], NoneAttr(), StringAttr("space")
    )
    with pytest.raises(LayoutError, match='expected an encoding that is a layout, got "csr"'):
        buffer_type(TensorType(f32, [2], StringAttr("csr")))
