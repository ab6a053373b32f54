"""`layout-lower`: nothing of the dialect is left, programs mean what they meant, the stages one by one are the same."""

from __future__ import annotations

import numpy as np
import pytest
from layout_families import FAMILIES
from layout_ir_text import left_of_layouts, new_context, parse
from reorder_batch import SENTINEL, lowered, module_of
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from layout_ir.interpreter.functions import arguments, results
from layout_ir.interpreter.loops import run_loops
from layout_ir.interpreter.module import interpret
from layout_ir.lowering.flatten import FlattenPass
from layout_ir.lowering.outline_branches import OutlineBranchesPass
from layout_ir.lowering.pipeline import LowerPass, lower
from layout_ir.lowering.resolve import ResolvePass
from layout_ir.lowering.split_vectors import SplitVectorsPass
from layout_ir.lowering.target import Target
from layout_ir.lowering.to_buffers import ToBuffersPass
from layout_ir.lowering.to_loops import ToLoopsPass

PLAIN, IMAGE = "tensor<1x5x2x3xi16>", 'tensor<1x5x2x3xi16, #layout.format<"mace:IN_OUT_CHANNEL", dims = "NCHW">>'
BLOCKED, GAPS = 'tensor<1x5x2x3xi16, #layout.format<"onednn:nChw4c">>', "tensor<1x5x2x3xi16, strided<[80, 13, 5, 1]>>"

PROGRAM = f"""
func.func @inner(%a: {PLAIN}) -> ({IMAGE}, {BLOCKED}) {{
  %b = layout.reorder %a pad = -7 : i16 : {PLAIN} to {IMAGE}
  %c = layout.reorder %b : {IMAGE} to {BLOCKED}
  func.return %b, %c : {IMAGE}, {BLOCKED}
}}
func.func @outer(%x: {PLAIN}, %y: {IMAGE}) -> ({GAPS}, {PLAIN}, {PLAIN}) {{
  %b, %c = func.call @inner(%x) : ({PLAIN}) -> ({IMAGE}, {BLOCKED})
  %d = layout.reorder %c : {BLOCKED} to {GAPS}
  %e = layout.reorder %y : {IMAGE} to {PLAIN}
  %same = layout.cast %x : {PLAIN} to tensor<1x5x2x3xi16, #layout.format<"NCHW">>
  %f = layout.reorder %same pad = undef : tensor<1x5x2x3xi16, #layout.format<"NCHW">> to {PLAIN}
  func.return %d, %e, %f : {GAPS}, {PLAIN}, {PLAIN}
}}
"""
OPTIONS = [
    *({}, {"vector_bytes": 16}, {"vector_bytes": 64}, {"threads": True}, {"threads": True, "vector_bytes": 32}),
    {"vector_bytes": 64, "panels": True, "stream_bytes": 0, "register_bytes": 32},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_nothing_of_the_dialect_is_left(options: dict[str, int]) -> None:
    cases = [case for family in FAMILIES for case in family.reorders[::83]]
    module = module_of(cases)
    assert len(left_of_layouts(module)) >= len(cases)
    lower(Context(), module, Target(**options))
    module.verify()
    assert left_of_layouts(module) == []
    assert {op.name.split(".")[0] for op in module.walk()} <= {
        *("builtin", "func", "scf", "arith", "affine", "memref"),
        *(["vector"] if "vector_bytes" in options else []),
    }
    assert "tensor" not in str(module)


@pytest.mark.parametrize("vector_bytes", [0, 16])
def test_a_program_means_what_it_meant(vector_bytes: int) -> None:
    program = parse(PROGRAM)
    function = next(op for op in program.ops if op.sym_name.data == "outer")  # pyright: ignore[reportAttributeAccessIssue]
    random = np.random.default_rng(0)
    given = [
        random.integers(-999, 999, storage.index_map.storage_size).astype(np.int16) for storage in arguments(function)
    ]
    expected = interpret(program, "outer", given, fill=SENTINEL)
    buffers = [
        np.full(2 * storage.index_map.storage_size, SENTINEL, np.uint8).view(np.int16) for storage in results(function)
    ]
    lower(Context(), program, Target(vector_bytes))
    run_loops(program, "outer", [*given, *buffers])
    assert [buffer.tobytes() for buffer in buffers] == [array.tobytes() for array in expected]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_one_pass_is_its_stages(options: dict[str, int]) -> None:
    by_stages, by_pass, without_resolve = parse(PROGRAM), parse(PROGRAM), parse(PROGRAM)
    for stage in (ResolvePass(), ToBuffersPass(), ToLoopsPass(**options), FlattenPass(), OutlineBranchesPass()):
        stage.apply(Context(), by_stages)
        by_stages.verify()
    LowerPass(**options).apply(new_context(), by_pass)
    for stage in (ToBuffersPass(), ToLoopsPass(**options), FlattenPass()):
        stage.apply(Context(), without_resolve)
    for module in (by_stages, without_resolve):
        SplitVectorsPass(options.get("register_bytes", 64), stores_apart=True).apply(Context(), module)
        module.verify()
    assert str(by_pass) == str(by_stages) == str(without_resolve)


def test_lowering_is_deterministic_and_idempotent() -> None:
    cases = FAMILIES[0].reorders[::97]
    first, second = lowered(cases, 32), lowered(cases, 32)
    assert str(first) == str(second)
    lower(Context(), second)
    assert str(first) == str(second)


def test_a_module_without_layouts_stays() -> None:
    text = """func.func @f(%x: memref<4xf32>, %n: index) -> f32 {
      %v = memref.load %x[%n] : memref<4xf32>
      func.return %v : f32
    }"""
    module: ModuleOp = parse(text)
    lower(Context(), module)
    assert str(module) == str(parse(text))
