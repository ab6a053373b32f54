"""Kernels called on numpy buffers: results, errors, threads, cost of a call."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import layout_ir as li
from layout_ir.errors import LayoutError
from layout_ir.layouts.element_type import element_type
from layout_ir.runtime.kernel import Kernel, KernelArgument, load_kernel
from layout_ir.runtime.sized_kernel import SizedKernel

COPY = """
void copy(const float *restrict source, float *restrict destination) {
  for (long i = 0; i < 16; i += 1) {
    destination[i] = source[i];
  }
}
"""
F32 = element_type("f32")
ARGUMENTS = (KernelArgument("source", F32, 16, False), KernelArgument("destination", F32, 16, True))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOUT_IR_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAYOUT_IR_CACHE", str(tmp_path_factory.mktemp("cache")))
        return load_kernel(COPY, "copy", ARGUMENTS)


def floats(*shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("shape", [(16,), (4, 4), (1, 2, 8), (20,)])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint32])
def test_call(copy: Kernel, shape: tuple[int, ...], dtype: type[np.generic]) -> None:
    source = floats(*shape).view(dtype)
    destination = np.full(shape, 7, dtype)
    assert copy(source, destination) is destination
    assert destination.ravel()[:16].tobytes() == source.ravel()[:16].tobytes()
    assert (destination.ravel()[16:] == 7).all()
    assert copy.source == COPY


def read_only() -> np.ndarray[Any, np.dtype[np.float32]]:
    array = floats(16)
    array.flags.writeable = False
    return array


def memory_of_overlapping_fields() -> np.ndarray[Any, Any]:
    """An array of which other libraries get no view."""
    fields = np.dtype({"names": ["a", "b"], "formats": ["f4", "i4"], "offsets": [0, 0], "itemsize": 4})
    return floats(16).view(fields)


SHARED = floats(24)

ERRORS: list[tuple[Callable[[], tuple[Any, ...]], str]] = [
    (lambda: (floats(16),), r"expected 2 buffers \(source, destination\), got 1"),
    (lambda: ([1.0] * 16, floats(16)), "source: expected a numpy array, got list"),
    (lambda: (np.float32(1), floats(16)), "source: expected a numpy array, got float32"),
    (lambda: (floats(16), None), "destination: expected a numpy array, got NoneType"),
    (lambda: (np.zeros(16), floats(16)), r"source: expected elements of 4 bytes \(f32\), got float64 \(8 bytes\)"),
    (lambda: (floats(15), floats(16)), "source: expected a buffer of at least 16 elements, got 15"),
    (lambda: (floats(16), floats(3, 5)), "destination: expected a buffer of at least 16 elements, got 15"),
    (lambda: (floats(32)[::2], floats(16)), "source: expected a C-contiguous array, got strides"),
    (lambda: (floats(16), floats(4, 4).T), "destination: expected a C-contiguous array, got strides"),
    (lambda: (floats(16), read_only()), "destination: expected a writable array, got a read-only one"),
    (lambda: (SHARED[:16], SHARED[8:]), "expected buffers that do not overlap, got source and destination in the same"),
    (
        lambda: (np.zeros(65, np.uint8)[1:].view(np.float32), floats(16)),
        "source: expected an address that is a multiple of 4 bytes, got a misaligned array",
    ),
]


@pytest.mark.parametrize("make, message", ERRORS)
def test_errors(copy: Kernel, make: Callable[[], tuple[Any, ...]], message: str) -> None:
    with pytest.raises(
        LayoutError, match="copy: " + message if message.startswith(("source", "dest")) else message
    ) as error:
        copy(*make())
    assert error.value.__context__ is None
    with pytest.raises(LayoutError, match=message):
        copy.ready(*make())


def test_a_call_that_is_ready_moves_what_its_buffers_hold_by_then(copy: Kernel) -> None:
    source, destination = floats(16), floats(16)
    call = copy.ready(source, destination)
    source[:] = 3
    call()
    assert (destination == 3).all()
    lifetime = weakref.ref(destination)
    del destination
    assert lifetime() is not None
    del call
    assert lifetime() is None


@pytest.mark.parametrize("source", [read_only(), floats(16).view("V4"), memory_of_overlapping_fields()])
def test_sources_of_all_kinds_are_read(copy: Kernel, source: np.ndarray[Any, Any]) -> None:
    destination = np.zeros(16, np.float32)
    copy(source, destination)
    assert destination.tobytes() == floats(16).tobytes()


def test_a_kernel_for_all_sizes_is_ready_for_some() -> None:
    kernel = li.compile_reorder("NCHW", "NHWC", shape=(None, 3, None, None), dtype="f32")
    assert isinstance(kernel, SizedKernel)
    source, destination = floats(2, 3, 4, 5), floats(2, 4, 5, 3)
    kernel.ready(source, destination, sizes=(2, 4, 5))()
    assert (destination == source.transpose(0, 2, 3, 1)).all()
    with pytest.raises(LayoutError, match="expected a buffer of at least 180 elements, got 120"):
        kernel.ready(source, destination, sizes=(3, 4, 5))
    with pytest.raises(LayoutError, match="expected sizes"):
        kernel.ready(source, destination)


def test_neighbours_in_one_array_do_not_overlap(copy: Kernel) -> None:
    arena = floats(32)
    copy(arena[:16], arena[16:])
    assert (arena[16:] == arena[:16]).all()


def test_several_written_buffers_are_returned_and_may_not_overlap() -> None:
    source = "void fill(float *restrict a, float *restrict b) { a[0] = 1; b[0] = 2; }\n"
    kernel = load_kernel(source, "fill", [KernelArgument("a", F32, 1, True), KernelArgument("b", F32, 1, True)])
    a, b = floats(1), floats(1)
    result = kernel(a, b)
    assert isinstance(result, tuple)
    assert result[0] is a
    assert result[1] is b
    assert [a[0], b[0]] == [1, 2]
    with pytest.raises(LayoutError, match="do not overlap"):
        kernel(a, a)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads(threads: int) -> None:
    source = (
        "#include <omp.h>\n"
        "void count(int *restrict n) {\n#pragma omp parallel\n#pragma omp single\n*n = omp_get_num_threads(); }\n"
    )
    kernel = load_kernel(source, "count", [KernelArgument("n", element_type("i32"), 1, True)], threads=threads)
    assert kernel(np.zeros(1, np.int32))[0] == threads
    with pytest.raises(LayoutError, match="number of threads that is not negative, got -1"):
        load_kernel(source, "count", [], threads=-1)


def test_a_broken_library_in_the_cache_is_compiled_again(tmp_path: Path) -> None:
    from layout_ir.runtime.cache import cached_library

    text = COPY + "/* broken */\n"
    cached_library(text).write_bytes(b"not a library")
    kernel = load_kernel(text, "copy", ARGUMENTS)
    assert (kernel(floats(16), np.zeros(16, np.float32)) == floats(16)).all()
