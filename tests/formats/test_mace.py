"""MACE's formats against pixels that its kernels wrote, the formulas of its document, and laws over every name."""

from __future__ import annotations

import gzip
import itertools
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layout_ir.errors import LayoutError
from layout_ir.formats import mace
from layout_ir.formats.format import FormatOptions
from layout_ir.formats.registry import formats, parse_format
from layout_ir.layouts.index_map import IndexMap

TABLE = Path(__file__).parents[1] / "data" / "mace_offsets.jsonl.gz"


def index_map(name: str, shape: Sequence[int], dims: str | None = None) -> IndexMap:
    return parse_format(f"mace:{name}", FormatOptions(dims=dims)).index_map(shape, "f32")


def rows() -> list[dict[str, Any]]:
    with gzip.open(TABLE, "rt") as lines:
        return [json.loads(line) for line in lines]


def test_pixels_and_offsets_are_those_of_the_kernels():
    table = rows()
    assert len(table) > 20
    for row in table:
        result = index_map(row["format"], row["shape"])
        if "coords" in row:
            assert result.pixels().reshape(-1, 3).tolist() == row["coords"], (row["format"], row["shape"])
            assert list(result.image_size) == row["image"]
            assert result.storage_shape == (row["image"][1], row["image"][0], 4)
        else:
            assert result.offsets().ravel().tolist() == row["offsets"], (row["format"], row["shape"])
            assert list(result.storage_shape) == row["physical_shape"]
            assert result.storage_size == row["buffer_elems"]


# The element that lane k of the pixel in column i and row j holds, as the vendor's document prints it; the two that it
# prints wrong as the kernels have them. D: extents by letter.
Element = Callable[[int, int, int, dict[str, int]], tuple[int, ...]]

