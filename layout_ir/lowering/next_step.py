"""Where loops that run inside of each other go next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.lowering.loop_builder import LoopBuilder

Values = dict[int, SSAValue]
"""A value of some axes."""


@dataclass(frozen=True)
class LoopAround:
    """One of the loops around something."""

    axis: int
    start: SSAValue
    """Where its present step begins."""
    step: int
    extent: int
    """Where it ends; may be a stand-in."""
    end: SSAValue | None = None
    """Where it ends this time; None where that is always the same."""


def next_step(builder: LoopBuilder, loops: Sequence[LoopAround], count: int = 1) -> Values:
    """
    Where loops, outermost first, begin their next step, or the one `count` later; behind the last of all is the first.

    Their steps are digits of a number, to which `count` is added: what is too much for a loop goes to the one outside.
    Where one ends earlier this time, and has no more than `count` steps, it may be less far, or behind that end.
    """
    following: Values = {}
    turns: SSAValue | None = None
    zero = builder.constant(0)
    for loop in reversed(loops):
        count, steps = divmod(count, -(-loop.extent // loop.step))
        if turns is None and steps == 0:
            following[loop.axis] = loop.start
            continue
        step = builder.constant(steps * loop.step)
        if turns is not None:
            step = builder.select(turns, builder.constant((steps + 1) * loop.step), step)
        behind = builder.insert(arith.AddiOp(loop.start, step)).results[0]
        is_one = steps + (turns is not None) == 1
        end = builder.constant(loop.extent) if loop.end is None else loop.end
        turns = builder.compare(behind, "uge", end)
        anew = zero if is_one else _less_all_steps(builder, loop.step, end, behind)
        following[loop.axis] = builder.select(turns, anew, behind)
    return {loop.axis: following[loop.axis] for loop in loops}


def _less_all_steps(builder: LoopBuilder, step: int, end: SSAValue, behind: SSAValue) -> SSAValue:
    """How far behind the first step of a loop a place is that lies behind its last one."""
    length = builder.index((AffineExpr.dimension(0) + (step - 1)) // step * step, [end])
    return builder.insert(arith.SubiOp(behind, length)).results[0]
