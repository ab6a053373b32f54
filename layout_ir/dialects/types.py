"""From the types of the IR to the values of `layouts`: element types, layouts and index maps of tensors and buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    MemRefLayoutAttr,
    MemRefType,
    NoneAttr,
    Signedness,
    StridedLayoutAttr,
    TensorType,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.utils.hints import isa

from layout_ir.dialects.attribute_syntax import check_map
from layout_ir.dialects.attributes import FormatAttr, LayoutAttr, TiledAttr
from layout_ir.dialects.functions import check_coordinates
from layout_ir.dialects.functions import same_function as same_function
from layout_ir.errors import LayoutError
from layout_ir.formats.format import ExplicitLayout
from layout_ir.layouts import affine
from layout_ir.layouts.blocked import blocked_layout
from layout_ir.layouts.element_type import ElementType, element_type
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.strided import StridedLayout
from layout_ir.layouts.symbolic_map import symbolic_map
from layout_ir.layouts.tiled import TiledLayout

Stored: TypeAlias = TensorType[Attribute] | MemRefType[Attribute]
"""A type whose values have a layout."""

_FLOATS: dict[type[Attribute], str] = {
    Float64Type: "f64",
    Float32Type: "f32",
    Float16Type: "f16",
    BFloat16Type: "bf16",
}
_FLOAT_TYPES: dict[str, TypeAttribute] = {"f64": f64, "f32": f32, "f16": f16, "bf16": bf16}


def is_tensor(attribute: Attribute) -> TypeIs[TensorType[Attribute]]:
    """Whether a type is a ranked tensor."""
    return isinstance(attribute, TensorType)


def is_buffer(attribute: Attribute) -> TypeIs[MemRefType[Attribute]]:
    """Whether a type is a ranked memref; xDSL's `isa` takes 50 times as long as it looks at the element type again."""
    return isinstance(attribute, MemRefType)


def is_vector(attribute: Attribute) -> TypeIs[VectorType[Attribute]]:
    """Whether a type is a vector."""
    return isinstance(attribute, VectorType)


def is_stored(attribute: Attribute) -> TypeIs[Stored]:
    """Whether a type is a ranked tensor or a ranked buffer."""
    return isinstance(attribute, TensorType | MemRefType)


def stored_type(attribute: Attribute) -> Stored:
    """A type that is known to be a ranked tensor or a ranked buffer, as such."""
    assert is_stored(attribute), f"expected a tensor or a memref, got {attribute}"
    return attribute


def element_type_of(attribute: Attribute) -> ElementType:
    """
    The element type of a tensor or buffer, or of a scalar type: `f32`, `i8` (also `si8`), `ui8`, `i1`, `ui4`, ...

    Raises `LayoutError` for types that have no fixed width in memory, such as `index`.
    """
    if is_stored(attribute):
        return element_type_of(attribute.element_type)
    if isa(attribute, IntegerType):
        prefix = "u" if attribute.signedness.data == Signedness.UNSIGNED else "i"
        return element_type(f"{prefix}{attribute.width.data}")
    if type(attribute) in _FLOATS:
        return element_type(_FLOATS[type(attribute)])
    raise LayoutError(f"expected an element type of fixed width such as f32 or i8, got {attribute}")


def mlir_type(dtype: ElementType) -> TypeAttribute:
    """The type that is written for an element type in IR: `u8` is `ui8`, `i8` is the signless `i8`."""
    if dtype.name in _FLOAT_TYPES:
        return _FLOAT_TYPES[dtype.name]
    width = int(dtype.name[1:])
    return IntegerType(width, Signedness.UNSIGNED if dtype.name.startswith("u") else Signedness.SIGNLESS)


def layout_of(stored: Stored) -> Attribute:
    """The layout attribute of a tensor (its encoding) or of a buffer; `NoneAttr` where there is none."""
    return stored.encoding if isinstance(stored, TensorType) else stored.layout


def with_layout(stored: Stored, layout: Attribute) -> Stored:
    """The same type with another layout; `NoneAttr` is row-major."""
    if isinstance(stored, TensorType):
        return TensorType(stored.element_type, stored.get_shape(), layout)
    assert isinstance(layout, MemRefLayoutAttr | NoneAttr)
    return MemRefType(stored.element_type, stored.get_shape(), layout, stored.memory_space)


def with_shape(stored: Stored, sizes: Mapping[int, int]) -> Stored:
    """The same type with the extents of some dims, by their positions."""
    shape = [sizes.get(dim, size) for dim, size in enumerate(stored.get_shape())]
    if isinstance(stored, TensorType):
        return TensorType(stored.element_type, shape, stored.encoding)
    return MemRefType(stored.element_type, shape, stored.layout, stored.memory_space)


