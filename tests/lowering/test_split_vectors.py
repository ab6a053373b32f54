"""`layout-split-vectors`: shuffles of any lanes mean what they meant, for registers of any width."""

from __future__ import annotations

import numpy as np
import pytest
from layout_ir_text import parse
from xdsl.context import Context

from layout_ir.interpreter.loops import run_loops
from layout_ir.lowering.split_vectors import SplitVectorsPass

LANES = 16
"""Elements of a line, here of 4 bytes."""


def program(first: list[int], second: list[int]) -> str:
    """Two shuffles of two lines, one of the other's lanes, each of them stored."""
    line = f"vector<{LANES}xi32>"
    inner, outer = f"vector<{len(first)}xi32>", f"vector<{len(second)}xi32>"
    return f"""
func.func @mix(%x: memref<64xi32>, %y: memref<64xi32>) {{
  %zero = arith.constant 0 : index
  %one = arith.constant {LANES} : index
  %last = arith.constant 32 : index
  %seven = arith.constant dense<7> : {line}
  %a = vector.load %x[%zero] : memref<64xi32>, {line}
  %b = vector.load %x[%one] : memref<64xi32>, {line}
  %c = vector.shuffle %a, %b {first} : {line}, {line}
  %d = vector.shuffle %c, %c {second} : {inner}, {inner}
  %e = vector.shuffle %seven, %a {first} : {line}, {line}
  vector.store %c, %y[%zero] : memref<64xi32>, {inner}
  vector.store %d, %y[%one] : memref<64xi32>, {outer}
  vector.store %e, %y[%last] : memref<64xi32>, {inner}
  func.return
}}
"""


def written(text: str, register_bytes: int | None, stores_apart: bool = False) -> list[int]:
    """What the program writes, split or as it is."""
    module = parse(text)
    if register_bytes is not None:
        SplitVectorsPass(register_bytes, stores_apart).apply(Context(), module)
        module.verify()
        lengths = [int(part.split("x")[0]) for part in str(module).split("vector<")[1:]]
        assert 4 * max(lengths) <= register_bytes
    values, result = np.arange(100, 164, dtype=np.int32), np.full(64, -1, np.int32)
    run_loops(module, "mix", [values, result])
    return result.tolist()


@pytest.mark.parametrize("register_bytes", [16, 32, 64])
@pytest.mark.parametrize("lengths", [(16, 16), (8, 8), (16, 8), (8, 16), (4, 16), (2, 2)], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_shuffles_mean_what_they_meant(register_bytes: int, lengths: tuple[int, int], seed: int) -> None:
    random = np.random.default_rng(seed)
    first, second = (
        random.integers(0, 2 * operand, length).tolist()
        for operand, length in zip((LANES, lengths[0]), lengths, strict=True)
    )
    text = program(first, second)
    assert written(text, register_bytes) == written(text, register_bytes, stores_apart=True) == written(text, None)
