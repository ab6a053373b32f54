"""Threads share loops of unknown length: any sizes are right, as many threads as there are do the work."""

from __future__ import annotations

import re

import numpy as np
import pytest
from xdsl.context import Context

import layout_ir as li
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.explain import explain_module
from layout_ir.lowering.processor_families import EMERALD_RAPIDS
from layout_ir.lowering.target import Target
from layout_ir.runtime.module import lower_to_c
from layout_ir.runtime.sized_kernel import SizedKernel

SIZES = ((100, 0), (0, 5), (1, 1), (1, 70), (3, 500), (40, 3), (9, 129), (41, 32), (57, 16))
"""Of two extents: no elements, too few for threads, too few steps for all of one loop, and enough; short last parts."""


@pytest.mark.usefixtures("quick_compiler")
@pytest.mark.parametrize("threads", [2, 7])
@pytest.mark.parametrize(
    "source, destination, shape, dtype",
    [
        ("onednn:abcd", "onednn:acbd", (None, 64, None, 32), "f32"),
        ("onednn:abc", "onednn:acb", (None, 64, None), "f32"),
        ("onednn:acb", "onednn:abc", (None, 64, None), "i8"),
        ("onednn:acb", "onednn:abc", (None, 35, None), "i8"),
        ("onednn:abc", "onednn:aBc16b", (None, 35, None), "i8"),
        ("onednn:aBc16b", "onednn:abc", (None, 64, None), "f16"),
    ],
)
def test_threads_write_what_one_does(
    source: str, destination: str, shape: tuple[int | None, ...], dtype: str, threads: int
) -> None:
    alone, shared = (
        li.compile_reorder(source, destination, shape=shape, dtype=dtype, threads=count) for count in (None, threads)
    )
    assert isinstance(alone, SizedKernel)
    assert isinstance(shared, SizedKernel)
    for sizes in SIZES:
        read, written = (argument.size for argument in alone.at(sizes).arguments)
        element = li.element_type(dtype).numpy
        values = np.arange(read, dtype=np.int64).astype(np.int8).astype(element)
        expected, result = (np.full(written, 77, element) for _ in range(2))
        alone(values, expected, sizes=sizes)
        shared(values, result, sizes=sizes)
        assert np.array_equal(result, expected), sizes


@pytest.mark.parametrize(
    "team, loops",
    [
        (0, "a by 1, b by 32, c by 32"),
        (2, "a by 1 (parallel), c by 128 (parallel, in 2 parts at most, where there are fewer than 8 trips around it)"),
        (
            16,
            "a by 1 (parallel), c by 128 (parallel, in 16 parts at most, where there are fewer than 64 trips around",
        ),
    ],
)
def test_parts_of_other_loops_are_shared_where_the_first_has_few_steps(team: int, loops: str) -> None:
    module = reorder_module(li.layout("onednn:abc"), li.layout("onednn:acb"), (None, 64, None), li.element_type("f32"))
    target = Target(64, threads=team > 0, team=max(team, 1))
    assert f"loops over {loops}" in explain_module(Context(), module, target)
    _, text = lower_to_c(module, target)
    assert ("omp parallel for collapse(3)" in text) == (team > 0)


def test_parts_are_as_few_images_as_are_whole_lines() -> None:
    """64 images of 35 channels are whole lines for any height and width, fewer for most; 1 where too few parts are."""
    module = reorder_module(li.layout("NHWC"), li.layout("NCHW"), (None, 35, None, None), li.element_type("i8"))
    target = Target(64, threads=True, team=8)
    assert "a by 64 (parallel, by as few as are whole lines, or 1 for 16 trips)" in explain_module(
        Context(), module, target
    )
    _, text = lower_to_c(module, target)
    shortest = re.search(r"(v_\d+) = 35 \* h_w % 64 == 0 \? 1 : v_\d+;|(v_\d+) = h_w_x35 % 64 == 0 \? 1 : v_\d+;", text)
    assert shortest is not None
    length = next(name for name in shortest.groups() if name)
    assert re.search(rf"\(n \+ {length} - 1\) / {length} >= 16 \? {length} : 1;", text)


def test_threads_ask_for_the_destination_where_one_does() -> None:
    """Loops that are cut only where threads need it are long; a single thread of several asks as one alone."""
    module = reorder_module(
        li.layout("onednn:nChw16c"), li.layout("NCHW"), (None, 35, None, None), li.element_type("i8")
    )
    alone, one, two = (
        lower_to_c(module, Target(64, threads=team > 0, team=max(team, 1), processor=EMERALD_RAPIDS))[1]
        for team in (0, 1, 2)
    )
    distances = re.findall(r"h_w_x16 <= \d+ \? \d+ : \d+;", alone)
    assert distances
    for text in (one, two):
        # short loops are printed twice, for threads and for one of them
        assert sorted(re.findall(r"h_w_x16 <= \d+ \? \d+ : \d+;", text)) == sorted(2 * distances)
        assert text.count("__builtin_prefetch(&destination") == alone.count("__builtin_prefetch(&destination")


@pytest.mark.parametrize("team, asked", [(0, 1280), (1, 1280), (2, 256)])
def test_a_team_of_one_asks_as_far_ahead_as_no_team(team: int, asked: int) -> None:
    module = reorder_module(li.layout("NCHW"), li.layout("onednn:nChw16c"), (1, 64, 56, 60), li.element_type("f32"))
    target = Target(64, threads=team > 0, team=max(team, 1), processor=EMERALD_RAPIDS)
    assert f"asks for the destination {asked} elements ahead" in explain_module(Context(), module, target)
