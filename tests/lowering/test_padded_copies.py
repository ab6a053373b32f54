"""Copies that write pads: lines of the destination once each, by few tiles, and right whatever pads there are."""

from __future__ import annotations

import re

import numpy as np
import pytest
from xdsl.context import Context

import layout_ir as li
from layout_ir.interpreter.reference import reorder_reference
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.planner import make_plan
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.cut_pads import parts_without_loose_pads
from layout_ir.lowering.explain import explain_module
from layout_ir.lowering.filled_apart import filled_apart
from layout_ir.lowering.schedule import Schedule, choose_schedule
from layout_ir.lowering.target import Target
from layout_ir.lowering.tile_choice import tile_of
from layout_ir.lowering.walk_loops import TiledWalk, with_walks

LINE = 16


def parts(source: str, destination: str, shape: tuple[int, ...]) -> list[Box]:
    """The boxes of a copy of f32 in the caches, cut for tiles."""
    left, right = (li.layout(f"onednn:{name}").index_map(shape, "f32") for name in (source, destination))
    plan = make_plan(left, right)
    return [part for box in plan.boxes for part in parts_without_loose_pads(box, LINE, left.storage_size, 4)]


def schedule(cells: int) -> Schedule:
    return choose_schedule(Target(64), 4, cells, cells)


def test_rows_with_pads_behind_them_are_one_tile() -> None:
    (box,) = parts("bca", "AcB16b32a", (28, 7, 1337))
    tile = tile_of(box, schedule(box.cells), 28 * 7 * 1337)
    assert tile is not None
    assert tile.extents == (1, 16, 32)


def test_a_long_axis_is_cut_at_its_last_whole_vector() -> None:
    rows = Axis("c", 192, 70, 80, 192)
    found = parts_without_loose_pads(Box((rows, Axis("a", 80, 1, 1, 70))), LINE, 1 << 18, 4)
    assert [(box.axes[-1].extent, box.axes[-1].valid) for box in found] == [(64, 64), (16, 6)]


def test_pads_of_a_step_follow_what_is_copied_to_it() -> None:
    boxes = parts("bac", "ABc32a32b", (4, 64, 56))
    walk, *rest = with_walks(boxes, schedule(64 * 32 * 56), 4 * 64 * 56, writes_pads=True)
    assert isinstance(walk, TiledWalk)
    assert [box.is_fill for box in walk.walk.boxes] == [False, True]
    assert walk.walk.inner(1).axes[-1].extent == 16 * 32
    assert sum(box.cells for box in (*walk.walk.boxes, *(one for one in rest if isinstance(one, Box)))) == 64 * 32 * 56


def test_pads_far_apart_go_by_themselves() -> None:
    boxes = parts("bcad", "aBcd4b", (3, 5, 64, 64))
    walks = with_walks(boxes, schedule(3 * 8 * 4096), 3 * 5 * 4096, writes_pads=True)
    assert not any(isinstance(one, TiledWalk) for one in walks)


def test_pads_beside_what_no_tile_moves_are_filled_by_vectors() -> None:
    """One of 16 runs of 16 is copied; of the pads behind a single row of a block no vector has any."""
    size = 1 << 20
    box, _ = parts("ABc8b24a", "ABc16a16b", (1, 17, 50))
    assert tile_of(box, schedule(box.cells), size) is None
    assert filled_apart(box, schedule(box.cells), size) == 1
    alone = Box((Axis("c", 50, 24, 256, 50), Axis("b", 4, 1, 1, 3)))
    assert tile_of(alone, schedule(alone.cells), size) is None
    assert filled_apart(alone, schedule(alone.cells), size) is None


@pytest.mark.parametrize(
    ("source", "destination", "shape", "together"),
    [
        ("aBCd2b8c16b2c", "BcdA16a16b2a", (3, 1, 71, 71), True),  # inside of loops that boxes share
        ("ABc8b24a", "ABc16a16b", (1, 17, 50), False),
    ],
)
def test_what_is_filled_apart_is_explained(
    source: str, destination: str, shape: tuple[int, ...], together: bool
) -> None:
    module = reorder_module(li.layout(f"onednn:{source}"), li.layout(f"onednn:{destination}"), shape, "i8")
    text = explain_module(Context(), module, Target(64))
    pads = re.findall(r"^  pad .*\n    (.*)", text, re.MULTILINE)
    assert pads
    assert all(line.startswith("tile of ") for line in pads)
    assert ("inside of loops over" in text) == together


@pytest.mark.parametrize("dtype", ["f32", "i8"])
@pytest.mark.parametrize(
    ("source", "destination", "shape"),
    [
        ("bca", "AcB16b32a", (28, 7, 137)),
        ("abcde", "aCdeB32c4b", (5, 96, 1, 3, 28)),
        ("abdec", "AcdeB8b8a", (1, 100, 5, 5, 20)),
        ("aCBd16c16b", "aBdc32b", (3, 1, 32, 73)),
        ("bcda", "ABcd8b24a", (17, 8, 16, 12)),
        ("abcd", "AcdB48a4b", (1, 5, 20, 33)),
        ("adecb", "abdEC64e4c", (9, 1, 17, 10, 1)),
        ("dcab", "ABcd40a32b", (14, 2, 10, 17)),
        ("bcda", "aBdC48b4c", (32, 7, 5, 14)),
        ("bcdea", "abdCE32c2e", (3, 33, 2, 1, 40)),
        ("Acdeb24a", "bacde", (4, 5, 7, 64, 48)),
        ("cdba", "acdb", (35, 1, 48, 96)),
        ("Acdb8a", "AcdB16b48a4b", (100, 7, 70, 2)),
        ("cdab", "aBCd8c16b2c", (6, 33, 7, 26)),
        ("ABc8b24a", "ABc16a16b", (1, 17, 50)),
        ("BcdA32b4a", "ABcd16b64a", (7, 50, 5, 11)),
    ],
)
@pytest.mark.parametrize("offset", [0, 16])
def test_every_pad_is_written_and_nothing_else(
    source: str, destination: str, shape: tuple[int, ...], dtype: str, offset: int
) -> None:
    left, right = (li.layout(f"onednn:{name}").index_map(shape, dtype) for name in (source, destination))
    kernel = li.compile_reorder(f"onednn:{source}", f"onednn:{destination}", shape=shape, dtype=dtype)
    word = np.uint32 if dtype == "f32" else np.uint8
    data = np.random.default_rng(0).integers(1, np.iinfo(word).max, left.storage_size, word)
    expected = np.zeros(right.storage_size, word)
    reorder_reference(data, left, right, 0, expected)
    memory = np.full(expected.nbytes + 256, 0xA5, np.uint8)
    start = 64 - memory.ctypes.data % 64 + offset
    end = start + expected.nbytes
    kernel(data, memory[start:end].view(word))
    assert (memory[start:end].view(word) == expected).all()
    assert (memory[:start] == 0xA5).all()
    assert (memory[end:] == 0xA5).all()
