"""Ascend's formats against tables of the vendor's own offsets, its documentation's formulas and hand-worked points."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from layout_ir.errors import LayoutError
from layout_ir.formats.ascend_channel_block import channel_block
from layout_ir.formats.format import FormatOptions
from layout_ir.formats.registry import formats, parse_format
from layout_ir.layouts.index_map import IndexMap

DTYPE = {1: "i8", 2: "f16", 4: "f32"}
TABLE = Path(__file__).parents[1] / "data" / "ascend_offsets.jsonl.gz"

Array = npt.NDArray[np.int64]


def index_map(name: str, shape: Sequence[int], dtype: str = "f16", **options: Any) -> IndexMap:
    return parse_format(f"ascend:{name}", FormatOptions(**options)).index_map(shape, dtype)


def rows() -> list[dict[str, Any]]:
    with gzip.open(TABLE, "rt") as lines:
        return [json.loads(line) for line in lines]


def test_offsets_are_those_of_the_vendors_host_code():
    table = rows()
    assert len(table) > 100
    for row in table:
        c0 = row["c0"] if row["c0_default"] is False else None
        options = {"dims": row["source_format"], "groups": row["groups"], "hidden_size": row.get("hidden_size")}
        result = index_map(row["format"], row["shape"], DTYPE[row["elem_bytes"]], c0=c0, **options)
        case = {key: value for key, value in row.items() if key != "offsets"}
        assert result.offsets().ravel().tolist() == row["offsets"], case
        assert result.storage_size == row["buffer_elems"], case
        assert list(result.storage_shape) == row["physical_shape"], case


def packed(result: IndexMap, tensor: Array) -> Array:
    """The storage of a tensor, pads zero."""
    storage = np.zeros(result.storage_size, dtype=np.int64)
    storage[result.offsets().ravel()] = tensor.ravel()
    return storage.reshape(result.storage_shape)


def padded(tensor: Array, *units: int) -> Array:
    return np.pad(tensor, [(0, -n % unit) for n, unit in zip(tensor.shape, units, strict=True)])


def document_nc1hwc0_from_nhwc(x: Array, c0: int) -> Array:
    n, h, w, c = (x := padded(x, 1, 1, 1, c0)).shape
    return x.reshape(n, h, w, c // c0, c0).transpose(0, 3, 1, 2, 4)


def document_nc1hwc0_from_nchw(x: Array, c0: int) -> Array:
    n, c, h, w = (x := padded(x, 1, c0, 1, 1)).shape
    return x.reshape(n, c // c0, c0, h, w).transpose(0, 1, 3, 4, 2)


def document_ndc1hwc0(x: Array, c0: int) -> Array:
    n, d, h, w, c = (x := padded(x, 1, 1, 1, 1, c0)).shape
    return x.reshape(n, d, h, w, c // c0, c0).transpose(0, 1, 4, 2, 3, 5)


def document_fractal_nz(x: Array, c0: int) -> Array:
    *batch, h, w = (x := padded(x, *[1] * (x.ndim - 2), 16, c0)).shape
    blocks = x.reshape(*batch, h // 16, 16, w // c0, c0)
    b = len(batch)
    return blocks.transpose(*range(b), b + 2, b, b + 1, b + 3)


def document_fractal_z_from_hwcn(x: Array, c0: int) -> Array:
    h, w, c, n = (x := padded(x, 1, 1, c0, 16)).shape
    blocks = x.reshape(h, w, c // c0, c0, n // 16, 16).transpose(2, 0, 1, 4, 5, 3)
    return blocks.reshape(c // c0 * h * w, n // 16, 16, c0)


def document_fractal_z_from_nchw(x: Array, c0: int) -> Array:
    n, c, h, w = (x := padded(x, 16, c0, 1, 1)).shape
    blocks = x.reshape(n // 16, 16, c // c0, c0, h, w).transpose(2, 4, 5, 0, 1, 3)
    return blocks.reshape(c // c0 * h * w, n // 16, 16, c0)


def document_fractal_z_3d(x: Array, c0: int) -> Array:
    n, d, h, w, c = (x := padded(x, 16, 1, 1, 1, c0)).shape
    blocks = x.reshape(n // 16, 16, d, h, w, c // c0, c0).transpose(2, 5, 3, 4, 0, 1, 6)
    return blocks.reshape(d * c // c0 * h * w, n // 16, 16, c0)


def transposed_3d(x: Array, c0: int) -> Array:
    n, c, d, h, w = (x := padded(x, c0, 16, 1, 1, 1)).shape
    blocks = x.reshape(n // c0, c0, c // 16, 16, d, h, w).transpose(4, 0, 5, 6, 2, 3, 1)
    return blocks.reshape(d * n // c0 * h * w, c // 16, 16, c0)


def fractal_zz(x: Array, c0: int) -> Array:
    *batch, h, w = (x := padded(x, *[1] * (x.ndim - 2), c0, c0)).shape
    b = len(batch)
    return x.reshape(*batch, h // c0, c0, w // c0, c0).transpose(*range(b), b, b + 2, b + 1, b + 3)


def narrow_weights(x: Array, c0: int) -> Array:
    h, w, _, _ = x.shape
    matrix = padded(np.pad(x, [(0, 0), (0, 0), (0, 4 - x.shape[2]), (0, 0)]).reshape(h * w * 4, -1), c0, 16)
    k, n = matrix.shape
    return matrix.reshape(k // c0, c0, n // 16, 16).transpose(0, 2, 3, 1)


def diagonal_channels(x: Array, c0: int) -> Array:
    n, c, h, w = (x := padded(x, 1, c0, 1, 1)).shape
    blocks = x.reshape(n, c // c0, c0, h, w).transpose(1, 3, 4, 0, 2)
    return blocks[..., None] * np.eye(c0, dtype=np.int64)


FORMULAS = [
    ("NC1HWC0", "NHWC", document_nc1hwc0_from_nhwc, [(2, 3, 5, 37), (1, 1, 1, 1), (3, 2, 2, 32)]),
    ("NC1HWC0", "NCHW", document_nc1hwc0_from_nchw, [(2, 37, 3, 5), (1, 1, 1, 1), (2, 31, 2, 2)]),
    ("NDC1HWC0", "NDHWC", document_ndc1hwc0, [(2, 3, 1, 5, 17), (1, 1, 2, 1, 33)]),
    ("FRACTAL_NZ", "ND", document_fractal_nz, [(17, 33), (3, 15, 16), (2, 3, 1, 47), (1, 2, 1, 2, 5, 7)]),
    ("FRACTAL_NZ", "NHWC", document_fractal_nz, [(2, 3, 17, 35)]),
    ("FRACTAL_Z", "HWCN", document_fractal_z_from_hwcn, [(2, 2, 32, 32), (3, 1, 17, 15), (1, 5, 1, 33)]),
    ("FRACTAL_Z", "NCHW", document_fractal_z_from_nchw, [(31, 33, 2, 3), (1, 1, 1, 1), (16, 32, 1, 7)]),
    ("FRACTAL_Z_3D", "NDHWC", document_fractal_z_3d, [(17, 2, 3, 1, 33), (1, 1, 1, 1, 1)]),
    ("FRACTAL_Z_3D_TRANSPOSE", "NCDHW", transposed_3d, [(17, 33, 2, 1, 3), (2, 35, 3, 2, 1)]),
    ("FRACTAL_ZZ", "ND", fractal_zz, [(17, 33), (2, 31, 1), (1, 3, 16, 47)]),
    ("FRACTAL_Z_C04", "HWCN", narrow_weights, [(3, 3, 3, 17), (4, 4, 4, 16), (1, 1, 1, 1), (5, 2, 2, 33)]),
    ("C1HWNCoC0", "NCHW", diagonal_channels, [(3, 35, 2, 5), (1, 1, 1, 1)]),
]


@pytest.mark.parametrize("dtype, c0", [("i8", None), ("f16", None), ("f32", None), ("f32", 8), ("i4", None)])
@pytest.mark.parametrize("name, dims, formula, shapes", FORMULAS, ids=[f"{row[0]}-{row[1]}" for row in FORMULAS])
def test_storage_is_that_of_the_numpy_formula(
    name: str,
    dims: str,
    formula: Callable[[Array, int], Array],
    shapes: Sequence[tuple[int, ...]],
    dtype: str,
    c0: int | None,
):
    for shape in shapes:
        tensor = np.arange(1, np.prod(shape) + 1).reshape(shape)
        expected = formula(tensor, c0 or channel_block(dtype))
        result = packed(index_map(name, shape, dtype, dims=dims, c0=c0), tensor)
        assert result.shape == expected.shape
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("groups, shape", [(2, (6, 3, 2, 1, 2)), (7, (21, 5, 1, 2, 1)), (32, (32, 1, 1, 3, 3))])
@pytest.mark.parametrize("dtype", ["i8", "f16"])
def test_groups_lie_on_the_diagonal_of_a_block_matrix(groups: int, shape: tuple[int, ...], dtype: str):
    num_outputs, channels, depth, height, width = shape
    c0, per_group = channel_block(dtype), num_outputs // groups
    merged = min(np.lcm(np.lcm(channels, c0) // channels, np.lcm(per_group, 16) // per_group), groups)
    tensor = np.arange(1, np.prod(shape) + 1).reshape(shape)
    blocks = []
    for first in range(0, groups, merged):
        block = np.zeros((merged * per_group, merged * channels, depth, height, width), dtype=np.int64)
        for j in range(min(merged, groups - first)):
            source = tensor[(first + j) * per_group :][:per_group]
            block[j * per_group : (j + 1) * per_group, j * channels : (j + 1) * channels] = source
        blocks.append(document_fractal_z_3d(block.transpose(0, 2, 3, 4, 1), c0))
    result = index_map("FRACTAL_Z_3D", shape, dtype, groups=groups)
    np.testing.assert_array_equal(packed(result, tensor), np.concatenate(blocks))


def test_the_documents_example_of_fractal_z():
    result = index_map("FRACTAL_Z", (2, 2, 32, 32), dims="HWCN")
    assert result.storage_shape == (8, 2, 16, 16)
    assert result.extents == (2, 2, 2, 2, 16, 16)


def test_a_vector_is_a_matrix_of_one_row():
    assert index_map("FRACTAL_NZ", (33,)).storage_shape == (3, 1, 16, 16)
    assert index_map("FRACTAL_ZZ", (33,), "i8").storage_shape == (1, 2, 32, 32)
    assert index_map("FRACTAL_NZ", (33,))(17) == 16 * 16 + 1


@pytest.mark.parametrize("c0", [2, 4, 8, 16, 32])
def test_fractal_nz_with_c0_in_its_name(c0: int):
    named, given = index_map(f"FRACTAL_NZ_C0_{c0}", (3, 17, 35)), index_map("FRACTAL_NZ", (3, 17, 35), c0=c0)
    assert named == given


@pytest.mark.parametrize("source", ["NCHW", "NHWC", "HWCN", "CHWN"])
@pytest.mark.parametrize("name", ["NC1HWC0", "NC1HWC0_C04", "FRACTAL_Z", "C1HWNCoC0", "CHWN", "HWCN", "FRACTAL_Z_C04"])
def test_every_source_order_is_the_same_function(name: str, source: str):
    sizes = {"N": 5, "C": 3, "H": 2, "W": 7}
    own = index_map(name, tuple(sizes.values()))
    other = index_map(name, [sizes[letter] for letter in source], dims=source)
    order = ["NCHW".index(letter) for letter in source]
    np.testing.assert_array_equal(own.offsets().transpose(order), other.offsets())
    assert own.storage_shape == other.storage_shape


def test_recurrent_cells_pad_every_gate_by_itself():
    bias = index_map("ND_RNN_BIAS", (80,), hidden_size=20)
    assert bias.storage_shape == (128,)
    assert [bias(0), bias(19), bias(20), bias(79)] == [0, 19, 32, 115]
    rnn = index_map("FRACTAL_ZN_RNN", (35, 80), dims="ND", input_size=15, hidden_size=20)
    assert rnn.storage_shape == (3, 8, 16, 16)
    assert rnn(14, 0) == 14
    assert rnn(15, 0) == 8 * 16 * 16  # the hidden rows begin a new fractal
    assert rnn(0, 20) == 2 * 16 * 16  # and so does every gate
    lstm = index_map("FRACTAL_ZN_LSTM", (80, 35, 1, 1), input_size=15, hidden_size=20)
    assert lstm.storage_shape == (3, 8, 16, 16)
    np.testing.assert_array_equal(lstm.offsets()[:, :, 0, 0].T, rnn.offsets())


def test_the_three_rules_of_c0():
    widths = ["u1", "u2", "i4", "u8", "i1", "bf16", "f32", "f64"]
    assert [channel_block(dtype, "platform") for dtype in widths] == [256, 128, 64, 32, 32, 16, 16, 16]
    assert [channel_block(dtype) for dtype in widths[2:]] == [64, 32, 32, 16, 16, 16]
    assert [channel_block(dtype, "document") for dtype in widths[2:7]] == [64, 32, 32, 16, 8]
    for rule, dtype in (("host", "u1"), ("document", "f64")):
        with pytest.raises(LayoutError, match="option c0"):
            channel_block(dtype, rule)


def test_prefixes_of_the_vendors_enums():
    for prefix in ("FORMAT_", "ACL_FORMAT_"):
        assert index_map(f"{prefix}NC1HWC0", (1, 17, 2, 3)) == index_map("NC1HWC0", (1, 17, 2, 3))


@pytest.mark.parametrize(
    "name, options, shape, dtype, message",
    [
        ("FRACTAL_X", {}, (1, 1, 1, 1), "f16", "or 'ZN_LSTM' at position 8, got 'X'; did you mean FRACTAL_Z"),
        ("NCHX", {}, (1, 1, 1, 1), "f16", "at position 3, got 'X'"),
        ("NCHC", {}, (1, 1, 1, 1), "f16", "'C' again at position 3"),
        ("NC1HW", {}, (1, 1, 1, 1), "f16", "C1 and C0 together"),
        ("NCC1HWC0", {}, (1, 1, 1, 1), "f16", "whole or as C1 and C0"),
        ("C1HWC0", {}, (1, 1, 1), "f16", "expected the axis N"),
        ("", {}, (1,), "f16", "at position 0"),
        ("NC1HWC0", {"dims": "NCDHW"}, (1, 1, 1, 1), "f16", "an order of NCHW, got 'NCDHW'"),
        ("NC1HWC0", {"dims": "ND"}, (1, 1, 1, 1), "f16", "an order of NCHW, got 'ND'"),
        ("NC1HWC0", {"groups": 2}, (1, 1, 1, 1), "f16", "got the option 'groups'"),
        ("NC1HWC0", {"c0": 0}, (1, 1, 1, 1), "f16", "c0 to be positive"),
        ("NC1HWC0_C04", {"c0": 8}, (1, 1, 1, 1), "f16", "c0 = 4, which the name says"),
        ("NC1HWC0", {}, (1, 1, 1), "f16", "rank 4"),
        ("NC1HWC0", {}, (1, 1, 1, 1), "u1", "option c0"),
        ("FRACTAL_Z", {"groups": 2}, (3, 1, 1, 1), "f16", "multiple of groups = 2"),
        ("FRACTAL_Z", {"dims": "ND"}, (1, 1, 1, 1), "f16", "rank 2"),
        ("FRACTAL_Z_C04", {}, (1, 5, 1, 1), "f16", "at most 4 channels, got 5"),
        ("FRACTAL_NZ", {}, (), "f16", "rank 1 or more"),
        ("FRACTAL_NZ", {"dims": "NN"}, (1, 1), "f16", "different letters"),
        ("FRACTAL_NZ", {"dims": "NHWC"}, (1, 1), "f16", "rank 4"),
        ("ND_RNN_BIAS", {}, (8,), "f16", "option hidden_size"),
        ("ND_RNN_BIAS", {"hidden_size": 3}, (8,), "f16", "multiple of hidden_size = 3"),
        ("FRACTAL_ZN_RNN", {"hidden_size": 4, "input_size": 3}, (8, 16), "f16", r"= 8 rows, got 3 \+ 4"),
        ("FRACTAL_ZN_LSTM", {}, (8, 8, 1, 2), "f16", "H = W = 1"),
        ("NC1HWC0", {}, (2**31, 2**31, 2**10, 1), "f16", "2\\^63"),
    ],
)
def test_mistakes_are_named(name: str, options: dict[str, Any], shape: tuple[int, ...], dtype: str, message: str):
    with pytest.raises(LayoutError, match=message):
        index_map(name, shape, dtype, **options)


def test_every_listed_name_parses():
    for name in formats("ascend"):
        assert str(parse_format(name)) == f'"{name}"'
