"""
What the grammar of OpenVINO's names does not explain: misleading names, images, 4-bit variants, names without a layout.

Every row was checked against the vendor's own index functions; the source that settles it stands beside it. `KERNELS`
stands for the index macros and reorder kernels of the GPU plugin's releases 2019 to 2026.4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from layout_ir.formats.openvino_order import Digit, StorageOrder

READS_AS: Mapping[str, str] = {
    # the reorder kernels of 2019 to 2020 end with o%16; renamed later
    "is_os_yx_osv16_isv16": "is_os_yx_isv16_osv16",
    "is_os_zyx_osv16_isv16": "is_os_zyx_isv16_osv16",
    "g_is_os_yx_osv16_isv16": "g_is_os_yx_isv16_osv16",
    "g_is_os_zyx_osv16_isv16": "g_is_os_zyx_isv16_osv16",
    # the reorder kernel of 2019 to 2020: ends with o%16 as o_i_zyx_i16_o16 does
    "i_o_zyx_o16_i16": "is_os_zyx_isv16_osv16",
    # the pitches of 2019 to 2020: blocks of 16 of y*X + x, with x the fastest although the name says xy
    "bf8_xy16": "b_fs_yxs_fsv8_yxsv16",
    # the index macro: both blocks of 32 are split once more
    "os_is_osv32_isv32_swizzled_by_4": "os_is_osa4_isa8_osv8_isv4_swizzled_by_4",
    # binary data: a word of 32 bits, one a feature; nothing about floating point
    "b_fs_yx_32fp": "b_fs_yx_fsv32",
    "os_is_yx_osv32_isv32p": "os_is_yx_osv32_isv32",
    # the kernels' dlstm_dir_io: y is the fastest dim
    "lstm_weights_dio": "oixy",
    # the transform's kernels; the dims are those of the transformed tensor (weights: y = 3; x = 4 or 8)
    "winograd_2x3_s1_data": "bxyf",
    "winograd_2x3_s1_weights": "xyio",
    "winograd_2x3_s1_fused_weights": "i_os_xy_osv8",
    "winograd_6x3_s1_fused_weights": "xi_os_y_osv16",
}
"""Names that mislead or that follow no grammar, and the grammatical name of their storage order."""

FOUR_BIT: Mapping[str, StorageOrder] = {
    # the kernel reorder_weights_int4: the two nibbles of a byte, the low one first, are neighbours in i ...
    "os_iyx_osv16": StorageOrder(
        ("o", "i", "y", "x"), (Digit("o", 16), Digit("i", 2), Digit("o", 1, 16), Digit("i", 1, 2))
    ),
    # ... or o and o + 16
    "os_iyx_osv32": StorageOrder(
        ("o", "i", "y", "x"), (Digit("o", 32), Digit("i"), Digit("o", 1, 16), Digit("o", 16, 2))
    ),
    "os_iyx_osv64": StorageOrder(
        ("o", "i", "y", "x"), (Digit("o", 64), Digit("i"), Digit("o", 32, 2), Digit("o", 1, 16), Digit("o", 16, 2))
    ),
}
"""Names that mean another order for 4-bit elements. These are weights of fully connected layers: y = x = 1."""

ODD_COLUMN: Mapping[str, int] = {
    # the index functions of the kernels: pairs of x are interleaved, a last column without a partner is stored apart
    "iy_xs_os_xsv2_osv16__ao32": 16,
    "iy_xs_os_xsv2_osv8__ao32": 8,
    "giy_xs_os_xsv2_osv16__ao32": 16,
    "giy_xs_os_xsv2_osv8__ao32": 8,
}
"""Names whose last column, where the width is odd, is stored in slices of 32; with the slices of all other columns."""

REFUSED: Mapping[str, str] = {
    "nv12": "a media surface of two planes that is read through colour conversion has no element offsets",
    "any": "it stands for no layout; use #layout.any",
    "custom": "it stands for whatever blocks the program sets at run time",
    "brfyx": "it describes regions of interest, for which no release has an index function",
    "bf_lyx_yx": "it has the dims ly and lx of a local convolution, for which no release has an index function",
    "bs_fs_fsv8_bsv16": "no kernel computes its index, and the vendor's descriptions of 2022 and 2026 contradict each "
    "other; for the order that the name suggests use bs_xs_xsv8_bsv16",
    "g_os_iyx_osv16_rotate_180": "the vendor lists the name but no tensor can have it; without groups it is "
    "os_iyx_osv16_rotate_180",
}
"""Names that the vendor lists and that denote no layout, with the reason."""


@dataclass(frozen=True)
class Demand:
    """What the vendor's code silently relies on: with other sizes its own offsets collide or do not exist."""

    holds: Callable[[Mapping[str, int]], bool]
    expected: str


_SINGLE_CHANNEL = Demand(lambda size: size["o"] * size["i"] <= 1, "o = i = 1, because the vendor's index adds o*i")
_NO_INPUT_CHANNEL = Demand(lambda size: size["i"] <= 1, "i = 1, because i does not enter the vendor's index")
_PICTURE = Demand(lambda size: size["b"] <= 1 and size["f"] in (0, 3, 4), "b = 1 and f = 3 or 4")

FULLY_CONNECTED = Demand(lambda size: size["y"] * size["x"] <= 1, "y = x = 1 for elements of 4 bits")


def demand_of(name: str) -> Demand | None:
    """What a name demands of the sizes, if anything."""
    if name.startswith("gs_oi_yxs_"):
        return _SINGLE_CHANNEL
    return {"oiyx_o16": _NO_INPUT_CHANNEL, "image_2d_rgba": _PICTURE}.get(name)
