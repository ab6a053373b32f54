"""The program that checks kernels on other processors sees what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest
import self_checking_program
from reorder_batch import Reorder
from varied_reorders import Variant

import layout_ir as li
from layout_ir.runtime.compiler import find_compiler

REORDER = Reorder(li.layout("NC"), li.layout("NC"), (4, 16))
COPY = "for (int i = 0; i < 64; i++) destination[i] = source[i];"


def check(body: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"void case_0(float *source, float *destination) {{ {body} }}\n"
    monkeypatch.setattr(self_checking_program, "c_text", lambda reorders, variant: text)
    self_checking_program.self_check(find_compiler().command, (), (REORDER,), (Variant(0),), folder, guard=64)


def test_a_right_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(COPY, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "fault",
    [
        "destination[63] = source[62];",
        "destination[64] = 0;",
        "destination[-1] = 0;",
        "source[3] = 0;",
        "if ((long)source % 64) destination[0] = source[1];",
        "if ((long)destination % 64) destination[0] = source[1];",
    ],
)
def test_a_wrong_kernel(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match=r'wrong: "NC" -> "NC" of \[4, 16\] f32, pad 0, scalar loops, shifted by'):
        check(COPY + fault, tmp_path, monkeypatch)
