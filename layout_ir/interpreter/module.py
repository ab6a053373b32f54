"""Interpret a module that still has its layouts, on numpy arrays that hold the storages: what it means, directly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects import func, memref, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from layout_ir.dialects.attributes import UndefAttr
from layout_ir.dialects.known_sizes import Sizes, with_sizes
from layout_ir.dialects.ops import CastOp, CopyOp, ReorderOp, StorageOp
from layout_ir.dialects.sizes import FunctionSizes
from layout_ir.dialects.types import element_type_of, index_map_of, is_tensor, stored_type
from layout_ir.errors import LayoutError
from layout_ir.interpreter.bits import bits_dtype, bits_of
from layout_ir.interpreter.functions import find_function
from layout_ir.interpreter.inferred_sizes import sizes_of_arrays
from layout_ir.interpreter.reference import allocated_size, reorder_reference

if TYPE_CHECKING:
    import numpy.typing as npt

    Bits = npt.NDArray[Any]


def interpret(
    module: ModuleOp,
    function_name: str,
    inputs: Sequence[npt.NDArray[Any]],
    *,
    fill: int = 0,
    sizes: Sizes | None = None,
) -> tuple[npt.NDArray[Any], ...]:
    """
    Call a function of tensors and memrefs with layouts.

    `inputs`: the storage of every argument, a C-contiguous array of any shape; those of memrefs are changed in place.
    `fill`: the byte that new storages are filled with, which stays where a reorder writes nothing. Returns the storages
    of the results as 1-D arrays of the inputs' dtype where there is one of the same element type, else of bits.
    `sizes`: the unknown extents, by name or in order; where left out, those that the inputs' shapes say.

    Raises `LayoutError` where inputs do not fit, and for operations that neither this dialect nor `func` define.
    """
    function = find_function(module, function_name)
    table = FunctionSizes(function)
    if table.sizes or sizes is not None:
        module = with_sizes(module, function_name, sizes_of_arrays(function, table, inputs) if sizes is None else sizes)
        function = find_function(module, function_name)
    kinds = list(function.function_type.inputs)
    if len(inputs) != len(kinds):
        raise LayoutError(f"{function_name}: expected {len(kinds)} inputs, got {len(inputs)}")
    views = [_bits(array, kind, f"input {i}") for i, (array, kind) in enumerate(zip(inputs, kinds, strict=True))]
    outputs = _call(module, function, views, fill)
    dtypes = {stored_type(kind).element_type: array.dtype for array, kind in zip(inputs, kinds, strict=True)}
    return tuple(
        output.view(dtypes.get(stored_type(kind).element_type, output.dtype))
        for output, kind in zip(outputs, function.function_type.outputs, strict=True)
    )


def _bits(array: npt.NDArray[Any], kind: Attribute, what: str) -> Bits:
    element, index_map = element_type_of(kind), index_map_of(stored_type(kind))
    if array.itemsize != element.bytes:
        raise LayoutError(f"{what}: expected elements of {element.bytes} bytes ({element}), got {array.dtype}")
    if array.size < index_map.required_size or not array.flags.c_contiguous:
        raise LayoutError(f"{what}: expected a contiguous array of at least {index_map.required_size} elements")
    return array.reshape(-1).view(bits_dtype(element))


def _call(module: ModuleOp, function: func.FuncOp, inputs: Sequence[Bits], fill: int) -> list[Bits]:
    block = function.body.block
    values: dict[SSAValue, Bits] = dict(zip(block.args, inputs, strict=True))
    for op in block.ops:
        if isinstance(op, func.ReturnOp):
            return [_returned(operand, values, fill) for operand in op.arguments]
        outputs = _run(module, op, [values[operand] for operand in op.operands], fill)
        values |= zip(op.results, outputs, strict=True)
    raise LayoutError(f"{function.sym_name.data}: expected func.return at the end")


def _returned(value: SSAValue, values: dict[SSAValue, Bits], fill: int) -> Bits:
    """The storage of a result; an argument that is returned is copied as `layout.reorder` would, pads zero."""
    origin = value
    while isinstance(origin.owner, CastOp):
        origin = origin.owner.source
    if not (isinstance(origin, BlockArgument) and is_tensor(value.type)):
        return values[value]
    maps = index_map_of(stored_type(origin.type)), index_map_of(stored_type(value.type))
    return reorder_reference(values[origin], *maps, out=_fresh(value.type, fill))


def _run(module: ModuleOp, op: Operation, inputs: Sequence[Bits], fill: int) -> list[Bits]:
    match op:
        case ReorderOp():
            return [_move(op, op.source.type, op.result.type, inputs[0], _fresh(op.result.type, fill))]
        case CopyOp():
            _move(op, op.source.type, op.destination.type, *inputs)
            return []
        case CastOp() | StorageOp():
            return [inputs[0]]
        case func.CallOp():
            return _call(module, find_function(module, op.callee.string_value()), inputs, fill)
        case tensor.EmptyOp() | memref.AllocOp():
            return [_fresh(op.results[0].type, fill)]
        case memref.DeallocOp():
            return []
        case _:
            raise LayoutError(f"expected operations of layout and func, got '{op.name}', which cannot be interpreted")


def _move(op: ReorderOp | CopyOp, source: Attribute, destination: Attribute, read: Bits, written: Bits) -> Bits:
    pad = 0
    if op.pad is not None:
        pad = None if isinstance(op.pad, UndefAttr) else bits_of(op.pad, element_type_of(destination))
    maps = index_map_of(stored_type(source)), index_map_of(stored_type(destination))
    return reorder_reference(read, *maps, pad, written)


def _fresh(kind: Attribute, fill: int) -> Bits:
    import numpy as np

    element = element_type_of(kind)
    size = allocated_size(index_map_of(stored_type(kind))) * element.bytes
    return np.full(size, fill, np.uint8).view(bits_dtype(element))
