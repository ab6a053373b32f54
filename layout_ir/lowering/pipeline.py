"""`layout-lower`: all passes in order, from layouts by name to loops on flat buffers."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from layout_ir.lowering.flatten import FlattenPass
from layout_ir.lowering.processor_model import ICE_LAKE
from layout_ir.lowering.resolve import ResolvePass
from layout_ir.lowering.target import LoopOptions, Target
from layout_ir.lowering.to_buffers import ToBuffersPass
from layout_ir.lowering.to_loops import ToLoopsPass


def lower(
    context: Context,
    module: ModuleOp,
    *,
    vector_bytes: int = 0,
    threads: bool = False,
    panels: bool = False,
    stream_bytes: int | None = None,
    processor: str = ICE_LAKE,
) -> None:
    """
    Lower a module in place; afterwards no operation or attribute of the layout dialect is left.

    The options are those of `layout-to-loops`.
    """
    lower_for(context, module, Target(vector_bytes, threads, panels, stream_bytes, processor))


def lower_for(context: Context, module: ModuleOp, target: Target) -> None:
    """Lower a module in place to loops that are made for `target`; those it trusts, as to verify them takes longer."""
    module.verify()
    for stage in (ResolvePass(), ToBuffersPass(), ToLoopsPass.of(target), FlattenPass()):
        stage.apply(context, module)


@dataclass(frozen=True)
class LowerPass(LoopOptions):
    """The whole lowering as one pass."""

    name = "layout-lower"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower_for(ctx, op, self.target)
