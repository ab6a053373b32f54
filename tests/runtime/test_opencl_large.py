"""
Buffers of a device whose bytes and elements no 32-bit number counts, right up to their last element.

`pytest -m large` runs this; it is no part of the ordinary test run.
"""

from __future__ import annotations

import numpy as np
import pytest
from opencl_support import working_device

import layout_ir as li

ROWS, COLUMNS = 65536, 40000
PERIOD = 1_000_003
"""A prime, so that rows and columns that are mixed up differ."""


@pytest.mark.large
@pytest.mark.parametrize("vector_bytes", ["0", "64"])
def test_more_than_two_gibibytes(vector_bytes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOUT_IR_VECTOR_BYTES", vector_bytes)
    size, limit = ROWS * COLUMNS, working_device().max_mem_alloc_size
    assert size > 1 << 31
    if size > limit:
        pytest.skip(f"expected a device with buffers of {size} bytes, got at most {limit}")
    source = np.resize(np.random.default_rng(1).integers(0, 256, PERIOD, np.uint8), size).reshape(ROWS, COLUMNS)
    kernel = li.compile_reorder("NC", "CN", shape=(ROWS, COLUMNS), dtype="u8", target="opencl")
    assert "const long" in kernel.source
    result = np.zeros((COLUMNS, ROWS), np.uint8)
    kernel(source, result)
    for row in (0, 1, ROWS // 2 - 1, ROWS - 2, ROWS - 1):
        assert (result[:, row] == source[row]).all()
    for column in (0, 1, COLUMNS // 2, COLUMNS - 2, COLUMNS - 1):
        assert (result[column] == source[:, column]).all()
