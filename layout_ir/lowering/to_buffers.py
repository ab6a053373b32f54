"""
`layout-to-buffers`: functions on tensors become functions on buffers.

Arguments become memrefs of the same layout. Results become trailing memref arguments that the caller provides (or, with
`results=allocate`, memrefs that the function allocates). A `layout.reorder` becomes a `layout.copy` straight into the
result that it is returned as, or else into a buffer that lives until the function returns. A `layout.cast` disappears:
whatever reads it reads the buffer under its first type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from layout_ir.dialects.ops import CastOp, ReorderOp
from layout_ir.dialects.types import buffer_type, is_tensor
from layout_ir.errors import LayoutError, nearest
from layout_ir.lowering.function_buffers import FunctionBuffers, signature_on_buffers, touches_tensors

RESULTS = ("arguments", "allocate")
"""Where a converted function's results go."""

CONVERTED = (ReorderOp, CastOp, CallOp, ReturnOp)
"""The operations on tensors that have a counterpart on buffers."""


@dataclass(frozen=True)
class ToBuffersPass(ModulePass):
    """Turn tensors into buffers, in function signatures, calls and declarations too."""

    name = "layout-to-buffers"

    results: str = "arguments"
    """`arguments`: the caller provides the buffers of results; `allocate`: the function does, and returns them."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.results not in RESULTS:
            suggestion = nearest(self.results, RESULTS)
            raise PassFailedException(
                f"{self.name}: expected results to be {' or '.join(RESULTS)}, got '{self.results}'{suggestion}"
            )
        functions = [function for function in op.walk() if isinstance(function, FuncOp) and _has_tensors(function)]
        _check_parents(op, functions)
        for function in functions:
            _check(function)
        for function in functions:
            if function.is_declaration:
                signature_on_buffers(function, self.results == "allocate")
            else:
                FunctionBuffers(function, self.results == "allocate").convert()


def _has_tensors(function: FuncOp) -> bool:
    return any(map(is_tensor, _signature(function))) or any(map(touches_tensors, function.body.walk()))


def _signature(function: FuncOp) -> Sequence[Attribute]:
    signature: FunctionType = function.function_type
    return (*signature.inputs, *signature.outputs)


def _check_parents(module: ModuleOp, functions: Sequence[FuncOp]) -> None:
    """Every operation on tensors is inside of a function."""
    inside = {op for function in functions for op in function.walk()}
    for op in module.walk():
        if op not in inside and touches_tensors(op):
            _refuse(op, f"expected tensors inside of a func.func only, got '{op.name}' outside of one")


def _check(function: FuncOp) -> None:
    """Raise `PassFailedException` for what has no counterpart on buffers, before anything is changed."""
    where = f"in @{function.sym_name.data}"
    try:
        for attribute in _signature(function):
            if is_tensor(attribute):
                buffer_type(attribute)
    except LayoutError as error:
        _refuse(function, f"{error} {where}")
    if len(function.body.blocks) > 1:
        _refuse(function, f"expected one block {where}, got {len(function.body.blocks)}; lift the branches out of it")
    for op in function.body.walk():
        if not touches_tensors(op):
            continue
        if not isinstance(op, CONVERTED):
            names = ", ".join(known.name for known in CONVERTED)
            _refuse(op, f"expected tensors only in {names}, got '{op.name}' {where}; lower it to buffers first")
        if op.parent_op() is not function:
            _refuse(op, f"expected '{op.name}' at the top level {where}, got it inside of another op; lift it out")


def _refuse(op: Operation, message: str) -> None:
    op.emit_error(message, PassFailedException(f"{ToBuffersPass.name}: {message}"))
