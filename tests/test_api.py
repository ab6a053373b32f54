"""The Python API: layouts from text, reorders of arrays, kernels, errors, cost of importing."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import layout_ir as li
from layout_ir.interpreter.reference import logical_to_storage, reorder_reference
from layout_ir.layouts.element_type import ElementType

Array = np.ndarray[Any, np.dtype[Any]]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOUT_IR_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))


@pytest.mark.parametrize(
    "text, options, expected",
    [
        ("NHWC", {}, '"NHWC"'),
        ("onednn:nChw16c", {}, '"onednn:nChw16c"'),
        ("ascend:FRACTAL_Z", {"dims": "HWCN", "groups": 2}, '"ascend:FRACTAL_Z", dims = HWCN, groups = 2'),
        ("strided", {"strides": [8, 1], "offset": 2}, "strided<[8, 1], offset: 2>"),
        ("strided", {"strides": (np.int64(3), 1)}, "strided<[3, 1]>"),
        ("strided<[8, 1], offset: 2>", {}, "strided<[8, 1], offset: 2>"),
        ("(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)", {}, "(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)"),
        ("(a, b) -> (b, a), round_up = [4, 1]", {}, "(d0, d1) -> (d1, d0), round_up = [4, 1]"),
        ('#layout.format<"NHWC">', {}, '"NHWC"'),
        ("#layout.tiled<(d0) -> (d0)>", {}, "(d0) -> (d0)"),
    ],
)
def test_layout(text: str, options: dict[str, Any], expected: str) -> None:
    layout = li.layout(text, **options)
    assert str(layout) == expected
    assert li.layout(layout) is layout


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: li.layout("strided"), r"'strided': expected strides=..., in elements, got none"),
        (lambda: li.layout("strided", dims="NC"), "expected strides and offset, got the option 'dims'"),
        (lambda: li.layout(li.layout("NC"), dims="CN"), "given as such: expected no option, got the option 'dims'"),
        (lambda: li.layout("(d0) -> (d0", dims="N"), "an explicit layout: expected no option"),
        (lambda: li.layout("(d0) -> (d0"), r"expected a layout, got '\(d0\) -> \(d0': layout:1"),
        (lambda: li.layout("(d0) -> (d0), round_up = [2] tail"), "expected a layout, got"),
        (lambda: li.layout("strided<[1]> tail"), "expected the layout to end here"),
        (lambda: li.layout("strided<[?]>"), "expected strides and an offset that are known"),
        (lambda: li.layout("#layout.any"), "expected a layout that says where every element lies for any shape"),
        (lambda: li.layout("onednn:nChw16"), "oneDNN tag 'nChw16': expected .* did you mean nChw16c"),
        (lambda: li.layout("nowhere:NCHW"), "unknown system 'nowhere', expected one of ascend, cudnn, mace"),
        (lambda: li.layout("NCHWN"), "expected every dim once, got 'N' again at position 4"),
        (
            lambda: li.compile_reorder("NC", "CN", shape=(2, 3), dtype="f32", target="d"),
            "unknown target 'd', expected c",
        ),
        (lambda: li.compile_reorder("NC", "CN", shape=(2, 3, 4), dtype="f32"), "expected a shape of rank 2"),
        (lambda: li.compile_reorder("NC", "CN", shape=(2, -3), dtype="f32"), "sizes that are known and not negative"),
        (lambda: li.compile_reorder("NC", "CN", shape=(2**40, 2**40), dtype="f32"), r"less than 2\^63 elements"),
        (lambda: li.compile_reorder("NC", "CN", shape=(2, 3), dtype="f31"), "unknown element type 'f31'"),
        (lambda: li.compile_reorder("NC", "CN", shape=(2, 3), dtype="u4"), "element type of whole bytes, got u4"),
        (
            lambda: li.compile_reorder("NC", "CN", shape=(2, 3), dtype="i8", pad=200),
            "whole number from -128 to 127 for i8, got 200",
        ),
        (
            lambda: li.compile_reorder("NC", "CN", shape=(2, 3), dtype="i8", pad=0.5),
            "whole number from -128 to 127 for i8, got 0.5",
        ),
        (
            lambda: li.compile_reorder("NC", li.layout("strided", strides=(1, 1)), shape=(2, 3), dtype="i8"),
            "expected a destination with a place of its own for every element",
        ),
        (
            lambda: li.compile_reorder("CN", li.layout("NC", dims="CN"), shape=(1, 2), dtype="f32"),
            'one order of the logical dims, got n,c for "CN" and c,n for "NC", dims = CN; give it as dims="NC"',
        ),
        (lambda: li.reorder(np.zeros(6), "NC", "CN"), r"expected shape=\.\.\., the logical shape, which an array of"),
        (lambda: li.reorder(np.zeros((1, 16, 2, 2, 16)), "onednn:nChw16c", "NCHW"), "expected shape=..."),
        (lambda: li.reorder(np.zeros(7), "NC", "CN", shape=(2, 3)), r"array: expected 6 elements, shaped \[2, 3\] or"),
        (lambda: li.reorder(np.zeros((2, 3)), "CN", "NC", shape=(2, 3)), "got an array of the logical shape"),
        (
            lambda: li.reorder(np.zeros((2, 3)), "NC", "CN", dtype="f32"),
            r"expected elements of float32 \(f32\), got flo",
        ),
        (lambda: li.reorder([[1.0, 2.0]], "NC", "CN"), "array: expected a numpy array, got list"),
        (lambda: li.layout(None), "expected a layout or its name, got None"),
        (lambda: li.layout("NC", dims=5), "dims: expected a text such as 'HWCN', got 5"),
        (lambda: li.layout("ascend:FRACTAL_Z", groups="2"), "groups: expected a whole number, got '2'"),
        (lambda: li.layout("strided", strides=(2.5, 1)), "strides: expected a list of whole numbers, got"),
        (lambda: li.layout("NC").index_map((2.5, 1)), "NC: expected a shape of whole numbers, got"),
        (lambda: li.layout("NC").index_map(7), "NC: expected a shape of whole numbers, got 7"),
        (lambda: li.layout("NC").index_map((2, 1), None), "expected an element type, got None"),
        (lambda: li.layout("(d0) -> (d0 - 1)").index_map((4,)).offsets(), "expected offsets from 0 to 2, got -1 to 2"),
        (lambda: li.compile_reorder("NC", "CN", shape=None, dtype="f32"), "expected a shape of whole numbers, got Non"),
        (
            lambda: li.compile_reorder("NC", "CN", shape=(2, 3), dtype="f16", pad=70000),
            "a pad that f16 can hold, got 70",
        ),
        (
            lambda: li.compile_reorder("NC", "CN", shape=(2, 3), dtype="f16", pad="a"),
            "number or None as the pad, got 'a'",
        ),
        (
            lambda: li.reorder(np.zeros((1, 3, 4, 5)), "NCHW", "mace:IN_OUT_CHANNEL"),
            'got n,c,h,w for "NCHW" and n,h,w,c for "mace:IN_OUT_CHANNEL"; give it as dims="NCHW"',
        ),
        (lambda: li.no_such_name, "has no attribute 'no_such_name'"),
    ],
)
def test_errors(make: Callable[[], object], message: str) -> None:
    with pytest.raises((li.LayoutError, AttributeError), match=message):
        make()


def test_formats_is_a_function_and_a_package() -> None:
    import layout_ir.formats.registry

    names = li.formats("openvino")
    assert "openvino:b_fs_yx_fsv16" in names
    assert set(names) < set(li.formats())
    assert layout_ir.formats.registry.formats("openvino") == names


NAMES = [
    "NCHW", "NHWC", "CHWN", "HWCN", "openvino:b_fs_yx_fsv16", "openvino:fs_b_yx_fsv32", "openvino:bs_fs_yx_bsv16_fsv16",
    "onednn:nChw16c", "onednn:aBcd8b", "cudnn:NCHW_VECT_C4", "cudnn:NC/32HW32", "ascend:NC1HWC0",
    "(n, c, h, w) -> (c floordiv 12, h * 5 + w, n, c mod 12)",
]  # fmt: skip


@pytest.mark.parametrize(
    "src, dst", list(itertools.product(NAMES[::3], NAMES)) + [(b, a) for a, b in [("NHWC", NAMES[4])]]
)
def test_any_to_any(src: str, dst: str) -> None:
    shape = (2, 17, 3, 5)
    array = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    source, destination = (li.layout(text).index_map(shape, "i32") for text in (src, dst))
    stored = logical_to_storage(array, source, pad=-1)
    result = li.reorder(stored, src, dst, shape=shape)
    assert result.shape == destination.storage_shape
    assert (result.ravel() == reorder_reference(stored, source, destination)).all()


@pytest.mark.parametrize(
    "dtype", ["f32", "f64", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "i1"]
)
@pytest.mark.parametrize("pad", [0, 1, None])
def test_dtypes_and_pads(dtype: str, pad: int | None) -> None:
    shape, element = (3, 5), li.element_type(dtype)
    assert isinstance(element, ElementType)
    random = np.random.default_rng(3)
    source = random.integers(0, 2 if dtype == "i1" else 256, 15 * element.bytes, np.uint8).view(element.numpy)
    kernel = li.compile_reorder("NC", "(n, c) -> (c floordiv 4, n, c mod 4)", shape=shape, dtype=dtype, pad=pad)
    destination = np.full(24 * element.bytes, 0xA5, np.uint8).view(element.numpy)
    kernel(source, destination)
    one = {"f32": 0x3F800000, "f64": 0x3FF << 52, "f16": 0x3C00, "bf16": 0x3F80}.get(dtype, 1)
    expected = np.full(24 * element.bytes, 0xA5, np.uint8).view(f"u{element.bytes}").reshape(2, 3, 4)
    bits = source.view(f"u{element.bytes}").reshape(3, 5)
    expected[0], expected[1, :, 0] = bits[:, :4], bits[:, 4]
    if pad is not None:
        expected[1, :, 1:] = one * pad
    assert (destination.view(expected.dtype) == expected.ravel()).all()


def test_kernel_leaves_gaps_and_what_follows_alone() -> None:
    destination = np.full(32, 77, np.float32)
    kernel = li.compile_reorder("NC", li.layout("strided", strides=(8, 2), offset=1), shape=(3, 4), dtype=np.float32)
    assert "void reorder(" in kernel.source
    assert kernel(np.arange(12, dtype=np.float32), destination) is destination
    expected = np.full(32, 77, np.float32)
    for n, c in np.ndindex(3, 4):
        expected[1 + 8 * n + 2 * c] = 4 * n + c
    assert (destination == expected).all()


def test_pads_that_compare_equal_are_not_the_same_bits() -> None:
    array = np.ones((1, 1), np.float32)
    for pad in (0, -0.0, 0.0, False, np.float32(-0.0)):
        result = li.reorder(array, "NC", "(n, c) -> (n, c), round_up = [1, 2]", pad=pad)
        assert np.signbit(result[0, 1]) == np.signbit(pad)


def test_given_sizes_are_the_dims_as_they_come() -> None:
    array = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
    image = li.reorder(array, "NCHW", "mace:IN_OUT_CHANNEL", shape=array.shape)
    assert image.shape == (2 * 3, 4 * 2, 4)  # the kernels' [N * H][W * ceil(C / 4)][4]
    assert (image == li.reorder(array, li.layout("NHWC", dims="NHWC"), "mace:IN_OUT_CHANNEL")).all()


def test_a_kernel_returns_a_destination_without_elements() -> None:
    destination = np.empty(0, np.float32)
    kernel = li.compile_reorder("NC", "CN", shape=(0, 3), dtype="f32")
    assert kernel(np.empty(0, np.float32), destination) is destination


def test_gaps_of_a_new_array_are_zeros() -> None:
    result = li.reorder(np.ones((2, 2), np.int8), "NC", li.layout("strided", strides=(4, 2)))
    assert result.tolist() == [1, 0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize(
    "array, shape",
    [
        (np.arange(24).reshape(2, 3, 4)[:, ::-1], None),  # not contiguous
        (np.arange(24).reshape(2, 3, 4).astype(">i8"), None),  # another byte order
        (np.arange(24), (2, 3, 4)),
        (np.arange(24).reshape(6, 4), (2, 3, 4)),
    ],
)
def test_arrays_of_many_kinds(array: Array, shape: tuple[int, ...] | None) -> None:
    result = li.reorder(array, "abc", "cab", shape=shape)
    assert (result == array.reshape(2, 3, 4).transpose(2, 0, 1)).all()
    assert result.dtype == np.int64


def test_logical_shape_follows_from_a_storage_that_only_orders_the_dims() -> None:
    stored = np.arange(120).reshape(2, 4, 5, 3)  # N,H,W,C
    assert (li.reorder(stored, "NHWC", "NCHW") == stored.transpose(0, 3, 1, 2)).all()
    strided = li.layout("strided", strides=(3, 1))
    with pytest.raises(li.LayoutError, match="expected shape="):
        li.reorder(np.zeros((2, 3)), strided, "NC")


def test_kernels_are_made_once() -> None:
    make = lambda: li.compile_reorder("NC", "CN", shape=(2, 3), dtype="f32")  # noqa: E731
    assert make() is make()


@pytest.mark.parametrize("threads", [0, 1, 2])
def test_threads(threads: int) -> None:
    for rows, is_shared in ((640, True), (64, False)):  # one thread copies 12 KB before others are awake
        kernel = li.compile_reorder("NC", "CN", shape=(rows, 48), dtype="f32", threads=threads)
        source = np.arange(rows * 48, dtype=np.float32)
        assert (kernel(source, np.zeros_like(source)).reshape(48, rows) == source.reshape(rows, 48).T).all()
        assert ("omp parallel" in kernel.source) == is_shared


def test_importing_is_cheap_and_everything_listed_exists() -> None:
    program = (
        "import sys; import layout_ir as li\n"
        "heavy = [m for m in ('numpy', 'xdsl', 'ctypes', 'subprocess') if m in sys.modules]\n"
        "assert not heavy, heavy\n"
        "for name in li.__all__: assert getattr(li, name) is not None\n"
        "assert set(li.__all__) == set(dir(li))\n"
        "assert callable(li.formats) and 'NCHW' in li.formats()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parent)
