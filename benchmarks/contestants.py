"""What takes part in a case: our kernel and its opponents, each on the same two buffers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from benchmarks.cases import PITCHED, Run
from benchmarks.digits import StridedCopy
from benchmarks.harness import address_of, harness, load_shared

if TYPE_CHECKING:
    from benchmarks.buffers import Buffers
    from benchmarks.onednn import Descriptor, Reorder
    from layout_ir.runtime.kernel import Kernel

OURS, MEMCPY, ONEDNN, PYTORCH, NUMPY = "ours", "memcpy", "oneDNN", "PyTorch", "numpy"
OPPONENTS = (MEMCPY, ONEDNN, PYTORCH, NUMPY)


@dataclass(frozen=True)
class Contestant:
    """Somebody who can do a case."""

    name: str
    seconds: Callable[[int], float]
    """Seconds that a number of calls take."""

    note: str = ""
    """oneDNN: the implementation that it chose."""


def kernel_contestant(kernel: Kernel, threads: int, buffers: Buffers) -> Contestant:
    """Our kernel, called without the Python wrapper, whose cost is reported apart."""
    from layout_ir.runtime.cache import cached_library

    library = load_shared(cached_library(kernel.source, threads=threads > 1))
    function = address_of(library[kernel.name])
    time_kernel = harness().time_kernel
    return Contestant(OURS, lambda calls: time_kernel(function, *buffers.addresses, calls))


def memcpy_contestant(size: int, threads: int, buffers: Buffers) -> Contestant:
    """The C library's memcpy of `size` bytes, split over threads."""
    time_memcpy = harness().time_memcpy
    return Contestant(MEMCPY, lambda calls: time_memcpy(*buffers.addresses, size, threads, calls))


def onednn_contestant(run: Run, buffers: Buffers) -> tuple[Contestant, Reorder] | None:
    """oneDNN's reorder, or None where it is not installed or has none for this pair."""
    from benchmarks import onednn

    if onednn.library() is None:
        return None
    source, destination = onednn_layouts(run)
    try:
        reorder = onednn.create_reorder(run.shape, run.dtype, source, destination, buffers)
    except onednn.OneDNNError:
        return None
    room = (len(buffers.source), len(buffers.destination))
    sides = zip((source, destination), reorder.sizes, room, strict=True)
    if any(size > there for layout, size, there in sides if isinstance(layout, str)):  # strides: it counts a last gap
        reorder.destroy()
        return None
    return Contestant(ONEDNN, reorder.seconds, reorder.implementation), reorder


def onednn_layouts(run: Run) -> tuple[Descriptor, Descriptor]:
    """oneDNN's descriptions of source and destination."""
    from benchmarks.cases import pitched_strides
    from layout_ir.formats.onednn_tag import parse_tag

    def described(text: str, given: str | None) -> Descriptor:
        if text == PITCHED:
            return pitched_strides(run.shape)
        return given or parse_tag(text.removeprefix("onednn:")).canonical_name

    left, right = run.case.tags or (None, None)
    return described(run.case.source, left), described(run.case.destination, right)


def numpy_contestant(copy: StridedCopy, dtype: str, buffers: Buffers) -> Contestant:
    """numpy's `copyto` between strided views; always one thread."""
    import numpy as np
    from numpy.lib.stride_tricks import as_strided

    from layout_ir.layouts.element_type import element_type

    element = element_type(dtype).numpy

    def view(storage: Any, offset: int, strides: tuple[int, ...]) -> Any:
        steps = [stride * element.itemsize for stride in strides]
        return as_strided(storage.view(element)[offset:], copy.extents, steps)

    source = view(buffers.source, copy.source_offset, copy.source_strides)
    destination = view(buffers.destination, copy.destination_offset, copy.destination_strides)
    return Contestant(NUMPY, looped(lambda: np.copyto(destination, source)))


def pytorch_contestant(copy: StridedCopy, dtype: str, buffers: Buffers) -> Contestant | None:
    """
    PyTorch's `copy_` between strided views, or None where it is not installed.

    That is what `.contiguous()` and `.to(memory_format=...)` do after they have allocated the result, which would only
    make them slower.
    """
    torch = pytorch()
    if torch is None:
        return None
    types = {"f32": torch.float32, "f16": torch.float16, "i8": torch.int8}

    def view(storage: Any, offset: int, strides: tuple[int, ...]) -> Any:
        return torch.from_numpy(storage).view(types[dtype]).as_strided(copy.extents, strides, offset)

    source = view(buffers.source, copy.source_offset, copy.source_strides)
    destination = view(buffers.destination, copy.destination_offset, copy.destination_strides)
    return Contestant(PYTORCH, looped(lambda: destination.copy_(source)))


@cache
def pytorch() -> Any:
    """The module `torch`, or None if it is not installed."""
    try:
        return import_module("torch")
    except ImportError:
        return None


def looped(call: Callable[[], object]) -> Callable[[int], float]:
    """Seconds that so many calls from Python take, one after the other."""

    def seconds(calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        return time.perf_counter() - start

    return seconds
