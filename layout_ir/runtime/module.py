"""From a module to kernels: lower a copy of it, print C, compile, load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layout_ir.errors import LayoutError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from layout_ir.runtime.kernel import Kernel


def lower_to_c(
    module: ModuleOp, *, threads: bool = False, vector_bytes: int = 0, panels: bool = False
) -> tuple[ModuleOp, str]:
    """
    A lowered copy of a module, with parallel loops for `threads`, vectors of `vector_bytes`, `panels`, and its C text.

    Raises `LayoutError` where a pass or the backend cannot go on.
    """
    from xdsl.context import Context
    from xdsl.utils.exceptions import DiagnosticException

    from layout_ir.backends.c import emit_c
    from layout_ir.lowering.pipeline import lower

    lowered = module.clone()
    try:
        lower(Context(), lowered, threads=threads, vector_bytes=vector_bytes, panels=panels)
    except DiagnosticException as error:
        raise LayoutError(brief_message(error)) from None
    return lowered, emit_c(lowered)


def brief_message(error: Exception) -> str:
    """What xDSL says about a module that is at fault, with the operation that it underlines, without all the others."""
    from itertools import pairwise

    notes: list[str] = getattr(error, "__notes__", [])
    lines = [line.strip() for line in "\n".join(notes).splitlines()]
    marked = [f"  {above}" for above, line in pairwise(lines) if line.startswith(("^^", "^-"))]
    return "\n".join([str(error).strip(), *marked[:1]])


def compile_functions(
    module: ModuleOp,
    names: list[str],
    *,
    threads: int | None = None,
    vector_bytes: int | None = None,
    panels: bool | None = None,
) -> list[Kernel]:
    """
    Kernels of public functions of tensors and memrefs: they take the storage of every argument, then of every result.

    `threads` as in `load_kernel`. `vector_bytes`: width of the vectors that tiles go through, 0 for scalar loops, None
    for this processor's. `panels`: as in `layout-to-loops`, None for what suits this processor. Raises `LayoutError`
    for a function that cannot be compiled, without a compiler, and where it fails.
    """
    from layout_ir.runtime.processor import this_processor

    processor = this_processor()
    if panels is None:
        panels = processor.panels
    if vector_bytes is None:
        try:
            return compile_functions(module, names, threads=threads, vector_bytes=processor.vector_bytes, panels=panels)
        except LayoutError:
            if not processor.vector_bytes:
                raise
            # a compiler too old for shuffles still compiles scalar loops; any other mistake comes up again
            return compile_functions(module, names, threads=threads, vector_bytes=0)
    from xdsl.dialects.func import FuncOp

    from layout_ir.backends.uses import written_arguments
    from layout_ir.interpreter.functions import find_function
    from layout_ir.runtime.signature import Signature

    signatures = [Signature(find_function(module, name)) for name in names]
    lowered, source = lower_to_c(module, threads=threads is not None, vector_bytes=vector_bytes, panels=panels)
    written = written_arguments({op.sym_name.data: op for op in lowered.ops if isinstance(op, FuncOp)})
    return [signature.kernel(source, written[signature.name], threads) for signature in signatures]
