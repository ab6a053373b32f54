"""Copies that leave a near cache: past all caches where tiles write runs of lines, and right wherever they begin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import layout_ir as li
from layout_ir.interpreter.reference import reorder_reference
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.layout import Layout
from layout_ir.layouts.planner import make_plan
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.medium_copies import for_any_size, schedule_at_lines
from layout_ir.lowering.processor_families import EMERALD_RAPIDS, GRANITE_RAPIDS, ICE_LAKE, MODELS
from layout_ir.lowering.schedule import Schedule, choose_schedule
from layout_ir.lowering.target import Preferences, Target
from layout_ir.runtime.module import lower_to_c

TARGET = Target(64, panels=True, processor=EMERALD_RAPIDS)
MIB = 1 << 20
MEDIUM = 3 * MIB // 2
EMERALD_RAPIDS_LIMIT = MODELS[EMERALD_RAPIDS].stream_bytes
BLOCKS, PIXELS = "onednn:nChw16c", "NHWC"


def schedule(names: tuple[str | Layout, str], shape: tuple[int, ...], target: Target = TARGET) -> Schedule | None:
    left, right = ((li.layout(name) if isinstance(name, str) else name).index_map(shape, "f32") for name in names)
    plan = make_plan(left, right)
    found = schedule_at_lines(target, plan, 4, right.cell_count, left.size, left.storage_size, writes_pads=True)
    return None if found is None else found.schedule


def shape_of(mebibytes: float, channels: int = 64) -> tuple[int, ...]:
    return (1, channels, int(mebibytes * MIB / 4 / channels / 64), 64)


@pytest.mark.parametrize("destination, mebibytes, is_past", [
    *[(BLOCKS, 1.25, False), (BLOCKS, 1.5, True), (BLOCKS, 20, True)],
    *[(PIXELS, 1.25, False), (PIXELS, 1.5, True), (PIXELS, 8, True)],
])  # fmt: skip
def test_lines_go_past_the_caches_from_the_size_of_a_near_one_on(
    destination: str, mebibytes: float, is_past: bool
) -> None:
    found = schedule(("NCHW", destination), shape_of(mebibytes))
    assert (found is not None) == is_past
    assert found is None or found.streams


def test_pads_that_tiles_would_write_in_a_second_pass_do_so_by_panels() -> None:
    assert schedule(("onednn:adbc", "onednn:aBdc64b"), (240, 16, 16, 17)) is not None


def test_a_small_source_leaves_room_for_a_larger_destination() -> None:
    names = "onednn:bacd", "onednn:aCdb32c"
    assert schedule(names, (100, 16, 3, 48)) is None
    assert schedule(names, (100, 16, 16, 48)) is not None


@pytest.mark.parametrize("source, is_past", [
    ("NHWC", False),
    (BLOCKS, True),  # a third block of 3 channels and 13 pads
    (li.layout("strided", strides=(10**6, 606 * 32, 32, 1)), True),  # a line of gap behind every row of one
    (li.layout("strided", strides=(10**9, 10**7, 16, 1)), False),  # large ones behind images
])  # fmt: skip
def test_what_lines_of_a_source_bring_along_takes_its_room(source: str | Layout, is_past: bool) -> None:
    assert (schedule((source, "NCHW"), (1, 35, 606, 16)) is not None) == is_past


@pytest.mark.parametrize("mebibytes", [4, 23])
@pytest.mark.parametrize("processor", [EMERALD_RAPIDS, GRANITE_RAPIDS])
def test_pads_above_all_stay_in_the_caches(mebibytes: int, processor: str) -> None:
    target = replace(TARGET, processor=processor)
    for channels, is_past in ((3, False), (12, True)):  # of blocks of 16
        shape = (1, channels, mebibytes * MIB // 4 // 16 // 64, 64)
        assert (schedule(("NCHW", BLOCKS), shape, target) is not None) == is_past


def test_pads_alone_bring_nothing_along() -> None:
    """Of the rows of the third block of 16 none is there but the first."""
    assert schedule(("onednn:AcB8b24a", "onednn:AcB16b32a4b"), (56, 33, 56)) is None


def test_boxes_that_take_parts_of_the_same_rows_fetch_them_once() -> None:
    """Two images, far apart, of dense pixels of 35 channels: 32 that fill blocks, and 3 that do not."""
    far = li.layout("strided", strides=(10**7, 1, 40 * 35, 35))
    assert schedule((far, BLOCKS), (2, 35, 40, 40)) is None


@pytest.mark.parametrize("source, destination, channels, limit", [
    ("NCHW", BLOCKS, 3, EMERALD_RAPIDS_LIMIT),  # 13 pads for 3 elements
    ("NCHW", BLOCKS, 35, 2 * MEDIUM * 48 // 83),  # for the mean of both sides
    (BLOCKS, "NCHW", 35, 2 * MEDIUM * 35 // 83),
    ("NCHW", BLOCKS, 64, MEDIUM),
    ("NCHW", BLOCKS, None, MEDIUM),  # nobody knows how many pads
    ("NCHW", "NHWC", None, MEDIUM),
])  # fmt: skip
def test_pads_are_seen_where_channels_are_known(
    source: str, destination: str, channels: int | None, limit: int
) -> None:
    module = reorder_module(li.layout(source), li.layout(destination), (None, channels, None, None), "f32")
    _, text = lower_to_c(module, TARGET)
    are_rows = destination == PIXELS  # which are left to tiles in the caches for longer
    assert {f">= {bound // 4}" in text for bound in {MEDIUM, EMERALD_RAPIDS_LIMIT} - {limit}} == {are_rows}
    assert f">= {limit // 4}" in text


@pytest.mark.parametrize("target", [
    replace(TARGET, threads=True),
    replace(TARGET, processor=ICE_LAKE),
    replace(TARGET, vector_bytes=32, register_bytes=32),
    replace(TARGET, panels=False),
    replace(TARGET, stream_bytes=24 * MIB),
    replace(TARGET, preferences=Preferences(streams=False)),
])  # fmt: skip
def test_where_nobody_knows_better_one_limit_holds(target: Target) -> None:
    assert schedule(("NCHW", BLOCKS), shape_of(4), target) is None


def test_kernels_for_any_size_compare_it_with_the_limit_of_those_for_one_size() -> None:
    usual = choose_schedule(TARGET, 4, 1 << 20, 1 << 20)
    maps = [li.layout(name).index_map((1, 64, 128, 128), "f32") for name in ("NCHW", BLOCKS)]
    for processor in (EMERALD_RAPIDS, GRANITE_RAPIDS):
        assert for_any_size(replace(TARGET, processor=processor), usual, *maps).stream_bytes == MEDIUM
    for other in (replace(TARGET, threads=True), replace(TARGET, processor=ICE_LAKE), replace(TARGET, stream_bytes=1)):
        assert for_any_size(other, usual, *maps) == usual
    mostly_pads = [li.layout(name).index_map((1, 3, 128, 128), "f32") for name in ("NCHW", BLOCKS)]
    assert for_any_size(TARGET, usual, *mostly_pads) == usual


@pytest.mark.parametrize("processor", [EMERALD_RAPIDS, GRANITE_RAPIDS])
@pytest.mark.parametrize("source, destination, channels, rows", [
    ("NCHW", "NHWC", 35, ""),
    ("NCHW", "NHWC", 5, ""),
    ("NHWC", "NCHW", 35, "h_w"),  # rows as far apart as planes are large
    ("onednn:nChw8c", "NCHW", 64, "h_w"),  # from parts of lines
    ("NCHW", BLOCKS, 35, None),  # two boxes
    ("NCHW", BLOCKS, 64, None),  # one sequence of lines
    ("NCHW", "onednn:nChw8c", 64, None),  # of halves
    ("NCHW", "NHWC", 8, None),  # as of blocks
])  # fmt: skip
def test_kernels_for_any_size_keep_tiles_where_those_for_one_size_do(
    source: str, destination: str, channels: int, rows: str | None, processor: str
) -> None:
    module = reorder_module(li.layout(source), li.layout(destination), (None, channels, None, None), "f32")
    _, text = lower_to_c(module, replace(TARGET, processor=processor))
    body = text.partition("void reorder(")[2]
    model = MODELS[processor]
    medium, large = (model.medium_bytes or 0) // 4, model.stream_bytes // 4
    assert (f">= {large}" in body) == (rows is not None)
    looks_at_rows = bool(rows) and model.far_written_bytes is not None
    assert (">= 512" in body) == looks_at_rows
    assert (f">= {medium} && {rows} >= 512" in body) == looks_at_rows
    chosen = replace(TARGET, processor=processor, stream_bytes=MIB)  # one limit for all
    assert f">= {large}" not in lower_to_c(module, chosen)[1]


def test_a_copy_of_single_parts_of_lines_stays_in_the_caches_where_its_tiles_ask_for_these() -> None:
    assert schedule(("onednn:ab", "onednn:ba"), (1501, 1000)) is None
    # rows of whole pages are lines of one set, which has no place for those that are asked for
    assert schedule(("onednn:abcd", "onednn:dcba"), (8, 64, 32, 41)) is not None


@pytest.mark.parametrize("offset", [0, 16])
@pytest.mark.parametrize(
    "names, shape, processor",
    [
        (("NCHW", BLOCKS), (3, 35, 80, 64), EMERALD_RAPIDS),
        (("onednn:adbc", "onednn:aBdc64b"), (30, 16, 16, 18), EMERALD_RAPIDS),
        (("NCHW", PIXELS), shape_of(8), EMERALD_RAPIDS),
        (("NCHW", BLOCKS), (5, 3, 129, 111), GRANITE_RAPIDS),
        (("onednn:acbd", "onednn:AcdB4b32a4b"), (8, 36, 28, 28), GRANITE_RAPIDS),
    ],
)
def test_kernels_are_right_wherever_the_destination_begins(
    names: tuple[str, str], shape: tuple[int, ...], processor: str, offset: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYOUT_IR_PROCESSOR", processor)
    kernel = li.compile_reorder(names[0], names[1], shape=shape, dtype="f32")
    left, right = (li.layout(name).index_map(shape, "f32") for name in names)
    source = np.random.default_rng(0).integers(0, 1 << 32, left.storage_size, np.uint32)
    expected = np.zeros(right.storage_size, np.uint32)
    reorder_reference(source, left, right, 0, expected)
    memory = np.full(4 * expected.size + 2 * LINE_BYTES, 0xA5, np.uint8)
    start = -memory.ctypes.data % LINE_BYTES + offset
    kernel(source, memory[start : start + 4 * expected.size].view(np.uint32))
    assert (memory[start : start + 4 * expected.size].view(np.uint32) == expected).all()
    assert (memory[:start] == 0xA5).all()
    assert (memory[start + 4 * expected.size :] == 0xA5).all()


def test_the_text_chooses_by_where_the_destination_begins() -> None:
    module = reorder_module(li.layout("NCHW"), li.layout(BLOCKS), shape_of(2), li.element_type("f32"))
    medium, usual = (lower_to_c(module, target)[1] for target in (TARGET, replace(TARGET, stream_bytes=24 * MIB)))
    assert "layout_stream" in medium
    assert "layout_stream" not in usual
