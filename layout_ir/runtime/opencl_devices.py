"""
OpenCL devices: which ones a machine has, and which of them work.

A platform may list a device for which it can build no program (a compiler older than the processor, for one), so that a
device counts only once a tiny program was built for it, has run, and gave the right answer.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from threading import Lock
from typing import Any

from layout_ir.errors import LayoutError
from layout_ir.runtime.compiler import VECTOR_VARIABLE, vector_bytes

DEVICE_VARIABLE = "LAYOUT_IR_OPENCL_DEVICE"
"""Environment variable that names the device to use: a number in the list of devices, or a part of its name."""

INSTALL = (
    "install pyopencl ('pip install layout-ir[opencl]') and a driver, e.g. 'apt install pocl-opencl-icd' for the CPU"
)

_NARROWEST_VECTOR, _WIDEST_VECTOR = 16, 64
"""Bytes."""

_TRIAL = """\
__kernel void layout_trial(__global uint *restrict result) {
  const uint i = (uint)get_global_id(0);
  result[i] = 3 * i + 1;
}
"""
_TRIAL_ITEMS = 64

_WIDE_TRIAL = """\
typedef uchar bytes __attribute__((ext_vector_type(64)));
__kernel void layout_wide_trial(__global bytes *restrict result) {
  result[0] = __builtin_shufflevector(result[0], result[1], LANES);
}
""".replace("LANES", ", ".join(str(2 * lane) for lane in range(64)))


@dataclass(frozen=True, eq=False)
class FoundDevice:
    """A device that a platform lists."""

    number: int
    """Its place in the list of all devices."""

    device: Any
    """The `pyopencl.Device`."""

    @property
    def name(self) -> str:
        """Platform and device, as the drivers call them."""
        return f"{self.device.platform.name.strip()}: {self.device.name.strip()}"

    @cached_property
    def problem(self) -> str | None:
        """Why the device cannot be used; None if it works."""
        cl = pyopencl()
        try:
            return _try(cl, self.device)
        except (cl.Error, RuntimeError, MemoryError) as error:
            return first_lines(str(error))

    def __str__(self) -> str:
        state = "works" if self.problem is None else f"does not work: {self.problem}"
        return f"{self.number}  {self.name} ({self.device.version.strip()}): {state}"


def _try(cl: Any, device: Any) -> str | None:
    import numpy as np

    if not (device.available and device.compiler_available):
        return "the driver says that it is not available, or has no compiler for it"
    context = cl.Context([device])
    with cl.CommandQueue(context, device) as queue:
        with quiet_compiler():
            program = cl.Program(context, _TRIAL).build("-cl-std=CL1.2", [device])
        result = np.zeros(_TRIAL_ITEMS, np.uint32)
        buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, result.nbytes)
        program.layout_trial(queue, (_TRIAL_ITEMS,), None, buffer)
        cl.enqueue_copy(queue, result, buffer)
        queue.finish()
    return None if (result == 3 * np.arange(_TRIAL_ITEMS) + 1).all() else "a tiny program gave a wrong result"


def first_lines(text: str, count: int = 12) -> str:
    """The first lines of a driver's message that say anything."""
    lines = [line.rstrip() for line in text.strip().splitlines() if line.strip()]
    more = [f"... and {len(lines) - count} more lines"] if len(lines) > count else []
    return "\n".join([*lines[:count], *more])


@cache
def pyopencl() -> Any:
    """The module pyopencl; raises `LayoutError` that says what to install where there is none."""
    import importlib

    try:
        return importlib.import_module("pyopencl")
    except ImportError as error:
        raise LayoutError(f"expected the Python package pyopencl for the target opencl: {error}; {INSTALL}") from None


_FILTERS = Lock()


@contextmanager
def quiet_compiler() -> Generator[None]:
    """Do not warn that a driver's compiler said something, as some always do, unless pyopencl is told to show what."""
    shows = os.environ.get("PYOPENCL_COMPILER_OUTPUT", "").lower() in ("1", "true", "yes", "on", "y", "t")
    with _FILTERS, warnings.catch_warnings():  # filters belong to the process: two at a time would keep each other's
        if not shows:
            warnings.simplefilter("ignore", pyopencl().CompilerWarning)
        yield


