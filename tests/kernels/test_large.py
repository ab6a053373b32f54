"""
Tensors whose elements no 32-bit number counts, right up to their last one.

`pytest -m large` runs this; it is no part of the ordinary test run.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import layout_ir as li
from layout_ir.lowering.build import reorder_module
from layout_ir.runtime.compiler import vector_bytes
from layout_ir.runtime.module import compile_functions

NEEDED = 16 << 30
"""Bytes of memory that must be free: two tensors of 5 GiB, and room for what is compared."""

SHAPE = (1, 5, 32768, 32768)
ROWS = 512
PERIOD = 1_000_003
"""A prime, so that rows and channels that are mixed up differ."""


@pytest.fixture(scope="module")
def buffers() -> tuple[np.ndarray, np.ndarray]:
    """A source of 5 GiB of noise, N,C,H,W, and a destination."""
    information = Path("/proc/meminfo")
    match = re.search(r"^MemAvailable:\s+(\d+) kB$", information.read_text() if information.exists() else "", re.M)
    available = int(match[1]) * 1024 if match else 0
    if available < NEEDED:
        pytest.skip(f"expected {NEEDED >> 30} GiB of free memory, got {available >> 30} GiB")
    noise = np.random.default_rng(1).integers(0, 256, PERIOD, np.uint8)
    size = math.prod(SHAPE)
    assert size > 1 << 32
    source = np.resize(noise, size)
    return source, np.empty(size, np.uint8)


@pytest.mark.large
@pytest.mark.parametrize("there_and_back", [("NCHW", "NHWC"), ("NHWC", "NCHW")], ids="-".join)
@pytest.mark.parametrize("width", [0, None], ids=["scalar", "vectors"])
def test_more_than_four_gibibytes(
    width: int | None, there_and_back: tuple[str, str], buffers: tuple[np.ndarray, np.ndarray]
) -> None:
    source, destination = buffers
    layouts = [li.layout(name) for name in there_and_back]
    module = reorder_module(layouts[0], layouts[1], SHAPE, "u8")
    bytes_of_vectors = vector_bytes() if width is None else width
    (kernel,) = compile_functions(module, ["reorder"], threads=0, vector_bytes=bytes_of_vectors)
    destination.fill(0)
    kernel(source, destination)
    _, channels, height, columns = SHAPE
    inner, outer = (channels, height, columns), (height, columns, channels)
    is_forth = there_and_back[0] == "NCHW"
    planes = (source if is_forth else destination).reshape(inner)
    pixels = (destination if is_forth else source).reshape(outer)
    for start in range(0, height, ROWS):
        rows = slice(start, start + ROWS)
        for channel in range(channels):
            assert np.array_equal(pixels[rows, :, channel], planes[channel, rows]), (start, channel)
