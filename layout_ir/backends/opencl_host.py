"""What the host does for one function: which memory it makes, and which kernels it launches on what, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects import arith, func, gpu, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from layout_ir.backends.opencl_printer import accesses
from layout_ir.backends.opencl_types import element_bytes
from layout_ir.dialects.types import is_buffer
from layout_ir.errors import LayoutError
from layout_ir.lowering.to_device_image_type import is_device_image

_DEEPEST_CALL = 64


@dataclass(frozen=True)
class Launch:
    """Run a kernel on buffers."""

    kernel: str
    groups: tuple[int, int, int]
    """Work groups along x, y and z."""
    items: tuple[int, int, int]
    """Work items of a group along x, y and z."""
    buffers: tuple[int, ...]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Work items of the grid along x, y and z."""
        return tuple(groups * items for groups, items in zip(self.groups, self.items, strict=True))


@dataclass(frozen=True)
class Allocate:
    """Make a buffer or an image."""

    buffer: int


@dataclass(frozen=True)
class Release:
    """Give a buffer or an image back."""

    buffer: int


@dataclass(frozen=True)
class Copy:
    """Copy all of a buffer."""

    source: int
    destination: int


Step = Launch | Allocate | Release | Copy


@dataclass(frozen=True)
class HostProgram:
    """The steps of a function, with calls of other functions resolved. Buffers are numbered, arguments first."""

    name: str
    arguments: int
    """How many of the buffers are arguments."""
    names: tuple[str, ...]
    types: tuple[MemRefType[Attribute], ...]
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        lines = [f"{self.name}({', '.join(self.names[: self.arguments])}) runs, one after the other:"]
        return "\n".join([*lines, *(f"  {self._text(step)}" for step in self.steps)])

    def _text(self, step: Step) -> str:
        match step:
            case Launch():
                buffers = ", ".join(self.names[buffer] for buffer in step.buffers)
                groups, items = (_product(sizes) for sizes in (step.groups, step.items))
                return f"{step.kernel}({buffers}) in {groups} groups of {items} work items"
            case Allocate():
                return f"{self.names[step.buffer]}: a new {self.types[step.buffer]}"
            case Release():
                return f"{self.names[step.buffer]} is not needed any more"
            case Copy():
                return f"copy {self.names[step.source]} to {self.names[step.destination]}"


def _product(sizes: tuple[int, int, int]) -> str:
    return " x ".join(str(size) for i, size in enumerate(sizes) if size > 1 or i == 0)


def host_program(module: ModuleOp, function: func.FuncOp) -> HostProgram:
    """The steps of a function that `layout-to-device` made; raises `LayoutError` for what a host cannot do."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
    tracer = _Tracer(functions)
    arguments = [tracer.new(argument, f"arg{i}") for i, argument in enumerate(function.body.block.args)]
    tracer.run(function, arguments, ())
    return HostProgram(
        function.sym_name.data, len(arguments), tuple(tracer.names), tuple(tracer.types), tuple(tracer.steps)
    )


class _Tracer:
    """Walks a function and what it calls."""

    def __init__(self, functions: dict[str, func.FuncOp]) -> None:
        self._functions = functions
        self.names: list[str] = []
        self.types: list[MemRefType[Attribute]] = []
        self.steps: list[Step] = []

    def new(self, value: SSAValue, default: str) -> int:
        """The number of a new buffer."""
        kind = value.type
        if not is_buffer(kind) or not kind.has_static_shape():
            raise LayoutError(f"opencl: expected buffers of known size between kernels, got {kind}")
        name, number = value.name_hint or default, 0
        while (candidate := f"{name}_{number}" if number else name) in self.names:
            number += 1
        self.names.append(candidate)
        self.types.append(kind)
        return len(self.names) - 1

    def run(self, function: func.FuncOp, arguments: Sequence[int], callers: tuple[str, ...]) -> None:
        """Add the steps of one function."""
        name = function.sym_name.data
        if name in callers or len(callers) > _DEEPEST_CALL:
            raise LayoutError(f"opencl: expected functions that do not call themselves, got '{name}'")
        numbers: dict[SSAValue, int] = dict(zip(function.body.block.args, arguments, strict=True))
        for op in function.body.block.ops:
            self._step(op, numbers, (*callers, name))

    def _step(self, op: Operation, numbers: dict[SSAValue, int], callers: tuple[str, ...]) -> None:
        match op:
            case gpu.LaunchFuncOp():
                grid = (op.gridSizeX, op.gridSizeY, op.gridSizeZ)
                block = (op.blockSizeX, op.blockSizeY, op.blockSizeZ)
                buffers = tuple(_number(op, operand, numbers) for operand in op.kernelOperands)
                kernel = op.kernel.nested_references.data[-1].data
                self.steps.append(Launch(kernel, _sizes(op, grid), _sizes(op, block), buffers))
            case memref.AllocOp():
                numbers[op.memref] = self.new(op.memref, "temporary")
                self.steps.append(Allocate(numbers[op.memref]))
            case memref.DeallocOp():
                self.steps.append(Release(_number(op, op.memref, numbers)))
            case memref.CopyOp():
                self.steps.append(Copy(_number(op, op.source, numbers), _number(op, op.destination, numbers)))
            case func.CallOp() if (callee := self._functions.get(op.callee.string_value())) and not op.results:
                if callee.is_declaration:
                    raise LayoutError(f"opencl: expected functions with a body, got '{callee.sym_name.data}' without")
                self.run(callee, [_number(op, operand, numbers) for operand in op.arguments], callers)
            case func.ReturnOp() if not op.operands:
                pass
            case _ if is_side_effect_free(op):
                pass
            case _:
                raise LayoutError(f"opencl: no rule for operation '{op.name}' outside of a kernel")


def _number(op: Operation, value: SSAValue, numbers: dict[SSAValue, int]) -> int:
    if value not in numbers:
        raise LayoutError(f"opencl: expected '{op.name}' to take buffers alone, got a value of type {value.type}")
    return numbers[value]


def _sizes(op: Operation, values: tuple[SSAValue, SSAValue, SSAValue]) -> tuple[int, int, int]:
    sizes: list[int] = []
    for value in values:
        if not isinstance(value.owner, arith.ConstantOp) or not isinstance(value.owner.value, IntegerAttr):
            raise LayoutError(f"opencl: expected constant sizes in '{op.name}'")
        sizes.append(value.owner.value.value.data)
    return sizes[0], sizes[1], sizes[2]


def place_of(kind: MemRefType[Attribute]) -> tuple[int, int, tuple[int, int] | None]:
    """Bytes of a buffer or image, bytes of its elements, and an image's width and height."""
    width = element_bytes(kind.element_type)
    size = kind.element_count() * width
    if not is_device_image(kind):
        return size, width, None
    rows, columns, _ = kind.get_shape()
    return size, width, (columns, rows)


def written_arguments(module: ModuleOp, program: HostProgram) -> frozenset[int]:
    """Which arguments of a function its kernels write."""
    written = {
        op.sym_name.data: [accesses(argument)[1] for argument in op.body.block.args]
        for group in module.ops
        if isinstance(group, gpu.ModuleOp)
        for op in group.body.block.ops
        if isinstance(op, gpu.FuncOp)
    }
    found: set[int] = set()
    for step in program.steps:
        match step:
            case Launch():
                flags = written[step.kernel]
                found |= {buffer for buffer, is_written in zip(step.buffers, flags, strict=True) if is_written}
            case Copy():
                found.add(step.destination)
            case _:
                pass
    return frozenset(found & set(range(program.arguments)))
