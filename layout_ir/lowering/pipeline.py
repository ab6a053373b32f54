"""`layout-lower`: all passes in order, from layouts by name to loops on flat buffers."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import vector
from xdsl.dialects.builtin import ModuleOp

from layout_ir.dialects.nested import nested
from layout_ir.lowering.flatten import FlattenPass
from layout_ir.lowering.outline_branches import OutlineBranchesPass
from layout_ir.lowering.resolve import ResolvePass
from layout_ir.lowering.split_vectors import SplitVectorsPass
from layout_ir.lowering.target import ANY_PROCESSOR, LoopOptions, Target
from layout_ir.lowering.to_buffers import ToBuffersPass
from layout_ir.lowering.to_loops import ToLoopsPass


def lower(context: Context, module: ModuleOp, target: Target = ANY_PROCESSOR) -> None:
    """
    Lower a module in place; afterwards no operation or attribute of the layout dialect is left.

    The module is verified before, and the loops are trusted: to verify them takes longer than to make them.
    """
    module.verify()
    stores_apart = not any(isinstance(op, vector.StoreOp) for op in nested(module))  # so all will be those of tiles
    for stage in (ResolvePass(), ToBuffersPass(), ToLoopsPass.of(target), FlattenPass(), OutlineBranchesPass()):
        stage.apply(context, module)
    if target.register_bytes < target.vector_bytes:
        SplitVectorsPass(target.register_bytes, stores_apart).apply(context, module)


@dataclass(frozen=True)
class LowerPass(LoopOptions):
    """The whole lowering as one pass."""

    name = "layout-lower"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower(ctx, op, self.target)
