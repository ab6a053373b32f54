"""What goes wrong on a device is one message, and the caller's arrays stay as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from opencl_support import SENTINEL, buffer_of, working_device

import layout_ir as li
from layout_ir.runtime import opencl
from layout_ir.runtime.opencl_devices import pyopencl

SHAPE = (2, 5, 3)


@pytest.fixture(autouse=True)
def device() -> None:
    """Nothing below runs without a device."""
    working_device()


def transpose() -> Any:
    return li.compile_reorder(
        "(d0, d1, d2) -> (d0, d1, d2)", "(d0, d1, d2) -> (d2, d0, d1)", shape=SHAPE, dtype="f32", target="opencl"
    )


def floats() -> np.ndarray:
    return np.arange(30, dtype=np.float32).reshape(SHAPE)


def small_buffer() -> Any:
    return buffer_of(pyopencl().Context([working_device()]), np.zeros(29, np.float32))


def two_contexts() -> tuple[Any, Any]:
    return small_buffer(), small_buffer()


def one_twice() -> tuple[Any, Any]:
    buffer = small_buffer()
    return buffer, buffer


def parts_that_overlap() -> tuple[Any, Any]:
    whole = pyopencl().Buffer(opencl.session(working_device()).context, pyopencl().mem_flags.READ_WRITE, 4096)
    step = working_device().mem_base_addr_align // 8
    assert step <= 2048
    return whole.get_sub_region(0, 2 * step), whole.get_sub_region(step, 2 * step)


def made_as(left: str, right: str) -> tuple[Any, Any]:
    cl = pyopencl()
    context = cl.Context([working_device()])
    return cl.Buffer(context, getattr(cl.mem_flags, left), 120), cl.Buffer(context, getattr(cl.mem_flags, right), 120)


ERRORS: list[tuple[Callable[[], tuple[Any, ...]], str]] = [
    (lambda: (floats(),), "expected 2 buffers"),
    (lambda: (floats(), np.zeros(29, np.float32)), "expected a buffer of at least 30 elements, got 29"),
    (lambda: (floats(), np.zeros(30)), "expected elements of 4 bytes"),
    (lambda: (floats(), small_buffer()), "expected a buffer of at least 120 bytes, got 116"),
    (lambda: (np.zeros(30), small_buffer()), "source: expected elements of 4 bytes"),
    (lambda: ([1.0], small_buffer()), "source: expected a numpy array, got list"),
    (two_contexts, "expected buffers of one OpenCL context"),
    (one_twice, "expected buffers that do not overlap, got source and result"),
    (parts_that_overlap, "expected buffers that do not overlap, got source and result"),
    (lambda: made_as("READ_ONLY", "READ_ONLY"), "destination: expected memory that kernels may write"),
    (lambda: made_as("WRITE_ONLY", "WRITE_ONLY"), "source: expected memory that kernels may read"),
]


@pytest.mark.parametrize("make, message", ERRORS)
def test_buffers_that_do_not_fit_are_refused(make: Callable[[], tuple[Any, ...]], message: str) -> None:
    kernel = transpose()
    with pytest.raises(li.LayoutError, match=message):
        kernel(*make())


def test_a_device_error_is_one_message_and_leaves_the_array_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    cl = pyopencl()
    kernel = transpose()

    def lost(*_: object, **__: object) -> None:
        raise cl.RuntimeError("clEnqueueNDRangeKernel failed: OUT_OF_RESOURCES")

    monkeypatch.setattr(cl, "enqueue_nd_range_kernel", lost)
    destination = np.full(30, SENTINEL, np.uint32)
    with pytest.raises(li.LayoutError, match=r"reorder: the OpenCL device '.*' failed: .*OUT_OF_RESOURCES"):
        kernel(floats(), destination)
    assert (destination == SENTINEL).all()


def test_a_download_that_fails_leaves_the_array_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    cl = pyopencl()
    kernel = transpose()
    copy = cl.enqueue_copy

    def half(queue: Any, destination: Any, source: Any, **options: Any) -> Any:
        if isinstance(destination, np.ndarray):
            destination.reshape(-1)[:5] = 0
            raise cl.RuntimeError("device lost")
        return copy(queue, destination, source, **options)

    monkeypatch.setattr(cl, "enqueue_copy", half)
    destination = np.full(30, SENTINEL, np.uint32)
    with pytest.raises(li.LayoutError, match="device lost"):
        kernel(floats(), destination)
    assert (destination == SENTINEL).all()


def test_memory_that_fits_its_use_and_no_other() -> None:
    source, destination = made_as("READ_ONLY", "WRITE_ONLY")
    assert transpose()(source, destination) is destination


def test_too_little_memory_is_one_message() -> None:
    cl = pyopencl()
    limit = working_device().max_mem_alloc_size
    place = opencl.Place("reorder: source", limit + 1, 1)
    where = opencl.session(working_device())
    with pytest.raises(li.LayoutError, match=f"reorder: source: expected a buffer of at most {limit} bytes"):
        where.allocate(place)
    with pytest.raises(li.LayoutError, match="has not enough memory"), opencl._device_errors("f", working_device()):
        raise cl.MemoryError("clCreateBuffer failed: MEM_OBJECT_ALLOCATION_FAILURE")


@pytest.mark.parametrize(
    "options, message",
    [
        ({"threads": 2}, "expected threads for the target c alone"),
        ({"target": "c", "images": True}, "expected device and images for the target opencl alone"),
        (
            {"device": "no such device"},
            "expected an OpenCL device whose number or name matches 'no such device', found",
        ),
    ],
)
def test_options_that_do_not_fit(options: dict[str, Any], message: str) -> None:
    with pytest.raises(li.LayoutError, match=message):
        li.compile_reorder("NC", "CN", shape=(2, 3), dtype="f32", **{"target": "opencl", **options})
