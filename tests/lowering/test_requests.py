"""What kernels ask for ahead of time is what they read next, as an interpreter sees them ask and read."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field

import numpy as np
import pytest
from reorder_batch import Reorder, lowered
from row_reorders import ROWS
from varied_reorders import placed, reorder, small_panels, source_and_expected
from xdsl.context import Context
from xdsl.dialects import vector
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

import layout_ir as li
from layout_ir.interpreter.loops import run_loops
from layout_ir.interpreter.reference import reorder_reference
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.pipeline import lower
from layout_ir.lowering.processor_families import EMERALD_RAPIDS, GRANITE_RAPIDS, ZEN_4
from layout_ir.lowering.target import Target
from layout_ir.runtime.module import lower_to_c

LINE_BYTES = 64


@dataclass
class Watcher(Interpreter.Listener):
    """Notes in which order the lines of the source are asked for and read."""

    elements: int
    """Of the source, which no other buffer has."""
    lanes: int
    behind_line: int
    """Elements that the source begins behind a line."""
    asked: set[int] = field(default_factory=set[int])
    waits: list[int] = field(default_factory=list[int])
    """For each line that is asked for before it is read, how many loads lie between."""
    unasked: list[int] = field(default_factory=list[int])
    """For each line that is read before it is asked for, how many loads came before."""
    asked_at: dict[int, int] = field(default_factory=dict[int, int])
    loads: int = 0
    loads_before: int = -1
    """How many of them came before the first request."""

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        if not isinstance(op, vector.LoadOp) or args[0].size != self.elements:
            return
        is_request = not op.result.uses
        first = args[1] + self.behind_line + (op.attributes["prefetch"].value.data if is_request else 0)
        lines = range(first // self.lanes, (first + op.result.type.get_shape()[0] - 1) // self.lanes + 1)
        if is_request:
            self.loads_before = self.loads if self.loads_before < 0 else self.loads_before
            self.asked.update(lines)
            for line in lines:
                self.asked_at.setdefault(line, self.loads)
            return
        self.waits += [self.loads - self.asked_at.pop(line) for line in lines if line in self.asked_at]
        self.unasked += [self.loads for line in lines if line not in self.asked]
        self.asked.update(lines)  # it is in a cache from now on
        self.loads += 1


def watched_at(
    sizes: tuple[int, int, int],
    panels: bool,
    pair: tuple[str, str] = ("NCHW", "onednn:nChw16c"),
    channels: int = 64,
    processor: str = ZEN_4,
) -> Watcher:
    """What an interpreter saw of a kernel for batches of any number, of planes of any size."""
    source, destination = map(li.layout, pair)
    module = reorder_module(source, destination, (None, channels, None, None), "f32")
    lower(Context(), module, Target(64, panels=panels, stream_bytes=0, processor=processor))
    assert ("memref.alloca" in str(module)) == panels
    shape = (sizes[0], channels, *sizes[1:])
    values = np.arange(np.prod(shape), dtype=np.float32)
    maps = [layout.index_map(shape, "f32") for layout in (source, destination)]
    result = np.zeros_like(values)
    watcher = Watcher(values.size, LINE_BYTES // 4, 0)
    run_loops(module, "reorder", [values, result], sizes, listeners=[watcher])
    assert np.array_equal(result, reorder_reference(values, *maps))
    return watcher


def watched(case: Reorder, behind_line: int, processor: str = ZEN_4) -> Watcher:
    """What an interpreter saw of the kernel for a destination that counts as large, and begins at a line."""
    values, expected = source_and_expected(case, 0)
    watcher = Watcher(values.size, LINE_BYTES // values.itemsize, behind_line)
    destination = placed(expected.size, expected, 0)
    module = lowered([case], 64, panels=True, stream_bytes=0, processor=processor)
    run_loops(module, "case_0", [values, destination], listeners=[watcher])
    assert np.array_equal(destination, expected)
    return watcher


@pytest.mark.parametrize("behind_line", [0, 3])
@pytest.mark.parametrize(("case", "steps"), ROWS, ids=str)
def test_tiles_ask_for_all_rows_of_the_next_step(case: Reorder, steps: int, behind_line: int) -> None:
    seen = watched(case, behind_line)
    assert seen.unasked
    assert all(loads < seen.loads / steps for loads in seen.unasked), (seen.unasked, seen.loads)


PANELS = (
    reorder("NCHW", "NHWC", (2, 100, 13, 17), "f32"),
    reorder("onednn:ab", "onednn:ba", (203, 301), "f32"),
    reorder("onednn:ab", "onednn:ba", (301, 406), "i8"),
    reorder("onednn:abc", "onednn:cba", (70, 5, 53), "f16"),
)


@pytest.mark.parametrize("case", PANELS, ids=str)
def test_panels_ask_for_the_next_one_also_behind_the_end_of_the_innermost_loop(case: Reorder) -> None:
    with small_panels():
        seen = watched(case, 0)
    late = [loads for loads in seen.unasked if loads >= seen.loads_before]
    # the line that a row of the present panel ends with is the next one's first, but where one begins at a line
    assert len(late) < len(seen.asked) / 24, (late, seen.loads_before, seen.loads)


@pytest.mark.parametrize(
    ("case", "are_small"),
    [
        (reorder("onednn:ab", "onednn:ba", (200, 736), "i8"), False),
        (reorder("onednn:abc", "onednn:cba", (200, 6, 192), "i8"), False),
        (reorder("onednn:abcd", "onednn:dcba", (150, 6, 3, 96), "i8"), False),
        # of twice as many panels take pieces that a cache keeps, which carry lines
        (reorder("onednn:abcd", "onednn:dcba", (35, 6, 3, 96), "f16"), False),
        # carried lines: the last panel has fewer steps than its tile, which begins in front of it
        (reorder("onednn:abcde", "onednn:edcba", (40, 5, 4, 3, 96), "f16"), True),
    ],
    ids=str,
)
def test_panels_that_begin_other_rows_ask_for_what_comes_128_lines_later(case: Reorder, are_small: bool) -> None:
    with small_panels() if are_small else nullcontext():
        seen = watched(case, 0, EMERALD_RAPIDS)
    assert seen.loads > 3 * 128
    assert max(seen.unasked) <= 128, "expected all lines but the first to be asked for"
    assert max(seen.waits) <= 128


@pytest.mark.parametrize(
    ("destination", "shape", "dtype", "times"),
    [
        ("onednn:cba", (1119, 200, 300), "i8", 1),
        # fewer rows than the processor's prefetcher would need to be lost among
        ("onednn:cba", (560, 200, 300), "f16", 4),
        # rows that a first level cache has no places for, as all begin at pages
        ("onednn:cba", (1119, 16, 4096), "i8", 4),
    ],
)
def test_what_was_asked_for_while_the_last_panel_was_written_is_asked_for_once(
    destination: str, shape: tuple[int, ...], dtype: str, times: int
) -> None:
    module = lowered([reorder("onednn:abc", destination, shape, dtype)], 64, panels=True, processor=ZEN_4)
    loads = [
        op for op in module.walk() if isinstance(op, vector.LoadOp) and op.result.uses and "prefetch" in op.attributes
    ]
    assert loads
    asked = {op.attributes["times"].value.data if "times" in op.attributes else 1 for op in loads}
    assert asked == {times}


@pytest.mark.parametrize("panels", [False, True], ids=["tiles", "panels"])
@pytest.mark.parametrize("sizes", [(8, 7, 9), (2, 14, 14), (1, 4, 4), (4, 5, 13)])
def test_kernels_for_any_size_ask_for_what_follows_all_rows_of_a_tile(
    sizes: tuple[int, int, int], panels: bool
) -> None:
    n, h, w = sizes
    seen = watched_at(sizes, panels)  # which fails where one asks for what lies behind the end of the source
    rows, page, lines = 16 * h * w, 1024, n * 64 * h * w // 16
    distance = -(-rows // page) * page + page // 2
    assert len(seen.asked) == lines
    assert len(seen.unasked) <= distance // 16 + h * w


@pytest.mark.parametrize(
    "pair, channels, processor, is_part",
    [
        (("NHWC", "NCHW"), 192, GRANITE_RAPIDS, False),  # 38 KB
        (("NHWC", "NCHW"), 512, GRANITE_RAPIDS, False),  # 100 KB, of which parts take rows of two lines
        (("NHWC", "NCHW"), 1024, GRANITE_RAPIDS, True),  # 200 KB
        (("NHWC", "NCHW"), 1024, EMERALD_RAPIDS, False),
        (("NHWC", "NCHW"), 1280, EMERALD_RAPIDS, True),  # 245 KB
        (("NHWC", "NCHW"), 512, ZEN_4, False),
        (("NCHW", "NHWC"), 512, GRANITE_RAPIDS, False),  # short rows of unknown length
        (("NCHW", "NHWC"), 1024, GRANITE_RAPIDS, True),  # which are not read in long pieces of all of them
    ],
)
def test_parts_of_small_steps_ask_a_step_ahead_and_of_large_ones_for_the_next_part(
    pair: tuple[str, str], channels: int, processor: str, is_part: bool
) -> None:
    seen = watched_at((3, 7, 7), True, pair, channels, processor)
    # what the first step reads is asked for by its own parts at most
    step, waits = seen.loads / 3, sorted(seen.waits[-2 * channels * 7 * 7 // 16 :])
    assert len(waits) > step
    least, most = waits[len(waits) // 10], waits[len(waits) * 9 // 10]
    assert most <= step / 8 if is_part else step * 0.9 < least <= most < step * 1.1


@pytest.mark.parametrize(
    "dtype, processor, asks",
    [
        ("f32", GRANITE_RAPIDS, True),
        ("f16", GRANITE_RAPIDS, True),
        ("i8", GRANITE_RAPIDS, False),
        ("f32", ZEN_4, False),
    ],
)
def test_parts_of_steps_ask_for_the_next_one_while_they_are_written(dtype: str, processor: str, asks: bool) -> None:
    module = reorder_module(li.layout("NHWC"), li.layout("NCHW"), (None, 512, None, None), dtype)
    _, text = lower_to_c(module, Target(64, panels=True, processor=processor))
    assert ("c_d_ahead < h_w" in text) == asks
