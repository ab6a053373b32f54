"""Programs of a device: built once for their source, device and driver, and kept in the kernel cache."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from layout_ir.backends.opencl_host import Launch
from layout_ir.errors import LayoutError
from layout_ir.runtime.opencl_devices import first_lines, pyopencl, quiet_compiler

OPTIONS = "-cl-std=CL1.2"
"""What every program is built with."""

_LOG_LINES = 30


class LoadedProgram:
    """A built program with its kernels. Each is made once: to make one takes pyopencl ten times as long as a launch."""

    def __init__(self, program: Any) -> None:
        self._program = program
        self._kernels: dict[str, Any] = {}
        self._lock = Lock()

    def launch(self, queue: Any, step: Launch, memory: Sequence[Any]) -> None:
        """Enqueue a kernel of the program on its buffers and images; arguments belong to one launch at a time."""
        with self._lock:
            kernel = self._kernels.get(step.kernel)
            if kernel is None:
                kernel = self._kernels[step.kernel] = pyopencl().Kernel(self._program, step.kernel)
            for number, argument in enumerate(memory):
                kernel.set_arg(number, argument)
            pyopencl().enqueue_nd_range_kernel(queue, kernel, step.sizes, step.items)


def load_program(context: Any, device: Any, source: str) -> LoadedProgram:
    """
    The built program of a source, from the cache where it is there.

    Raises `LayoutError` with the compiler's log where it cannot be built.
    """
    file = binary_file(device, source)
    program = _from_cache(context, device, file)
    if program is None:
        program = build(context, device, source)
        _keep(file, program)
    return LoadedProgram(program)


def binary_file(device: Any, source: str) -> Path:
    """Where the cache keeps the program of a source for a device and its driver."""
    from hashlib import sha256

    from layout_ir.runtime.cache import cache_folder

    platform = device.platform
    parts = (source, OPTIONS, platform.name, platform.version, device.name, device.version, device.driver_version)
    return cache_folder() / f"{sha256(chr(0).join(parts).encode()).hexdigest()[:40]}.clbin"


def build(context: Any, device: Any, source: str) -> Any:
    """A program built from its source; raises `LayoutError` with the compiler's log where that fails."""
    cl = pyopencl()
    try:
        with quiet_compiler():
            return cl.Program(context, source).build(OPTIONS, [device])
    except cl.Error as error:
        log = first_lines(str(error), _LOG_LINES)
        raise LayoutError(f"the OpenCL device '{device.name}' cannot build the kernel:\n{log}") from None


def _from_cache(context: Any, device: Any, file: Path) -> Any:
    cl = pyopencl()
    try:
        with quiet_compiler():
            return cl.Program(context, [device], [file.read_bytes()]).build(OPTIONS, [device])
    except (OSError, cl.Error):  # not there, or what a full disk or another driver left
        return None


def _keep(file: Path, program: Any) -> None:
    """Write the binary into the cache, under its name only when it is complete; without it kernels run all the same."""
    from tempfile import NamedTemporaryFile

    cl = pyopencl()
    try:
        (binary,) = program.get_info(cl.program_info.BINARIES)
        with NamedTemporaryFile(dir=file.parent, prefix=".building-", delete=False) as partial:
            partial.write(binary)
        os.replace(partial.name, file)
    except (OSError, ValueError, cl.Error):
        return
