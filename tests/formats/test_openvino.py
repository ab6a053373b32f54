"""OpenVINO's names: offsets of the vendor's own code, laws over every name, the names that mislead, and bad names."""

from __future__ import annotations

import gzip
import json
import os
import random
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layout_ir.errors import LayoutError
from layout_ir.formats import openvino
from layout_ir.formats.format import Format, FormatOptions
from layout_ir.formats.registry import era, parse_format
from layout_ir.layouts.index_map import IndexMap, evaluate

# computed by the vendor's index functions and reorder kernels, not from the names
TABLE = Path(__file__).parent.parent / "data" / "openvino.jsonl.gz"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in gzip.decompress(TABLE.read_bytes()).splitlines()]

DTYPES = {None: "f32", 0.5: "u4", 0.125: "u1"}


def named(name: str) -> Format:
    return openvino.parse(name, FormatOptions())


def assert_injective(m: IndexMap) -> None:
    offsets = m.offsets().ravel()
    assert len(np.unique(offsets)) == offsets.size
    assert offsets.size == 0 or 0 <= offsets.min() <= offsets.max() < m.storage_size


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['format']}-{'x'.join(map(str, row['shape']))}")
def test_vendor_offsets(row: dict[str, Any]) -> None:
    layout = named(row["format"])
    assert layout.dims == tuple(row["dims"])
    m = layout.index_map(row["shape"], DTYPES[row["elem_bytes"]])
    if "image" in row:
        assert list(m.image_size) == row["image"]
        assert m.pixels().reshape(-1, 3).tolist() == row["coords"]
    else:
        assert m.storage_size == row["buffer_elems"]
        assert m.offsets().ravel().tolist() == row["offsets"]


def test_worked_example_of_the_format_documentation() -> None:
    """[b 2, f 2, y 2, x 2] in b_fs_yx_fsv16: 128 elements, f runs first, then x, y, b; f = 2 to 15 are pads."""
    m = named("b_fs_yx_fsv16").index_map((2, 2, 2, 2), "f32")
    assert (m.storage_size, m.padded_shape, m.pad_count) == (128, (2, 16, 2, 2), 112)
    listed = {(0, 0, 0, 0): 0, (0, 1, 0, 0): 1, (0, 0, 0, 1): 16, (0, 1, 0, 1): 17, (0, 0, 1, 0): 32, (0, 0, 1, 1): 48}
    listed |= {(1, 0, 0, 0): 64, (1, 1, 0, 0): 65, (1, 0, 0, 1): 80, (1, 0, 1, 0): 96, (1, 0, 1, 1): 112}
    assert {index: m(*index) for index in listed} == listed
    storage = np.zeros(m.storage_size, dtype=np.int64)
    storage[m.offsets()] = 1 + np.arange(16).reshape(2, 2, 2, 2)
    assert storage.reshape(2, 2, 2, 16)[:, :, :, 2:].max() == 0
    assert storage[:2].tolist() == [1, 5]


def test_names() -> None:
    assert len(openvino.names()) == len(set(openvino.names())) == 237
    assert all(named(name).name == name for name in openvino.names())
    assert parse_format("cldnn:b_fs_yx_fsv16") == parse_format("openvino:b_fs_yx_fsv16")


def sizes_that_fit(name: str, dims: tuple[str, ...], sizes: dict[str, int]) -> tuple[int, ...]:
    """`sizes` where the vendor's format holds them, else the nearest that it does."""
    if name.startswith("gs_oi_yxs"):
        sizes = {**sizes, "o": 1, "i": 1}
    if name == "oiyx_o16":
        sizes = {**sizes, "i": 1}
    if name == "image_2d_rgba":
        sizes = {**sizes, "b": 1, "f": 3}
    return tuple(sizes[dim] for dim in dims)


