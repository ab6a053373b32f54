"""The OpenCL backend: modules that launch kernels to OpenCL C 1.2 text, and the target `opencl`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from layout_ir.backends.c import is_lowered
from layout_ir.backends.opencl_host import host_program
from layout_ir.backends.opencl_printer import OpenCLPrinter
from layout_ir.backends.opencl_shuffles import Shuffles
from layout_ir.backends.uses import is_private
from layout_ir.errors import LayoutError


def emit_opencl(module: ModuleOp) -> str:
    """
    The OpenCL C text of a module's kernels, below a comment that says how each public function launches them.

    Raises `LayoutError` for operations, types and names that OpenCL C has not.
    """
    comments = [
        _comment(str(host_program(module, op)))
        for op in module.ops
        if isinstance(op, func.FuncOp) and not op.is_declaration and not is_private(op)
    ]
    shuffles = Shuffles()
    definitions = [_definition(op, shuffles) for op in kernels(module)]
    return "\n".join([*comments, *shuffles.definitions(), *definitions])


def kernels(module: ModuleOp) -> list[gpu.FuncOp]:
    """The kernels of a module; raises `LayoutError` for anything else beside them."""
    found: list[gpu.FuncOp] = []
    for group in module.ops:
        if isinstance(group, gpu.ModuleOp):
            for op in group.body.block.ops:
                if not isinstance(op, gpu.FuncOp):
                    raise LayoutError(f"opencl: no rule for operation '{op.name}': expected kernels (gpu.func)")
                found.append(op)
    return found


def _definition(op: gpu.FuncOp, shuffles: Shuffles) -> str:
    printer = OpenCLPrinter(shuffles)
    printer.print_kernel(op)
    return "\n".join(printer.lines) + "\n"


def _comment(text: str) -> str:
    return "/* " + "\n * ".join(text.splitlines()) + " */\n"


@dataclass(frozen=True)
class OpenCLTarget(Target):
    """
    `-t opencl` prints the kernels of a module; one that is not lowered for a device yet is lowered first.

    `-t opencl{images=true}` makes images of image layouts.
    """

    name = "opencl"

    images: bool = False

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        from layout_ir.lowering.to_device import ToDevicePass
        from layout_ir.lowering.to_device_pipeline import lower_for_device

        if not any(isinstance(op, gpu.ModuleOp) for op in module.ops):
            module = module.clone()
            if is_lowered(module):
                ToDevicePass().apply(ctx, module)
            else:
                lower_for_device(ctx, module, images=self.images)
        output.write(emit_opencl(module))
