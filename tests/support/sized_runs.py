"""Kernels for unknown extents run for some sizes, with sources at a fence and guards around destinations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from fenced_memory import FencedMemory

from layout_ir.layouts.element_type import element_type
from layout_ir.layouts.layout import Layout
from layout_ir.runtime.sized_kernel import SizedKernel

FILL = 0x5A
"""The byte that destinations are filled with."""

GUARD = 96
"""Bytes in front of and behind a destination that nobody may write."""

LINE = 64
"""Bytes of a cache line."""


def noise(layout: Layout, shape: Sequence[int], dtype: str) -> npt.NDArray[Any]:
    """The storage of a tensor full of random bits."""
    element = element_type(dtype)
    count = layout.index_map(shape, element).storage_size
    bits = np.random.default_rng(count).integers(0, 256, count * element.bytes, np.uint8)
    return bits.view(element.numpy)


def known(shape: Sequence[int | None], sizes: Sequence[int]) -> tuple[list[int], tuple[int, ...]]:
    """The shape with sizes for what is unknown, and these alone."""
    whole = [size if extent is None else extent for extent, size in zip(shape, sizes, strict=False)]
    return whole, tuple(size for extent, size in zip(shape, sizes, strict=False) if extent is None)


def check_run(
    kernel: SizedKernel,
    sizes: Sequence[int],
    values: npt.NDArray[Any],
    expected: npt.NDArray[Any],
    fenced: FencedMemory,
    *,
    at_end: bool,
    what: object,
    behind_line: int | None = None,
) -> None:
    """
    Run a kernel, and compare what it writes over bytes of `FILL`; `what` is named where that is wrong.

    `behind_line`: by how many bytes the destination begins behind a cache line; None for anywhere.
    """
    memory = np.full(expected.nbytes + 2 * GUARD + 2 * LINE, FILL, np.uint8)
    start = GUARD if behind_line is None else GUARD + -(memory.ctypes.data + GUARD) % LINE + behind_line
    end = start + expected.nbytes
    destination = memory[start:end].view(expected.dtype)
    source = fenced.copy_of(values, at_end)
    kernel(source, destination, sizes=sizes)
    assert np.array_equal(destination.view(np.uint8), expected.view(np.uint8)), what
    assert all((guard == FILL).all() for guard in (memory[:start], memory[end:])), what
    assert np.array_equal(source.view(np.uint8), values.view(np.uint8)), what
