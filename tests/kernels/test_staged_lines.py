"""Tiles that write whole lines of a destination which begins anywhere: right at every alignment, and interpreted."""

from __future__ import annotations

from pathlib import Path

import pytest
from alignments import check_alignments
from reorder_batch import Reorder, case_texts, faults, interpreted, lowered
from staged_reorders import STAGED, allow_short_rows
from xdsl.dialects.builtin import ModuleOp

from layout_ir.lowering import staged_lines
from layout_ir.lowering.processor_families import ZEN_4


@pytest.fixture(autouse=True)
def short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors need not be large to have rows that are worth it."""
    allow_short_rows(monkeypatch)


def staged_module(reorders: tuple[Reorder, ...], team: int = 0) -> ModuleOp:
    return lowered(reorders, 64, team > 0, panels=True, stream_bytes=0, processor=ZEN_4, team=max(team, 1))


@pytest.mark.parametrize(
    "team, room, count",
    [(0, None, 15), (0, 4096, 14), (2, None, 14), (2, 4096, 12), (16, None, 4), (16, 4096, 2)],
)
def test_every_alignment(
    team: int, room: int | None, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if room is not None:
        monkeypatch.setattr(staged_lines, "STAGE_BYTES", room)
        monkeypatch.setattr(staged_lines, "LINES_OF_BLOCK", 1)
    module = staged_module(STAGED, team)
    assert sum("%rows = memref.alloca" in text for text in case_texts(module).values()) == count
    check_alignments(STAGED, module, tmp_path, *(["-fopenmp"] if team else ["-Wno-unknown-pragmas"]))


def test_interpreted() -> None:
    small = tuple(case for case in STAGED if case.shape[0] < 100)
    assert not faults(small, interpreted(staged_module(small)))
