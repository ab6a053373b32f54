"""What tiles of large copies ask for ahead: about five kilobytes of a source that they read forward."""

from __future__ import annotations

import re

import pytest
from xdsl.context import Context

from layout_ir.api import layout
from layout_ir.layouts.shuffle_network import Load
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.explain import explain_module
from layout_ir.lowering.line_sequences import places_asked, rows_of
from layout_ir.lowering.processor_families import EMERALD_RAPIDS, GRANITE_RAPIDS, ICE_LAKE, ZEN_4
from layout_ir.lowering.target import Preferences, Target
from layout_ir.runtime.module import lower_to_c


def distances(
    source: str, destination: str, shape: tuple[int, ...], dtype: str, processor: str = ICE_LAKE
) -> list[int]:
    """What the loads of every tile ask for, in elements ahead."""
    module = reorder_module(layout(source), layout(destination), shape, dtype)
    text = explain_module(Context(), module, Target(vector_bytes=64, processor=processor))
    return [int(found) for found in re.findall(r"prefetching (\d+) elements ahead", text)]


@pytest.mark.parametrize(
    ("source", "destination", "shape", "dtype", "expected"),
    [
        ("NHWC", "NCHW", (512, 3, 224, 224), "i8", 5120),  # one sequence
        ("onednn:nChw16c", "onednn:nChw8c", (64, 64, 56, 56), "f32", 5120 // 4),
        ("NCHW", "onednn:nChw8c", (64, 64, 56, 56), "f32", 5120 // 8 // 4),  # eight sequences
        ("NCHW", "onednn:nChw16c", (64, 64, 56, 56), "f32", 5120 // 16 // 4),
        ("NCHW", "NHWC", (128, 64, 56, 56), "i8", 2 * 64),  # 64 sequences, of at least two lines each
        ("onednn:OIhw16i16o", "OIHW", (1376, 1360, 3, 3), "f32", 16 * 16 * 9),  # a whole block, in an order of its own
        ("NHWC", "NCHW", (128, 128, 64, 64), "i8", 8192 + 2048),  # two channels of tiles: no number of pages
    ],
)
def test_sources_read_forward(source: str, destination: str, shape: tuple[int, ...], dtype: str, expected: int):
    assert set(distances(source, destination, shape, dtype)) == {expected}


@pytest.mark.parametrize(
    ("source", "destination", "shape", "dtype", "expected"),
    [
        # rows of a few lines: what lies behind all rows of a tile, the last of which reaches a little further here
        ("NCHW", "onednn:nChw32c", (690, 512, 14, 14), "i8", 32 * 14 * 14 + 64),
        ("NCHW", "onednn:nChw16c", (690, 64, 28, 28), "f16", 16 * 28 * 28 + 32),
        # no number of pages
        ("NCHW", "NHWC", (334, 64, 56, 56), "i8", 64 * 56 * 56 + 2048),
        # long rows, which end seldom, and two rows that are asked for far ahead
        ("NCHW", "onednn:nChw16c", (6, 64, 224, 224), "f32", 5120 // 16 // 4),
        ("onednn:nChw8c", "onednn:nChw16c", (345, 64, 28, 28), "f32", 5120 // 2 // 4),
    ],
)
def test_zen_4_asks_for_what_follows_all_rows_of_a_tile_where_these_are_short(
    source: str, destination: str, shape: tuple[int, ...], dtype: str, expected: int
):
    assert set(distances(source, destination, shape, dtype, ZEN_4)) == {expected}


def test_lines_between_pitched_rows_are_not_asked_for():
    ahead = distances("strided<[430080, 6720, 120, 1]>", "NCHW", (84, 64, 56, 56), "f32")
    assert ahead
    assert all(distance % 120 == 0 for distance in ahead)


@pytest.mark.parametrize(
    ("source", "destination", "shape", "expected"),
    [
        ("NCHW", "onednn:nChw16c", (1, 64, 56, 60), {1280}),
        ("NCHW", "NHWC", (1, 64, 56, 60), {1280}),
        ("NHWC", "NCHW", (1, 64, 56, 60), {32}),  # rows of 64 planes, two lines each
        ("NHWC", "NCHW", (1, 64, 64, 64), set[int]()),  # planes a power of two apart compete
        ("NHWC", "NCHW", (4, 4, 64, 64), {16}),  # less so the lines that the very next tile writes
        ("onednn:oihw", "onednn:OIhw8i16o2i", (176, 176, 3, 3), {16}),  # the other half of 128 bytes
        ("onednn:nChw16c", "NHWC", (1, 32, 8, 8), set[int]()),  # near anyway
        ("NC", "ascend:FRACTAL_NZ", (112, 320), {32}),  # columns of blocks, each in places of its own
        ("NC", "ascend:FRACTAL_NZ", (128, 320), set[int]()),  # a power of two apart, all in the same
        ("NC", "ascend:FRACTAL_NZ", (512, 512), {32}),  # where lines come from a far cache, that is no matter
        ("NCHW", "NHWC", (512, 64, 56, 60), set[int]()),  # written past the caches
        ("onednn:nChw32c", "NHWC", (9, 96, 14, 14), {14 * 96}),  # two blocks of three: not what is left out of a row
    ],
)
def test_destinations_in_the_caches(source: str, destination: str, shape: tuple[int, ...], expected: set[int]):
    module = reorder_module(layout(source), layout(destination), shape, "f32")
    text = explain_module(Context(), module, Target(vector_bytes=64))
    assert {int(found) for found in re.findall(r"asks for the destination (\d+) elements", text)} == expected


def test_single_runs_have_no_gaps():
    module = reorder_module(layout("NCHW"), layout("NHWC"), (4, 1, 224, 224), "f32")
    text = explain_module(Context(), module, Target(vector_bytes=64, processor=EMERALD_RAPIDS))
    assert "asks for the destination 1280 elements ahead" in text


@pytest.mark.parametrize(
    ("source", "destination", "shape", "expected"),
    [
        ("onednn:nchw", "onednn:nChw16c", (1, 64, 56, 60), {256}),  # no need to be far ahead in a sequence of lines
        ("onednn:nhwc", "onednn:nchw", (129, 56, 8, 8), {15 * 64 + 32}),  # behind all the rows of a tile
        ("onednn:nhwc", "onednn:nchw", (1, 64, 56, 60), {32}),  # rows of 64 planes, two lines each
        ("onednn:nchw", "onednn:nhwc", (1, 100, 32, 32), {8 * 100 + 16}),  # which need not begin at lines
        ("onednn:nChw16c", "onednn:nchw", (1, 256, 12, 14), {32}),  # of 10 lines each, whose own next ones come soon
        ("onednn:nChw16c", "onednn:nchw", (4, 128, 7, 7), {26 * 16}),  # of 3, behind all rows of a tile
        ("onednn:aBcd4b", "onednn:abcd", (1, 256, 32, 32), {1280}),  # of a set of a cache that holds no further ones
        # the rest of the channels; of whole blocks the same part of the next image, unless it is another thread's
        ("onednn:aCBde16c16b", "onednn:aBdec16b", (4, 33, 16, 5, 5), {256}),
        ("onednn:aCBde16c16b", "onednn:aBdec16b", (40, 33, 16, 5, 5), {256, 19200}),
    ],
)
def test_threads_ask_for_lines_of_their_own(source: str, destination: str, shape: tuple[int, ...], expected: set[int]):
    module = reorder_module(layout(source), layout(destination), shape, "f32")
    text = explain_module(Context(), module, Target(vector_bytes=64, threads=True, team=2, processor=EMERALD_RAPIDS))
    assert {int(found) for found in re.findall(r"asks for the destination (\d+) elements", text)} == expected


@pytest.mark.parametrize("source", ["NHWC", "onednn:nChw16c"])
def test_planes_of_any_size_are_asked_for_in_the_caches(source: str):
    """Most planes do not compete, though one of unknown size may. Small ones follow each other soon."""
    module = reorder_module(layout(source), layout("NCHW"), (None, 64, None, None), "f32")
    _, text = lower_to_c(module, Target(vector_bytes=64))
    assert re.search(r"h_w_x16 <= 4096 \? 1280 : 32;", text)
    assert re.search(r"__builtin_prefetch\(&destination\[v_\d+ \+ h_w_x2\]\);", text)


@pytest.mark.parametrize("processor, lines", [(ICE_LAKE, 256), (EMERALD_RAPIDS, 104), (GRANITE_RAPIDS, 160)])
def test_the_destination_is_asked_for_far_ahead_up_to_so_many_lines(processor: str, lines: int):
    """16 planes of 15 x 15 are 225 lines, of 10 x 10 are 100."""
    target = Target(vector_bytes=64, processor=processor)
    for side, planes in ((10, 100), (15, 225)):
        module = reorder_module(layout("onednn:nChw16c"), layout("NCHW"), (20, 64, side, side), "f32")
        ahead = 1280 if planes <= lines else 32
        assert f"asks for the destination {ahead} elements" in explain_module(Context(), module, target)
    module = reorder_module(layout("onednn:nChw16c"), layout("NCHW"), (None, 64, None, None), "f32")
    assert f"h_w_x16 <= {16 * lines} ? 1280 : 32;" in lower_to_c(module, target)[1]


@pytest.mark.parametrize("channels, together", [(3, 3), (35, 16)])
def test_pads_are_no_rows_of_the_source(channels: int, together: int):
    """Behind three channels of an image lie those of the next one, but not where 32 others lie between them."""
    module = reorder_module(layout("NCHW"), layout("onednn:nChw16c"), (None, channels, None, None), "i8")
    _, text = lower_to_c(module, Target(vector_bytes=64, panels=True, processor=GRANITE_RAPIDS))
    found = {int(number) for number in re.findall(r"h_w_x(\d+) <= 39936 \?", text)}
    assert found == {together}


def test_ends_are_asked_for_where_runs_have_some():
    module = reorder_module(layout("NHWC"), layout("onednn:nChw16c"), (None, 3, None, None), "i8")
    _, text = lower_to_c(module, Target(vector_bytes=64, panels=True, processor=GRANITE_RAPIDS))
    asked = re.findall(r"(.*\n.*\n).*__builtin_prefetch\(&destination\[v_\d+\] \+ 4096, 1\);", text)
    assert len(asked) == 2
    assert all(re.match(r" *if \(v_\d+ > 0\) \{\n", lines) for lines in asked)


def test_rows_of_panels_are_read_forward_if_they_are_twice_as_long():
    module = reorder_module(layout("onednn:abc"), layout("onednn:cba"), (280, 200, 300), "f32")
    _, text = lower_to_c(module, Target(64, panels=True))
    assert set(re.findall(r"prefetch\(&source\[\S+(?: \+ \d+)?\] \+ (\d+)\)", text)) == {"80"}  # of rows of 160


@pytest.mark.parametrize(("width", "expected"), [(14, 64 * 14 * 14 + 64), (19, 2 * 64)])
def test_rows_end_where_their_last_tile_is_moved_back_to(width: int, expected: int):
    """Four tiles of 64 take 196 bytes, which are no two distances: what lies behind them is the next row."""
    module = reorder_module(layout("NCHW"), layout("NHWC"), (5349, 64, 14, width), "i8")
    _, text = lower_to_c(module, Target(64, panels=True))
    assert set(re.findall(r"prefetch\(&source\[[^]]*\] \+ (\d+)\)", text)) == {str(expected)}


@pytest.mark.parametrize(
    ("source", "destination", "shape", "expected", "usual"),
    [
        ("onednn:nChw16c", "NCHW", (334, 4, 113, 111), 16 * 1056 + 8, 1280),  # one sequence of lines: the next panel
        ("NHWC", "NCHW", (80, 64, 57, 57), 64 * 32 + 8, 1280),
        ("onednn:nChw16c", "NCHW", (None, 4, None, None), 16 * 1024 + 8, 1280),
        ("onednn:nChw32c", "NCHW", (80, 35, 57, 57), 1536, 1536),  # every second line is left out
        ("onednn:nChw16c", "NCHW", (80, 19, 57, 57), 1280, None),  # ends after three panels; elsewhere there are none
    ],
)
def test_panels_ask_for_where_the_next_one_begins(
    source: str, destination: str, shape: tuple[int | None, ...], expected: int, usual: int | None
):
    module = reorder_module(layout(source), layout(destination), shape, "f32")
    for processor, distance in ((ZEN_4, expected), (ICE_LAKE, usual)):
        _, text = lower_to_c(module, Target(64, panels=True, processor=processor))
        *_, last = re.split(r"float panel\w*\[\d+\];", text)
        found = [int(ahead) for ahead in re.findall(r"prefetch\(&source\[[^]]*\] \+ (\d+)", last)]
        assert distance in found if distance else not found
        assert max(found, default=0) < (distance or 1) + 256  # of a tile's loads that overlap, some ask further on


@pytest.mark.parametrize(
    ("source", "destination", "shape", "processor", "asks"),
    [
        ("onednn:nChw16c", "NCHW", (334, 4, 113, 111), ZEN_4, True),
        ("onednn:nChw16c", "NCHW", (334, 4, 113, 111), GRANITE_RAPIDS, False),  # which follows it by itself
        ("onednn:abc", "onednn:cba", (299, 200, 300), GRANITE_RAPIDS, True),  # many rows
    ],
)
def test_panels_ask_for_the_next_one_where_no_processor_follows_what_they_read(
    source: str, destination: str, shape: tuple[int, ...], processor: str, asks: bool
):
    module = reorder_module(layout(source), layout(destination), shape, "f32")
    target = Target(64, panels=True, processor=processor)
    assert ("asks for the rows of the next" in explain_module(Context(), module, target)) == asks
    _, text = lower_to_c(module, target)
    distances = {int(ahead) for ahead in re.findall(r"prefetch\(&source\[[^]]*\] \+ (\d+)", text)}
    assert (3072 // 4 in distances) == (not asks), distances


def test_a_number_of_tiles_that_was_asked_for_is_kept():
    module = reorder_module(layout("NHWC"), layout("NCHW"), (512, 64, 56, 60), "f32")
    text = explain_module(Context(), module, Target(vector_bytes=64, preferences=Preferences(prefetch_tiles=3)))
    assert "prefetching 3072 elements ahead" in text


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        ((0, 16, 32), (0, 16, 32)),
        ((0, 8, 16, 24), (0, 16, 32, 39)),  # the last one ends in a third line
        ((0, 4, 8, 12), (0, 16, 27, 12)),  # all begin in the first of two lines
        ((0, 12, 24, 36), (0, 16, 32, 48)),
        ((0, 8, 16), (0, 8, 16)),
        ((0, 32, 36), (0, 32, 48)),  # two stretches
    ],
)
def test_loads_that_overlap_ask_for_every_line(offsets: tuple[int, ...], expected: tuple[int, ...]):
    loads = [Load(offset, 16) for offset in offsets]
    assert places_asked(loads, 16) == dict(zip(offsets, expected, strict=True))


@pytest.mark.parametrize(
    ("accesses", "expected"),
    [
        ([], [0]),
        ([(16, 16), (0, 16)], [32]),  # in any order
        ([(0, 16), (8, 16)], [24]),
        ([(0, 32), (8, 8), (32, 4)], [36]),  # one inside of another, then one behind both
        ([(0, 16), (17, 16), (100, 1)], [16, 16, 1]),
    ],
)
def test_rows_are_what_follows_each_other(accesses: list[tuple[int, int]], expected: list[int]):
    assert rows_of([Load(*access) for access in accesses]) == expected
