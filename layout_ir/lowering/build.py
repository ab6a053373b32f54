"""IR for what the Python API is asked to do: a module with one function that holds one reorder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import SupportsFloat

from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, FunctionType, IntegerAttr, IntegerType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from layout_ir.dialects.attributes import FormatAttr, UndefAttr
from layout_ir.dialects.ops import ReorderOp
from layout_ir.dialects.types import index_map_of, layout_attribute, mlir_type
from layout_ir.errors import LayoutError
from layout_ir.formats.format import Format
from layout_ir.layouts.element_type import ElementType, element_type
from layout_ir.layouts.layout import Layout
from layout_ir.layouts.strided import StridedLayout
from layout_ir.layouts.tiled import TiledLayout


def reorder_module(
    source: Layout,
    destination: Layout,
    shape: Sequence[int | None],
    dtype: object,
    name: str = "reorder",
    pad: float | None = 0,
) -> ModuleOp:
    """
    `func.func @name(%source: tensor<..., #source>) -> tensor<..., #destination>` with one `layout.reorder`.

    `shape`: extents of the logical dims; None where they are not known. `dtype`: an element type as in `element_type`.
    `pad`: what the destination's pads are set to; None leaves them unwritten.

    Raises `LayoutError` where a layout does not fit the shape, or two elements of the destination would share a place.
    """
    element = element_type(dtype)
    kind = mlir_type(element)
    sizes = [DYNAMIC_INDEX if size is None else size for size in shape]
    types = [TensorType(kind, sizes, layout_attr(layout)) for layout in (source, destination)]
    for layout, stored in zip((source, destination), types, strict=True):
        # these messages say more than the verifier's, which shows the whole op
        if DYNAMIC_INDEX in sizes:
            index_map_of(stored)
        else:
            layout.index_map(sizes, element)
    function = FuncOp(name, FunctionType.from_lists(types[:1], types[1:]))
    (argument,) = function.body.block.args
    argument.name_hint = "source"
    reorder = ReorderOp(argument, types[1], _pad(pad, element, kind))
    reorder.result.name_hint = "destination"
    function.body.block.add_ops([reorder, ReturnOp(reorder.result)])
    try:
        reorder.verify_()
    except VerifyException as error:
        raise LayoutError(str(error)) from None
    return ModuleOp([function])


def layout_attr(layout: Layout) -> Attribute:
    """The attribute that stands for a layout in IR."""
    match layout:
        case Format():
            return FormatAttr(layout.qualified_name, layout.options)
        case TiledLayout() | StridedLayout():
            return layout_attribute(layout)
        case _:
            raise LayoutError(f"expected a layout that has an attribute in IR, got {layout}")


def _pad(pad: float | None, element: ElementType, kind: Attribute) -> Attribute | None:
    if pad is None:
        return UndefAttr()
    _check_number(pad)
    if pad == 0 and math.copysign(1, pad) > 0:
        return None
    if not isa(kind, IntegerType):
        try:
            return FloatAttr(float(pad), kind)  # pyright: ignore[reportArgumentType, reportCallIssue, reportUnknownVariableType]
        except OverflowError:
            raise LayoutError(f"expected a pad that {element} can hold, got {pad}") from None
    low, high = _range(element)
    if not (low <= pad <= high and int(pad) == pad):
        raise LayoutError(f"expected a pad that is a whole number from {low} to {high} for {element}, got {pad}")
    return IntegerAttr(int(pad), kind)


def _check_number(pad: object) -> None:
    if not isinstance(pad, SupportsFloat):
        raise LayoutError(f"expected a number or None as the pad, got {pad!r}")


def _range(element: ElementType) -> tuple[int, int]:
    """The smallest and the largest value of an integer type."""
    if element.name == "i1":
        return 0, 1
    if element.name.startswith("u"):
        return 0, 2**element.bits - 1
    return -(2 ** (element.bits - 1)), 2 ** (element.bits - 1) - 1
