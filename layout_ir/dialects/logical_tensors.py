"""
oneDNN Graph's logical tensors as types of the IR, and back: `tensor<?x3xf32, #layout.any>`.

An unknown dim or stride is `?`, a strided layout the builtin `strided<[?, 1]>`, the other three states are
`#layout.any`, `#layout.undef` and `#layout.opaque<17>`. The id and the property belong to the value, not to its type.
"""

from __future__ import annotations

from typing import assert_never

from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneAttr, StridedLayoutAttr, TensorType, UnrankedTensorType
from xdsl.ir import Attribute

from layout_ir.dialects.attributes import AnyAttr, FormatAttr, OpaqueAttr, TiledAttr, UndefAttr
from layout_ir.dialects.types import element_type_of, mlir_type
from layout_ir.errors import LayoutError
from layout_ir.formats.onednn_data_type import data_type
from layout_ir.formats.onednn_graph import UNKNOWN_DIM, UNKNOWN_NDIMS, LayoutType
from layout_ir.formats.onednn_logical_tensor import LogicalTensor

LogicalType = TensorType[Attribute] | UnrankedTensorType[Attribute]
"""The type of a value that is a logical tensor."""


def tensor_type(tensor: LogicalTensor) -> LogicalType:
    """
    The type of a logical tensor; of an unknown rank it is `tensor<*xf32>`.

    Raises `LayoutError` for a data type that the IR does not have, for an unknown rank with a layout, which such a type
    has no room for, and for an opaque layout without an id.
    """
    element = tensor.dtype.element_type
    if data_type(element) != tensor.dtype:
        raise LayoutError(f"logical tensor {tensor.id}: expected a data type that the IR has, got {tensor.dtype}")
    if tensor.ndims == UNKNOWN_NDIMS:
        if tensor.layout_type is not LayoutType.UNDEF:
            raise LayoutError(
                f"logical tensor {tensor.id}: expected a known rank for a layout in IR, got layout {tensor.layout_type}"
            )
        return UnrankedTensorType(mlir_type(element))
    shape = [DYNAMIC_INDEX if size == UNKNOWN_DIM else size for size in tensor.dims]
    return TensorType(mlir_type(element), shape, _encoding(tensor))


def _encoding(tensor: LogicalTensor) -> Attribute:
    match tensor.layout_type:
        case LayoutType.ANY:
            return AnyAttr()
        case LayoutType.UNDEF:
            return UndefAttr()
        case LayoutType.STRIDED:
            return StridedLayoutAttr([None if step == UNKNOWN_DIM else step for step in tensor.strides or ()])
        case LayoutType.OPAQUE:
            if tensor.layout_id is None:
                raise LayoutError(f"logical tensor {tensor.id}: expected the id of its opaque layout, got none")
            return OpaqueAttr(tensor.layout_id)
        case _:
            assert_never(tensor.layout_type)


def logical_tensor(type: LogicalType, id: int, property: str = "undef") -> LogicalTensor:
    """
    The logical tensor of a type; a type without a layout is strided, row-major where its sizes are known.

    A layout by name or map is strided too where strides can say it. Raises `LayoutError` where they cannot, for an
    offset, which logical tensors do not have, and for element types that oneDNN does not have.
    """
    dtype = data_type(element_type_of(type.element_type))
    if isinstance(type, UnrankedTensorType):
        return LogicalTensor.init(id, dtype, property=property)
    dims = [UNKNOWN_DIM if size == DYNAMIC_INDEX else size for size in type.get_shape()]
    match type.encoding:
        case NoneAttr():
            return LogicalTensor.init_with_dims(id, dtype, dims, "strided", property)
        case AnyAttr():
            return LogicalTensor.init_with_dims(id, dtype, dims, "any", property)
        case UndefAttr():
            return LogicalTensor.init_with_dims(id, dtype, dims, "undef", property)
        case OpaqueAttr() as opaque:
            plain = LogicalTensor.init_with_dims(id, dtype, dims, "undef", property)
            return plain.with_layout_type("opaque", opaque.identifier.data)
        case StridedLayoutAttr() as strided:
            if strided.get_offset() != 0:
                raise LayoutError(f"logical tensor {id}: expected strides without an offset, got {strided}")
            steps = [UNKNOWN_DIM if step is None else step for step in strided.get_strides()]
            return LogicalTensor.init_with_strides(id, dtype, dims, steps, property)
        case FormatAttr() | TiledAttr() as named:
            layout = named.format if isinstance(named, FormatAttr) else named.layout
            return LogicalTensor.init_with_dims(id, dtype, dims, "any", property).with_layout(layout)
        case _:
            raise LayoutError(f"logical tensor {id}: expected a layout, got the encoding {type.encoding}")