IMAGES: list[tuple[str, str, Element]] = [
    ("IN_OUT_CHANNEL", "NHWC", lambda i, j, k, D: (j // D["H"], j % D["H"], i % D["W"], i // D["W"] * 4 + k)),
    (
        "IN_OUT_HEIGHT",
        "NHWC",
        lambda i, j, k, D: (j // -(-D["H"] // 4), j % -(-D["H"] // 4) * 4 + k, i % D["W"], i // D["W"]),
    ),
    (
        "IN_OUT_WIDTH",
        "NHWC",
        lambda i, j, k, D: (j // D["H"], j % D["H"], i % -(-D["W"] // 4) * 4 + k, i // -(-D["W"] // 4)),
    ),
    (
        "CONV2D_FILTER",
        "OIHW",
        lambda i, j, k, D: (
            j // (D["H"] * D["W"]) * 4 + k,
            i,
            j % (D["H"] * D["W"]) // D["W"],
            j % (D["H"] * D["W"]) % D["W"],
        ),
    ),
    ("DW_CONV2D_FILTER", "MIHW", lambda i, j, k, D: (0, j * 4 + k, i // D["W"], i % D["W"])),
    ("ARGUMENT", "W", lambda i, j, k, D: (i * 4 + k,)),
    (
        "WEIGHT_HEIGHT",
        "OIHW",
        lambda i, j, k, D: (j * 4 + k, i % D["I"], i // D["I"] // D["W"], i // D["I"] % D["W"]),
    ),
    (
        "WEIGHT_WIDTH",
        "OIHW",
        lambda i, j, k, D: (
            j,
            i % -(-D["I"] // 4) * 4 + k,
            i // -(-D["I"] // 4) // D["W"],
            i // -(-D["I"] // 4) % D["W"],
        ),
    ),
    ("WINOGRAD_FILTER", "TOI", lambda i, j, k, D: (j // D["O"], j % D["O"], i * 4 + k)),
]


@pytest.mark.parametrize("name, dims, element", IMAGES, ids=[row[0] for row in IMAGES])
def test_every_pixel_holds_the_element_of_the_formula(name: str, dims: str, element: Element):
    for sizes in itertools.product((1, 3, 4, 6), repeat=len(dims)):
        shape = (1, *sizes[1:]) if dims[0] == "M" else sizes
        result = index_map(name, shape)
        pixels = result.pixels()
        owner = {tuple(pixels[index].tolist()): index for index in np.ndindex(shape)}
        width, height = result.image_size
        for i, j, k in itertools.product(range(width), range(height), range(4)):
            index = element(i, j, k, dict(zip(dims, shape, strict=True)))
            is_element = all(0 <= n < size for n, size in zip(index, shape, strict=True))
            assert owner.get((i, j, k)) == (index if is_element else None), (shape, i, j, k)


def test_the_documents_two_wrong_formulas_and_where_they_fail():
    assert index_map("IN_OUT_HEIGHT", (2, 6, 1, 1)).pixels()[0, 4, 0, 0].tolist() == [0, 1, 0]  # document: row 6
    assert index_map("IN_OUT_WIDTH", (1, 1, 2, 2)).pixels()[0, 0, 0, 1].tolist() == [1, 0, 0]  # document: column 2


@pytest.mark.parametrize(
    "name, shape, equal_name, equal_shape",
    [
        ("IN_OUT_CHANNEL", (5, 13), "IN_OUT_CHANNEL", (5, 1, 1, 13)),
        ("IN_OUT_HEIGHT", (3, 5, 7), "IN_OUT_HEIGHT", (3, 5, 7, 1)),
        ("IN_OUT_WIDTH", (3, 5, 7), "IN_OUT_WIDTH", (3, 5, 7, 1)),
    ],
)
def test_fewer_dims_are_dims_of_one(name: str, shape: tuple[int, ...], equal_name: str, equal_shape: tuple[int, ...]):
    result, equal = index_map(name, shape), index_map(equal_name, equal_shape)
    assert result.image_size == equal.image_size
    np.testing.assert_array_equal(result.pixels().reshape(-1, 3), equal.pixels().reshape(-1, 3))


def test_dims_give_another_order():
    own, other = index_map("IN_OUT_CHANNEL", (2, 3, 5, 7)), index_map("IN_OUT_CHANNEL", (2, 7, 3, 5), "NCHW")
    np.testing.assert_array_equal(own.pixels().transpose(0, 3, 1, 2, 4), other.pixels())
    turned = index_map("IN_OUT_CHANNEL", (13, 5), "CN")
    np.testing.assert_array_equal(index_map("IN_OUT_CHANNEL", (5, 13)).pixels().transpose(1, 0, 2), turned.pixels())


BUFFERS = [
    ("BUFFER_CONV2D_FILTER", (7, 5, 3, 2), (3, 2, 2, 8, 4), (6, 4, 2, 1), (2, 1, 1, 4, 2)),
    ("BUFFER_DW_CONV2D_FILTER", (1, 6, 3, 2), (1, 2, 3, 2, 4), (0, 5, 2, 1), (0, 1, 2, 1, 1)),
    ("BUFFER_ARGUMENT", (6,), (8,), (5,), (5,)),
    ("HTA_NCHW32", (2, 3, 33, 5), (2, 5, 3, 64), (1, 2, 32, 4), (1, 4, 2, 32)),
    ("HTA_D32", (2, 3, 5, 33), (2, 3, 2, 5, 32), (1, 2, 4, 32), (1, 2, 1, 4, 0)),
]


@pytest.mark.parametrize("name, shape, storage_shape, index, cell", BUFFERS, ids=[row[0] for row in BUFFERS])
def test_buffers(
    name: str, shape: tuple[int, ...], storage_shape: tuple[int, ...], index: tuple[int, ...], cell: tuple[int, ...]
):
    result = index_map(name, shape)
    assert result.storage_shape == storage_shape
    assert result(*index) == np.ravel_multi_index(cell, storage_shape)


@pytest.mark.parametrize("name", mace.names())
def test_names_are_injective_and_stay_inside(name: str):
    chooser = random.Random(name)
    for _ in range(25):
        rank = parse_format(f"mace:{name}").rank or chooser.choice((4, 2 if name == "IN_OUT_CHANNEL" else 3))
        shape = [chooser.choice((1, 2, 3, 4, 5, 7, 9)) for _ in range(rank)]
        if name.endswith("DW_CONV2D_FILTER"):
            shape[0] = 1
        result = index_map(name, shape)
        offsets = result.offsets().ravel()
        assert np.unique(offsets).size == offsets.size
        assert offsets.max() < result.storage_size == np.prod(result.storage_shape)


@pytest.mark.parametrize(
    "name, dims, shape, message",
    [
        ("IN_OUT_CHANEL", None, (1,), "did you mean IN_OUT_CHANNEL"),
        ("IN_OUT_CHANNEL", None, (1, 1, 1), r"rank 4 \(N, H, W, C\) or 2 \(N, C\), got rank 3"),
        ("IN_OUT_HEIGHT", None, (1, 1), r"rank 4 \(N, H, W, C\) or 3 \(N, H, W\), got rank 2"),
        ("IN_OUT_CHANNEL", "NHW", (1, 1, 1), "an order of NHWC or NC, got 'NHW'"),
        ("IN_OUT_CHANNEL", "NCHW", (1, 1), "rank 4"),
        ("ARGUMENT", None, (1, 1), r"rank 1 \(W\)"),
        ("DW_CONV2D_FILTER", None, (2, 1, 1, 1), "M = 1, got M = 2"),
        ("BUFFER_DW_CONV2D_FILTER", None, (3, 1, 1, 1), "M = 1, got M = 3"),
    ],
)
def test_mistakes_are_named(name: str, dims: str | None, shape: tuple[int, ...], message: str):
    with pytest.raises(LayoutError, match=message):
        index_map(name, shape, dims)


def test_other_options_are_refused():
    with pytest.raises(LayoutError, match="expected dims, got the option 'c0'"):
        parse_format("mace:ARGUMENT", FormatOptions(c0=4))


def test_every_listed_name_parses():
    names = formats("mace")
    assert len(names) == 9 + 5
    for name in names:
        assert parse_format(name).qualified_name == name


def test_a_mutated_name_is_refused_by_one_error():
    chooser = random.Random(2)
    for _ in range(2000):
        name = list(chooser.choice(mace.names()))
        position = chooser.randrange(len(name) + 1)
        name[position : position + chooser.randint(0, 2)] = chooser.choice("ABCDHW_2DINO é")
        if "".join(name) in mace.names():
            continue
        with pytest.raises(LayoutError, match="unknown format 'mace:"):
            parse_format("mace:" + "".join(name))
