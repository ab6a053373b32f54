"""`layout-flatten`: every buffer becomes its flat storage; after it nothing of the layout dialect is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, MemRefType, ModuleOp, NoneAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from layout_ir.dialects.nested import nested, of_kind
from layout_ir.dialects.ops import CastOp, CopyOp, StorageOp
from layout_ir.dialects.types import is_buffer
from layout_ir.errors import LayoutError
from layout_ir.lowering.size_arguments import SizeArguments
from layout_ir.lowering.to_device_image_type import is_device_image
from layout_ir.lowering.to_loops import flat_type, storage_element_type


def flattened(attribute: Attribute) -> Attribute:
    """A type with every buffer in it replaced by its flat storage."""
    if isinstance(attribute, (FunctionType, MemRefType)):  # not `isa`, which takes longer than all else here
        return _flattened(cast(Attribute, attribute))
    return attribute


@cache  # asked for every occurrence of a type
def _flattened(attribute: Attribute) -> Attribute:
    if isinstance(attribute, FunctionType):
        inputs, outputs = (map(flattened, types) for types in (attribute.inputs, attribute.outputs))
        return FunctionType.from_lists(list(inputs), list(outputs))
    if not is_buffer(attribute):
        return attribute
    if is_device_image(attribute):
        return attribute
    is_flat = attribute.get_num_dims() == 1 and isinstance(attribute.layout, NoneAttr)
    if is_flat and storage_element_type(attribute.element_type) == attribute.element_type:
        return attribute
    return flat_type(attribute)


_HOLD_TYPES = frozenset({ArrayAttr, DictionaryAttr, FunctionType, MemRefType})
"""Kinds of attributes that are types of buffers, or may hold some."""


def change_types(op: Operation, changed: Callable[[Attribute], Attribute]) -> None:
    """Change types in place: what an operation makes, what its blocks take, and what its properties mention."""
    for result in op.results:
        if (kind := changed(result.type)) != result.type:
            Rewriter.replace_value_with_new_type(result, kind)
    for region in op.regions:
        for block in region.blocks:
            for argument in block.args:
                if (kind := changed(argument.type)) != argument.type:
                    Rewriter.replace_value_with_new_type(argument, kind)
    for attributes in (op.properties, op.attributes):
        for name, value in attributes.items():
            if type(value) in _HOLD_TYPES:  # not `isinstance`: all attributes of all operations are asked
                attributes[name] = _changed_within(value, changed)


def _changed_within(value: Attribute, changed: Callable[[Attribute], Attribute]) -> Attribute:
    """An attribute with the types in it changed, also those in arrays and dictionaries."""
    if isinstance(value, ArrayAttr):
        return ArrayAttr([_changed_within(inner, changed) for inner in cast("ArrayAttr[Attribute]", value)])
    if isinstance(value, DictionaryAttr):
        return DictionaryAttr({name: _changed_within(inner, changed) for name, inner in value.data.items()})
    if isinstance(value, (FunctionType, MemRefType)):
        return changed(cast(Attribute, value))
    return value


@dataclass(frozen=True)
class FlattenPass(ModulePass):
    """Make every memref one-dimensional and dense, in function signatures too; tensors are left alone."""

    name = "layout-flatten"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        operations = nested(op)
        for left in of_kind(operations, CopyOp):
            raise PassFailedException(
                f"layout-flatten: expected loops, got '{left.name}'; run layout-to-buffers and layout-to-loops first"
            )
        try:
            functions = [SizeArguments(operation) for operation in of_kind(operations, FuncOp)]
            for function in functions:
                function.check()
            for function in functions:
                function.add()
            for operation in operations:
                change_types(operation, flattened)
        except LayoutError as error:
            raise PassFailedException(f"layout-flatten: {error}") from None
        for operation in (*of_kind(operations, StorageOp), *of_kind(operations, CastOp)):
            if is_buffer(operation.source.type):  # a storage of what is flat already, or another name for it
                Rewriter.replace_op(operation, [], [operation.source])
