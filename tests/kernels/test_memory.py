"""Kernels need no memory of their own, whatever the size of a tensor."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import layout_ir as li

MEBIBYTE = 1 << 20
BYTES = 64 * MEBIBYTE
ALLOWED = 4 * MEBIBYTE
"""Stacks of threads, and the first touch of code."""

CASES = [
    ("onednn:ab", "onednn:ba", (4096, 4096), "f32"),
    ("NCHW", "onednn:nChw16c", (20, 35, 156, 154), "f32"),
    ("OIHW", "onednn:OIhw4i16o4i", (2048, 3640, 3, 3), "i8"),
    ("onednn:Acdb48a", "onednn:Acdb32a", (1920, 971, 3, 3), "f32"),
]


def status(field: str) -> int:
    """A field of the process's status in bytes."""
    match = re.search(rf"^{field}:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert match is not None
    return int(match[1]) * 1024


def reset_peak() -> int:
    """Forget the process's peak memory so far; returns what it uses now, in bytes."""
    if sys.platform != "linux":
        pytest.skip(f"expected Linux, which tells a process its peak memory, got {sys.platform}")
    Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


@pytest.mark.parametrize("threads", [None, 2])
@pytest.mark.parametrize("source, destination, shape, dtype", CASES)
def test_a_call_allocates_nothing_of_a_tensors_size(
    source: str, destination: str, shape: tuple[int, ...], dtype: str, threads: int | None
) -> None:
    kernel = li.compile_reorder(source, destination, shape=shape, dtype=dtype, threads=threads)
    width = li.element_type(dtype).bytes
    read, written = (np.full(argument.size * width, 3, np.uint8).view(f"u{width}") for argument in kernel.arguments)
    assert min(read.nbytes, written.nbytes) > BYTES * 3 // 4
    before = reset_peak()
    kernel(read, written)
    assert status("VmHWM") - before < ALLOWED


def test_an_allocation_would_be_seen() -> None:
    before = reset_peak()
    np.full(BYTES, 1, np.uint8)
    assert status("VmHWM") - before >= BYTES - ALLOWED


def test_reordering_an_array_allocates_the_result_alone() -> None:
    li.reorder(np.ones((4, 3), np.float32), "onednn:ab", "onednn:ba")
    array = np.ones((4096, 4096), np.float32)
    li.compile_reorder("onednn:ab", "onednn:ba", shape=array.shape, dtype=array.dtype)
    before = reset_peak()
    result = li.reorder(array, "onednn:ab", "onednn:ba")
    assert status("VmHWM") - before < result.nbytes + ALLOWED
