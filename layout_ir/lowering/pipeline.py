"""`layout-lower`: all passes in order, from layouts by name to loops on flat buffers."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from layout_ir.lowering.flatten import FlattenPass
from layout_ir.lowering.resolve import ResolvePass
from layout_ir.lowering.to_buffers import ToBuffersPass
from layout_ir.lowering.to_loops import ToLoopsPass


def lower(context: Context, module: ModuleOp) -> None:
    """Lower a module in place; afterwards no operation or attribute of the layout dialect is left."""
    for stage in (ResolvePass(), ToBuffersPass(), ToLoopsPass(), FlattenPass()):
        stage.apply(context, module)
    module.verify()


@dataclass(frozen=True)
class LowerPass(ModulePass):
    """The whole lowering as one pass."""

    name = "layout-lower"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower(ctx, op)
