"""Kernels for unknown extents: for every size the bits that the interpreter gives, and that the kernel for it gives."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from fenced_memory import FencedMemory
from sized_runs import FILL, check_run, known, noise
from varied_reorders import all_streamed, small_panels, steps_up_to
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

import layout_ir as li
from layout_ir.errors import LayoutError
from layout_ir.interpreter.loops import run_loops
from layout_ir.interpreter.module import interpret
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.pipeline import lower
from layout_ir.lowering.processor_families import GRANITE_RAPIDS, ICE_LAKE, ZEN_4
from layout_ir.lowering.target import Target
from layout_ir.runtime.module import compile_functions, lower_to_c
from layout_ir.runtime.processor import PROCESSOR_VARIABLE
from layout_ir.runtime.sized_kernel import SizedKernel

Shape = tuple[int | None, ...]
Case = tuple[str, str, Shape, str, float | None]

ALL_CASES = os.environ.get("LAYOUT_IR_TESTS") == "all"

IMAGES: Shape = (None, 20, None, None)
ROWS: Shape = (None, 3, 3, None)
ALL: Shape = (None,) * 4

CASES: tuple[Case, ...] = (
    ("NCHW", "NHWC", IMAGES, "f32", 0),
    ("NCHW", "NHWC", ALL, "u8", 0),
    ("NHWC", "NCHW", ROWS, "i8", 0),
    ("NHWC", "NCHW", ALL, "f64", 0),
    ("NCHW", "NCHW", ALL, "f16", 0),
    ("NCHW", "onednn:nChw16c", IMAGES, "f32", 0),
    ("NCHW", "onednn:nChw16c", IMAGES, "i8", 3),
    ("NCHW", "onednn:nChw16c", ALL, "bf16", None),
    ("onednn:nChw16c", "NCHW", ALL, "f32", 0),
    ("onednn:nChw16c", "onednn:nChw4c", ALL, "f16", 1.5),
    ("onednn:nChw16c", "NCHW", (None, 3, None, None), "f32", 0),
    ("onednn:nChw32c", "NHWC", (None, 5, None, None), "i8", 0),
    ("onednn:nChw8c", "NHWC", IMAGES, "i32", 0),
    ("NCHW", "ascend:NC1HWC0", IMAGES, "f16", 0),
    ("ascend:NC1HWC0", "NHWC", ALL, "f32", 0),
    ("NCHW", "cudnn:NCHW_VECT_C32", (None, 32, None, None), "i8", 0),
    ("NCHW", "mace:IN_OUT_CHANNEL", IMAGES, "f32", 0),
    ("mace:IN_OUT_CHANNEL", "NCHW", ROWS, "f16", 0),
    ("NCHW", "mace:IN_OUT_WIDTH", ALL, "f32", 7),
    ("NCHW", "openvino:bs_fs_yx_bsv16_fsv16", IMAGES, "f32", 0),
    ("NCHW", "openvino:bs_fs_yx_bsv16_fsv16", ALL, "i8", None),
    ("openvino:bs_fs_yx_bsv16_fsv16", "openvino:bs_fs_yx_bsv32_fsv16", ALL, "f16", 2),
    ("openvino:bs_fs_yx_bsv16_fsv16", "openvino:b_fs_yx_fsv4", ALL, "f32", 0),
    ("NCHW", "ascend:FRACTAL_NZ", ALL, "f16", 0),
    ("ascend:FRACTAL_NZ", "NCHW", ROWS, "f32", 0),
    ("NCHW", "ascend:FRACTAL_Z", ALL, "f16", 0),
    ("OIHW", "onednn:OIhw4i16o4i", ALL, "i8", 0),
    ("OIHW", "onednn:OIhw4i16o4i", (None, 20, 3, 3), "f32", -1),
    ("OIHW", "openvino:os_is_yx_osa4_isa8_osv8_isv4", ALL, "i8", 0),
    ("NCHW", "openvino:os_iyx_osv16_rotate_180", (None, 5, None, 1), "i16", None),
    ("NC", "CN", (None, None), "u16", 0),
    ("(d0, d1, d2, d3) -> (d0, d3, d2, d1)", "onednn:aBCd16c16b", (None, None, 2, 2), "i8", 1),
    ("NC", "(d0, d1) -> (d1 floordiv 3, d0 floordiv 5, d0 mod 5, d1 mod 3)", (None, None), "f32", 0),
)

PANELS: tuple[Case, ...] = (
    ("NHWC", "NCHW", (None, 64, None, None), "i8", 0),
    ("NHWC", "NCHW", (None, 64, None, None), "f32", 0),
    ("NHWC", "NCHW", (2, None, None, 19), "f32", 0),
    ("NHWC", "NCHW", ALL, "i16", 0),
    ("NCHW", "NHWC", (None, 100, None, None), "f32", 0),
    ("NCHW", "NHWC", (None, 35, None, None), "i8", 0),
    ("NCHW", "NHWC", ALL, "f32", 0),
    ("onednn:nChw16c", "NCHW", (None, 35, None, None), "f32", 0),
    ("NCHW", "ascend:NC1HWC0", (None, 35, None, None), "i8", 0),
    ("NCHW", "onednn:nChw16c", (None, 35, None, None), "i8", None),
    ("NHWC", "NCHW", (None, 300, None, None), "i8", 0),
    ("onednn:nChw16c", "NHWC", (None, 35, None, None), "f32", 0),
    ("NHWC", "onednn:nChw16c", (None, 128, None, None), "i8", 0),
    ("NHWC", "onednn:nChw8c", (None, 80, None, None), "f32", 0),
    ("onednn:nChw32c", "NHWC", (None, 70, None, None), "f16", 0),
    ("onednn:nChw16c", "NHWC", ALL, "f32", 0),
    ("onednn:nChw16c", "NCHW", (None, 4, None, None), "f32", 0),
    ("NCHW", "onednn:nChw32c", (None, 16, None, None), "i8", 0),
    ("NHWC", "NCHW", (None, 3, None, None), "f32", 0),
    ("onednn:ab", "onednn:ba", (None, None), "f64", 0),
    (
        "(d0, d1, d2, d3) -> (d0 floordiv 16, d1, d3, d2, d0 mod 16)",
        "(d0, d1, d2, d3) -> (d2 floordiv 32, d2 mod 4, d1, d3, d0, (d2 floordiv 4) mod 8)",
        (1, None, 1, None),
        "f16",
        0,
    ),
)
"""Whose tiles write lines in parts."""

CROSSED: tuple[Case, ...] = (
    ("onednn:Acdb48a", "onednn:Acdb32a", (None, 20, 2, 1), "f32", 0),
    ("onednn:Acdb32a", "onednn:Acdb48a", (None, 3, 1, 1), "i8", None),
    ("onednn:Acdb24a", "onednn:Acdb16a", (None, None, 1, 3), "f16", -3),
    (
        "NC",
        "(d0, d1) -> (d0 floordiv 6, d1 floordiv 24, (d1 floordiv 8) mod 3, d0 mod 6, d1 mod 8)",
        (7, None),
        "i8",
        0,
    ),
    (
        "(d0, d1) -> (d0 floordiv 6, d1 floordiv 4, d1 mod 4, d0 mod 6)",
        "(d0, d1) -> (d0 floordiv 4, d1 floordiv 6, d1 mod 6, d0 mod 4)",
        (None, None),
        "f32",
        5,
    ),
    (
        "(d0, d1) -> (d0 floordiv 64, d1, (d0 floordiv 16) mod 4, d0 mod 16)",
        "(d0, d1) -> (d0 floordiv 96, d1, (d0 floordiv 24) mod 4, (d0 floordiv 4) mod 6, d0 mod 4)",
        (None, 5),
        "i8",
        0,
    ),
    (
        "(d0) -> (d0 floordiv 9, (d0 mod 9) floordiv 3, d0 mod 3)",
        "(d0) -> (d0 floordiv 4, d0 mod 4)",
        (None,),
        "f32",
        0,
    ),
    (
        "(d0, d1) -> (d0 floordiv 6, d1, (d0 floordiv 2) mod 3, d0 mod 2)",
        "(d0, d1) -> (d0 floordiv 32, (d0 mod 32) floordiv 16, d1, d0 mod 16)",
        (None, 3),
        "i8",
        None,
    ),
    ("(d0, d1) -> (d0 floordiv 9, d1, d0 mod 9)", "(d0, d1) -> (d0 floordiv 64, d1, d0 mod 64)", (None, 3), "u16", 0),
)
"""Blocks of an unknown dim that do not nest: of one dim, of two, in several levels, and too many of them for parts."""

CROSSED_SIZES = (
    (0, 1, 1, 1),
    (1, 0, 1, 1),
    *((rows, rows % 29 + 1, 1, 1) for rows in (*range(1, 50), 64, 80, 95, 96, 97, 191, 192, 600)),
)

SIZES = (
    (1, 1, 1, 1),
    (3, 5, 2, 3),
    (17, 5, 1, 4),
    (0, 3, 2, 2),
    (2, 0, 3, 1),
    (16, 32, 2, 1),
    (70, 20, 1, 1),
    (37, 18, 2, 2),
    (9, 20, 3, 3),
    (4, 33, 3, 7),
    (3, 20, 7, 7),
    (35, 18, 9, 7),
    (2, 64, 17, 19),
)
"""Nothing, one, less than a tile, whole blocks, small images, ones of shorter tiles and of 7 x 7, blocks and a rest."""

Way = tuple[bool, bool, int | None, str, tuple[int, int, bool]]

WAYS: tuple[Way, ...] = (
    (False, False, None, ICE_LAKE, (0, 0, False)),
    (True, False, None, ICE_LAKE, (0, 0, False)),
    (True, True, None, ICE_LAKE, (0, 0, False)),
    (True, False, 2, ICE_LAKE, (0, 1 << 16, False)),
    (True, True, 2, ICE_LAKE, (0, 0, False)),
    (True, False, None, ZEN_4, (0, 0, False)),
    (True, False, None, ZEN_4, (0, 1 << 16, False)),
    (True, False, None, ZEN_4, (4096, 8192, False)),
    (True, True, None, ZEN_4, (1 << 16, 0, False)),
    (True, True, 5, ZEN_4, (1 << 16, 0, False)),
    (True, False, None, ZEN_4, (1 << 16, 1 << 16, True)),
    (True, False, 2, ZEN_4, (1 << 16, 1 << 16, True)),
    (True, False, None, GRANITE_RAPIDS, (4096, 8192, True)),
    (True, True, 2, GRANITE_RAPIDS, (1 << 16, 1 << 16, True)),
)
"""Small panels, lines that are carried, threads, the processor, and up to which sizes steps are taken at once."""

PANEL_SIZES = ((0, 0, 0, 0), (1, 1, 1, 130), *SIZES, (2, 66, 23, 25))


def layouts(case: Case) -> list[Any]:
    return [li.layout(name, dims="NCHW") if "IN_OUT" in name else li.layout(name) for name in case[:2]]


def module_of(cases: Sequence[Case]) -> ModuleOp:
    """One function `case_i` for every case."""
    module = ModuleOp([])
    for number, case in enumerate(cases):
        source, destination = layouts(case)
        one = reorder_module(source, destination, *case[2:4], name=f"case_{number}", pad=case[4])
        for op in list(one.ops):
            op.detach()
            module.body.block.add_op(op)
    return module


def source_of(case: Case, shape: Sequence[int]) -> npt.NDArray[Any]:
    """The storage of a source full of random bits."""
    return noise(layouts(case)[0], shape, case[3])


@cache
def expected_bits(case: Case, sizes: tuple[int, ...]) -> npt.NDArray[Any]:
    """What the interpreter writes over bytes of `FILL`."""
    shape, given = known(case[2], sizes)
    (result,) = interpret(module_of([case]), "case_0", [source_of(case, shape)], fill=FILL, sizes=given)
    return result


def check(cases: Sequence[Case], every: Sequence[tuple[int, ...]] = SIZES, **options: Any) -> str:
    """Run kernels for all sizes, with sources at a fence, and compare what they write; the first one's C text."""
    kernels = compile_functions(module_of(cases), [f"case_{number}" for number in range(len(cases))], **options)
    fenced = FencedMemory(1 << 22)
    for (case, kernel), sizes in itertools.product(zip(cases, kernels, strict=True), every):
        assert isinstance(kernel, SizedKernel)
        shape, given = known(case[2], sizes)
        values, expected = source_of(case, shape), expected_bits(case, sizes)
        for at_end in (False, True):
            check_run(kernel, given, values, expected, fenced, at_end=at_end, what=(case, shape))
    return kernels[0].source


