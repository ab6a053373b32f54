"""One function on tensors as one on buffers; the work behind `layout-to-buffers`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IndexType, IntegerAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.memref import AllocOp, DeallocOp, DimOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from layout_ir.dialects.ops import CastOp, CopyOp, ReorderOp
from layout_ir.dialects.sizes import FunctionSizes
from layout_ir.dialects.types import buffer_type, is_tensor


def on_buffers(attribute: Attribute) -> Attribute:
    """The buffer that holds a tensor; any other type is itself."""
    return buffer_type(attribute) if is_tensor(attribute) else attribute


def signature_on_buffers(function: FuncOp, returns_buffers: bool) -> None:
    """Change the type of a function: tensor results become trailing arguments, or returned memrefs."""
    inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
    new_inputs = list(map(on_buffers, inputs))
    if returns_buffers:
        function.function_type = FunctionType.from_lists(new_inputs, list(map(on_buffers, outputs)))
        return
    moved = [index for index, attribute in enumerate(outputs) if is_tensor(attribute)]
    kept = [index for index in range(len(outputs)) if index not in moved]
    function.function_type = FunctionType.from_lists(
        [*new_inputs, *(on_buffers(outputs[index]) for index in moved)], [outputs[index] for index in kept]
    )
    if function.arg_attrs is None and function.res_attrs is None:
        return
    of_arguments = _entries(function.arg_attrs, len(inputs))
    of_results = _entries(function.res_attrs, len(outputs))
    function.arg_attrs = ArrayAttr([*of_arguments, *(of_results[index] for index in moved)])
    function.res_attrs = ArrayAttr([of_results[index] for index in kept]) if kept else None


def _entries(attributes: ArrayAttr[DictionaryAttr] | None, count: int) -> Sequence[DictionaryAttr]:
    return [DictionaryAttr({})] * count if attributes is None else attributes.data


def touches_tensors(op: Operation) -> bool:
    """Whether an operation takes or makes a tensor."""
    return any(is_tensor(value.type) for value in (*op.operands, *op.results))


def _origin(tensor: SSAValue) -> SSAValue:
    """The value behind casts: the same storage."""
    while isinstance(tensor.owner, CastOp):
        tensor = tensor.owner.source
    return tensor


class FunctionBuffers:
    """
    The buffers of one function while it is converted in place.

    The function has one block, and its tensors occur only in reorders, casts, calls and the return.
    """

    def __init__(self, function: FuncOp, returns_buffers: bool):
        terminator = function.body.block.last_op
        assert isinstance(terminator, ReturnOp)
        self._function = function
        self._returns_buffers = returns_buffers
        self._terminator = terminator
        self._builder = Builder(InsertPoint.before(terminator))
        self._results = [value for value in terminator.arguments if is_tensor(value.type)]
        self._result_types = [on_buffers(value.type) for value in self._results]
        self._claims = _claims(self._results)
        self._destinations: dict[int, SSAValue] = {}  # the buffer of each result that has one
        self._buffers: dict[SSAValue, SSAValue] = {}  # the buffer that holds each tensor
        self._to_free: list[SSAValue] = []
        self._sizes = FunctionSizes(function)

    def convert(self) -> None:
        """Rewrite the function; afterwards it holds no tensor."""
        block = self._function.body.block
        signature_on_buffers(self._function, self._returns_buffers)
        tensor_arguments = self._add_arguments(block)
        for op in list(block.ops):
            self._builder.insertion_point = InsertPoint.before(op)
            match op:
                case ReorderOp() if op.result.first_use is not None:
                    self._reorder(op)
                case CastOp() if op.source in self._buffers:
                    self._buffers[op.result] = self._buffers[op.source]
                case CallOp() if touches_tensors(op):
                    self._call(op)
                case _:
                    pass
        self._return()
        for op in reversed(list(block.ops)):
            if touches_tensors(op):
                Rewriter.erase_op(op)
        for argument in tensor_arguments:
            block.erase_arg(argument)

    def _add_arguments(self, block: Block) -> Sequence[BlockArgument]:
        """A buffer next to every tensor argument, and one for every result; returns the tensor arguments."""
        tensors = [argument for argument in block.args if is_tensor(argument.type)]
        for tensor in tensors:
            buffer = block.insert_arg(on_buffers(tensor.type), tensor.index + 1)
            buffer.name_hint = tensor.name_hint
            self._buffers[tensor] = buffer
        if not self._returns_buffers:
            for index, value in enumerate(self._results):
                buffer = block.insert_arg(self._result_types[index], len(block.args))
                is_argument = isinstance(value, BlockArgument)
                buffer.name_hint = "result" if is_argument else value.name_hint or "result"
                self._destinations[index] = buffer
        return tensors

    # -- one operation -------------------------------------------------------------------------------------------------

    def _reorder(self, op: ReorderOp) -> None:
        destination = self._destination(op.result)
        self._copy(self._buffers[op.source], destination, op.pad).attributes |= op.attributes
        self._buffers[op.result] = destination

    def _call(self, op: CallOp) -> None:
        arguments = [self._argument(value) if is_tensor(value.type) else value for value in op.arguments]
        if self._returns_buffers:
            call = CallOp(op.callee, arguments, [on_buffers(result.type) for result in op.results])
            replacements = list(call.results)
        else:
            destinations = {r: self._destination(r) for r in op.results if is_tensor(r.type)}
            kept = [result for result in op.results if result not in destinations]
            call = CallOp(op.callee, [*arguments, *destinations.values()], [result.type for result in kept])
            returned = iter(call.results)
            replacements = [destinations[r] if r in destinations else next(returned) for r in op.results]
        call.attributes |= op.attributes
        self._builder.insert(call)
        for old, new in zip(op.results, replacements, strict=True):
            self._replace_result(old, new)

    def _replace_result(self, old: SSAValue, new: SSAValue) -> None:
        if not is_tensor(old.type):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
            return
        self._buffers[old] = new
        if not self._returns_buffers:
            return
        new.name_hint = old.name_hint
        if old in self._claims:
            self._destinations[self._claims[old]] = new
        else:
            self._to_free.append(new)

    def _argument(self, tensor: SSAValue) -> SSAValue:
        """The buffer of a tensor that is passed to a call, of exactly the type that the callee takes."""
        buffer, expected = self._buffers[tensor], on_buffers(tensor.type)
        if buffer.type == expected:
            return buffer
        relabelled = self._allocate(expected, tensor)
        self._to_free.append(relabelled)
        self._copy(buffer, relabelled, None)
        return relabelled

    def _return(self) -> None:
        self._builder.insertion_point = InsertPoint.before(self._terminator)
        for index, value in enumerate(self._results):
            origin = _origin(value)
            if self._claims.get(origin) == index:
                continue
            if index not in self._destinations:
                self._destinations[index] = self._allocate(self._result_types[index], value)
            pad = origin.owner.pad if isinstance(origin.owner, ReorderOp) else None
            self._copy(self._buffers[origin], self._destinations[index], pad)
        for buffer in self._to_free:
            self._builder.insert(DeallocOp.get(buffer))
        buffers = iter(self._destinations[index] for index in range(len(self._results)))
        values: list[SSAValue] = []
        for value in self._terminator.arguments:
            if not is_tensor(value.type):
                values.append(value)
            elif self._returns_buffers:
                values.append(next(buffers))
        self._builder.insert(ReturnOp(*values))
        Rewriter.erase_op(self._terminator)

    # -- buffers -------------------------------------------------------------------------------------------------------

    def _destination(self, tensor: SSAValue) -> SSAValue:
        """The buffer that the op which makes a tensor writes: that of a result, or one that lives in the function."""
        index = self._claims.get(tensor)
        if index is None:
            buffer = self._allocate(on_buffers(tensor.type), tensor)
            self._to_free.append(buffer)
            return buffer
        if index not in self._destinations:
            self._destinations[index] = self._allocate(self._result_types[index], tensor)
        return self._destinations[index]

    def _allocate(self, buffer: Attribute, tensor: SSAValue) -> SSAValue:
        extents = self._extents(tensor)
        result = self._builder.insert(AllocOp(extents, [], buffer)).memref
        result.name_hint = tensor.name_hint
        return result

    def _extents(self, tensor: SSAValue) -> list[SSAValue]:
        """The unknown extents of a tensor, taken from the buffer of the first one that has the same."""
        root = self._sizes.root(tensor)
        extents: list[SSAValue] = []
        for dim, size in self._sizes.of(tensor).items():
            position = self._builder.insert(ConstantOp(IntegerAttr(dim, IndexType())))
            extents.append(self._builder.insert(DimOp(self._buffers[root], position)).result)
            extents[-1].name_hint = size.name
        return extents

    def _copy(self, source: SSAValue, destination: SSAValue, pad: Attribute | None) -> CopyOp:
        return self._builder.insert(CopyOp(source, destination, pad))


def _claims(results: Sequence[SSAValue]) -> dict[SSAValue, int]:
    """For every tensor that a reorder or a call makes, the first result that it is; it is written there."""
    claims: dict[SSAValue, int] = {}
    for index, value in enumerate(results):
        origin = _origin(value)
        # a call fills buffers of exactly its own types; a reorder may as well write the type that is returned
        is_exact_call = isinstance(origin.owner, CallOp) and origin.type == value.type
        if isinstance(origin.owner, ReorderOp) or is_exact_call:
            claims.setdefault(origin, index)
    return claims
