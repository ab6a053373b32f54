"""What the ops verify. Every message names the op and says what was expected and what was given."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, IntegerAttr, IntegerType, MemRefType, NoneAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from layout_ir.dialects.attributes import FormatAttr, OpenAttr, UndefAttr
from layout_ir.dialects.functions import overlaps_itself, same_function
from layout_ir.dialects.types import Stored, index_map_of, layout_of, stored_type
from layout_ir.errors import LayoutError
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.symbols import is_symbolic


def check_same_value(op: Operation, source: Attribute, destination: Attribute) -> None:
    """One kind, shape and element type on both sides, and layouts that fit the shape."""
    left, right = stored_type(source), stored_type(destination)
    if type(left) is not type(right):
        raise VerifyException(f"{op.name}: expected two tensors or two memrefs, got {left} and {right}")
    if left.get_shape() != right.get_shape():
        raise VerifyException(f"{op.name}: expected source and destination of one shape, got {left} and {right}")
    if left.element_type != right.element_type:
        raise VerifyException(
            f"{op.name}: expected source and destination of one element type, "
            f"got {left.element_type} and {right.element_type}"
        )
    for stored in (left, right):
        if not isinstance(layout_of(stored), OpenAttr):
            _index_map(op, stored)


def check_destination(op: Operation, destination: Attribute) -> None:
    """A place of its own for every element: no stride of 0, no strides that overlap."""
    layout = layout_of(stored_type(destination))
    if isinstance(layout, OpenAttr):
        return
    index_map = _index_map(op, stored_type(destination))
    if isinstance(layout, FormatAttr) and layout.options.strides is None:
        return  # a vendor's name never puts two elements into one place; what it resolves to is proved all the same
    try:
        overlap = overlaps_itself(index_map)
    except LayoutError as error:
        raise VerifyException(f"{op.name}: {error}") from None
    if overlap:
        raise VerifyException(
            f"{op.name}: expected a destination with a place of its own for every element, "
            f"got {destination}, whose elements overlap"
        )


def check_pad(op: Operation, pad: Attribute | None, destination: Attribute) -> None:
    """A pad is absent, undef, or a number of the destination's element type."""
    if pad is None or isinstance(pad, UndefAttr):
        return
    if not isinstance(pad, IntegerAttr | FloatAttr):
        raise VerifyException(f"{op.name}: expected pad to be undef or a typed number, got {pad}")
    expected, given = stored_type(destination).element_type, cast(Attribute, pad.type)
    if given != expected:
        raise VerifyException(f"{op.name}: expected pad of type {expected}, got {pad}")


def check_same_storage(op: Operation, source: Attribute, destination: Attribute) -> None:
    """Two layouts that put every element into the same place."""
    if source == destination:
        return
    left, right = _index_map(op, stored_type(source)), _index_map(op, stored_type(destination))
    try:
        equal = same_function(left, right)
    except LayoutError as error:
        raise VerifyException(f"{op.name}: {error}") from None
    if not equal:
        raise VerifyException(
            f"{op.name}: expected layouts that put every element into the same place, "
            f"got {_difference(left, right)}; use layout.reorder to move elements"
        )


def check_storage(op: Operation, source: Attribute, result: Attribute) -> None:
    """The flat view of a buffer has the size that its layout asks for; integers may lose their sign, as bits do."""
    _index_map(op, stored_type(source))
    expected = storage_type(source)
    if result not in (expected, _signless(expected)):
        raise VerifyException(f"{op.name}: expected a result of type {expected}, got {result}")


def storage_type(source: Attribute) -> MemRefType[Attribute]:
    """The flat buffer that a buffer's layout fills, pads and gaps included; raises `LayoutError` as `index_map_of`."""
    buffer = stored_type(source)
    assert isinstance(buffer, MemRefType)
    size = index_map_of(buffer).storage_size
    extent = DYNAMIC_INDEX if is_symbolic(size) else size
    return MemRefType(buffer.element_type, [extent], NoneAttr(), buffer.memory_space)


def _signless(buffer: MemRefType[Attribute]) -> MemRefType[Attribute]:
    if not isa(buffer.element_type, IntegerType):
        return buffer
    return MemRefType(IntegerType(buffer.element_type.width), buffer.shape, buffer.layout, buffer.memory_space)


def _index_map(op: Operation, stored: Stored) -> IndexMap:
    try:
        return index_map_of(stored)
    except LayoutError as error:
        raise VerifyException(f"{op.name}: {error}") from None


def _difference(left: IndexMap, right: IndexMap) -> str:
    """Why two maps of one shape are not the same function."""
    if left.is_image != right.is_image:
        return "an image and a buffer"
    if left.storage_size != right.storage_size:
        return f"storages of {left.storage_size} and {right.storage_size} elements"
    from layout_ir.layouts.proof import equality  # start-up does not need proofs

    index = equality(left, right).index
    if index is None:
        return f"images of {left.image_size} and {right.image_size} pixels"
    return f"{list(index)} at offsets {left(*index)} and {right(*index)}"