@pytest.mark.parametrize("name", openvino.names())
def test_every_name_is_injective_and_total(name: str) -> None:
    layout = named(name)
    assert layout.dims is not None
    odd = dict.fromkeys("vuw", 2) | {"b": 3, "f": 5, "g": 3, "o": 33, "i": 7, "z": 2, "y": 3, "x": 5}
    small = dict.fromkeys("vuwbfgiyx", 1) | {"o": 17, "z": 3}
    for sizes in (odd, small):
        m = layout.index_map(sizes_that_fit(name, layout.dims, sizes), "i8")
        assert_injective(m)
        assert (evaluate(m.linear, m.shape) == m.offsets()).all()
    empty = layout.index_map(tuple(0 for _ in layout.dims), "i8")
    assert empty.storage_size == 0


ORDERS = {
    # what the digits are, slowest first; the comment names the trap
    "bs_fs_zyx_bsv8_fsv2": "b/8, f/2, z, y, x, b%8, f%2",
    "fs_b_yx_fsv32": "f/32, b, y, x, f%32",  # slices of f outside of the batch
    "bs_fs_fsv8_bsv8": "b/8, f/8, f%8, b%8",  # the batch is the fastest
    "bs_f_bsv8__af8": "b/8, f, b%8; f to 8",  # padded, not blocked
    "os_iyx_osv32__ai32": "o/32, i, y, x, o%32; i to 32",
    "byxf_af32": "b, y, x, f; f to 32",
    "byx8_f4": "b, y, x, f; x to 8, f to 4",  # nothing is blocked
    "os_is_y_x8_osv8_isv4": "o/8, i/4, y, x, o%8, i%4; x to 8",
    "bf8_xy16": "b, f/8, yx/16, f%8, yx%16",  # y*X + x, whatever the name says
    "i_yxs_os_yxsv2_osv16": "i, yx/2, o/16, yx%2, o%16",
    "os_is_yx_isv8_osv16_isv2": "o/16, i/16, y, x, (i/2)%8, o%16, i%2",
    "os_is_yx_isa8_osv8_isv4": "o/8, i/32, y, x, (i/4)%8, o%8, i%4",  # slices of 32 = 8 * 4
    "os_is_yx_osa4_isa8_osv8_isv4": "o/32, i/32, y, x, (o/8)%4, (i/4)%8, o%8, i%4",
    "os_is_yx_osa4_isa8_osv8_isv4_swizzled_by_4": "o/32, i/32, y, x, o%4, (i/4)%8, (o/4)%8, i%4",
    "os_is_yx_osa2_isa8_osv16_isv4_swizzled_by_2": "o/32, i/32, y, x, o%2, (i/4)%8, (o/2)%16, i%4",
    "os_is_yx_osv32_isv4_swizzled_by_2": "o/32, i/4, y, x, o%2, (o/2)%16, i%4",
    "os_is_osv32_isv32_swizzled_by_4": "o/32, i/32, o%4, (i/4)%8, (o/4)%8, i%4",
    "os_is_yx_isa8_osv8_isv4_swizzled_by_4": "o/32, o%4, i/32, y, x, (i/4)%8, (o/4)%8, i%4",
    "is_o32_yx_isv32_swizzled_by_4": "i/32, o/32, o%4, (o/4)%8, y, x, i%32",
    "os_is_y_x8_osv8_isv4_swizzled_by_4": "o/32, o%4, i/4, y, x, (o/4)%8, i%4; x to 8",
    "g_os_zy_is_x_osv8_isv4": "g, o/8, z, y, i/4, x, o%8, i%4",  # slices of i between the spatial dims
    "gs_oizyx_gsv8": "g/8, o, i, z, y, x, g%8",
    "bfyx_f16": "b, f/16, y, x, f%16",
    "o_i_yx_i16_o16": "o/16, i/16, y, x, i%16, o%16",
    "i_o_zyx_o16_i16": "i/16, o/16, z, y, x, i%16, o%16",  # o is the fastest all the same
    "is_os_yx_osv16_isv16": "i/16, o/16, y, x, i%16, o%16",  # here too
    "os_is_yx_osv16_isv16": "o/16, i/16, y, x, o%16, i%16",  # but not here
    "lstm_weights_dio": "o, i, x, y",
    "winograd_2x3_s1_data": "b, x, y, f",
    "winograd_2x3_s1_fused_weights": "i, o/8, x, y, o%8",
    "winograd_6x3_s1_fused_weights": "x, i, o/16, y, o%16",
    "b_fs_yx_32fp": "b, f/32, y, x, f%32",
    "os_iyx_osv16_rotate_180": "o/16, i, y, x, o%16; y, x backwards",
    # not listed by any release
    "b_fs_yx_fsv64": "b, f/64, y, x, f%64",
    "bs_fs_yx_bsv2_fsv64": "b/2, f/64, y, x, b%2, f%64",
    "os_is_zyx_osv48_isv16": "o/48, i/16, z, y, x, o%48, i%16",
    "g_oi_zyxs_zyxsv4": "g, o, i, zyx/4, zyx%4",
    "bfyx_f1": "b, f, y, x",
}


