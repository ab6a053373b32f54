"""From a module to kernels: lower a copy of it, print C, compile, load."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from layout_ir.errors import LayoutError
from layout_ir.lowering.target import Target

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from layout_ir.runtime.kernel import Kernel


SCALAR = Target()
"""Loops for any processor and compiler."""


def lower_to_c(module: ModuleOp, target: Target = SCALAR) -> tuple[ModuleOp, str]:
    """A lowered copy of a module and its C text; raises `LayoutError` where a pass or the backend cannot go on."""
    from layout_ir.backends.c import emit_c

    with _no_collection():
        lowered = lowered_copy(module, target)
        return lowered, emit_c(lowered)


@contextmanager
def _no_collection() -> Generator[None]:
    """All that is made here lives on: to look for garbage in it over and over would take a fifth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def lowered_copy(module: ModuleOp, target: Target) -> ModuleOp:
    """A lowered copy of a module; raises `LayoutError` where a pass cannot go on."""
    from xdsl.context import Context
    from xdsl.utils.exceptions import DiagnosticException

    from layout_ir.lowering.pipeline import lower

    lowered = module.clone()
    try:
        lower(Context(), lowered, target)
    except DiagnosticException as error:
        raise LayoutError(brief_message(error)) from None
    return lowered


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

    wanted = this_processor().target(threads)
    if panels is not None:
        wanted = replace(wanted, panels=panels)
    if vector_bytes is not None:
        return compile_for(module, names, replace(wanted, vector_bytes=vector_bytes), threads)
    return compile_where_possible(module, names, wanted, threads)[1]


def compile_where_possible(
    module: ModuleOp, names: list[str], wanted: Target, threads: int | None
) -> tuple[Target, list[Kernel]]:
    """The kernels of functions for a target, or for what is left of it with this compiler, and which that is."""
    try:
        return wanted, compile_for(module, names, wanted, threads)
    except LayoutError:
        if not wanted.vector_bytes:
            raise
        # a compiler too old for shuffles still compiles scalar loops; any other mistake comes up again
        scalar = Target(threads=wanted.threads, team=wanted.team, share_bytes=wanted.share_bytes)
        return scalar, compile_for(module, names, scalar, threads)


def compile_for(module: ModuleOp, names: list[str], target: Target, threads: int | None) -> list[Kernel]:
    """The kernels of functions whose loops are made for `target`; otherwise as `compile_functions`."""
    from layout_ir.interpreter.functions import find_function
    from layout_ir.runtime.signature import Signature

    signatures = [Signature(find_function(module, name)) for name in names]
    with _no_collection():
        lowered, source = lower_to_c(module, target)
        written = written_by(lowered)
        del lowered  # or it would be taken for what lives on, until one long search for garbage finds many such modules
    return [signature.kernel(source, written[signature.name], threads) for signature in signatures]


def written_by(lowered: ModuleOp) -> dict[str, set[int]]:
    """Per function of a lowered module the positions of the arguments that it writes."""
    from xdsl.dialects.func import FuncOp

    from layout_ir.backends.uses import written_arguments

    return written_arguments({op.sym_name.data: op for op in lowered.ops if isinstance(op, FuncOp)})
