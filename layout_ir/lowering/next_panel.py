"""Where the panel that follows this one begins, and how large it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.layouts.panel import Panel
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.next_step import LoopAround, Values, next_step


@dataclass(frozen=True)
class NextPanel:
    """The panel behind the present one; behind the last one of all, the first."""

    starts: Values
    """First step of the shared axes that are cut into panels, outermost loop first."""
    counts: Values
    """Steps of the shared axes that have several."""
    turns: SSAValue
    """Whether the innermost loop has ended, so that it begins again."""


def next_panel(builder: LoopBuilder, panel: Panel, starts: Mapping[int, SSAValue]) -> NextPanel:
    """The panel behind the one at `starts`, which are those of the loops over panels, outermost first."""
    loops = [LoopAround(i, start, panel.steps[i], panel.group.axes[i].extent) for i, start in starts.items()]
    following = next_step(builder, loops)
    turns = builder.compare(following[loops[-1].axis], "eq", builder.constant(0))
    return NextPanel(following, counts_of(builder, panel, following), turns)


def counts_of(builder: LoopBuilder, panel: Panel, starts: Mapping[int, SSAValue]) -> Values:
    """Steps of the shared axes that have several, in the panel that starts there."""
    several = [i for i, steps in enumerate(panel.steps) if steps > 1 or i == panel.carried]
    return {i: _count(builder, panel, i, starts.get(i)) for i in several}


def _count(builder: LoopBuilder, panel: Panel, i: int, start: SSAValue | None) -> SSAValue:
    extent, steps = panel.group.axes[i].extent, panel.steps[i]
    if start is None or panel.is_even(i):
        return builder.constant(steps)
    return builder.minimum(builder.index(AffineExpr.constant(extent) - AffineExpr.dimension(0), [start]), steps)
