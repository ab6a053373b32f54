"""Which iterations of parallel loops a kernel of unknown sizes has, as an interpreter sees them run and write."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import memref, scf, vector
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

import layout_ir as li
from layout_ir.interpreter.loops import run_loops
from layout_ir.interpreter.reference import reorder_reference
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.pipeline import lower
from layout_ir.lowering.target import Target

SHARE_BYTES = 8 << 10
LINE_BYTES = 64
TEAM = 2


@dataclass
class Iterations(Interpreter.Listener):
    """Notes the iterations of parallel loops, and which lines of the destination each one writes."""

    size: int
    """Elements of the destination, which no other buffer has."""
    lanes: int
    """Elements of a line."""
    written: list[set[int]] = field(default_factory=list[set[int]])

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        block = op.parent
        if block is not None and isinstance(block.parent_op(), scf.ParallelOp) and op is block.first_op:
            self.written.append(set())
        if isinstance(op, vector.StoreOp | memref.StoreOp) and args[1].size == self.size and self.written:
            count = op.operands[0].type.get_shape()[0] if isinstance(op, vector.StoreOp) else 1
            self.written[-1] |= {args[2] // self.lanes, (args[2] + count - 1) // self.lanes}


def iterations(
    pair: tuple[str, str], channels: int, sizes: tuple[int, int, int], dtype: str, share_bytes: int, lanes: int = 64
) -> Iterations:
    """What an interpreter saw of the kernel for images of any size; its result is compared."""
    source, destination = map(li.layout, pair)
    module = reorder_module(source, destination, (None, channels, None, None), dtype)
    lower(Context(), module, Target(lanes, threads=True, team=TEAM, share_bytes=share_bytes))
    shape = (sizes[0], channels, *sizes[1:])
    maps = [layout.index_map(shape, dtype) for layout in (source, destination)]
    element = li.element_type(dtype).numpy
    values = np.arange(maps[0].storage_size).astype(np.int8).astype(element)
    result = np.zeros(maps[1].storage_size, element)
    seen = Iterations(result.size, LINE_BYTES // result.itemsize)
    run_loops(module, "reorder", [values, result], sizes, listeners=[seen])
    assert np.array_equal(result, reorder_reference(values, *maps))
    return seen


@pytest.mark.parametrize(
    "sizes, is_shared",
    [
        ((1, 5, 12), False),  # 7680 bytes read and written
        ((2, 4, 8), True),  # 8192
        ((5, 2, 6), False),
        ((4, 4, 4), True),
        ((1, 3, 3), False),
    ],
)
@pytest.mark.parametrize("pair", [("NCHW", "NHWC"), ("NHWC", "NCHW"), ("NCHW", "onednn:nChw16c")], ids=str)
def test_threads_share_what_moves_bytes_enough(
    pair: tuple[str, str], sizes: tuple[int, int, int], is_shared: bool
) -> None:
    seen = iterations(pair, 16, sizes, "f32", SHARE_BYTES)
    assert (len(seen.written) > 1) == is_shared


@pytest.mark.parametrize("sizes, is_shared", [((3, 3, 3), False), ((3, 4, 4), True)])
def test_an_element_that_no_tile_moves_counts_as_a_line(sizes: tuple[int, int, int], is_shared: bool) -> None:
    seen = iterations(("NCHW", "NHWC"), 3, sizes, "f32", SHARE_BYTES, lanes=0)  # 81 and 144 elements, 128 lines
    assert (len(seen.written) > 1) == is_shared


@pytest.mark.parametrize("pixels", [1000, 1641])
def test_one_image_is_cut_into_few_parts_of_whole_lines_that_threads_share_evenly(pixels: int) -> None:
    seen = iterations(("NHWC", "onednn:nChw16c"), 32, (1, 1, pixels), "f32", 0)
    assert len(seen.written) == TEAM
    for first, second in itertools.combinations(seen.written, 2):
        assert not first & second
    half = (len(seen.written) + 1) // TEAM
    assert sum(map(len, seen.written[:half])) < 0.6 * 2 * pixels


@pytest.mark.parametrize(
    "height, width, parts",
    [
        (25, 25, 2),  # rows of 625 elements begin inside of lines, where parts of them would meet in 64 lines
        (16, 80, 4),  # rows of 40 lines
    ],
)
def test_parts_of_rows_do_not_meet_in_lines(height: int, width: int, parts: int) -> None:
    seen = iterations(("NHWC", "NCHW"), 64, (1, height, width), "f16", 0)
    assert len(seen.written) == parts
    half = parts // 2
    first, second = (set().union(*some) for some in (seen.written[:half], seen.written[half:]))
    assert len(first & second) <= 1


def test_no_loop_stays_whole_because_of_another_one_that_does() -> None:
    seen = iterations(
        ("onednn:abdc", "onednn:abcd"), 33, (1, 33, 63), "i8", 0
    )  # rows of both inner loops meet in lines
    assert len(seen.written) >= TEAM


def test_boxes_that_read_the_same_lines_share_parts_in_the_caches() -> None:
    seen = iterations(("NHWC", "onednn:nChw16c"), 35, (1, 20, 20), "i8", 0)  # 32 channels and 3, in parts of 64 pixels
    assert len(seen.written) == 7
