"""Which copies threads share: those that take longer than it does to wake them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from layout_ir.layouts.element_type import element_type
from layout_ir.layouts.plan import Axis, Box, CopyPlan
from layout_ir.lowering.schedule import choose_schedule
from layout_ir.lowering.small_copies import for_threads_that_pay, threads_pay_for_elements
from layout_ir.lowering.target import Target
from layout_ir.runtime.processor import this_processor

FLOATS, BYTES = element_type("f32").bytes, element_type("i8").bytes
TARGET = Target(64, threads=True, team=4, share_bytes=64 << 10)


def transpose(rows: int, columns: int) -> Box:
    return Box((Axis("a", rows, columns, 1, rows), Axis("b", columns, 1, rows, columns)))


def far_apart(count: int) -> Box:
    """Elements that lie in lines of their own on both sides: there is no tile for them."""
    return Box((Axis("a", count, 1000, 3000, count),))


@pytest.mark.parametrize(
    "boxes, element_bytes, is_shared",
    [
        ([transpose(128, 64)], FLOATS, True),  # 32 KB to 32 KB
        ([transpose(128, 63)], FLOATS, False),
        ([transpose(128, 64)], BYTES, False),
        ([transpose(128, 256)], BYTES, True),
        ([transpose(128, 32), transpose(128, 32)], FLOATS, True),
        ([far_apart(1024)], FLOATS, True),  # as many lines
        ([far_apart(1023)], FLOATS, False),
        ([transpose(128, 32), far_apart(512)], FLOATS, True),
        ([transpose(128, 32), far_apart(511)], FLOATS, False),
    ],
)
def test_threads_share_what_moves_bytes_enough(boxes: list[Box], element_bytes: int, is_shared: bool) -> None:
    cells, elements = sum(box.cells for box in boxes), sum(box.elements for box in boxes)
    schedule = choose_schedule(TARGET, element_bytes, cells, elements)
    chosen = for_threads_that_pay(schedule, TARGET, CopyPlan(tuple(boxes)), elements, element_bytes)
    assert chosen == (schedule if is_shared else replace(schedule, threads=0))
    assert schedule.threads == TARGET.team


def test_scalar_loops_are_shared_by_their_elements() -> None:
    assert threads_pay_for_elements(TARGET, CopyPlan((transpose(32, 32),)))
    assert not threads_pay_for_elements(TARGET, CopyPlan((transpose(32, 31),)))
    assert not threads_pay_for_elements(replace(TARGET, threads=False), CopyPlan((transpose(320, 320),)))


def test_all_copies_are_shared_unless_a_target_says_otherwise() -> None:
    assert Target(64, threads=True).share_bytes == 0
    assert this_processor().target(2).share_bytes > 0
    assert this_processor().target(None).share_bytes == 0
