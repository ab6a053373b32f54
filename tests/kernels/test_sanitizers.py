"""
Kernels under the address and undefined behaviour sanitizers, on buffers of exactly the bytes that they may touch.

`make sanitize` runs this; it is no part of the ordinary test run. `LAYOUT_IR_TESTS=all` tries more random pairs.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
import self_checking_program
from random_pairs import random_reorder
from reorder_batch import Reorder
from staged_reorders import STAGED, allow_short_rows
from varied_reorders import PANELS, VARIED, ZEN_3_PANELS, ZEN_4_PANELS, Variant

import layout_ir as li
from layout_ir.runtime.compiler import find_compiler

BATCH = 50
PAIRS = 600 if os.environ.get("LAYOUT_IR_TESTS") == "all" else 100
# an optimizer leaves out accesses that are of no use, and takes three times as long
FLAGS = ("-O0", "-g1", "-std=gnu11", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-march=native")
VARIANTS = (Variant(0), Variant(16), Variant(64, streams=True), replace(ZEN_3_PANELS, panels=False), PANELS)


def check(reorders: tuple[Reorder, ...], folder: Path, variants: tuple[Variant, ...] = VARIANTS) -> None:
    command = (*find_compiler().command, *FLAGS, "-Wno-psabi")
    self_checking_program.self_check(
        command, ("env", "ASAN_OPTIONS=detect_leaks=0"), reorders, variants, folder, guard=0
    )


@pytest.mark.sanitize
@pytest.mark.parametrize("start", range(2000, 2000 + PAIRS, BATCH))
def test_random_pairs(start: int, tmp_path: Path) -> None:
    check(tuple(random_reorder(seed) for seed in range(start, start + BATCH)), tmp_path)


@pytest.mark.sanitize
def test_reorders_of_every_kind(tmp_path: Path) -> None:
    check(VARIED, tmp_path)


@pytest.mark.sanitize
def test_lines_put_together_row_by_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allow_short_rows(monkeypatch)
    assert self_checking_program.c_text(STAGED, ZEN_4_PANELS).count(" rows[") >= len(STAGED)
    check(STAGED, tmp_path, (ZEN_4_PANELS,))


@pytest.mark.sanitize
@pytest.mark.parametrize("last, array", [("destination[0] = source[64]", "READ"), ("destination[64] = 0", "WRITE")])
def test_an_element_too_many_is_seen(last: str, array: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reorder = Reorder(li.layout("NC"), li.layout("NC"), (4, 16))
    text = f"void case_0(const float *source, float *destination) {{ {last}; }}\n"
    monkeypatch.setattr(self_checking_program, "c_text", lambda reorders, variant: text)
    with pytest.raises(AssertionError, match=f"heap-buffer-overflow(.|\n)*{array} of size 4"):
        check((reorder,), tmp_path, VARIANTS[:1])
