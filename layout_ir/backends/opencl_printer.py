"""Kernels in OpenCL C: signatures with address spaces, the place of a work item, local memory, and what C has too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith, func, gpu, memref, scf
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Block, Operation, SSAValue

from layout_ir.backends.c_family import Count, FamilyPrinter
from layout_ir.backends.expressions import Expression
from layout_ir.backends.names import Names
from layout_ir.backends.opencl_shuffles import Shuffles
from layout_ir.backends.opencl_types import UNSIGNED, bits_literal, element_bytes, index_type
from layout_ir.backends.opencl_vectors import VectorRules
from layout_ir.backends.opencl_vocabulary import OPENCL_VOCABULARY
from layout_ir.backends.uses import Uses
from layout_ir.dialects.types import is_buffer
from layout_ir.lowering.to_device_image_type import is_device_image

_LINE_LENGTH = 100
_DIMENSIONS = (gpu.DimensionEnum.X, gpu.DimensionEnum.Y, gpu.DimensionEnum.Z)
_IDS = {
    gpu.GlobalIdOp: "get_global_id",
    gpu.BlockIdOp: "get_group_id",
    gpu.ThreadIdOp: "get_local_id",
    gpu.BlockDimOp: "get_local_size",
    gpu.GridDimOp: "get_num_groups",
}


class OpenCLPrinter(FamilyPrinter):
    """Prints one kernel."""

    vocabulary = OPENCL_VOCABULARY
    index_type = "int"

    def __init__(self, shuffles: Shuffles) -> None:
        super().__init__()
        self.shuffles = shuffles
        self._vectors = VectorRules(self)

    def scalar_type(self, element: Attribute) -> str:
        if isinstance(element, IndexType):
            return self.index_type
        return UNSIGNED[element_bytes(element)]

    def float_literal(self, value: FloatAttr) -> Expression:
        return Expression(bits_literal(value))

    def print_kernel(self, op: gpu.FuncOp) -> None:
        """A kernel's definition; raises `LayoutError` for what OpenCL C has not."""
        body = op.body.blocks[0]
        self.index_type = index_type([kind for kind in op.function_type.inputs if is_buffer(kind)])
        self.uses = Uses(cast("func.FuncOp", op), ())  # both have a body
        self.names = Names(self.vocabulary, [op.sym_name.data])
        parameters = [self._parameter(op, argument, f"arg{i}") for i, argument in enumerate(body.args)]
        head = f"__kernel{self._work_group(op)}\nvoid {self.vocabulary.function_name(op.sym_name.data)}("
        if len(head.splitlines()[-1]) + len(", ".join(parameters)) > _LINE_LENGTH:
            head += "\n    " + ",\n    ".join(parameters) + ")"
        else:
            head += ", ".join(parameters) + ")"
        with self.braces(head):
            for inner in op.walk():  # local memory belongs to the kernel's outermost scope
                if isinstance(inner, memref.AllocaOp):
                    self._print_local(inner)
            self.print_block(body)

    def _work_group(self, op: gpu.FuncOp) -> str:
        if op.known_block_size is None:
            return ""
        sizes = ", ".join(map(str, op.known_block_size.get_values()))
        return f" __attribute__((reqd_work_group_size({sizes})))"

    def _parameter(self, op: Operation, argument: SSAValue, default: str) -> str:
        name, kind = self.declare(argument, default), argument.type
        reads, writes = accesses(argument)
        if is_device_image(kind):
            if reads and writes:
                raise self.refuse(op, f"expected an image that is read or written, not both: {name}")
            return f"__{'write' if writes else 'read'}_only image2d_t {name}"
        if is_buffer(kind):
            return f"__global {'' if writes else 'const '}{self.element_type(op, kind)} *restrict {name}"
        return f"{self.scalar_type(kind)} {name}"

    def _print_local(self, op: memref.AllocaOp) -> None:
        kind = op.memref.type
        element, name = self.element_type(op, kind), self.declare(op.memref, "tile")
        alignment = 0 if op.alignment is None else op.alignment.value.data
        aligned = f" __attribute__((aligned({alignment})))" if alignment > element_bytes(kind.element_type) else ""
        self.line(f"__local {element} {name}[{kind.element_count()}]{aligned};")

    def print_block(self, block: Block) -> None:
        """Every live operation of a block; constants of elements are their bits, whatever their sign."""
        for op in block.ops:
            if self.uses.is_live(op):
                self._print(op)

    def _print(self, op: Operation) -> None:
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
            kind = op.value.type
            if isinstance(kind, IntegerType) and kind != i1:
                self.bind(op.result, Expression(bits_literal(op.value)))
                return
        self.print_operation(op)

    def print_parallel(self, op: scf.ParallelOp, counts: Sequence[Count]) -> None:
        self.print_loops(counts, op.body.block)

    def print_other(self, op: Operation) -> None:
        match op:
            case gpu.GlobalIdOp() | gpu.BlockIdOp() | gpu.ThreadIdOp() | gpu.BlockDimOp() | gpu.GridDimOp():
                number = _DIMENSIONS.index(op.dimension.data)
                name = self.declare(op.result, "xyz"[number])
                self.line(f"const {self.index_type} {name} = ({self.index_type}){_IDS[type(op)]}({number});")
            case gpu.BarrierOp():
                self.line("barrier(CLK_LOCAL_MEM_FENCE);")
            case gpu.ReturnOp() | memref.AllocaOp():
                pass
            case _:
                self._vectors.print_operation(op)


def accesses(buffer: SSAValue) -> tuple[bool, bool]:
    """Whether a kernel reads its argument, and whether it writes it."""
    reads = writes = False
    for use in buffer.uses:
        name = use.operation.name
        if name in ("memref.store", "vector.store", "vector.maskedstore"):
            is_target = buffer is not use.operation.operands[0]
            writes |= is_target
        elif name == "memref.copy":
            reads, writes = reads or use.index == 0, writes or use.index == 1
        else:
            reads = True
    return reads, writes
