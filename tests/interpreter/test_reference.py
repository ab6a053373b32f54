"""The numpy meaning of a reorder, against pad / reshape / transpose written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layout_ir.errors import LayoutError
from layout_ir.formats.registry import parse_format
from layout_ir.interpreter import reference
from layout_ir.interpreter.reference import (
    allocated_size,
    boxes,
    logical_to_storage,
    reorder_reference,
    row_major,
    storage_to_logical,
)
from layout_ir.layouts.blocked import blocked_layout
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.strided import StridedLayout

Array = np.ndarray[Any, np.dtype[Any]]


def numbers(*shape: int, dtype: str = "int32") -> Array:
    return np.arange(1, np.prod(shape, dtype=int) + 1).astype(dtype).reshape(shape)


def channel_blocks(array: Array, block: int, pad: int = 0) -> Array:
    """N,C,H,W as N, C/block, H, W, block."""
    n, c, h, w = array.shape
    padded = np.pad(array, [(0, 0), (0, -c % block), (0, 0), (0, 0)], constant_values=pad)
    return padded.reshape(n, -1, block, h, w).transpose(0, 1, 3, 4, 2)


BLOCKED_16 = blocked_layout(4, (0, 1, 2, 3), ((1, 16),))


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 3, 5, 7), (1, 16, 2, 2), (2, 17, 3, 1), (1, 15, 4, 4)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "uint8", "int16", "int64", "bool"])
def test_blocked_and_back(shape: tuple[int, ...], dtype: str) -> None:
    array = numbers(*shape, dtype=dtype)
    blocked = BLOCKED_16.index_map(shape)
    storage = logical_to_storage(array, blocked)
    assert storage.dtype == array.dtype
    assert (storage == channel_blocks(array, 16).ravel()).all()
    assert (storage_to_logical(storage, blocked) == array).all()


@pytest.mark.parametrize("name, axes", [("NHWC", (0, 2, 3, 1)), ("CHWN", (1, 2, 3, 0)), ("HWCN", (2, 3, 1, 0))])
def test_planar_to_planar(name: str, axes: tuple[int, ...]) -> None:
    array = numbers(2, 3, 5, 7)
    there = parse_format(name).index_map(array.shape)
    storage = logical_to_storage(array, there)
    assert (storage.reshape(there.storage_shape) == array.transpose(axes)).all()
    back = reorder_reference(storage, there, parse_format("NCHW").index_map(array.shape))
    assert (back == array.ravel()).all()


@pytest.mark.parametrize("pad, expected", [(0, 0), (9, 9), (-1, -1), (None, 77)])
def test_pads(pad: int | None, expected: int) -> None:
    array = numbers(2, 3, 2, 2)
    out = np.full(2 * 16 * 2 * 2, 77, np.int32)
    assert logical_to_storage(array, BLOCKED_16.index_map(array.shape), pad, out) is out
    assert (out == channel_blocks(array, 16, expected).ravel()).all()


def test_gaps_are_never_touched() -> None:
    array = numbers(2, 3)
    out = np.full(20, 77, np.int32)
    logical_to_storage(array, StridedLayout((8, 2), 1).index_map((2, 3)), 0, out)
    assert out.tolist() == [77, 1, 77, 2, 77, 3, *[77] * 3, 4, 77, 5, 77, 6, *[77] * 6]


def test_a_source_may_be_a_broadcast() -> None:
    source = StridedLayout((0, 1)).index_map((2, 3))
    assert storage_to_logical(np.array([1, 2, 3]), source).tolist() == [[1, 2, 3], [1, 2, 3]]


def test_bits_of_signalling_nans_survive() -> None:
    bits = np.array([0x7F800001, 0xFF800002, 0x80000000], np.uint32)
    out = reorder_reference(bits.view(np.float32), row_major((3,)), row_major((3,)))
    assert (out.view(np.uint32) == bits).all()


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (3, 0)])
def test_small_and_empty(shape: tuple[int, ...]) -> None:
    array = np.ones(shape, np.int8)
    storage = logical_to_storage(array, row_major(shape))
    assert storage.tolist() == [1] * array.size
    assert storage_to_logical(storage, row_major(shape)).shape == shape


def test_allocation_beyond_the_last_cell_stays_zero() -> None:
    padded = IndexMap((3,), row_major((3,)).coordinates, (3,), allocation=5)
    assert allocated_size(padded) == 5
    assert logical_to_storage(np.ones(3, np.int8), padded, 7).tolist() == [1, 1, 1, 0, 0]


@given(st.lists(st.integers(0, 7), max_size=4), st.integers(1, 40))
def test_boxes_cover_every_index_once(shape: list[int], limit: int) -> None:
    count = np.zeros(shape, int)
    for box in boxes(shape, limit):
        assert count[box].size <= limit
        count[box] += 1
    assert (count == 1).all()


@pytest.mark.parametrize("limit", [1, 5, 6, 100])
def test_chunks_do_not_change_the_result(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "boxes", lambda shape: boxes(shape, limit))
    array = numbers(2, 17, 3, 2)
    assert (logical_to_storage(array, BLOCKED_16.index_map(array.shape)) == channel_blocks(array, 16).ravel()).all()


ROW = row_major((2, 3))


@pytest.mark.parametrize(
    "source, destination, storage, out, message",
    [
        (ROW, row_major((3, 2)), np.zeros(6), None, r"expected two layouts of one shape, got \[2, 3\] and \[3, 2\]"),
        (ROW, ROW, np.zeros(5), None, "source: expected at least 6 elements, got 5"),
        (ROW, ROW, np.zeros(6), np.zeros(5), "destination: expected at least 6 elements, got 5"),
        (ROW, ROW, np.zeros(12)[::2], None, "source: expected a C-contiguous array"),
        (ROW, ROW, np.zeros(6), np.zeros(6, np.int8), "expected a destination of float64, got int8"),
        (ROW, StridedLayout((0, 1)).index_map((2, 3)), np.zeros(6), None, "without strides of 0, got"),
    ],
)
def test_errors(source: IndexMap, destination: IndexMap, storage: Array, out: Array | None, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        reorder_reference(storage, source, destination, out=out)
