"""
`layout-to-device`: parallel loops become kernels that a device runs, one launch after the other.

Every nest of parallel loops turns into a `gpu.func` of its own. Its inner loops, walked together, are the x dimension
of the grid: one step a work item. The loops further out are dimensions of groups. What is left of the function launches
the kernels in order, so that what one kernel writes the next one may read.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, gpu, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint
from xdsl.traits import is_side_effect_free
from xdsl.utils.exceptions import PassFailedException

from layout_ir.lowering.to_device_group import group_kernel
from layout_ir.lowering.to_device_kernel import Kernel, sequential_kernel
from layout_ir.lowering.to_device_nest import nest_kernel, nest_of

WORK_GROUP = 64
"""Work items of a group where nobody knows better."""

KERNELS = "kernels"
"""Name of the module that holds a module's kernels."""

HOST = (memref.AllocOp, memref.DeallocOp, memref.CopyOp, func.CallOp, func.ReturnOp)
"""What the host does: memory, and the order of things."""


@dataclass(frozen=True)
class ToDevicePass(ModulePass):
    """Move every loop of the module's functions into kernels."""

    name = "layout-to-device"

    work_group: int = WORK_GROUP
    """Work items of a group, at most."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.work_group < 1:
            raise PassFailedException(f"{self.name}: expected a work_group of at least 1, got {self.work_group}")
        kernels: list[Kernel] = []
        taken = {function.sym_name.data for function in op.ops if isinstance(function, func.FuncOp)}
        names = (KERNELS, *(f"{KERNELS}_{i}" for i in range(len(taken))))
        module_name = next(name for name in names if name not in taken)
        for function in op.ops:
            if isinstance(function, func.FuncOp) and not function.is_declaration:
                _Outlining(function, module_name, self.work_group, kernels).run()
        if kernels:
            body = Block([kernel.function for kernel in kernels])
            name = {"sym_name": StringAttr(module_name)}
            op.body.block.add_op(gpu.ModuleOp.create(properties=name, regions=[Region(body)]))
            op.attributes["gpu.container_module"] = UnitAttr()


class _Outlining:
    """The kernels of one function."""

    def __init__(self, function: func.FuncOp, module_name: str, work_group: int, kernels: list[Kernel]) -> None:
        self._function = function
        self._module_name = module_name
        self._work_group = work_group
        self._kernels = kernels
        self._count = 0
        self._constants: dict[int, SSAValue] = {}

    def run(self) -> None:
        """Replace what computes by launches."""
        if len(self._function.body.blocks) != 1:
            raise PassFailedException("layout-to-device: expected functions of one block (structured control flow)")
        straight: list[Operation] = []
        for op in list(self._function.body.block.ops):
            if isinstance(op, scf.ParallelOp) and (nest := nest_of(op)) is not None:
                self._sequential(straight)
                if not nest.is_empty:
                    make = group_kernel if nest.is_staged else nest_kernel
                    self._launch(make(nest, self._name(), self._work_group), op)
                op.detach()
                op.erase(safe_erase=False)
            elif isinstance(op, HOST):
                self._sequential(straight)
            elif not is_side_effect_free(op) or any(operand.owner in straight for operand in op.operands):
                straight.append(op)
        self._sequential(straight)
        self._remove_unused()

    def _sequential(self, operations: list[Operation]) -> None:
        """One work item for what is no parallel loop."""
        if not operations:
            return
        if escaping := _escaping(operations):
            raise PassFailedException(f"layout-to-device: expected no value that leaves a kernel, got {escaping}")
        self._launch(sequential_kernel(operations, self._name()), operations[0])
        for op in reversed(operations):
            op.detach()
            op.erase(safe_erase=False)
        operations.clear()

    def _name(self) -> str:
        self._count += 1
        return f"{self._function.sym_name.data}_{self._count - 1}"

    def _launch(self, kernel: Kernel, place: Operation) -> None:
        self._kernels.append(kernel)
        builder = Builder(InsertPoint.before(place))
        sizes = [self._constant(size) for size in (*kernel.groups, *kernel.items)]
        name = SymbolRefAttr(self._module_name, [kernel.name])
        builder.insert(gpu.LaunchFuncOp(name, sizes[:3], sizes[3:], None, kernel.operands))

    def _constant(self, value: int) -> SSAValue:
        if value not in self._constants:
            operation = arith.ConstantOp(IntegerAttr(value, IndexType()))
            Builder(InsertPoint.at_start(self._function.body.block)).insert(operation)
            self._constants[value] = operation.result
        return self._constants[value]

    def _remove_unused(self) -> None:
        """Constants and indices that only kernels needed, which have their own."""
        for op in reversed(list(self._function.body.block.ops)):
            if op.results and is_side_effect_free(op) and not any(result.first_use for result in op.results):
                op.detach()
                op.erase()


def _escaping(operations: list[Operation]) -> str | None:
    """The name of an operation that makes a value for others, if there is one."""
    inside = {inner for operation in operations for inner in operation.walk()}
    for operation in operations:
        if any(use.operation not in inside for result in operation.results for use in result.uses):
            return operation.name
    return None
