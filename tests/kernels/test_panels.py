"""Kernels that put lines together before they write them: right at every alignment, with threads, and interpreted."""

from __future__ import annotations

import re
from contextlib import nullcontext
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from alignments import check_alignments
from random_pairs import random_reorder
from reorder_batch import Reorder, case_texts, faults, interpreted, kernels, lowered
from varied_reorders import VARIED, reorder, small_panels
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from layout_ir.lowering.processor_families import ICE_LAKE, ZEN_4

ODD = (
    reorder("NCHW", "NHWC", (2, 100, 13, 17), "f32"),
    reorder("NCHW", "NHWC", (3, 35, 11, 7), "i8"),
    reorder("NHWC", "NCHW", (2, 29, 19, 3), "f16"),
    reorder("onednn:nChw16c", "NHWC", (2, 35, 7, 9), "f32"),
    reorder("onednn:nChw32c", "NHWC", (2, 35, 7, 9), "i8"),
    reorder("onednn:nChw16c", "NCHW", (2, 33, 17, 9), "f16"),
    reorder("onednn:nChw8c", "onednn:nChw16c", (2, 35, 7, 9), "f32", 3),
    reorder("onednn:nChw8c", "onednn:nChw16c", (2, 35, 7, 9), "f32", None),
    reorder("ascend:FRACTAL_NZ", "NC", (100, 308), "f16"),
    reorder("onednn:ab", "onednn:ba", (301, 203), "f64"),
    reorder("onednn:abc", "onednn:cba", (20, 31, 53), "i8"),
    reorder("onednn:abc", "onednn:bac", (37, 5, 19), "i16"),
    reorder("onednn:abcd", "onednn:cdab", (9, 11, 6, 13), "f32"),
    reorder("onednn:abcde", "onednn:edcba", (5, 6, 7, 8, 9), "i8"),
    reorder("openvino:os_iyx_osv16_rotate_180", "OIHW", (7, 8, 9, 8), "i16"),
)
WHOLE = (
    reorder("NCHW", "NHWC", (2, 64, 16, 16), "f32"),
    reorder("NHWC", "NCHW", (2, 64, 16, 16), "i8"),
    reorder("NCHW", "onednn:nChw16c", (2, 32, 16, 16), "f32"),
    reorder("NCHW", "onednn:nChw16c", (2, 35, 16, 16), "f32", 3),
    reorder("ascend:FRACTAL_NZ", "NC", (64, 128), "f16"),
    reorder("onednn:ab", "onednn:ba", (128, 256), "f64"),
    reorder("onednn:abc", "onednn:bac", (6, 5, 64), "f32"),
)
"""Tiles write whole lines by themselves here, if the destination begins at one."""

REORDERS = (*ODD, *WHOLE, *VARIED)


SIZES = {"usual": nullcontext, "small": small_panels, "carried": partial(small_panels, carry=True)}
"""How large panels are: as always, or so small that these tensors have many; and lines carried wherever they can be."""


@cache
def panels_of(
    reorders: tuple[Reorder, ...], threads: bool = False, size: str = "small", processor: str = ICE_LAKE
) -> ModuleOp:
    """The module of reorders whose destinations count as large; most of them go through panels."""
    with SIZES[size]():
        return lowered(reorders, 64, threads, panels=True, stream_bytes=0, processor=processor)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("threads", [False, True], ids=["one thread", "threads"])
def test_every_alignment(threads: bool, size: str, tmp_path: Path) -> None:
    reorders = REORDERS[::3] if threads else REORDERS
    module = panels_of(reorders, threads, size)
    text = check_alignments(reorders, module, tmp_path, *(["-fopenmp"] if threads else ["-Wno-unknown-pragmas"]))
    assert len(re.findall(r"_Alignas\(\d+\) \w+ panel", text)) > len(reorders) // 2


def test_every_alignment_in_the_caches(tmp_path: Path) -> None:
    module = lowered(WHOLE, 64, panels=True)
    text = check_alignments(WHOLE, module, tmp_path)
    assert "_Alignas" not in text
    assert 0 < text.count("(uintptr_t)destination % 64 == 0") < len(WHOLE)


@pytest.mark.parametrize("threads", [False, True], ids=["one thread", "threads"])
def test_panels_where_only_the_start_is_inside_of_a_line(threads: bool) -> None:
    module = panels_of(WHOLE, threads)
    texts = {op.sym_name.data: str(op) for op in module.ops if isinstance(op, FuncOp)}
    cases = [*case_texts(module)]
    for number, name in enumerate(cases):
        branches = texts[name].split("} else {")
        calls = (re.search(r"call @(\w+)", branch) for branch in branches)
        at_line, elsewhere = (texts[call[1]] if call else branch for call, branch in zip(calls, branches, strict=True))
        assert "nontemporal" in at_line, WHOLE[number]
        assert "memref.alloca" not in at_line, WHOLE[number]
        assert "memref.alloca" in elsewhere, WHOLE[number]
        assert "vector.maskedstore" in elsewhere, WHOLE[number]
    assert len(cases) == len(WHOLE) < len(texts)


@pytest.mark.parametrize("size", ["small", "carried"])
@pytest.mark.parametrize("threads", [False, True], ids=["one thread", "threads"])
def test_panels_ask_for_the_rows_of_the_next_one(threads: bool, size: str, tmp_path: Path) -> None:
    reorders = tuple(case for case in REORDERS[threads :: 2 + threads] if np.prod(case.shape) < 16000)
    module = panels_of(reorders, threads, size, ZEN_4)
    asking = [text for text in case_texts(module).values() if re.search(r"_ahead = .*to", text)]
    assert len(asking) > len(reorders) // 4
    check_alignments(reorders, module, tmp_path, *(["-fopenmp"] if threads else ["-Wno-unknown-pragmas"]))
    small = tuple(case for case in reorders if np.prod(case.shape) < 3000)  # what asks reads inside of the source
    assert not faults(small, interpreted(panels_of(small, threads, size, ZEN_4)))


def test_lines_are_carried() -> None:
    reorders = REORDERS[::2]
    texts = {size: str(panels_of(reorders, size=size)) for size in ("small", "carried")}
    for text in texts.values():  # parts of lines at the two ends of a run, whether lines are carried or not
        assert text.count("vector.maskedstore") == 2 * text.count("memref.alloca") > len(reorders)
    # a line that is carried is a third load from scratch for every run, and a store to it
    loads = {size: len(re.findall(r"vector.load %panel", text)) for size, text in texts.items()}
    panels = {size: text.count("memref.alloca") for size, text in texts.items()}
    more = {size: loads[size] - 3 * panels[size] for size in texts}
    assert more["carried"] > more["small"] + len(reorders) // 2


@pytest.mark.parametrize("start, size", [(0, "small"), (400, "small"), (800, "carried"), (1200, "carried")])
def test_random_pairs(start: int, size: str, tmp_path: Path) -> None:
    reorders = tuple(random_reorder(seed) for seed in range(start, start + 30))
    module = panels_of(reorders, size=size)
    assert "memref.alloca" in str(module)
    found = faults(reorders, kernels(module, tmp_path))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("size", ["small", "carried"])
@pytest.mark.parametrize("threads", [False, True], ids=["one thread", "threads"])
def test_interpreted(threads: bool, size: str) -> None:
    chosen = tuple(case for case in VARIED if np.prod(case.shape) < 3000)
    module = panels_of(chosen, threads, size)
    assert "memref.alloca" in str(module)
    found = faults(chosen, interpreted(module))
    assert not found, "\n".join(found)
