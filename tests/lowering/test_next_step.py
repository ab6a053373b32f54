"""Where loops go next is where they do go next, and behind the last step of all comes the first."""

from __future__ import annotations

import itertools

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType, ModuleOp, i1
from xdsl.interpreter import Interpreter
from xdsl.interpreters.func import FuncFunctions
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint

from layout_ir.interpreter.loop_functions import ArithOnBitsFunctions
from layout_ir.lowering.constants import Constants
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.next_step import next_step


def function_of(steps: tuple[int, ...], extents: tuple[int, ...]) -> func.FuncOp:
    """From the present steps of loops to the next ones, and whether the innermost loop begins anew."""
    indices = [IndexType() for _ in steps]
    body = Block(arg_types=indices)
    placeholder = func.ReturnOp()
    body.add_op(placeholder)
    builder = LoopBuilder(InsertPoint.before(placeholder), Constants(body))
    starts = dict(enumerate(body.args))
    following, turns = next_step(builder, starts, dict(enumerate(steps)), dict(enumerate(extents)))
    body.erase_op(placeholder)
    body.add_op(func.ReturnOp(*(following[i] for i in starts), turns))
    return func.FuncOp("next", (indices, [*indices, i1]), Region(body))


@pytest.mark.parametrize(
    ("steps", "extents"),
    [
        ((1,), (4,)),
        ((3,), (7,)),
        ((2, 3), (4, 9)),
        ((5, 4), (6, 10)),
        ((1, 2, 3), (2, 3, 4)),
        ((9, 1), (2, 3)),
    ],
)
def test_steps_follow_each_other(steps: tuple[int, ...], extents: tuple[int, ...]) -> None:
    function = function_of(steps, extents)
    interpreter = Interpreter(ModuleOp([function]), index_bitwidth=64)
    for implementations in (FuncFunctions(), ArithOnBitsFunctions()):
        interpreter.register_implementations(implementations)
    walked = list(itertools.product(*(range(0, end, step) for end, step in zip(extents, steps, strict=True))))
    for here, there in itertools.pairwise([*walked, walked[0]]):
        *following, turns = interpreter.call_op(function, here)
        assert tuple(following) == there
        assert bool(turns) == (there[-1] == 0)
