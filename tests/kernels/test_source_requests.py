"""Kernels that ask for rows of the next step, or for lines by shares: right at every alignment, and interpreted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import row_reorders
from alignments import check_alignments
from reorder_batch import Reorder, case_texts, faults, interpreted, lowered
from varied_reorders import reorder
from xdsl.dialects.builtin import ModuleOp

from layout_ir.lowering.processor_families import SAPPHIRE_RAPIDS, ZEN_4

SHARES = (
    reorder("NHWC", "NCHW", (2, 64, 12, 12), "f32"),
    reorder("NHWC", "NCHW", (1, 100, 16, 16), "f32"),
    reorder("NHWC", "NCHW", (1, 192, 16, 12), "f16"),
    reorder("NHWC", "NCHW", (1, 180, 20, 16), "i8"),
    reorder("NCHW", "onednn:nChw16c", (3, 64, 12, 12), "f32"),
    reorder("onednn:OIhw4i16o4i", "onednn:oihw", (32, 64, 3, 3), "f32"),
)
"""Reorders whose tiles ask together for the next part of the source."""

PIECES = (
    reorder("NCHW", "NHWC", (1, 100, 32, 32), "f32"),
    reorder("NCHW", "NHWC", (2, 100, 56, 56), "f16"),
    reorder("NCHW", "NHWC", (1, 120, 48, 48), "i8"),
)
"""Reorders whose panels, with one thread, ask for pieces of rows; others take shorter or longer ones."""


@dataclass(frozen=True)
class Asking:
    """Reorders all of whose kernels ask ahead in one way."""

    reorders: Sequence[Reorder]
    processor: str
    panels: bool
    asks: str
    """What is in the text of each."""

    def module(self, threads: bool) -> ModuleOp:
        """The module of all."""
        module = lowered(self.reorders, 64, threads, panels=self.panels, stream_bytes=0, processor=self.processor)
        for number, text in enumerate(case_texts(module).values()):
            assert re.search(self.asks, text), self.reorders[number]
        return module


SHARE = r"%ahead\S* = affine\.apply \S+<[^\n]* mod "
ROWS = Asking(row_reorders.REORDERS, ZEN_4, False, "_ahead = ")
BY_SHARES = Asking(SHARES, SAPPHIRE_RAPIDS, True, SHARE)
BY_PIECES = Asking(PIECES, SAPPHIRE_RAPIDS, True, SHARE)

CASES = pytest.mark.parametrize(
    ("asking", "threads"),
    [(ROWS, False), (ROWS, True), (BY_SHARES, False), (BY_SHARES, True), (BY_PIECES, False)],
    ids=["rows", "rows, threads", "shares", "shares, threads", "pieces"],
)


@CASES
def test_every_alignment(asking: Asking, threads: bool, tmp_path: Path) -> None:
    flags = ["-fopenmp"] if threads else ["-Wno-unknown-pragmas"]
    check_alignments(asking.reorders, asking.module(threads), tmp_path, *flags)


@CASES
def test_no_request_leads_out_of_the_source(asking: Asking, threads: bool) -> None:
    assert not faults(asking.reorders, interpreted(asking.module(threads)))
