"""`memref.cast`: another type for the same buffer, which C's pointers do not tell apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from layout_ir.backends.uses import written_arguments
from layout_ir.interpreter.loops import run_loops

STORE_BEHIND_CASTS = """
func.func @copy(%x : memref<8xi32>, %y : memref<8xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %from = "memref.cast"(%x) : (memref<8xi32>) -> memref<?xi32>
  %any = "memref.cast"(%y) : (memref<8xi32>) -> memref<?xi32>
  %to = "memref.cast"(%any) : (memref<?xi32>) -> memref<8xi32>
  %v = memref.load %from[%one] : memref<?xi32>
  memref.store %v, %to[%zero] : memref<8xi32>
  func.return
}
"""


def test_what_is_written_under_another_type_is_written(
    run: Callable[..., None], c_text: Callable[[str], str], module: Callable[[str], ModuleOp]
) -> None:
    source, destination = np.arange(8, dtype=np.int32), np.full(8, -1, np.int32)
    run(STORE_BEHIND_CASTS, "copy", source, destination)
    assert destination.tolist() == [1, *[-1] * 7]
    assert "const int32_t *restrict x, int32_t *restrict y" in c_text(STORE_BEHIND_CASTS)
    parsed = module(STORE_BEHIND_CASTS)
    functions = {op.sym_name.data: op for op in parsed.ops if isinstance(op, FuncOp)}
    assert written_arguments(functions) == {"copy": {1}}
    interpreted = np.full(8, -1, np.int32)
    run_loops(parsed, "copy", [source, interpreted])
    assert np.array_equal(interpreted, destination)
