"""Kernels whose tiles ask for lines together: right at every alignment, with threads, and interpreted."""

from __future__ import annotations

from pathlib import Path

import pytest
from alignments import check_alignments
from reorder_batch import case_texts, faults, interpreted, lowered
from varied_reorders import reorder
from xdsl.dialects.builtin import ModuleOp

from layout_ir.lowering.processor_families import SAPPHIRE_RAPIDS

REORDERS = (
    reorder("NHWC", "NCHW", (2, 64, 12, 12), "f32"),
    reorder("NHWC", "NCHW", (1, 100, 16, 16), "f32"),
    reorder("NHWC", "NCHW", (1, 192, 16, 12), "f16"),
    reorder("NHWC", "NCHW", (1, 180, 20, 16), "i8"),
    reorder("NCHW", "onednn:nChw16c", (3, 64, 12, 12), "f32"),
    reorder("onednn:OIhw4i16o4i", "onednn:oihw", (32, 64, 3, 3), "f32"),
    reorder("NCHW", "NHWC", (1, 100, 32, 32), "f32"),  # pieces of rows
    reorder("NCHW", "NHWC", (1, 120, 45, 45), "f16"),
    reorder("NCHW", "NHWC", (1, 150, 50, 51), "i8"),
)


def asking(threads: bool) -> ModuleOp:
    """The module, nearly all of whose kernels ask for lines together."""
    module = lowered(REORDERS, 64, threads, panels=True, stream_bytes=0, processor=SAPPHIRE_RAPIDS)
    texts = case_texts(module).values()
    asks = [number for number, text in enumerate(texts) if "%ahead" in text]
    assert len(asks) >= len(REORDERS) - 2, asks
    return module


@pytest.mark.parametrize("threads", [False, True], ids=["one thread", "threads"])
def test_every_alignment(threads: bool, tmp_path: Path) -> None:
    check_alignments(REORDERS, asking(threads), tmp_path, *(["-fopenmp"] if threads else ["-Wno-unknown-pragmas"]))


@pytest.mark.parametrize("threads", [False, True], ids=["one thread", "threads"])
def test_no_request_leads_out_of_the_source(threads: bool) -> None:
    assert not faults(REORDERS, interpreted(asking(threads)))
