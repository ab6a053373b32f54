"""The explanation of a lowering says what the lowering does."""

from __future__ import annotations

import pytest
from xdsl.context import Context

from layout_ir.api import layout
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.explain import explain_module
from layout_ir.lowering.processor_families import EMERALD_RAPIDS, GRANITE_RAPIDS
from layout_ir.lowering.target import Target


def explained(source: str, destination: str, shape: tuple[int, ...], vector_bytes: int = 64) -> str:
    module = reorder_module(layout(source), layout(destination), shape, "f32")
    return explain_module(Context(), module, Target(vector_bytes=vector_bytes))


@pytest.mark.parametrize(
    "source, destination, shape, expected",
    [
        ("NCHW", "NHWC", (1, 16, 4, 4), "tile of c_d 16 x b 16: 16 loads, 64 shuffles, 16 stores"),
        ("NCHW", "NHWC", (1, 16, 4, 4), "vectors of 16 elements"),
        ("NCHW", "NHWC", (8, 64, 256, 256), "streams whole lines"),
        ("onednn:ab", "onednn:ba", (5000, 3001), "ordinary stores: tiles end inside of lines"),
        ("onednn:ab", "onednn:ba", (4096, 4096), "prefetching 32 elements ahead"),
        ("onednn:nChw16c", "onednn:nChw8c", (8, 64, 256, 256), "c_d by 8 (prefetching 1280 elements ahead)"),
        ("NHWC", "NCHW", (8, 3, 512, 512), "c_d by 128 (prefetching 1280 elements ahead)"),
        ("onednn:ab", "onednn:ba", (1, 3), "scalar loops"),
        ("NCHW", "onednn:nChw16c", (1, 3, 4, 4), "b: 16 valid 3"),
    ],
)
def test_explanation(source: str, destination: str, shape: tuple[int, ...], expected: str):
    assert expected in explained(source, destination, shape)


@pytest.mark.parametrize(
    "source, shape, expected",
    [
        ("NCHW", (8, 100, 128, 128), "panels"),
        ("NCHW", (8, 100, 128, 128), "b 100, 12864 bytes of scratch: tiles alone would write lines in parts"),
        ("NCHW", (8, 100, 128, 128), "loops over a by 1 (parallel), c_d by 32"),
        ("NCHW", (8, 100, 128, 128), "streams whole lines from there, in runs of 12800 bytes"),
        ("onednn:nChw16c", (8, 35, 256, 256), "35 cells that 2 copies share"),
        ("NCHW", (8, 64, 256, 256), "  streams whole lines"),
        ("NCHW", (1, 100, 16, 16), "c_d by 16"),
    ],
)
def test_panels_are_named(source: str, shape: tuple[int, ...], expected: str):
    module = reorder_module(layout(source), layout("NHWC"), shape, "f32")
    assert expected in explain_module(Context(), module, Target(vector_bytes=64, threads=True, panels=True))


def test_panels_tell_what_they_carry():
    module = reorder_module(layout("NC"), layout("CN"), (25000, 3001), "i8")
    text = explain_module(Context(), module, Target(vector_bytes=64, panels=True))
    assert "streams whole lines from there, in runs of 128 bytes; what is left of a line goes on to the next a" in text
    assert "goes on" not in explained("NCHW", "NHWC", (8, 100, 128, 128), vector_bytes=64)


def test_panels_name_the_regions_that_they_ask_for():
    module = reorder_module(layout("onednn:abc"), layout("onednn:acb"), (1119, 200, 300), "i8")
    text = explain_module(Context(), module, Target(vector_bytes=64, threads=True, panels=True))
    assert "loops over a by 1 (parallel)" in text
    assert "asks for the next a of the source while one is moved" in text
    assert "asks for" not in explained("NCHW", "NHWC", (8, 100, 128, 128), vector_bytes=64)


@pytest.mark.parametrize("processor, planes, is_whole", [
    (EMERALD_RAPIDS, 42, True),  # 28224 bytes of a block
    (EMERALD_RAPIDS, 45, False),
    (GRANITE_RAPIDS, 45, True),
])  # fmt: skip
def test_a_block_of_channels_is_asked_for_while_a_near_cache_holds_it(processor: str, planes: int, is_whole: bool):
    module = reorder_module(layout("onednn:nChw16c"), layout("NCHW"), (500, 64, planes, planes), "i8")
    text = explain_module(Context(), module, Target(vector_bytes=64, panels=True, processor=processor))
    assert ("asks for the next a_b1 of the source while one is moved" in text) == is_whole


def test_panels_name_the_axes_that_their_tiles_take_as_one():
    module = reorder_module(layout("onednn:abcde"), layout("onednn:edcba"), (157, 20, 24, 28, 32), "i8")
    text = explain_module(Context(), module, Target(vector_bytes=64, panels=True))
    assert "tile of d_e 64 x a 64: 64 loads, 384 shuffles, 64 stores of up to 64 elements" in text


@pytest.mark.parametrize("dtype", ["f32", "f16", "i8"])
def test_blocks_that_do_not_nest_write_whole_lines(dtype: str):
    module = reorder_module(layout("onednn:Acdb32a"), layout("onednn:Acdb48a"), (2016, 1856, 3, 3), dtype)
    assert "streams whole lines" in explain_module(Context(), module, Target(vector_bytes=64))


def test_other_starts_are_explained_where_they_make_a_difference():
    start = "\n  if the destination does not begin at a cache line:\n"
    large = reorder_module(layout("NCHW"), layout("NHWC"), (8, 64, 256, 256), "f32")
    at_line, elsewhere = explain_module(Context(), large, Target(vector_bytes=64, panels=True)).split(start)
    assert "to a panel" not in at_line
    assert "to a panel" in elsewhere
    at_line, elsewhere = explained("NCHW", "NHWC", (1, 64, 32, 32)).split(start)
    assert "b by 16 inside 32, c_d by 16 inside 32" in elsewhere
    assert "c_d by 16 inside 32, b by 16 inside 32" in at_line
    assert start not in explained("NHWC", "onednn:nChw16c", (1, 64, 32, 32))


def test_boxes_that_read_the_same_lines_are_explained_together():
    module = reorder_module(layout("NHWC"), layout("onednn:nChw16c"), (8, 35, 256, 256), "f32")
    text = explain_module(Context(), module, Target(vector_bytes=64, threads=True))
    assert "all 2 read the same lines, inside of loops over a, 8 times (parallel); c_d, 1024 times" in text
    assert "copy [c_d: 64, 35 -> 16] [b: 16 valid 3, 1 -> 1]" in text


def test_scalar_loops_are_explained_by_their_boxes():
    text = explained("NCHW", "NHWC", (1, 3, 4, 4), vector_bytes=0)
    assert text.splitlines()[1:] == ["  copy [c_d: 16, 1 -> 3] [b: 3, 16 -> 1] at 0 -> 0: scalar loops"]
