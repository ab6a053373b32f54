"""Kernels of a device on numpy arrays and pyopencl buffers: results, errors, what is built and when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from layout_families import ACTIVATIONS
from opencl_support import buffer_of, compiled, working_device
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


def test_a_tensor_without_elements() -> None:
    kernel = li.compile_reorder("NCHW", "NHWC", shape=(2, 0, 3, 4), dtype="f32", target="opencl")
    nothing = np.empty(0, np.float32)
    assert kernel(np.empty(0, np.float32), nothing) is nothing


TWO_SOURCES = """
!x = tensor<3x4xf32>
!y = tensor<3x4xf32, #layout.format<"CN">>
func.func @f(%a: !x, %b: !x) -> (!y, !y) {
  %c = layout.reorder %a : !x to !y
  %d = layout.reorder %b : !x to !y
  func.return %c, %d : !y, !y
}
"""


def test_sources_may_be_one_buffer_and_results_may_not(tmp_path: Path) -> None:
    from layout_ir.runtime.opencl import compile_device_functions
    from layout_ir.tools.layout_run import read_module

    (tmp_path / "f.mlir").write_text(TWO_SOURCES)
    (kernel,) = compile_device_functions(read_module(tmp_path / "f.mlir"), ["f"])
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    source = buffer_of(pyopencl().Context([working_device()]), values)
    results = np.zeros((4, 3), np.float32), np.zeros((4, 3), np.float32)
    kernel(source, source, *results)
    assert all((result == values.T).all() for result in results)
    with pytest.raises(li.LayoutError, match="expected buffers that do not overlap"):
        kernel(source, source, results[0], results[0])


def test_a_call_that_is_measured_leaves_the_arrays_alone() -> None:
    result = np.zeros(30, np.float32)
    transpose().ready(floats(), result)()
    assert not result.any()


def test_a_call_that_is_ready_works_on_memory_of_the_device_as_often_as_wanted() -> None:
    cl = pyopencl()
    context = cl.Context([working_device()])
    source, destination = buffer_of(context, floats()), buffer_of(context, np.zeros((3, 2, 5), np.float32))
    call = transpose().ready(source, destination)
    result = np.empty((3, 2, 5), np.float32)
    with cl.CommandQueue(context) as queue:
        for values in (floats(), floats() + 1):
            cl.enqueue_copy(queue, source, values)
            queue.finish()
            call()
            cl.enqueue_copy(queue, result, destination)
            assert (result == values.transpose(2, 0, 1)).all()


def test_a_call_is_ready_for_what_a_call_takes_only() -> None:
    cl = pyopencl()
    memory = buffer_of(cl.Context([working_device()]), floats())
    with pytest.raises(li.LayoutError, match=r"expected 2 buffers \(source, result\), got 1"):
        transpose().ready(memory)
    with pytest.raises(li.LayoutError, match="expected buffers that do not overlap"):
        transpose().ready(memory, memory)
    with pytest.raises(li.LayoutError, match="expected a numpy array, got list"):
        transpose().ready(memory, [0.0] * 30)


def test_memory_of_the_host_has_to_begin_where_vectors_may() -> None:
    cl = pyopencl()
    context = cl.Context([working_device()])
    memory = np.zeros(64, np.float32)
    start = (-memory.ctypes.data % 64) // 4
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    memory[start : start + 30] = floats().ravel()
    result = np.zeros((3, 2, 5), np.float32)
    transpose()(cl.Buffer(context, flags, hostbuf=memory[start : start + 30]), result)
    assert (result == floats().transpose(2, 0, 1)).all()
    with pytest.raises(li.LayoutError, match=r"at a multiple of 16 bytes .*, got it 4 bytes behind one"):
        transpose()(cl.Buffer(context, flags, hostbuf=memory[start + 1 : start + 31]), result)


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
    cases = ACTIVATIONS.reorders[::197]
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
    with pytest.raises(li.LayoutError, match=r"(?s)cannot build the kernel.*nonsense"):
        opencl_program.build(pyopencl().Context([device]), device, "__kernel void f() { nonsense(); }")