@cache
def found_devices() -> tuple[FoundDevice, ...]:
    """All devices of all platforms; raises `LayoutError` without pyopencl."""
    cl = pyopencl()
    try:
        platforms = cl.get_platforms()
    except cl.Error:  # what the loader says when it finds no driver
        return ()
    devices: list[Any] = []
    for platform in platforms:
        try:
            devices += platform.get_devices()
        except cl.Error:  # a platform without devices
            continue
    return tuple(FoundDevice(number, device) for number, device in enumerate(devices))


def choose_device(wanted: str | None = None) -> Any:
    """
    The device to run on: the one that `wanted` or the environment names, else the first that works, GPUs first.

    `wanted`: a number in the list of devices, or a part of a name. Raises `LayoutError` where no device works, or the
    wanted one does not.
    """
    found = found_devices()
    if found and wanted:
        return _named(wanted, found, "")
    if found and (wanted := os.environ.get(DEVICE_VARIABLE)):
        return _named(wanted, found, f" ({DEVICE_VARIABLE})")
    for candidate in sorted(found, key=lambda one: _preference(one.device)):
        if candidate.problem is None:
            return candidate.device
    raise LayoutError(f"found no OpenCL device that works: {_listed(found)}; {INSTALL}")


def _named(wanted: str, found: tuple[FoundDevice, ...], origin: str) -> Any:
    matching = [
        one for one in found if (wanted == str(one.number) if wanted.isdigit() else wanted.lower() in one.name.lower())
    ]
    if not matching:
        raise LayoutError(
            f"expected an OpenCL device whose number or name matches '{wanted}'{origin}, found {_listed(found)}"
        )
    for candidate in matching:
        if candidate.problem is None:
            return candidate.device
    raise LayoutError(f"the OpenCL device '{matching[0].name}'{origin} does not work: {matching[0].problem}")


def _listed(found: tuple[FoundDevice, ...]) -> str:
    if not found:
        return "no platform lists any"
    return "; ".join(f"{one.number} {one.name}" + (f" ({one.problem})" if one.problem else "") for one in found)


def _preference(device: Any) -> int:
    kinds = pyopencl().device_type
    order = (kinds.GPU, kinds.ACCELERATOR, kinds.CPU)
    return next((place for place, kind in enumerate(order) if device.type & kind), len(order))


@lru_cache(maxsize=16)
def _has_wide_vectors(device: Any) -> bool:
    """Whether the device's compiler knows vectors of 64 elements, as those made from Clang do."""
    cl = pyopencl()
    try:
        with quiet_compiler():
            cl.Program(cl.Context([device]), _WIDE_TRIAL).build("-cl-std=CL1.2", [device])
    except (cl.Error, RuntimeError):
        return False
    return True


@dataclass(frozen=True)
class Tuning:
    """What kernels for a device are made with; as in `lower_for_device`."""

    vector_bytes: int = 0
    most_lanes: int = 16
    tile: int = 0
    work_group: int = 64


def tuning_of(device: Any) -> Tuning:
    """
    The choices for a device: tiles through vector registers on a processor, through local memory on any other.

    The environment variable that forces the width of vectors for kernels in C does so here too.
    """
    limit: int = device.max_work_group_size
    width = 0
    if VECTOR_VARIABLE in os.environ:
        width = vector_bytes()
    elif device.type & pyopencl().device_type.CPU:
        width = min(4 * device.native_vector_width_int, _WIDEST_VECTOR)
    if width >= _NARROWEST_VECTOR:
        return Tuning(width, _WIDEST_VECTOR if _has_wide_vectors(device) else 16, work_group=min(64, limit))
    for tile in (32, 16):  # 8 bytes is the widest element; two groups share a processor's local memory
        if limit >= tile * 4 and device.local_mem_size >= 2 * 8 * tile * (tile + 1):
            return Tuning(tile=tile, work_group=min(8 * tile, limit))
    return Tuning(work_group=min(64, limit))


def device_report() -> Iterator[str]:
    """What was found, what works, and why the rest does not: one line a device, one for the choice."""
    found = found_devices()
    if not found:
        yield f"no OpenCL platform lists any device; {INSTALL}"
        return
    yield from map(str, found)
    try:
        chosen = choose_device()
    except LayoutError as error:
        yield str(error)
        return
    number = next(one.number for one in found if one.device == chosen)
    yield f"chosen: {number}; force another with --device or {DEVICE_VARIABLE}, by number or a part of its name"
