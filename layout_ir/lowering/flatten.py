"""`layout-flatten`: every buffer becomes its flat storage; after it nothing of the layout dialect is left."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, NoneAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from layout_ir.dialects.nested import nested, of_kind
from layout_ir.dialects.ops import CastOp, CopyOp, StorageOp
from layout_ir.dialects.types import is_buffer
from layout_ir.errors import LayoutError
from layout_ir.lowering.change_types import change_types
from layout_ir.lowering.size_arguments import SizeArguments
from layout_ir.lowering.to_device_image_type import is_device_image
from layout_ir.lowering.to_loops import flat_type, storage_element_type


def _flattened(attribute: Attribute) -> Attribute:
    """The flat storage of a buffer; everything else as it is."""
    if not is_buffer(attribute) or is_device_image(attribute):
        return attribute
    is_flat = attribute.get_num_dims() == 1 and isinstance(attribute.layout, NoneAttr)
    if is_flat and storage_element_type(attribute.element_type) == attribute.element_type:
        return attribute
    return flat_type(attribute)


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
            change_types(operations, _flattened)
        except LayoutError as error:
            raise PassFailedException(f"layout-flatten: {error}") from None
        for operation in (*of_kind(operations, StorageOp), *of_kind(operations, CastOp)):
            if is_buffer(operation.source.type):  # a storage of what is flat already, or another name for it
                Rewriter.replace_op(operation, [], [operation.source])
