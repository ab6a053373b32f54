"""A kernel while it is made: what it takes from outside becomes an argument, or a constant of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import FunctionType, IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.traits import is_side_effect_free

Sizes = tuple[int, int, int]
"""Along x, y and z."""


@dataclass(frozen=True)
class Kernel:
    """A kernel with how it is launched."""

    function: gpu.FuncOp

    groups: Sizes
    """Work groups of the grid."""

    items: Sizes
    """Work items of a group."""

    operands: tuple[SSAValue, ...]
    """What the host passes to it."""

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.function.sym_name.data


class KernelBuilder:
    """Fills the body of a kernel with copies of operations."""

    def __init__(self) -> None:
        self.block = Block()
        self.builder = Builder(InsertPoint.at_end(self.block))
        self.values: dict[SSAValue, SSAValue] = {}
        """Value outside of the kernel to the value inside that stands for it."""
        self._operands: list[SSAValue] = []
        self._constants: dict[int, SSAValue] = {}
        self._last_constant: Operation | None = None

    def constant(self, value: int) -> SSAValue:
        """An index constant at the start of the kernel."""
        if value not in self._constants:
            operation = arith.ConstantOp(IntegerAttr(value, IndexType()))
            self._at_start(operation)
            self._constants[value] = operation.result
        return self._constants[value]

    def copy(self, operations: Sequence[Operation]) -> list[Operation]:
        """Copies of operations at the current place; values from outside are captured."""
        inside = {inner for operation in operations for inner in operation.walk()}
        blocks = {block for operation in inside for region in operation.regions for block in region.blocks}
        for operation in operations:
            for inner in operation.walk():
                for operand in inner.operands:
                    if operand.owner not in inside and operand.owner not in blocks:
                        self._capture(operand)
        return [self.builder.insert(operation.clone(self.values)) for operation in operations]

    def finish(self, name: str, groups: Sizes, items: Sizes) -> Kernel:
        """The kernel as a function."""
        self.builder.insert(gpu.ReturnOp([]))
        kind = FunctionType.from_lists([argument.type for argument in self.block.args], [])
        function = gpu.FuncOp(name, kind, Region(self.block), True, items, groups if max(groups) < 1 << 31 else None)
        return Kernel(function, groups, items, tuple(self._operands))

    def _capture(self, value: SSAValue) -> None:
        if value in self.values:
            return
        owner = value.owner
        if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr) and value.type == IndexType():
            self.values[value] = self.constant(owner.value.value.data)
        elif isinstance(owner, Operation) and is_side_effect_free(owner) and not owner.regions:
            for operand in owner.operands:
                self._capture(operand)
            self._at_start(owner.clone(self.values))
        else:
            argument = self.block.insert_arg(value.type, len(self.block.args))
            argument.name_hint = value.name_hint
            self._operands.append(value)
            self.values[value] = argument

    def _at_start(self, operation: Operation) -> None:
        last = self._last_constant
        Builder(InsertPoint.at_start(self.block) if last is None else InsertPoint.after(last)).insert(operation)
        self._last_constant = operation


def sequential_kernel(operations: Sequence[Operation], name: str) -> Kernel:
    """A kernel of one work item that does everything in order."""
    builder = KernelBuilder()
    builder.copy(operations)
    return builder.finish(name, (1, 1, 1), (1, 1, 1))
