"""cuDNN's formats: orders of letters, vectors of channels, strided descriptors, and the identities of its document."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from layout_ir.errors import LayoutError
from layout_ir.formats import cudnn
from layout_ir.formats.format import FormatOptions
from layout_ir.formats.registry import formats, parse_format
from layout_ir.layouts.index_map import IndexMap


def index_map(name: str, shape: Sequence[int], **options: Any) -> IndexMap:
    return parse_format(f"cudnn:{name}", FormatOptions(**options)).index_map(shape, "i8")


@pytest.mark.parametrize(
    "name, dims",
    [
        *(("NCHW", "NCHW"), ("NHWC", "NCHW"), ("CHWN", "NCHW"), ("CUDNN_TENSOR_NHWC", "NCHW")),
        *(("NCDHW", "NCDHW"), ("NDHWC", "NCDHW"), ("CDHWN", "NCDHW"), ("CUDNN_TENSOR_NCHW", "NCHW")),
        *(("KCRS", "KCRS"), ("KRSC", "KCRS"), ("KTRSC", "KCTRS"), ("CN", "NC"), ("NLC", "NCL")),
    ],
)
def test_letters_are_a_transpose(name: str, dims: str):
    shape = (2, 3, 5, 7, 4)[: len(dims)]
    letters = name.removeprefix("CUDNN_TENSOR_")
    order = [dims.index(letter) for letter in letters]
    tensor = np.arange(np.prod(shape)).reshape(shape)
    result = index_map(name, shape)
    assert parse_format(f"cudnn:{name}").logical_dims == tuple(dims)
    np.testing.assert_array_equal(tensor.transpose(order).ravel()[result.offsets()], tensor)


@pytest.mark.parametrize("shape", [(1, 64, 5, 4), (2, 35, 3, 1), (3, 1, 1, 1), (2, 31, 2, 3)])
@pytest.mark.parametrize("x", [1, 2, 3, 4, 31, 32, 35, 64])
def test_groups_of_x_channels_are_each_laid_out_as_nhwc(x: int, shape: tuple[int, ...]):
    n, c, h, w = shape
    groups = -(-c // x)
    tensor = np.arange(1, np.prod(shape) + 1).reshape(shape)
    expected = np.pad(tensor, [(0, 0), (0, groups * x - c), (0, 0), (0, 0)])
    expected = expected.reshape(n, groups, x, h, w).transpose(0, 1, 3, 4, 2).ravel()
    result = index_map(f"NC/{x}HW{x}", shape)
    storage = np.zeros(result.storage_size, dtype=int)
    storage[result.offsets()] = tensor
    np.testing.assert_array_equal(storage, expected)
    assert index_map(f"NCHW_VECT_C{x}", shape) == result == index_map("CUDNN_TENSOR_NCHW_VECT_C", shape, c0=x)


@pytest.mark.parametrize("shape", [(1, 64, 5, 4), (2, 35, 3, 1), (3, 1, 2, 7), (2, 6, 5, 3, 4)])
def test_one_channel_a_group_is_nchw_and_all_of_them_are_nhwc(shape: tuple[int, ...]):
    space = "HW" if len(shape) == 4 else "DHW"
    for x, name in ((1, f"NC{space}"), (shape[1], f"N{space}C")):
        grouped, plain = index_map(f"NC/{x}{space}{x}", shape), index_map(name, shape)
        assert grouped.linear == plain.linear
        assert grouped.storage_size == plain.storage_size
        np.testing.assert_array_equal(grouped.offsets(), plain.offsets())


def test_filters_in_vectors_and_three_dims_of_space():
    assert index_map("KCRS_VECT_C4", (3, 6, 2, 2)).storage_shape == (3, 2, 2, 2, 4)
    assert index_map("NC/32DHW32", (1, 33, 2, 3, 4)).storage_shape == (1, 2, 2, 3, 4, 32)


def test_dims_give_another_order():
    own, other = index_map("NC/4HW4", (2, 6, 3, 5)), index_map("NC/4HW4", (2, 3, 5, 6), dims="NHWC")
    np.testing.assert_array_equal(own.offsets().transpose(0, 2, 3, 1), other.offsets())


def test_strided_descriptors():
    padded = index_map("strided", (2, 3, 4, 5), strides=(100, 30, 6, 1), offset=7)
    assert padded(1, 2, 3, 4) == 7 + 100 + 60 + 18 + 4
    assert padded.storage_size == padded(1, 2, 3, 4) + 1
    # the strides stay those of N, C, H, W when the shape is given in another order
    turned = index_map("strided", (2, 4, 5, 3), strides=(100, 30, 6, 1), offset=7, dims="NHWC")
    assert turned(1, 3, 4, 2) == padded(1, 2, 3, 4)
    assert index_map("strided", (2, 2, 2, 2, 2, 2), strides=(32, 16, 8, 4, 2, 1)).storage_size == 64


@pytest.mark.parametrize(
    "name, options, message",
    [
        ("NC/32HW16", {}, "same number as in front, 32, at position 7, got '16'"),
        ("NC/xHWx", {}, "number x of NC/xHWx at position 3"),
        ("NC/0HW0", {}, "at position 3, got '0HW0'"),
        ("NC/32WH32", {}, "HW or DHW at position 5"),
        ("NC/32HW", {}, "the number 32 again at position 7, got the end"),
        ("NC/4HW4x", {}, "the number 4 again at position 6"),
        ("NCHH", {}, "'H' again at position 3"),
        ("NCHX", {}, "at position 3, got 'X'"),
        ("nchw", {}, "at position 0.*did you mean NCHW"),
        ("NKHW", {}, "at position 1, got 'KHW'"),
        ("NCH", {}, "at position 3, got the end"),
        ("NHWC_VECT_C4", {}, "NCHW or KCRS in front of _VECT_C"),
        ("NCHW_VECT_C0", {}, "at position 4"),
        ("CUDNN_TENSOR_NHWX", {}, "at position 16, got 'X'"),
        ("", {}, "at position 0, got the end"),
        ("NCHW", {"c0": 4}, "expected dims, got the option 'c0'"),
        ("NCHW_VECT_C4", {"c0": 4}, "got the option 'c0'"),
        ("NCHW_VECT_C", {"c0": -4}, "positive, got -4"),
        ("NC/4HW4", {"dims": "NCH"}, "an order of NCHW, got 'NCH'"),
        ("strided", {"strides": (-1, 1)}, "not negative"),
        ("strided", {"strides": (1,), "dims": "N"}, "only with 2 to 5 strides"),
    ],
)
def test_mistakes_are_named(name: str, options: dict[str, Any], message: str):
    with pytest.raises(LayoutError, match=message):
        parse_format(f"cudnn:{name}", FormatOptions(**options))


def test_what_an_option_must_complete():
    for name, message in (("NCHW_VECT_C", "NCHW_VECT_C4, NCHW_VECT_C32 or the option c0"), ("strided", "strides")):
        with pytest.raises(LayoutError, match=message):
            index_map(name, (1, 4, 1, 1))


def test_every_listed_name_parses():
    for name in formats("cudnn"):
        assert parse_format(name).qualified_name == name


def test_a_mutated_name_is_an_injective_layout_or_one_error():
    chooser = random.Random(3)
    accepted = 0
    for _ in range(2000):
        name = list(chooser.choice([*cudnn.names(), "NC/4HW4", "NC/3DHW3"]))
        for _ in range(chooser.randint(1, 2)):
            position = chooser.randrange(len(name) + 1)
            name[position : position + chooser.randint(0, 2)] = chooser.choice("NCDHWKRSTL/0123456789_ é٣")
        try:
            known = parse_format("cudnn:" + "".join(name))
            shape = [chooser.choice((1, 3, 5)) for _ in range(known.rank or 4)]
            offsets = known.index_map(shape, "i8").offsets().ravel()
        except LayoutError:
            continue
        accepted += 1
        assert np.unique(offsets).size == offsets.size, "".join(name)
    assert accepted > 20