@pytest.mark.usefixtures("quickest_compiler")
@pytest.mark.parametrize("vector_bytes, threads", [(0, None), (0, 2), (16, None), (32, 2), (64, None), (64, 5)])
def test_every_size_gives_the_bits_of_the_interpreter(vector_bytes: int, threads: int | None) -> None:
    # threads share tiles that are tested without them, and short vectors the loops of long ones: a part of the cases,
    # of every system, does for them
    step = 1 if ALL_CASES or vector_bytes == 0 else 5 if threads else 3 if vector_bytes < 64 else 1
    check(CASES[step // 2 :: step], vector_bytes=vector_bytes, threads=threads)


@pytest.mark.usefixtures("quickest_compiler")
@pytest.mark.parametrize("vector_bytes", [0, 16, 64])
def test_blocks_that_do_not_nest(vector_bytes: int) -> None:
    check(CROSSED, CROSSED_SIZES, vector_bytes=vector_bytes)


@pytest.mark.usefixtures("quickest_compiler")
@pytest.mark.parametrize("number, way", list(enumerate(WAYS)), ids=str)
def test_panels_give_the_bits_of_the_interpreter(number: int, way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    small, carry, threads, processor, (whole, regions, parts) = way
    monkeypatch.setenv(PROCESSOR_VARIABLE, processor)
    with (
        all_streamed(),
        steps_up_to(whole, regions, parts=parts),
        small_panels(carry=carry) if small else nullcontext(),
    ):
        cases = (*PANELS, *CASES[::7]) if small and not threads else PANELS[1:6] if not threads else PANELS
        if small and not ALL_CASES:  # a quarter goes one way, another quarter the next
            cases = cases[number % 4 :: 4]
        source = check(cases, PANEL_SIZES, vector_bytes=64, threads=threads, panels=True)
    assert len(re.findall(r"_Alignas\(\d+\) \w+ panel", source)) >= sum(case in PANELS for case in cases)
    assert ("_ahead" in source) == (processor != ICE_LAKE)  # for rows of the next panel


@pytest.mark.usefixtures("quickest_compiler")
@pytest.mark.parametrize(
    "case, page",
    [
        (("NHWC", "NCHW", (None, 35, None, None), "f16", 0), 2048),
        (("NHWC", "NCHW", (None, 35, None, None), "f32", 0), 1024),
        (("NCHW", "NHWC", (None, 100, None, None), "f32", 0), 1024),
    ],
    ids=str,
)
def test_rows_that_are_whole_pages_apart_are_seen(case: Case, page: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They belong to one set of a first level cache, where vectors of half a line would not find the other half."""
    for processor, looks in ((ZEN_4, True), (ICE_LAKE, False)):
        monkeypatch.setenv(PROCESSOR_VARIABLE, processor)
        check([case], [(1, 35, 64, 64), (2, 35, 32, 33), (3, 35, 7, 9)], vector_bytes=64)
        module = reorder_module(li.layout(case[0]), li.layout(case[1]), case[2], case[3])
        _, text = lower_to_c(module, Target(64, panels=True, processor=processor))
        assert (f"% {page} == 0" in text) == looks


@pytest.mark.parametrize(
    ("source", "destination", "channels"),
    [("NHWC", "NCHW", 64), ("NCHW", "NHWC", 35), ("NCHW", "onednn:nChw16c", 64)],
)
def test_what_is_the_same_in_two_cases_is_no_choice(source: str, destination: str, channels: int) -> None:
    module = reorder_module(li.layout(source), li.layout(destination), (None, channels, None, None), "i8")
    _, text = lower_to_c(module, Target(64, panels=True, processor=ZEN_4))
    functions = re.findall(r"^static \S+ void reorder_\d+(.*?)^}$", text, re.DOTALL | re.MULTILINE)
    assert len(functions) > 3
    assert len(set(functions)) == len(functions)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_buffers_have_the_sizes_of_the_kernel_for_known_extents(case: Case) -> None:
    (kernel,) = compile_functions(module_of([case]), ["case_0"], vector_bytes=0)
    assert isinstance(kernel, SizedKernel)
    for sizes in SIZES:
        shape, given = known(case[2], sizes)
        expected = [layout.index_map(shape, case[3]).storage_size for layout in layouts(case)]
        assert [argument.size for argument in kernel.at(given).arguments] == expected


@pytest.mark.parametrize("vector_bytes", [0, 64])
@pytest.mark.parametrize("case", CASES[::3], ids=str)
def test_the_loops_themselves_stay_inside_of_their_buffers(case: Case, vector_bytes: int) -> None:
    module = module_of([case])
    lowered = module.clone()
    lower(Context(), lowered, Target(vector_bytes))
    for sizes in ((1, 1, 1, 1), (17, 5, 1, 4)):
        shape, given = known(case[2], sizes)
        values, expected = source_of(case, shape), expected_bits(case, sizes)
        destination = np.full(expected.nbytes, FILL, np.uint8).view(expected.dtype)
        run_loops(lowered, "case_0", [values, destination], given)
        assert np.array_equal(destination.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("stores", ["whole lines", "parts of lines", "short rows"])
@pytest.mark.parametrize("names", [("NCHW", "NHWC"), ("NHWC", "NCHW"), ("NCHW", "onednn:nChw16c")], ids=str)
def test_large_tensors_go_past_the_caches(names: tuple[str, str], stores: str) -> None:
    kernel = li.compile_reorder(*names, shape=(None, 64, None, None), dtype="f32")
    assert isinstance(kernel, SizedKernel)
    sizes = {"whole lines": (2, 224, 256), "parts of lines": (2, 223, 255), "short rows": (12800, 3, 3)}[stores]
    shape = (sizes[0], 64, *sizes[1:])
    values = np.arange(np.prod(shape), dtype=np.float32)
    destination = np.zeros_like(values)
    kernel(values, destination, sizes=sizes)
    expected = np.zeros_like(values)
    li.compile_reorder(*names, shape=shape, dtype="f32")(values, expected)
    assert np.array_equal(destination, expected)


# -- the Python API ----------------------------------------------------------------------------------------------------


def test_sizes_are_given_in_order_or_by_name() -> None:
    kernel = li.compile_reorder("NCHW", "NHWC", shape=(None, 3, None, 5), dtype="f32")
    assert isinstance(kernel, SizedKernel)
    assert kernel.size_names == ("n", "h")
    image = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
    expected = image.transpose(0, 2, 3, 1)
    for sizes in ((2, 4), {"h": 4, "n": 2}, np.array([2, 4])):
        result = kernel(image, np.zeros((2, 4, 5, 3), np.float32), sizes=sizes)  # pyright: ignore[reportArgumentType]
        assert np.array_equal(np.asarray(result), expected)


@pytest.mark.parametrize(
    "sizes, message",
    [
        (None, r"reorder: expected sizes for n, h, w, got 0: \[\]"),
        ((1, 2), r"reorder: expected sizes for n, h, w, got 2: \[1, 2\]"),
        ({"n": 1, "h": 2}, "reorder: expected sizes for n, h, w, got none for w"),
        ({"n": 1, "h": 2, "w": 2, "c": 3}, "reorder: expected sizes for n, h, w, got one for 'c'"),
        ((1, 2, -1), "reorder: expected size w from 0 to 2"),
        ((1, 2, 2.5), "reorder: expected sizes for n, h, w of whole numbers"),
        ((1, 3, 3), "reorder: source: expected a buffer of at least 27 elements, got 12"),
        ((2**31, 2**31, 2**31), "source: expected a storage of less than 2.63 elements"),
    ],
)
def test_calls_that_are_refused(sizes: Any, message: str) -> None:
    kernel = li.compile_reorder("NCHW", "NHWC", shape=(None, 3, None, None), dtype="f32")
    assert isinstance(kernel, SizedKernel)
    with pytest.raises(LayoutError, match=message):
        kernel(np.zeros(12, np.float32), np.zeros(12, np.float32), sizes=sizes)


def test_other_targets_refuse_unknown_sizes() -> None:
    with pytest.raises(LayoutError, match="expected sizes that are known for the target opencl"):
        li.compile_reorder("NCHW", "NHWC", shape=(None, 3, 4, 5), dtype="f32", target="opencl")
