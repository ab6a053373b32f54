"""The C backend: lowered modules to C11 text that any GCC or Clang compiles, their headers, and the target `c`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.utils.target import Target

from layout_ir.backends.c_family import is_flat
from layout_ir.backends.c_functions import CPrinter
from layout_ir.backends.c_prelude import Prelude
from layout_ir.backends.c_vocabulary import C_VOCABULARY
from layout_ir.backends.names import Names
from layout_ir.backends.uses import called_by, called_functions, is_private, parallel_functions, written_arguments
from layout_ir.dialects.types import is_buffer
from layout_ir.errors import LayoutError


class _Unit:
    """One module's functions on their way to text."""

    def __init__(self, module: ModuleOp) -> None:
        for op in module.ops:
            if not isinstance(op, func.FuncOp):
                raise LayoutError(f"c: no rule for operation '{op.name}': expected functions (func.func) in the module")
            C_VOCABULARY.function_name(op.sym_name.data)
        self.functions = called_functions(module)
        self.prelude = Prelude()
        self._written = written_arguments(self.functions)
        self._parallel = parallel_functions(self.functions)

    def printer(self) -> CPrinter:
        return CPrinter(self.prelude, self.functions, self._written, self._parallel)

    def prototypes(self) -> dict[str, str]:
        """Of functions without a body, and of those that are called before their body stands."""
        prototypes: dict[str, str] = {}
        defined: set[str] = set()
        for name, op in self.functions.items():
            if op.is_declaration:
                prototypes[name] = self.printer().prototype(op) + ";"
            defined.add(name)
            for callee in called_by(op):
                if callee in self.functions and callee not in defined:
                    prototypes[callee] = self.printer().prototype(self.functions[callee]) + ";"
        return prototypes

    def definition(self, op: func.FuncOp) -> str:
        printer = self.printer()
        printer.print_function(op)
        return "\n".join(printer.lines) + "\n"


def emit_c(module: ModuleOp) -> str:
    """
    The C11 text of a lowered module: its public functions and the private ones that they call.

    Raises `LayoutError` for operations, types and names that C has not.
    """
    unit = _Unit(module)
    prototypes = "".join(f"{prototype}\n" for prototype in unit.prototypes().values())
    definitions = "\n".join(unit.definition(op) for op in unit.functions.values() if not op.is_declaration)
    return "\n".join(part for part in (unit.prelude.text(), prototypes, definitions) if part)


def emit_header(module: ModuleOp) -> str:
    """The C and C++ header of a lowered module's public functions, with the size of every buffer."""
    unit = _Unit(module)
    lines = ["#pragma once", "", "#include <stdint.h>", "", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for op in unit.functions.values():
        if is_private(op) or op.is_declaration:
            continue
        lines += _contract(op, unit)
        # without restrict, which C++ has not: it does not change a parameter's type
        lines += [f"{unit.printer().prototype(op, restrict='')};", ""]
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", ""])


def _contract(op: func.FuncOp, unit: _Unit) -> list[str]:
    names = Names(C_VOCABULARY, unit.functions)
    lines = ["/* The buffers must not overlap."]
    for index, argument in enumerate(op.body.blocks[0].args):
        name = names.fresh(argument.name_hint, f"arg{index}")
        if is_buffer(kind := argument.type):
            count = kind.element_count() if kind.has_static_shape() else "any number of"
            lines.append(f" * {name}: {count} elements of {kind.element_type}")
    return [*lines, " */"]


def is_lowered(module: ModuleOp) -> bool:
    """Whether a module has no layout operations, no tensors, and only flat buffers."""
    for op in module.walk():
        arguments = [argument for region in op.regions for block in region.blocks for argument in block.args]
        for value in (*op.results, *arguments):
            kind = value.type
            if isinstance(kind, TensorType) or (is_buffer(kind) and not is_flat(kind)):
                return False
        if op.name.startswith("layout."):
            return False
    return True


@dataclass(frozen=True)
class CTarget(Target):
    """`-t c` prints C text, `-t c{header=true}` its header; a module that is not lowered yet is lowered first."""

    name = "c"

    header: bool = False

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        if not is_lowered(module):
            from layout_ir.lowering.pipeline import lower

            module = module.clone()
            lower(ctx, module)
        output.write(emit_header(module) if self.header else emit_c(module))
