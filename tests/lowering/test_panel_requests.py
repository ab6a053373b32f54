"""Which panels ask for what the next one reads while they are written, by how they read and write on a processor."""

from __future__ import annotations

import pytest
from reorder_batch import Reorder, lowered
from varied_reorders import reorder
from xdsl.dialects import scf, vector

from layout_ir.lowering.processor_families import GRANITE_RAPIDS, ICE_LAKE, SAPPHIRE_RAPIDS, ZEN_4


@pytest.mark.parametrize(
    "case, asks, asks_on_granite_rapids",
    [
        (reorder("onednn:abcde", "onednn:decab", (32, 16, 624, 5, 5), "f32"), True, True),  # 96 rows of 100 bytes
        (
            reorder("onednn:ABc16b16a", "onednn:abc", (4800, 80, 77), "f16"),
            True,
            True,
        ),  # 77 rows, and lines are carried
        (
            reorder("onednn:ABc16b16a", "onednn:bca", (269, 100, 1000), "f16"),
            False,
            False,
        ),  # as few as a processor follows
        (reorder("onednn:bac", "onednn:aBc16b", (8423, 64, 77), "i8"), False, True),  # runs of 9856 bytes
        (reorder("onednn:abc", "onednn:bca", (351, 64, 1000), "i8"), False, True),  # 180 KB of scratch
        (reorder("onednn:Abcde8a", "onednn:decab", (4, 33, 26192, 1, 1), "i8"), False, True),  # rows of 4 bytes
    ],
    ids=str,
)
def test_small_panels_of_short_runs_ask_for_rows_on_sapphire_rapids(
    case: Reorder, asks: bool, asks_on_granite_rapids: bool
) -> None:
    assert asks_for_rows(case, SAPPHIRE_RAPIDS) == asks
    assert asks_for_rows(case, GRANITE_RAPIDS) == asks_on_granite_rapids
    assert not asks_for_rows(case, ICE_LAKE)


def asks_for_rows(case: Reorder, processor: str) -> bool:
    """Whether panels, those for a destination that begins at a line, ask for rows in loops of their own."""
    module = lowered([case], 64, panels=True, stream_bytes=0, processor=processor)
    at_line = next((op.true_region for op in module.walk() if isinstance(op, scf.IfOp)), module)
    loops = (op for op in at_line.walk() if isinstance(op, scf.ForOp))
    return any((loop.body.block.args[0].name_hint or "").endswith("_ahead") for loop in loops)


@pytest.mark.parametrize("processor, is_asked", [(ZEN_4, True), (SAPPHIRE_RAPIDS, False), (GRANITE_RAPIDS, False)])
def test_one_sequence_that_small_panels_read_is_asked_for_where_a_processor_does_not_follow(
    processor: str, is_asked: bool
) -> None:
    case = reorder("onednn:aBCde8c8b", "onednn:abcde", (8, 4, 1656, 5, 5), "f16")  # panels of 13 KB
    assert asks_ahead(case, processor, 6400) == is_asked


@pytest.mark.parametrize("processor, is_asked", [(ZEN_4, True), (SAPPHIRE_RAPIDS, True), (GRANITE_RAPIDS, False)])
def test_one_sequence_that_large_panels_read_is_asked_for_where_a_processor_does_not_follow(
    processor: str, is_asked: bool
) -> None:
    case = reorder("NHWC", "NCHW", (16, 128, 33, 33), "f16")  # of 270 KB
    assert asks_ahead(case, processor, 33 * 33 * 128) == is_asked


def asks_ahead(case: Reorder, processor: str, distance: int) -> bool:
    """Whether tiles ask for what lies so many elements ahead of what they read, or more: for what a panel takes."""
    module = lowered([case], 64, panels=True, stream_bytes=0, processor=processor)
    loads = [op for op in module.walk() if isinstance(op, vector.LoadOp) and "prefetch" in op.attributes]
    return any(op.attributes["prefetch"].value.data >= distance for op in loads)
