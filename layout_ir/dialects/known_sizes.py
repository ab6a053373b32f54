"""A module for known sizes from one that leaves some open: every `?` of a function replaced by what it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.memref import AllocOp
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from layout_ir.dialects.sizes import FunctionSizes
from layout_ir.dialects.types import Stored, is_buffer, stored_type, with_shape
from layout_ir.errors import LayoutError, nearest
from layout_ir.layouts.layout import whole_number, whole_numbers

Sizes = Mapping[str, int] | Sequence[int]
"""Sizes by name, or all of them in order."""


def checked_sizes(given: Sizes, names: Sequence[str], what: str) -> dict[str, int]:
    """The size of every name; raises `LayoutError`, which begins with `what`, unless each has one that is right."""
    expected = f"{what}: expected sizes for {', '.join(names)}"
    if isinstance(given, Mapping):
        for name in given:
            if name not in names:
                raise LayoutError(f"{expected}, got one for '{name}'{nearest(name, names)}")
        if missing := [name for name in names if name not in given]:
            raise LayoutError(f"{expected}, got none for {', '.join(missing)}")
        sizes = {name: whole_number(given[name], f"{what}: size {name}") for name in names}
    else:
        numbers = whole_numbers(given, expected)
        if len(numbers) != len(names):
            raise LayoutError(f"{expected}, got {len(numbers)}: {list(numbers)}")
        sizes = dict(zip(names, numbers, strict=True))
    for name, size in sizes.items():
        if not 0 <= size < 2**63:
            raise LayoutError(f"{what}: expected size {name} from 0 to 2^63 - 1, got {size}")
    return sizes


def with_sizes(module: ModuleOp, name: str, given: Sizes) -> ModuleOp:
    """
    A copy of a module in which one function has known sizes.

    Raises `LayoutError` for sizes that are missing or that a layout does not take.
    """
    result = module.clone()
    function = next(op for op in result.ops if isinstance(op, FuncOp) and op.sym_name.data == name)
    table = FunctionSizes(function)
    sizes = checked_sizes(given, [size.name for size in table.sizes], name)
    kinds: dict[SSAValue, Stored] = {}
    for value in table.values:
        extents = {dim: sizes[size.name] for dim, size in table.of(value).items()}
        kinds[value] = with_shape(stored_type(value.type), extents)
    for value, kind in kinds.items():
        if isinstance(value.owner, AllocOp) and is_buffer(kind):
            Rewriter.replace_op(value.owner, AllocOp([], [], kind, value.owner.alignment))
        else:
            Rewriter.replace_value_with_new_type(value, kind)
    _update_signature(function)
    try:
        result.verify()
    except VerifyException as error:
        raise LayoutError(f"{name}: {str(error).splitlines()[0]}") from None
    return result


def _update_signature(function: FuncOp) -> None:
    block = function.body.block
    terminator = block.last_op
    assert isinstance(terminator, ReturnOp)
    function.function_type = FunctionType.from_lists(
        [argument.type for argument in block.args], [value.type for value in terminator.arguments]
    )