def buffer_type(tensor: TensorType[Attribute]) -> MemRefType[Attribute]:
    """
    The buffer that holds a tensor: its encoding becomes the buffer's layout.

    Raises `LayoutError` for an encoding that is no layout.
    """
    if not isinstance(tensor.encoding, MemRefLayoutAttr | NoneAttr):
        raise LayoutError(f"expected an encoding that is a layout, got {tensor.encoding}")
    return MemRefType(tensor.element_type, tensor.get_shape(), tensor.encoding)


def layout_attribute(explicit: ExplicitLayout, allocation: int | None = None) -> Attribute:
    """The attribute that is written for an explicit layout. Strides have no room for `allocation`."""
    if isinstance(explicit, StridedLayout):
        return StridedLayoutAttr(explicit.strides, explicit.offset)
    return TiledAttr(explicit, allocation)


@lru_cache(maxsize=4096)
def index_map_of(stored: Stored) -> IndexMap:
    """
    Where every element of a tensor or buffer lies, in elements; without a layout in row-major order.

    For `?` the map has stand-ins, see `symbolic_map`. Raises `LayoutError` for strides that are not known, where the
    layout does not fit the shape, and where it needs to know a size.
    """
    if stored.has_static_shape():
        return _static_map(stored, stored.get_shape())
    sizes = [None if size == DYNAMIC_INDEX else size for size in stored.get_shape()]
    try:
        return symbolic_map(
            sizes,
            lambda shape: _explicit(stored, shape),
            lambda shape: _static_map(stored, tuple(shape)),
            dim_names(stored),
        )
    except LayoutError as error:
        raise LayoutError(f"{stored}: {error}") from None


def unknown_dims(stored: Stored) -> tuple[int, ...]:
    """The positions of the dims whose extents are not known."""
    return tuple(dim for dim, size in enumerate(stored.get_shape()) if size == DYNAMIC_INDEX)


def dim_names(stored: Stored) -> tuple[str, ...]:
    """What the dims are called: as in the notation of the layout's name, else d0, d1, ..."""
    layout, rank = layout_of(stored), stored.get_num_dims()
    named = layout.format.dims_of_rank(rank) if isinstance(layout, FormatAttr) else None
    return tuple(name.lower() for name in named) if named else tuple(f"d{dim}" for dim in range(rank))


def _explicit(stored: Stored, shape: Sequence[int]) -> ExplicitLayout:
    layout = layout_of(stored)
    if isinstance(layout, TiledAttr) and not isinstance(layout.allocation, NoneAttr):
        raise LayoutError(f"expected sizes that are known for a layout with an allocation, got {stored}")
    if isinstance(layout, LayoutAttr):
        return layout.explicit(shape, element_type_of(stored))
    return explicit_layout(layout, len(shape))


def _static_map(stored: Stored, shape: tuple[int, ...]) -> IndexMap:
    """The map of the layout over known sizes."""
    dtype, layout = element_type_of(stored), layout_of(stored)
    if isinstance(layout, LayoutAttr):
        result = layout.index_map(shape, dtype)
    else:
        result = explicit_layout(layout, len(shape)).index_map(shape, dtype)
    if isinstance(layout, TiledAttr | AffineMapAttr):
        check_coordinates(result)
    return result


def explicit_layout(layout: Attribute, rank: int) -> ExplicitLayout:
    """The meaning of a builtin layout (`strided`, `affine_map` or none); raises `LayoutError` for other attributes."""
    match layout:
        case NoneAttr():
            return blocked_layout(rank, range(rank))
        case StridedLayoutAttr():
            return _strided_layout(layout)
        case AffineMapAttr():
            return _mapped_layout(layout)
        case _:
            raise LayoutError(f"expected a layout such as #layout.format, #layout.tiled or strided<...>, got {layout}")


def _strided_layout(layout: StridedLayoutAttr) -> StridedLayout:
    strides, offset = layout.get_strides(), layout.get_offset()
    known = [stride for stride in strides if stride is not None]
    if offset is None or len(known) != len(strides):
        raise LayoutError(f"expected strides and an offset that are known, got {layout}")
    return StridedLayout(tuple(known), offset)


def _mapped_layout(layout: AffineMapAttr) -> ExplicitLayout:
    check_map(layout.data)
    rank, results = layout.data.num_dims, layout.data.results
    if len(results) == 1 and affine.is_linear(results[0]):
        # a linear map to one offset is a set of strides: what lies between its elements belongs to nobody
        offset = results[0].eval([0] * rank, [])
        units = ([int(i == d) for i in range(rank)] for d in range(rank))
        return StridedLayout(tuple(results[0].eval(unit, []) - offset for unit in units), offset)
    return TiledLayout(rank, results)
