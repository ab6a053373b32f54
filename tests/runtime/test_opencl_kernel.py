"""Kernels of a device on numpy arrays and pyopencl buffers: results, errors, what is built and when."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from layout_families import ACTIVATIONS
from opencl_support import SENTINEL, compiled, working_device
from reorder_batch import Reorder, faults

import layout_ir as li
from layout_ir import api
from layout_ir.backends import opencl_types
from layout_ir.runtime import opencl, opencl_devices, opencl_program
from layout_ir.runtime.opencl_devices import Tuning, pyopencl, tuning_of

SHAPE = (2, 5, 3)


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A kernel cache of its own, and nothing built before."""
    working_device()
    monkeypatch.setenv("LAYOUT_IR_CACHE", str(tmp_path / "cache"))
    forget()
    yield
    forget()


def forget() -> None:
    opencl._loaded.cache_clear()
    api._compiled_for_device.cache_clear()


def transpose() -> Any:
    return li.compile_reorder(
        "(d0, d1, d2) -> (d0, d1, d2)", "(d0, d1, d2) -> (d2, d0, d1)", shape=SHAPE, dtype="f32", target="opencl"
    )


def floats() -> np.ndarray:
    return np.arange(30, dtype=np.float32).reshape(SHAPE)


def buffer_of(context: Any, data: np.ndarray) -> Any:
    cl = pyopencl()
    return cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=data)


def test_numpy_arrays() -> None:
    result = np.zeros((3, 2, 5), np.float32)
    kernel = transpose()
    assert kernel(floats(), result) is result
    assert (result == floats().transpose(2, 0, 1)).all()
    assert "__kernel" in kernel.source
    assert kernel.device == working_device()


@pytest.mark.parametrize("kinds", ["bb", "bn", "nb"])
def test_buffers_and_arrays_in_any_mix(kinds: str) -> None:
    cl = pyopencl()
    context = cl.Context([working_device()])
    arrays = [floats(), np.full((3, 2, 5), -1, np.float32)]
    given = [buffer_of(context, array) if kind == "b" else array for kind, array in zip(kinds, arrays, strict=True)]
    assert transpose()(*given) is given[1]
    if kinds[1] == "b":
        with cl.CommandQueue(context) as queue:
            cl.enqueue_copy(queue, arrays[1], given[1])
            queue.finish()
    assert (arrays[1] == floats().transpose(2, 0, 1)).all()


def test_a_buffer_may_be_longer_and_what_is_behind_stays() -> None:
    cl = pyopencl()
    context = cl.Context([working_device()])
    destination = buffer_of(context, np.full(40, 7, np.float32))
    transpose()(floats(), destination)
    result = np.empty(40, np.float32)
    with cl.CommandQueue(context) as queue:
        cl.enqueue_copy(queue, result, destination)
        queue.finish()
    assert (result[:30] == floats().transpose(2, 0, 1).ravel()).all()
    assert (result[30:] == 7).all()


def test_functions_with_calls_and_temporaries() -> None:
    from layout_ir.runtime.opencl import compile_device_functions
    from layout_ir.tools.layout_run import read_module

    folder = Path(__file__).parents[1] / "filecheck" / "backends"
    (kernel,) = compile_device_functions(read_module(folder / "opencl_calls.mlir"), ["outer"])
    source = np.arange(12, dtype=np.float32)
    result = np.zeros(12, np.float32)
    kernel(source, result)
    assert (result.reshape(4, 3) == source.reshape(3, 4).T).all()


@pytest.mark.parametrize("dtype", ["f64", "f32", "bf16", "u8"])
@pytest.mark.parametrize("shape", [(64, 96), (67, 45), (5, 33), (2, 9, 10, 35)])
def test_tiles_in_local_memory(monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], dtype: str) -> None:
    monkeypatch.setenv("LAYOUT_IR_VECTOR_BYTES", "0")
    names = ("NC", "CN") if len(shape) == 2 else ("NCHW", "NWHC")
    case = Reorder(li.layout(names[0]), li.layout(names[1]), shape, dtype)
    kernels = compiled([case])
    assert "__local" in kernels[0].source
    assert "barrier(CLK_LOCAL_MEM_FENCE);" in kernels[0].source
    assert not faults([case], kernels)


