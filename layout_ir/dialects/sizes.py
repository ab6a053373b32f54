"""
The unknown extents of a function: how many sizes it has to be given, and which `?` of its types each of them is.

Values that a reorder, a cast or a copy connects have one shape, so they share their sizes. Those of the first argument
among them are the ones that the function is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from layout_ir.dialects.ops import CastOp, CopyOp, ReorderOp
from layout_ir.dialects.types import Stored, dim_names, is_stored, unknown_dims

DIMS = "layout.dims"
"""The attribute of an argument that says what its dims are called, once its layout no longer does."""


@dataclass(frozen=True)
class Size:
    """One number that a function has to be given."""

    name: str
    """What it is called, after the dim."""

    value: SSAValue
    """The first value that has it, an argument of the function if possible."""

    dim: int
    """Position of the dim."""


class FunctionSizes:
    """The unknown extents of one function."""

    def __init__(self, function: FuncOp) -> None:
        self._function = function
        self._roots: dict[SSAValue, SSAValue] = {}
        for value in _values(function):
            self._roots[value] = value
        for op in function.body.walk():
            if isinstance(op, ReorderOp | CastOp):
                self._join(op.source, op.result)
            elif isinstance(op, CopyOp):
                self._join(op.source, op.destination)
        self.values = tuple(self._roots)
        """All values that have some, arguments first."""
        self.sizes = tuple(self._sizes())
        """All of them, in the order in which the function is given them."""

    def _join(self, left: SSAValue, right: SSAValue) -> None:
        if left in self._roots and right in self._roots:
            first, second = self.root(left), self.root(right)
            order = list(self._roots)
            if order.index(second) < order.index(first):
                first, second = second, first
            self._roots[second] = first

    def root(self, value: SSAValue) -> SSAValue:
        """The first value that has the same sizes."""
        while (root := self._roots.get(value, value)) is not value:
            value = root
        return value

    def of(self, value: SSAValue) -> dict[int, Size]:
        """The sizes of a value by the position of the dim."""
        root = self.root(value)
        return {size.dim: size for size in self.sizes if size.value is root}

    def _sizes(self) -> Iterable[Size]:
        taken: set[str] = set()
        for value in self._roots:
            if self.root(value) is not value or not is_stored(kind := value.type):
                continue
            names = self._names(value, kind)
            number = 0
            while any(_numbered(names[dim], number) in taken for dim in unknown_dims(kind)):
                number += 1
            for dim in unknown_dims(kind):
                taken.add(name := _numbered(names[dim], number))
                yield Size(name, value, dim)

    def _names(self, root: SSAValue, kind: Stored) -> tuple[str, ...]:
        """What the dims are called by the first of the values that knows."""
        for value in self._roots:
            if self.root(value) is not root or not is_stored(value.type):
                continue
            names = self._kept_names(value) or dim_names(value.type)
            if names != tuple(f"d{dim}" for dim in range(len(names))):
                return names
        return dim_names(kind)

    def _kept_names(self, value: SSAValue) -> tuple[str, ...] | None:
        attributes = self._function.arg_attrs
        if attributes is None or not isinstance(value, BlockArgument) or value.block is not self._function.body.block:
            return None
        names = attributes.data[value.index].data.get(DIMS)
        return tuple(names.data.split(",")) if isinstance(names, StringAttr) else None


def _numbered(name: str, number: int) -> str:
    return f"{name}_{number}" if number else name


def _values(function: FuncOp) -> Iterable[SSAValue]:
    """All values of a function with unknown extents, arguments first."""
    for block in function.body.blocks:
        yield from (value for value in block.args if is_stored(value.type) and unknown_dims(value.type))
    for op in function.body.walk():
        yield from (value for value in op.results if is_stored(value.type) and unknown_dims(value.type))


def keep_dim_names(function: FuncOp) -> None:
    """Note the names of dims next to the arguments that have unknown ones, before the layouts lose them."""
    if function.is_declaration or not function.body.blocks:
        return
    arguments = function.body.block.args if len(function.body.blocks) == 1 else ()
    sizes = FunctionSizes(function)
    for argument in arguments:
        if not is_stored(argument.type) or not sizes.of(argument) or sizes.root(argument) is not argument:
            continue
        by_dim = {size.dim: size.name for size in sizes.of(argument).values()}
        names = [by_dim.get(dim, name) for dim, name in enumerate(dim_names(argument.type))]
        if all(name == f"d{dim}" for dim, name in enumerate(names)):
            continue
        entries = list(function.arg_attrs or [DictionaryAttr({})] * len(function.body.block.args))
        entries[argument.index] = DictionaryAttr({**entries[argument.index].data, DIMS: StringAttr(",".join(names))})
        function.arg_attrs = ArrayAttr(entries)
