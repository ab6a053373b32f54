"""Where loops that run inside of each other go next."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from layout_ir.lowering.loop_builder import LoopBuilder

Values = dict[int, SSAValue]
"""A value of some axes."""


def next_step(
    builder: LoopBuilder, starts: Mapping[int, SSAValue], steps: Mapping[int, int], extents: Mapping[int, int]
) -> tuple[Values, SSAValue]:
    """
    Where the innermost loop over axes, outermost first, begins its next step, and whether it begins anew there.

    Behind the last step of all comes the first one.
    """
    following: Values = {}
    turns: list[SSAValue] = []
    zero = builder.constant(0)
    for i, start in reversed(list(starts.items())):
        step = builder.constant(steps[i])
        if turns:
            step = builder.select(turns[-1], step, zero)
        behind = builder.insert(arith.AddiOp(start, step)).results[0]
        turns.append(builder.compare(behind, "uge", builder.constant(extents[i])))
        following[i] = builder.select(turns[-1], zero, behind)
    return {i: following[i] for i in starts}, turns[0]
