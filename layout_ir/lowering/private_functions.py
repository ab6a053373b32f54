"""Functions that only their module calls, and that a compiler leaves as they are."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region
from xdsl.rewriter import InsertPoint, Rewriter

NO_INLINE = "no_inline"
"""Attribute of a function that a compiler is not to copy into those that call it."""

UNFENCED = "unfenced"
"""Attribute of a function whose callers order its streaming stores before whatever follows."""


def private_function(kinds: Sequence[Attribute], body: Block) -> FuncOp:
    """A function of a body that is complete but for its return, to be named."""
    body.add_op(ReturnOp())
    function = FuncOp("", FunctionType.from_lists(list(kinds), []), Region(body), "private")
    function.attributes[NO_INLINE] = UnitAttr()
    return function


class PrivateFunctions:
    """Functions made for one other, in front of which they stand; what is made for the same key is made once."""

    def __init__(self, function: FuncOp, suffix: str) -> None:
        self._function = function
        self._suffix = suffix
        self._made: dict[Hashable, FuncOp] = {}

    def of(self, key: Hashable, make: Callable[[], FuncOp]) -> FuncOp:
        """The function of a key, made and named where there is none."""
        if key not in self._made:
            self._made[key] = self.add(make())
        return self._made[key]

    def add(self, function: FuncOp) -> FuncOp:
        """A function under the next name that is not taken in the module."""
        module = self._function.parent_op()
        assert isinstance(module, ModuleOp)
        taken = {name.data for op in module.ops if isinstance(name := op.get_attr_or_prop("sym_name"), StringAttr)}
        names = (f"{self._function.sym_name.data}_{self._suffix}{number}" for number in itertools.count())
        function.sym_name = StringAttr(next(name for name in names if name not in taken))
        Rewriter.insert_op(function, InsertPoint.before(self._function))
        return function
