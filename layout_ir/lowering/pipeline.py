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


def lower(
    context: Context,
    module: ModuleOp,
    *,
    vector_bytes: int = 0,
    threads: bool = False,
    panels: bool = False,
    stream_bytes: int | None = None,
) -> None:
    """
    Lower a module in place; afterwards no operation or attribute of the layout dialect is left.

    The options are those of `layout-to-loops`.
    """
    to_loops = ToLoopsPass(vector_bytes, threads, panels, stream_bytes)
    for stage in (ResolvePass(), ToBuffersPass(), to_loops, FlattenPass()):
        stage.apply(context, module)
    module.verify()


@dataclass(frozen=True)
class LowerPass(ModulePass):
    """The whole lowering as one pass."""

    name = "layout-lower"

    vector_bytes: int = 0
    """Width of the vector registers that tiles go through: 16, 32 or 64; 0 for scalar loops."""

    threads: bool = False
    """Whether the outermost loops are parallel."""

    panels: bool = False
    """Whether lines of a large destination that tiles would write in parts are put together in a buffer first."""

    stream_bytes: int | None = None
    """Bytes from which on a destination is large and bypasses the caches; 24 MiB by default."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower(
            ctx,
            op,
            vector_bytes=self.vector_bytes,
            threads=self.threads,
            panels=self.panels,
            stream_bytes=self.stream_bytes,
        )