@pytest.mark.parametrize("vector_bytes", ["0", "64"])
def test_indices_of_64_bits(monkeypatch: pytest.MonkeyPatch, vector_bytes: str) -> None:
    monkeypatch.setenv("LAYOUT_IR_VECTOR_BYTES", vector_bytes)
    monkeypatch.setattr(opencl_types, "INT_BYTES", 1)
    cases = list(ACTIVATIONS.reorders())[::97]
    kernels = compiled(cases)
    assert "const long" in kernels[0].source
    assert "int" not in re.sub(r"uint\d*|layout_\w+", "", kernels[0].source.split("*/")[-1])
    assert not faults(cases, kernels)


class Limits:
    """A device's limits."""

    def __init__(self, kind: str, group: int, local: int, width: int = 0) -> None:
        self.type = getattr(pyopencl().device_type, kind)
        self.max_work_group_size, self.local_mem_size, self.native_vector_width_int = group, local, width


@pytest.mark.parametrize(
    "limits, tuning",
    [
        (("GPU", 1024, 49152), Tuning(tile=32, work_group=256)),
        (("GPU", 64, 49152), Tuning(tile=16, work_group=64)),
        (("GPU", 256, 8192), Tuning(tile=16, work_group=128)),
        (("GPU", 1, 1024), Tuning(work_group=1)),
        (("CPU", 4096, 1 << 20, 16), Tuning(vector_bytes=64, most_lanes=64)),
        (("CPU", 4096, 1 << 20, 4), Tuning(vector_bytes=16)),
        (("CPU", 4096, 1 << 20, 1), Tuning(tile=32, work_group=256)),
    ],
)
def test_kernels_are_made_for_the_limits_of_the_device(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[Any, ...], tuning: Tuning
) -> None:
    monkeypatch.delenv("LAYOUT_IR_VECTOR_BYTES", raising=False)
    monkeypatch.setattr(opencl_devices, "_has_wide_vectors", lambda device: device.native_vector_width_int > 4)
    assert tuning_of(Limits(*limits)) == tuning


# -- what is built, and when -------------------------------------------------------------------------------------------


def refuse_to_build(*_: object) -> None:
    raise AssertionError("expected that nothing is built")


def test_the_second_run_of_a_program_builds_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    transpose()(floats(), np.zeros(30, np.float32))
    (binary,) = (tmp_path / "cache").glob("*.clbin")
    forget()  # as a new process would begin
    monkeypatch.setattr(opencl_program, "build", refuse_to_build)
    result = np.zeros((3, 2, 5), np.float32)
    transpose()(floats(), result)
    assert (result == floats().transpose(2, 0, 1)).all()
    assert list((tmp_path / "cache").iterdir()) == [binary]


def test_a_broken_binary_is_built_again(tmp_path: Path) -> None:
    transpose()(floats(), np.zeros(30, np.float32))
    (binary,) = (tmp_path / "cache").glob("*.clbin")
    binary.write_bytes(b"broken")
    forget()
    result = np.zeros((3, 2, 5), np.float32)
    transpose()(floats(), result)
    assert (result == floats().transpose(2, 0, 1)).all()
    assert binary.read_bytes() != b"broken"


def test_a_program_that_cannot_be_built_shows_the_log() -> None:
    device = working_device()
    with pytest.raises(li.LayoutError, match=r"(?s)cannot build the kernel.*undeclared|use of"):
        opencl_program.build(pyopencl().Context([device]), device, "__kernel void f() { nonsense(); }")


# -- errors ------------------------------------------------------------------------------------------------------------


def small_buffer() -> Any:
    return buffer_of(pyopencl().Context([working_device()]), np.zeros(29, np.float32))


def two_contexts() -> tuple[Any, Any]:
    return small_buffer(), small_buffer()


def one_twice() -> tuple[Any, Any]:
    buffer = small_buffer()
    return buffer, buffer


ERRORS: list[tuple[Callable[[], tuple[Any, ...]], str]] = [
    (lambda: (floats(),), "expected 2 buffers"),
    (lambda: (floats(), np.zeros(29, np.float32)), "expected a buffer of at least 30 elements, got 29"),
    (lambda: (floats(), np.zeros(30)), "expected elements of 4 bytes"),
    (lambda: (floats(), small_buffer()), "expected a buffer of at least 120 bytes, got 116"),
    (lambda: (np.zeros(30), small_buffer()), "source: expected elements of 4 bytes"),
    (lambda: ([1.0], small_buffer()), "source: expected a numpy array, got list"),
    (two_contexts, "expected buffers of one OpenCL context"),
    (one_twice, "expected buffers that do not overlap"),
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
