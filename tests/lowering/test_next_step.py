"""Where loops go next is where they do go next, and behind the last step of all comes the first."""

from __future__ import annotations

import itertools

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.interpreters.func import FuncFunctions
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint

from layout_ir.interpreter.arith_functions import ArithOnBitsFunctions
from layout_ir.interpreter.loop_functions import AffineIndexFunctions
from layout_ir.lowering.constants import Constants
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.next_step import LoopAround, next_step


def function_of(steps: tuple[int, ...], extents: tuple[int, ...], count: int) -> func.FuncOp:
    """From the present steps of loops, and where each ends, to those that come so many steps later."""
    indices = [IndexType() for _ in (*steps, *steps)]
    body = Block(arg_types=indices)
    placeholder = func.ReturnOp()
    body.add_op(placeholder)
    builder = LoopBuilder(InsertPoint.before(placeholder), Constants(body))
    starts, ends = body.args[: len(steps)], body.args[len(steps) :]
    loops = [LoopAround(i, *loop) for i, loop in enumerate(zip(starts, steps, extents, ends, strict=True))]
    following = next_step(builder, loops, count)
    body.erase_op(placeholder)
    body.add_op(func.ReturnOp(*(following[i] for i in range(len(steps)))))
    return func.FuncOp("next", (indices, indices[: len(steps)]), Region(body))


def assert_steps_are_found(steps: tuple[int, ...], extents: tuple[int, ...], ends: tuple[int, ...], count: int) -> None:
    function = function_of(steps, extents, count)
    interpreter = Interpreter(ModuleOp([function]), index_bitwidth=64)
    for implementations in (FuncFunctions(), ArithOnBitsFunctions(), AffineIndexFunctions()):
        interpreter.register_implementations(implementations)
    walked = list(itertools.product(*(range(0, end, step) for end, step in zip(ends, steps, strict=True))))
    for number, here in enumerate(walked):
        assert tuple(interpreter.call_op(function, (*here, *ends))) == walked[(number + count) % len(walked)]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
@pytest.mark.parametrize(
    ("steps", "extents"),
    [
        ((1,), (4,)),
        ((3,), (7,)),
        ((2, 3), (4, 9)),
        ((5, 4), (6, 10)),
        ((1, 2, 3), (2, 3, 4)),
        ((9, 1), (2, 3)),
        ((1, 9), (3, 2)),
    ],
)
def test_steps_follow_each_other(steps: tuple[int, ...], extents: tuple[int, ...], count: int) -> None:
    assert_steps_are_found(steps, extents, extents, count)


@pytest.mark.parametrize("count", [1, 2])
def test_a_loop_that_ends_earlier_goes_on_with_the_next_step_outside(count: int) -> None:
    assert_steps_are_found((1, 5, 2), (4, 20, 9), (4, 13, 5), count)