@pytest.mark.parametrize(("name", "order"), ORDERS.items())
def test_storage_order(name: str, order: str) -> None:
    layout = named(name)
    assert isinstance(layout, openvino.OpenVinoFormat)
    assert str(layout.order) == order


@pytest.mark.parametrize(("slice_size", "grouped", "width"), list(product((16, 8), (False, True), (1, 2, 3, 4, 5, 7))))
def test_last_column_of_an_odd_width(slice_size: int, grouped: bool, width: int) -> None:
    g, o, i, y, x = np.indices((2, 70, 2, 3, width)) if grouped else np.indices((1, 70, 2, 3, width))
    row = ((g * 2 + i) * 3 + y) * (width + width % 2) * 96
    paired = 2 * slice_size * (o // slice_size) + slice_size * (x % 2) + o % slice_size
    alone = 64 * (o // 32) + o % 32
    has_no_partner = (x == width - 1) & (width % 2 == 1)
    expected = row + 2 * (x // 2) * 96 + np.where(has_no_partner, alone, paired)
    shape = (2, 70, 2, 3, width) if grouped else (70, 2, 3, width)
    m = named(f"{'g' if grouped else ''}iy_xs_os_xsv2_osv{slice_size}__ao32").index_map(shape, "f16")
    assert m.offsets().tolist() == expected.reshape(shape).tolist()
    assert m.storage_size == (2 if grouped else 1) * 2 * 3 * (width + width % 2) * 96
    assert_injective(m)


def test_rotated_filter() -> None:
    m = named("os_iyx_osv16_rotate_180").index_map((17, 2, 3, 5), "f32")
    o, i, y, x = np.indices((17, 2, 3, 5))
    assert (m.offsets() == o % 16 + 16 * (4 - x + 5 * (2 - y + 3 * (i + 2 * (o // 16))))).all()
    assert m.storage_size == 32 * 2 * 3 * 5


def test_four_bit_elements_have_other_orders() -> None:
    o, i = np.indices((70, 6))
    expected = {
        "os_iyx_osv16": ((o // 16 * 3 + i // 2) * 16 + o % 16) * 2 + i % 2,
        "os_iyx_osv32": ((o // 32 * 6 + i) * 16 + o % 16) * 2 + o // 16 % 2,
        "os_iyx_osv64": ((o // 64 * 6 + i) * 2 + o // 32 % 2) * 32 + o % 16 * 2 + o // 16 % 2,
    }
    for name, offsets in expected.items():
        for dtype in ("u4", "i4"):
            m = named(name).index_map((70, 6, 1, 1), dtype)
            assert m.offsets().reshape(70, 6).tolist() == offsets.tolist()
            assert_injective(m)
        with pytest.raises(LayoutError, match=r"expected y = x = 1 for elements of 4 bits, got o = 32, i = 2, y = 3"):
            named(name).index_map((32, 2, 3, 1), "u4")
        assert_injective(named(name).index_map((32, 2, 3, 1), "u8"))


def test_picture() -> None:
    m = named("image_2d_rgba").index_map((1, 3, 5, 7), "u8")
    assert m.is_image
    assert m.image_size == (7, 5)
    assert m.storage_size == 5 * 7 * 4
    assert m.pixels()[0, 2, 4, 6].tolist() == [6, 4, 2]


def test_winograd_image_with_rows_of_x() -> None:
    m = named("image_2d_weights_winograd_6x3_s1_xfbyb").index_map((32, 4, 3, 8), "f16")
    o, i, y, x = np.indices((32, 4, 3, 8))
    assert m.image_size == (96, 32)
    assert (m.pixels() == np.stack([(o // 16 * 3 + y) * 16 + o % 16, x * 4 + i, 0 * o], axis=-1)).all()


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        (
            "gs_oi_yxs_gsv16_yxsv4",
            (17, 2, 3, 3, 3),
            "expected o = i = 1, because the vendor's index adds o.i, got g = 17",
        ),
        ("oiyx_o16", (16, 2, 3, 3), "expected i = 1"),
        ("image_2d_rgba", (2, 3, 4, 4), "expected b = 1 and f = 3 or 4, got b = 2"),
        ("image_2d_rgba", (1, 5, 4, 4), "expected b = 1 and f = 3 or 4"),
        ("b_fs_yx_fsv16", (2, 3, 4), r"expected a shape of rank 4 \(b, f, y, x\), got rank 3"),
        ("b_fs_yx_fsv65536", (2**20, 1, 2**20, 2**20), r"less than 2\^63 elements"),
    ],
)
def test_shapes_that_do_not_fit(name: str, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        named(name).index_map(shape, "f32")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("b_fs_yx_fsv0", "expected a size from 1 to 65536 at position 11, got '0'; did you mean b_fs_yx_fsv"),
        ("b_fs_yx_fsv99999999999", "expected a size from 1 to 65536 at position 11, got '99999999999'"),
        ("b_fs_yx_fsv016", "expected a size from 1 to 65536 at position 11"),
        ("b_fs_yx_fsv", "expected the size of the block at position 11, got the end of the name"),
        ("b_fs_yx_fsv16x", "expected the end of the block at position 13, got 'x'"),
        ("b_fs_yx", "expected a block of the slice fs, such as fsv16, at position 7, got the end of the name"),
        ("b_fs_yx_osv16", r"expected a block of a slice that stands before \(fs\) at position 8"),
        ("b_fs_yx_fsv16_x", "expected a block such as fsv16 or a padding such as __ai32 at position 14, got 'x'"),
        ("b_fs_yx_fsv16_", "at position 14, got the end of the name"),
        ("b__fs_yx_fsv16", "expected dims such as yx, a slice such as fs, or a block such as fsv16 at position 2"),
        ("boyx", "expected a dim out of b, f, v, u, w, z, y, x at position 1, got 'oyx'"),
        ("oiyy", "expected every dim once before the blocks, and y stands before at position 3"),
        ("b_xys_xysv4", "expected one dim or yx, zyx, zy before the s of a slice at position 2"),
        ("byxf__aq8", "expected a dim out of b, y, x, f at position 7, got 'q8'"),
        ("byx8f__ax4", "not another of x at position 8"),
        ("os_iyx_osv16_swizzled_by_3", "expected o in blocks of 32 in which steps of 3 are exchanged at position 12"),
        ("os_iyx_osv32_swizzled_by_32", "expected o in blocks of 32"),
        ("b_fs_yx_fsv32_swizzled_by_2", "expected o in blocks of 32"),
        ("bfzyx_rotate_180", "expected two spatial dims y and x that are neither blocked nor padded"),
        ("B_FS_YX_FSV16", "at position 0, got 'B_FS_YX_FSV16'; did you mean b_fs_yx_fsv16"),
        ("b_fs_yx_fsv16\n", "expected the end of the block at position 13"),
        ("b_fs_yx_fsv\N{FULLWIDTH DIGIT ONE}", "expected the size of the block at position 11"),
        ("", "at position 0, got the end of the name"),
        ("x" * 10**6, "expected the end of the name at position 128 or before, got 1000000 characters"),
        ("nv12", "has no layout: a media surface of two planes"),
        ("bs_fs_fsv8_bsv16", "has no layout: no kernel computes its index"),
        ("any", "has no layout: it stands for no layout"),
    ],
)
def test_names_that_are_refused(name: str, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        named(name)


def test_options() -> None:
    layout = openvino.parse("b_fs_yx_fsv16", FormatOptions(dims="byxf"))
    given = layout.index_map((2, 3, 5, 17), "f32").offsets()
    assert (given == named("b_fs_yx_fsv16").index_map((2, 17, 3, 5), "f32").offsets().transpose(0, 2, 3, 1)).all()
    with pytest.raises(LayoutError, match="expected dims, got the option 'c0'"):
        openvino.parse("bfyx", FormatOptions(c0=16))


def test_era() -> None:
    assert openvino.era("b_fs_yx_fsv16") == openvino.Era()
    renamed = openvino.Era(since="2019", until="2020", successor="is_os_yx_isv16_osv16")
    assert openvino.era("is_os_yx_osv16_isv16") == renamed
    assert openvino.era("b_fs_yx_fsv64") is None
    assert era("cldnn:is_os_yx_osv16_isv16") == renamed
    assert renamed.has_gone
    assert str(renamed) == "since 2019, until 2020, then is_os_yx_isv16_osv16"
    assert str(openvino.Era()) == ""
    assert [era(name) for name in ("onednn:nchw", "NCHW")] == [None, None]
    assert all(era is not None for era in map(openvino.era, openvino.names()))


def test_successors_are_the_same_function() -> None:
    renamed = {name: era.successor for name in openvino.names() if (era := openvino.era(name)) and era.successor}
    assert len(renamed) == 12
    for old, new in renamed.items():
        layout, later = named(old), named(new)
        assert layout.rank is not None
        shape = sizes_that_fit(old, layout.dims or (), dict.fromkeys("bxyz", 3) | {"f": 35, "o": 37, "i": 19, "g": 2})
        assert (layout.index_map(shape, "f32").offsets() == later.index_map(shape, "f32").offsets()).all(), old


def mutated(name: str, random_numbers: random.Random) -> str:
    """`name` with one to three edits that a typing hand, a script or an attacker would make."""
    pieces = [
        "_",
        "__",
        "s",
        "sv",
        "sa",
        "v",
        "a",
        "16",
        "0",
        "-1",
        "99999999999",
        "_swizzled_by_4",
        "_rotate_180",
        " ",
    ]
    pieces += [*"bfgoizyxwuvasdp0123456789%\n", "osv4", "isv8", "fs", "yxs", "yxsv4", "__ai32", "_os", "\u0663"]
    for _ in range(random_numbers.randint(1, 3)):
        start = random_numbers.randint(0, len(name))
        end = min(len(name), start + random_numbers.choice([0, 0, 1, 1, 2, 5]))
        name = name[:start] + random_numbers.choice([*pieces, ""]) + name[end:]
    return name


def test_mutated_names_are_injective_or_refused() -> None:
    random_numbers = random.Random(7)
    accepted = 0
    for _ in range(30000 if os.environ.get("LAYOUT_IR_TESTS") == "all" else 1500):
        name = mutated(random_numbers.choice(openvino.names()), random_numbers)
        try:
            layout = named(name)
            m = layout.index_map([random_numbers.choice([1, 2, 3, 5, 9]) for _ in layout.dims or ()], "i8")
        except LayoutError:
            continue
        if m.size <= 5000:
            assert_injective(m)
            accepted += 1
    assert accepted > 50
