"""Kernels that ask for whole rows of the next step: right at every alignment, with threads, and interpreted."""

from __future__ import annotations

from pathlib import Path

import pytest
from alignments import check_alignments
from reorder_batch import case_texts, faults, interpreted, lowered
from row_reorders import REORDERS
from xdsl.dialects.builtin import ModuleOp

from layout_ir.lowering.processor_families import ZEN_4


def asking(threads: bool) -> ModuleOp:
    """The module, all of whose kernels ask for rows."""
    module = lowered(REORDERS, 64, threads, stream_bytes=0, processor=ZEN_4)
    for number, text in enumerate(case_texts(module).values()):
        assert "_ahead = " in text, REORDERS[number]
    return module


@pytest.mark.parametrize("threads", [False, True], ids=["one thread", "threads"])
def test_every_alignment(threads: bool, tmp_path: Path) -> None:
    check_alignments(REORDERS, asking(threads), tmp_path, *(["-fopenmp"] if threads else ["-Wno-unknown-pragmas"]))


@pytest.mark.parametrize("threads", [False, True], ids=["one thread", "threads"])
def test_no_request_leads_out_of_the_source(threads: bool) -> None:
    assert not faults(REORDERS, interpreted(asking(threads)))
