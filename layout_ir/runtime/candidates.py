"""Schedules that may suit a function better than the cost model's own, and their kernels, compiled together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp

from layout_ir.backends.c import emit_c
from layout_ir.interpreter.functions import find_function
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.lowering.processor_families import MODELS
from layout_ir.lowering.target import Preferences, Target
from layout_ir.runtime.kernel import Kernel
from layout_ir.runtime.module import lowered_copy, written_by
from layout_ir.runtime.signature import Signature

BLOCK_TILES = (1, 2, 4)
"""Tiles along each side of a block that are tried."""

PREFETCH_TILES = (1, 2, 4)
"""How many tiles ahead the source is asked for, along either side."""

RUN_BYTES = (128, 320, 768, 1536)
"""Lengths of the runs of panels that are tried."""

ROW_BYTES = (64, 128, 512, 1536)
"""Lengths of the rows of the source that panels take, likewise."""

LEAST_VECTOR_BYTES = 32
"""Width of vectors from which on narrower ones are tried too: half of it would do as much in twice as many."""


def ways_to_store(model: Target, *, other_panels: bool) -> Iterator[Target]:
    """Targets that write other parts at once than the model's: vectors, panels, whole lines, blocks, families."""
    narrow = model.vector_bytes // 2
    for panels in (model.panels, *([not model.panels] if other_panels else [])):
        for streams in (None, True, False) if model.vector_bytes == LINE_BYTES else (None,):
            yield from _blocks(replace(model, panels=panels, preferences=Preferences(streams=streams)))
        if panels:
            for run, row in product(RUN_BYTES, ROW_BYTES):
                yield replace(model, panels=panels, preferences=Preferences(run_bytes=run, row_bytes=row))
    for processor, other in MODELS.items():
        if other != MODELS[model.processor]:
            yield replace(model, processor=processor)
    if narrow >= LEAST_VECTOR_BYTES:
        yield from _blocks(replace(model, vector_bytes=narrow, panels=False))


def _blocks(target: Target) -> Iterator[Target]:
    for tiles in (None, *BLOCK_TILES):
        yield replace(target, preferences=replace(target.preferences, block_tiles=tiles))


def ways_to_prefetch(target: Target) -> Iterator[Target]:
    """The target with all that it can ask for ahead of time."""
    yield replace(target, preferences=replace(target.preferences, prefetch="none"))
    for along in ("source", "destination"):
        for tiles in PREFETCH_TILES:
            chosen = replace(target.preferences, prefetch=along, prefetch_tiles=tiles)
            yield replace(target, preferences=chosen)


@dataclass(frozen=True)
class Candidate:
    """One function lowered for one target."""

    target: Target
    lowered: ModuleOp
    text: str
    """Its IR, by which one is known that another target leads to as well."""


def distinct(module: ModuleOp, targets: Iterable[Target], known: Sequence[Candidate] = ()) -> list[Candidate]:
    """`known`, then a candidate for every target that leads to loops of its own; `module` has been isolated."""
    found = {candidate.text: candidate for candidate in known}
    for target in targets:
        lowered = lowered_copy(module, target)
        text = str(lowered)
        found.setdefault(text, Candidate(target, lowered, text))
    return list(found.values())


def compile_candidates(
    module: ModuleOp, name: str, candidates: Sequence[Candidate], threads: int | None
) -> list[Kernel]:
    """Kernels of one function, one a candidate, all from one C text; raises `LayoutError` where the compiler fails."""
    signature = Signature(find_function(module, name))
    together = ModuleOp([])
    for number, candidate in enumerate(candidates):
        functions = list(_renamed(candidate.lowered.clone(), f"candidate_{number}_").ops)
        for function in functions:
            function.detach()
        together.body.block.add_ops(functions)
    source, written = emit_c(together), written_by(together)
    symbols = [f"candidate_{number}_{name}" for number in range(len(candidates))]
    return [signature.kernel(source, written[symbol], threads, symbol=symbol) for symbol in symbols]


def _renamed(module: ModuleOp, prefix: str) -> ModuleOp:
    """The module itself, whose functions with a body have names of their own."""
    names = {op.sym_name.data for op in module.ops if isinstance(op, FuncOp) and not op.is_declaration}
    for op in module.walk():
        if isinstance(op, FuncOp) and op.sym_name.data in names:
            op.sym_name = StringAttr(prefix + op.sym_name.data)
        elif isinstance(op, CallOp) and op.callee.string_value() in names:
            op.callee = SymbolRefAttr(prefix + op.callee.string_value())
    return module


def isolated(module: ModuleOp, name: str) -> ModuleOp:
    """A copy of a module with one function and those that it calls."""
    result = module.clone()
    functions = {op.sym_name.data: op for op in result.ops if isinstance(op, FuncOp)}
    needed: set[str] = set()
    todo = [name]
    while todo:
        one = todo.pop()
        if one in functions and one not in needed:
            needed.add(one)
            todo += [call.callee.string_value() for call in functions[one].walk() if isinstance(call, CallOp)]
    for one, function in functions.items():
        if one not in needed:
            function.detach()
            function.erase()
    return result
