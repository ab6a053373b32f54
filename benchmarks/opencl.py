"""
`python -m benchmarks.opencl`: every case on an OpenCL device, against the device's own copy and our kernels in C.

Buffers stay on the device while it is timed, and are checked once, before (`kernel.ready`). GB/s counts bytes read and
written, pads included; the copy moves as many bytes from buffer to buffer. Kernels in C have all threads of the host.
Results are compared with C's, bit for bit; the exit status is 1 if one differs. Speed never fails.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from benchmarks.cases import QUICK_SIZES, SIZES, WIDTHS, Run, runs

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from layout_ir.runtime.opencl_memory import Session

    Bytes = npt.NDArray[np.uint8]

ROUNDS = 7
SETTLING_SECONDS = 0.002
"""Calls are repeated until a sample is about this long."""


def parser() -> argparse.ArgumentParser:
    """The options."""
    result = argparse.ArgumentParser(prog="python -m benchmarks.opencl", description=(__doc__ or "").split("\n\n")[0])
    result.add_argument("--case", metavar="REGEX", default="", help="only cases whose name it finds")
    result.add_argument("--dtype", action="append", choices=list(WIDTHS), help="only this element type (repeatable)")
    result.add_argument("--size", action="append", choices=list(SIZES), help="sizes (default: out of cache)")
    result.add_argument("--device", metavar="NAME", help="the device: its number or a part of its name")
    result.add_argument("--quick", action="store_true", help="small sizes: shows that all runs, no more")
    return result


@dataclass(frozen=True)
class Result:
    """One run, in GB/s."""

    name: str
    ours: float
    copy: float
    in_c: float
    is_right: bool

    def __str__(self) -> str:
        ratios = f"{self.ours / self.copy:6.2f} {self.ours / self.in_c:6.2f}"
        wrong = "" if self.is_right else "  WRONG"
        return f"{self.name:60} {self.ours:7.2f} {self.copy:7.2f} {self.in_c:7.2f} {ratios}{wrong}"


def measure(run: Run, device: str | None) -> Result:
    """One run; raises `LayoutError` where a kernel cannot be made."""
    import numpy as np

    from layout_ir import compile_reorder
    from layout_ir.runtime.opencl import DeviceKernel, session
    from layout_ir.runtime.opencl_devices import pyopencl

    source, destination = run.layouts()
    kernel = compile_reorder(source, destination, shape=run.shape, dtype=run.dtype, target="opencl", device=device)
    in_c = compile_reorder(source, destination, shape=run.shape, dtype=run.dtype, threads=0)
    assert isinstance(kernel, DeviceKernel)
    width = WIDTHS[run.dtype]
    sizes = [argument.size * width for argument in kernel.arguments]
    cl, where = pyopencl(), session(kernel.device)
    data = np.random.default_rng(0).integers(0, 256, sizes[0], np.uint8)
    expected, got = np.zeros(sizes[1], np.uint8), np.zeros(sizes[1], np.uint8)
    memory = [_buffer(where, size) for size in (*sizes, max(sizes))]
    cl.enqueue_copy(where.queue, memory[0], data)
    cl.enqueue_copy(where.queue, memory[1], got)
    views = data.view(f"u{width}"), expected.view(f"u{width}")
    copied = min(sizes)

    def copy() -> None:
        cl.enqueue_copy(where.queue, memory[2], memory[int(sizes[1] < sizes[0])], byte_count=copied)
        where.queue.finish()

    seconds = _seconds([kernel.ready(*memory[:2]), copy, lambda: in_c(*views)])
    cl.enqueue_copy(where.queue, got, memory[1])
    where.queue.finish()
    for buffer in memory:
        buffer.release()
    moved = [sum(sizes), 2 * copied, sum(sizes)]
    ours, rate, c_rate = (size / time / 1e9 for size, time in zip(moved, seconds, strict=True))
    return Result(run.name, ours, rate, c_rate, bool((got == expected).all()))


def _buffer(where: Session, size: int) -> Any:
    from layout_ir.runtime.opencl_memory import Place

    return where.allocate(Place("benchmark", size, 1))


def _seconds(contestants: Sequence[Callable[[], object]]) -> list[float]:
    """Median seconds of a call, in rounds that all take part in."""
    calls: list[int] = []
    for call in contestants:
        call()
        start = perf_counter()
        call()
        calls.append(max(1, math.ceil(SETTLING_SECONDS / max(perf_counter() - start, 1e-7))))
    samples: list[list[float]] = [[] for _ in contestants]
    for _ in range(ROUNDS):
        for call, count, times in zip(contestants, calls, samples, strict=True):
            start = perf_counter()
            for _ in range(count):
                call()
            times.append((perf_counter() - start) / count)
    return [median(times) for times in samples]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; returns the exit status."""
    from layout_ir import LayoutError
    from layout_ir.runtime.opencl_devices import choose_device

    options = parser().parse_args(arguments)
    sizes = QUICK_SIZES if options.quick else SIZES
    wanted = {size: sizes[size] for size in options.size or ["out"]}
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # spinning threads would take the device's processors
    try:
        device = choose_device(options.device)
    except LayoutError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{device.platform.name.strip()}: {device.name.strip()}, {device.max_compute_units} compute units")
    print(f"{'':60} {'GB/s':>7} {'copy':>7} {'C':>7} {'/copy':>6} {'/C':>6}")
    results: list[Result] = []
    for run in runs(options.dtype or list(WIDTHS), wanted):
        if re.search(options.case, run.name):
            results.append(measure(run, options.device))
            print(results[-1], flush=True)
    if not results:
        print(f"no case's name has '{options.case}' in it", file=sys.stderr)
        return 2
    to_copy = geometric_mean(result.ours / result.copy for result in results)
    to_c = geometric_mean(result.ours / result.in_c for result in results)
    print(f"geometric mean of {len(results)} cases: {to_copy:.2f} of the device's copy, {to_c:.2f} of C")
    return 0 if all(result.is_right for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
