"""Unknown extents as arguments: what `memref.dim` says while buffers have shapes is given by the caller afterwards."""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IndexType, IntegerAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import SymbolTable

from layout_ir.dialects.nested import nested, of_kind
from layout_ir.dialects.sizes import DIMS
from layout_ir.dialects.types import index_map_of, is_buffer, stored_type, unknown_dims
from layout_ir.errors import LayoutError
from layout_ir.lowering.extent_values import allocated_extents
from layout_ir.lowering.quantities import Quantities
from layout_ir.lowering.to_loops import flat_type


class SizeArguments:
    """One function whose buffers are about to become flat."""

    def __init__(self, function: FuncOp) -> None:
        self._function = function

    def check(self) -> None:
        """Raise `LayoutError` for sizes that would have to go through a call."""
        kinds = self._function.function_type.inputs.data if self._function.is_declaration else ()
        calls = (op for op in of_kind(nested(self._function), CallOp) if not _needs_no_sizes(op))
        for kind in (*kinds, *(value.type for op in calls for value in op.operands)):
            if is_buffer(kind) and unknown_dims(kind):
                raise LayoutError(f"expected sizes that are known in calls and declarations, got {kind}")

    def add(self) -> None:
        """Append one index argument for every extent of an argument that `memref.dim` asks for, and replace that."""
        operations = nested(self._function)
        self._forget_names()
        if self._function.is_declaration:
            return
        arguments: dict[tuple[SSAValue, int], SSAValue] = {}
        for op in of_kind(operations, memref.DimOp):
            Rewriter.replace_op(op, [], [self._extent(op, arguments)])
        for op in of_kind(operations, memref.AllocOp):
            if op.dynamic_sizes:
                self._allocate_flat(op)
        if arguments:
            self._extend_signature(len(arguments))

    def _extent(self, op: memref.DimOp, arguments: dict[tuple[SSAValue, int], SSAValue]) -> SSAValue:
        position, source = op.index.owner, op.source
        if not (isinstance(position, arith.ConstantOp) and isinstance(position.value, IntegerAttr)):
            raise LayoutError("expected memref.dim of a constant dim, got one that is computed")
        dim = position.value.value.data
        if isinstance(source.owner, memref.AllocOp):
            return allocated_extents(source.owner)[dim]
        body = self._function.body.blocks[0]
        if not (isinstance(source, BlockArgument) and source.block is body):
            raise LayoutError(f"expected memref.dim of an argument or of a memref.alloc, got {op}")
        if (source, dim) not in arguments:
            argument = body.insert_arg(IndexType(), len(body.args))
            argument.name_hint = op.result.name_hint
            arguments[source, dim] = argument
        return arguments[source, dim]

    def _allocate_flat(self, op: memref.AllocOp) -> None:
        """Give a buffer its number of elements in place of its extents."""
        kind = stored_type(op.memref.type)
        index_map = index_map_of(kind)
        builder = Builder(InsertPoint.before(op))

        def constant(value: int) -> SSAValue:
            return builder.insert(arith.ConstantOp(IntegerAttr(value, IndexType()))).result

        def insert(operation: Operation) -> None:
            builder.insert(operation)

        assert index_map.unknown is not None
        quantities = Quantities(insert, constant, allocated_extents(op))
        size = quantities.value(index_map.unknown.polynomial(index_map.storage_size))
        flat = memref.AllocOp([size], [], flat_type(kind), op.alignment)
        flat.memref.name_hint = op.memref.name_hint
        Rewriter.replace_op(op, flat)

    def _extend_signature(self, count: int) -> None:
        kind = self._function.function_type
        self._function.function_type = FunctionType.from_lists(
            [*kind.inputs.data, *[IndexType()] * count], list(kind.outputs.data)
        )
        if self._function.arg_attrs is not None:
            entries = [*self._function.arg_attrs.data, *[DictionaryAttr({})] * count]
            self._function.arg_attrs = ArrayAttr(entries)

    def _forget_names(self) -> None:
        """Take away the names of dims, which have become those of arguments."""
        if self._function.arg_attrs is None:
            return
        entries = [{k: v for k, v in entry.data.items() if k != DIMS} for entry in self._function.arg_attrs]
        self._function.arg_attrs = ArrayAttr(map(DictionaryAttr, entries)) if any(entries) else None


def _needs_no_sizes(call: CallOp) -> bool:
    """Whether a call is of a function with a body that does not ask for sizes, as that of a tile."""
    callee = SymbolTable.lookup_symbol(call, call.callee)
    if not isinstance(callee, FuncOp) or callee.is_declaration:
        return False
    return not of_kind(nested(callee), memref.DimOp)
