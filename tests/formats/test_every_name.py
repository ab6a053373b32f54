"""The laws of index maps, for every name of every system: total, injective, inverted, and false exactly on pads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from layout_ir.formats.format import FormatOptions
from layout_ir.formats.openvino_exceptions import FOUR_BIT, ODD_COLUMN
from layout_ir.formats.registry import SYSTEMS, formats, parse_format
from layout_ir.layouts.index_map import IndexMap, evaluate

SIZES = (5, 17, 3, 2, 3, 2, 1, 2, 1, 2, 1, 2)
"""Extents of the dims: primes around the blocks, no two neighbours alike."""

SPECIAL: dict[str, tuple[tuple[int, ...], FormatOptions]] = {
    "openvino:oiyx_o16": ((17, 1, 3, 5), FormatOptions()),
    "openvino:image_2d_rgba": ((1, 3, 5, 7), FormatOptions()),
    "ascend:FRACTAL_Z_C04": ((17, 3, 5, 3), FormatOptions()),
    "ascend:ND_RNN_BIAS": ((57,), FormatOptions(hidden_size=19)),
    "ascend:FRACTAL_ZN_RNN": ((24, 57), FormatOptions(hidden_size=19, input_size=5)),
    "ascend:FRACTAL_ZN_LSTM": ((76, 24, 1, 1), FormatOptions(hidden_size=19, input_size=5)),
    "cudnn:CUDNN_TENSOR_NCHW_VECT_C": ((5, 17, 3, 2), FormatOptions(c0=4)),
    "cudnn:strided": ((5, 17, 3), FormatOptions(strides=(80, 4, 1), offset=7)),
    "mace:DW_CONV2D_FILTER": ((1, 17, 3, 5), FormatOptions()),
    "mace:BUFFER_DW_CONV2D_FILTER": ((1, 17, 3, 5), FormatOptions()),
}
"""Names that ask for certain sizes or options."""

OPEN_RANK = {"IN_OUT_CHANNEL": (2, 4), "IN_OUT_HEIGHT": (3, 4), "IN_OUT_WIDTH": (3, 4)}
"""Ranks of names that take several; the others take any."""


def cases(name: str) -> Iterator[tuple[tuple[int, ...], FormatOptions, str]]:
    """The tensors on which a name is tried: shape, options, element type."""
    if name in SPECIAL:
        yield *SPECIAL[name], "f16"
        return
    bare = name.rpartition(":")[2]
    rank = parse_format(name).rank
    ranks = (rank,) if rank is not None else OPEN_RANK.get(bare, (1, 2, 4))
    shape: tuple[int, ...] = ()
    for rank in ranks:
        shape = SIZES[:rank]
        if bare.startswith("gs_oi_yxs_"):
            shape = (17, 1, 1, *shape[3:])
        yield shape, FormatOptions(), "f16"
    if bare in FOUR_BIT:
        yield (33, 5, 1, 1), FormatOptions(), "u4"
    if bare in ODD_COLUMN:
        yield (*SIZES[: len(shape) - 1], 3), FormatOptions(), "f16"
    if bare in ("FRACTAL_Z", "FRACTAL_Z_3D"):
        yield (18, *SIZES[1:rank]), FormatOptions(groups=3), "i8"


def check_laws(index_map: IndexMap) -> None:
    grids = np.indices(index_map.shape).reshape(index_map.rank, -1).T
    cells = [evaluate(expr, index_map.shape).ravel() for expr in index_map.coordinates]
    for values, extent in zip(cells, index_map.extents, strict=True):
        assert values.min() >= 0
        assert values.max() < extent
    assert index_map.is_injective()
    offsets = index_map.offsets().ravel()
    assert np.unique(offsets).size == offsets.size
    assert offsets.min() >= 0
    assert offsets.max() < index_map.storage_size
    indices, owned = index_map.inverse().evaluate()
    np.testing.assert_array_equal(indices[tuple(cells)], grids)
    assert owned[tuple(cells)].all()
    assert np.count_nonzero(owned) == index_map.size
    assert index_map.equals(index_map)


@pytest.mark.parametrize("system", ["plain", *SYSTEMS])
def test_every_name_keeps_the_laws(system: str):
    names = [n for n in formats() if ":" not in n] if system == "plain" else formats(system)
    assert len(names) >= {"onednn": 1671, "openvino": 230}.get(system, 14)
    for name in names:
        for shape, options, dtype in cases(name):
            index_map = parse_format(name, options).index_map(shape, dtype)
            try:
                check_laws(index_map)
            except AssertionError as error:
                raise AssertionError(f"{name} of {shape}, {dtype}, {options.given()}: {error}") from error


def test_inverses_of_names_are_symbolic_but_for_pieces_that_are_stored_apart():
    tables: set[str] = set()
    for name in formats():
        for shape, options, dtype in cases(name):
            if parse_format(name, options).index_map(shape, dtype).inverse().indices is None:
                tables.add(name)
    assert tables <= {
        *("openvino:iy_xs_os_xsv2_osv16__ao32", "openvino:iy_xs_os_xsv2_osv8__ao32"),
        *("openvino:giy_xs_os_xsv2_osv16__ao32", "openvino:giy_xs_os_xsv2_osv8__ao32"),
        *("ascend:FRACTAL_ZN_RNN", "ascend:FRACTAL_ZN_LSTM"),
    }
