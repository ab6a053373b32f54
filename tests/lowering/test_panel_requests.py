"""Which panels ask for what the next one reads while they are written, by how they read and write on a processor."""

from __future__ import annotations

import pytest
from reorder_batch import Reorder, lowered
from varied_reorders import reorder
from xdsl.dialects import memref, scf, vector
from xdsl.ir import Operation

from layout_ir.lowering.processor_families import EMERALD_RAPIDS, GRANITE_RAPIDS, ICE_LAKE, ZEN_4


def panel_loops(case: Reorder, processor: str, *, at_line: bool = True) -> list[Operation]:
    """The operations of the panels for a destination that begins at a line, or inside of one, if that matters."""
    module = lowered([case], 64, panels=True, stream_bytes=0, processor=processor)
    choice = next((op for op in module.walk() if isinstance(op, scf.IfOp)), None)
    branch = module if choice is None else choice.true_region if at_line else choice.false_region
    found = list(branch.walk())
    assert any(isinstance(op, memref.AllocaOp) for op in found), "expected panels"
    return found


def asks_for_rows(case: Reorder, processor: str, *, at_line: bool = True) -> bool:
    """Whether panels ask for rows in loops of their own."""
    loops = (op for op in panel_loops(case, processor, at_line=at_line) if isinstance(op, scf.ForOp))
    return any((loop.body.block.args[0].name_hint or "").endswith("_ahead") for loop in loops)


@pytest.mark.parametrize(
    "case, asks",
    [
        (reorder("onednn:abcde", "onednn:decab", (32, 16, 624, 5, 5), "f32"), True),  # 96 rows of 100 bytes
        (reorder("onednn:ABc16b16a", "onednn:abc", (4800, 80, 77), "f16"), True),  # 77 rows, and lines are carried
        (reorder("onednn:bac", "onednn:aBc16b", (8423, 64, 77), "i8"), False),  # runs of 9856 bytes
        (reorder("onednn:cdab", "onednn:abcd", (530, 16, 13, 100), "f32"), False),  # 300 KB of scratch, in short runs
        (reorder("onednn:abc", "onednn:bca", (351, 64, 1000), "i8"), False),  # of 180 KB, in one run
        (reorder("onednn:Abcde8a", "onednn:decab", (4, 33, 26192, 1, 1), "i8"), False),  # rows of 4 bytes
    ],
    ids=str,
)
def test_small_panels_of_short_runs_ask_for_rows_on_sapphire_rapids(case: Reorder, asks: bool) -> None:
    assert asks_for_rows(case, EMERALD_RAPIDS) == asks
    assert asks_for_rows(case, GRANITE_RAPIDS), "expected any panels to ask"
    assert not asks_for_rows(case, ICE_LAKE)


@pytest.mark.parametrize(("processor", "asks"), [(GRANITE_RAPIDS, True), (EMERALD_RAPIDS, False)])
def test_no_panels_that_carry_lines_ask_for_the_16_rows_that_sapphire_rapids_follows(
    processor: str, asks: bool
) -> None:
    case = reorder("NCHW", "onednn:nChw16c", (84, 64, 56, 56), "f32")
    assert asks_for_rows(case, processor, at_line=False) == asks


SMALL = reorder("onednn:BA16a64b2a", "onednn:ba", (8965, 256), "f16")  # panels of 12 KB
LARGE = reorder("onednn:bcda", "onednn:acdb", (32, 8835, 3, 3), "i8")  # of 19 to 310 KB


@pytest.mark.parametrize(
    ("case", "processor", "is_asked"),
    [
        (SMALL, ZEN_4, True),
        (SMALL, EMERALD_RAPIDS, False),
        (LARGE, ZEN_4, True),
        (LARGE, EMERALD_RAPIDS, True),
        (LARGE, GRANITE_RAPIDS, False),
    ],
    ids=str,
)
def test_panels_of_one_sequence_ask_for_it_where_a_processor_does_not_follow(
    case: Reorder, processor: str, is_asked: bool
) -> None:
    loops = panel_loops(case, processor, at_line=False)
    scratch = max(op.memref.type.element_count() for op in loops if isinstance(op, memref.AllocaOp))
    loads = [op for op in loops if isinstance(op, vector.LoadOp) and "prefetch" in op.attributes]
    assert any(op.attributes["prefetch"].value.data > scratch // 2 for op in loads) == is_asked


def scratch_bytes(case: Reorder, processor: str, *, at_line: bool = True) -> int:
    """Size of the largest scratch buffer of the panels."""
    loops = panel_loops(case, processor, at_line=at_line)
    types = [op.memref.type for op in loops if isinstance(op, memref.AllocaOp)]
    return max(one.element_count() * one.element_type.bitwidth // 8 for one in types)


@pytest.mark.parametrize(
    "case",
    [
        reorder("NHWC", "NCHW", (60, 512, 15, 15), "f32"),
        reorder("NHWC", "NCHW", (100, 192, 29, 29), "f32"),
        reorder("onednn:ABcd16a16b", "onednn:abcd", (128, 256, 15, 15), "f32"),
    ],
    ids=str,
)
def test_panels_at_lines_take_small_pieces_of_what_a_cache_of_sapphire_rapids_keeps(case: Reorder) -> None:
    assert scratch_bytes(case, EMERALD_RAPIDS) <= 30_000
    assert scratch_bytes(case, EMERALD_RAPIDS, at_line=False) > 100_000, "expected pieces for no other start"
    assert scratch_bytes(case, GRANITE_RAPIDS) > 100_000


@pytest.mark.parametrize("channels", [128, 160])
def test_pieces_of_images_are_asked_for_an_image_ahead_on_sapphire_rapids(channels: int) -> None:
    """Images of 115 and 144 KB, of which panels take two lines of each pixel."""
    case = reorder("NHWC", "NCHW", (300, channels, 15, 15), "f32")
    assert scratch_bytes(case, EMERALD_RAPIDS) <= 30_000
    for processor, is_ahead in ((EMERALD_RAPIDS, True), (GRANITE_RAPIDS, False)):
        loads = [op for op in panel_loops(case, processor) if isinstance(op, vector.LoadOp)]
        ahead = [op.attributes["prefetch"].value.data for op in loads if "prefetch" in op.attributes]
        assert (channels * 15 * 15 in ahead) == is_ahead
