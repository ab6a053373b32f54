"""Kernels for unknown extents that copy boxes which share lines of either side together: right at every size."""

from __future__ import annotations

import itertools
import re
from contextlib import nullcontext

import pytest
from fenced_memory import FencedMemory
from sized_runs import FILL, check_run, known, noise
from varied_reorders import all_streamed
from xdsl.context import Context

import layout_ir as li
from layout_ir.interpreter.module import interpret
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.explain import explain_module
from layout_ir.lowering.processor_families import GRANITE_RAPIDS
from layout_ir.lowering.target import Target
from layout_ir.runtime.module import compile_functions, lower_to_c
from layout_ir.runtime.processor import PROCESSOR_VARIABLE
from layout_ir.runtime.sized_kernel import SizedKernel

Case = tuple[str, str, tuple[int | None, ...], str, float | None]

IMAGES = (None, 35, None, None)

TOGETHER: tuple[Case, ...] = (
    ("NHWC", "onednn:nChw16c", IMAGES, "f32", 0),
    ("NHWC", "onednn:nChw16c", IMAGES, "i8", 3),
    ("NHWC", "onednn:nChw8c", IMAGES, "i8", 0),  # a tile takes all of a part of what is left of the channels
    ("NHWC", "ascend:NC1HWC0", (None, 70, None, None), "f16", 0),
    ("NHWC", "onednn:nChw16c", (None, 35, 16, 16), "f32", 0),  # only the batch is unknown
    ("NHWC", "onednn:ABcd16a16b", (None, 24, None, None), "f32", 0),  # every part has the images of a block
    ("NHWC", "onednn:OIhw16i16o", (None, 24, None, None), "i16", 0),
    ("onednn:nwc", "onednn:nCw16c", (None, 19, None), "f16", -1),
    ("NHWC", "onednn:ABcd16a32b", (None, 40, None, None), "f32", 0),  # blocks that are not full are filled first
)

IN_CACHES: tuple[Case, ...] = (
    ("onednn:nChw16c", "NHWC", IMAGES, "i8", 0),  # what is left of the channels goes element by element
    ("onednn:nChw8c", "NHWC", (None, 83, None, None), "f32", 0),
    ("ascend:NC1HWC0", "NHWC", (None, 70, None, None), "f16", 0),
    ("onednn:nCw16c", "onednn:nwc", (None, 19, None), "f32", 0),
    ("NHWC", "onednn:nChw16c", IMAGES, "f32", None),  # pads are left as they are
)
"""Those that write the same lines are panels in large copies."""

EVERY = (*TOGETHER, *IN_CACHES)

APART: tuple[Case, ...] = (
    ("NHWC", "onednn:nChw16c", (None, 32, None, None), "f32", 0),  # nothing left over
    ("NCHW", "onednn:nChw16c", IMAGES, "f32", 0),  # planes apart
    ("NHWC", "onednn:nChw16c", (None,) * 4, "f32", 0),  # a step of unknown size
)

SIZES = (
    (1, 0, 8, 16),
    (2, 0, 9, 16),
    (3, 0, 12, 12),
    (17, 0, 11, 13),
    (33, 0, 4, 40),
    (5, 0, 1, 1),
    (0, 0, 8, 16),
    (2, 0, 150, 3),
)
"""
Two parts and none left, some left, less than a part, odd images, blocks of images and a rest, small ones, none, rows.
"""

PART = r"\b\w+_part = "
"""Where a common loop begins."""


def c_text(case: Case, threads: bool = False) -> str:
    """The C text of a kernel for the processor whose vectors are lines."""
    module = reorder_module(li.layout(case[0]), li.layout(case[1]), *case[2:4], pad=case[4])
    return lower_to_c(module, Target(64, panels=True, threads=threads, processor=GRANITE_RAPIDS))[1]


def explained(case: Case) -> str:
    """What a kernel may do."""
    module = reorder_module(li.layout(case[0]), li.layout(case[1]), *case[2:4], pad=case[4])
    return explain_module(Context(), module, Target(64, panels=True, processor=GRANITE_RAPIDS))


@pytest.mark.parametrize("case", EVERY, ids=str)
def test_which_are_copied_together(case: Case) -> None:
    assert re.search(PART, c_text(case))
    # threads share the parts, be they whole lines or such as meet in few
    assert re.search(r"#pragma omp (?:parallel )?for collapse\(\d\).*\n#endif\n.*" + PART, c_text(case, threads=True))
    assert ("where the destination is large" in explained(case)) == (case in TOGETHER)
    # in the caches blocks of mostly pads are as fast by themselves
    assert ("where the destination is not large" in explained(case)) == (case != TOGETHER[-1])


@pytest.mark.parametrize(
    "case, expected",
    [
        (
            TOGETHER[0],
            "all 2 read the same lines, inside of loops over a by 1, c_d by 64, where the destination is large and its"
            " lines are whole: tiles of b1 2 x b0 16; c_d 8 x b 16",
        ),
        (
            IN_CACHES[0],
            "all 2 write the same lines, inside of loops over a by 1, c_d by 64, where the destination is not large:"
            " tiles of c_d 4 x b1 2 x b0 16; scalars",
        ),
    ],
    ids=["large", "in caches"],
)
def test_what_may_go_together_is_explained(case: Case, expected: str) -> None:
    assert expected in explained(case)


@pytest.mark.parametrize("case", APART, ids=str)
def test_which_are_not(case: Case) -> None:
    assert not re.search(PART, c_text(case))


@pytest.mark.usefixtures("quickest_compiler")
@pytest.mark.parametrize(
    "case, streamed, threads",
    [
        *((case, True, 0) for case in TOGETHER),
        *((case, True, 3) for case in TOGETHER[::2]),
        *((case, False, 0) for case in EVERY),
        *((case, False, 3) for case in EVERY[::2]),
    ],
    ids=str,
)
def test_every_size_gives_the_bits_of_the_interpreter(
    case: Case, streamed: bool, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PROCESSOR_VARIABLE, GRANITE_RAPIDS)
    source, destination = map(li.layout, case[:2])
    module = reorder_module(source, destination, *case[2:4], pad=case[4])
    with all_streamed() if streamed else nullcontext():
        (kernel,) = compile_functions(module, ["reorder"], vector_bytes=64, panels=True, threads=threads or None)
    assert isinstance(kernel, SizedKernel)
    assert re.search(PART, kernel.source)
    fenced = FencedMemory(1 << 21)
    for sizes, at_end, behind in itertools.product(SIZES, (False, True), (0, 16)):
        shape, given = known(case[2], sizes)
        values = noise(source, shape, case[3])
        (expected,) = interpret(module, "reorder", [values], fill=FILL, sizes=given)
        what = (case, shape, behind)
        check_run(kernel, given, values, expected, fenced, at_end=at_end, what=what, behind_line=behind)
