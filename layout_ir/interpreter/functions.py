"""The functions of a module as a caller sees them: the storages that go in and come out."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from layout_ir.dialects.types import element_type_of, index_map_of, is_stored, is_tensor, unknown_dims
from layout_ir.errors import LayoutError, nearest
from layout_ir.layouts.element_type import ElementType
from layout_ir.layouts.index_map import IndexMap


@dataclass(frozen=True)
class Storage:
    """One argument or result of a function."""

    name: str
    """What messages and files call it."""

    index_map: IndexMap
    """Where its elements lie."""

    element: ElementType
    """Type of its elements."""

    is_tensor: bool
    """A value, which nobody changes, and not a buffer."""


def functions(module: ModuleOp) -> list[FuncOp]:
    """The functions of a module that have a body, in order."""
    return [op for op in module.ops if isinstance(op, FuncOp) and not op.is_declaration]


def find_function(module: ModuleOp, name: str) -> FuncOp:
    """The function of that name; raises `LayoutError` with the nearest names if there is none."""
    known = {function.sym_name.data: function for function in functions(module)}
    if name not in known:
        listed = ", ".join(known) or "no function at all"
        raise LayoutError(f"no function '{name}', expected one of: {listed}{nearest(name, known)}")
    return known[name]


def arguments(function: FuncOp, unknown: bool = False) -> list[Storage]:
    """
    What a function takes; raises `LayoutError` for an argument that is neither a tensor nor a memref.

    `unknown`: extents may be unknown, and the index maps have stand-ins for them.
    """
    hints = [argument.name_hint for argument in function.body.block.args]
    return [
        _storage(hint or f"arg{i}", kind, unknown)
        for i, (hint, kind) in enumerate(zip(hints, function.function_type.inputs, strict=True))
    ]


def results(function: FuncOp, unknown: bool = False) -> list[Storage]:
    """What a function returns; arguments and errors as of `arguments`."""
    kinds = list(function.function_type.outputs)
    names = ["result"] if len(kinds) == 1 else [f"result{i}" for i in range(len(kinds))]
    taken = {argument.name_hint for argument in function.body.block.args}
    names = [f"{name}_returned" if name in taken else name for name in names]
    return [_storage(name, kind, unknown) for name, kind in zip(names, kinds, strict=True)]


def _storage(name: str, kind: Attribute, unknown: bool) -> Storage:
    if not is_stored(kind):
        raise LayoutError(f"{name}: expected a tensor or a memref, got {kind}")
    if unknown_dims(kind) and not unknown:
        raise LayoutError(f"{name}: expected sizes that are known, got {kind}")
    try:
        return Storage(name, index_map_of(kind), element_type_of(kind), is_tensor(kind))
    except LayoutError as error:
        raise LayoutError(f"{name}: {error}") from None
