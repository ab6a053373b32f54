"""
The layouts of every notation, in families whose members all store the same logical tensor: any goes to any other.

Sizes are primes, 1, and blocks plus and minus one; a family's layouts meet all of its shapes and all element types.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reorder_batch import Reorder

import layout_ir as li
from layout_ir.layouts.index_map import row_major_strides

Shape = tuple[int, ...]
Choice = str | tuple[str, dict[str, Any]] | Callable[[Shape], li.Layout]
"""A layout's text, its text with options, or a layout that depends on the shape."""

DTYPES = ("f32", "i8", "f64", "f16", "u8", "i64", "bf16", "i16", "i1", "i32")
REAL = ("f64", "f32", "f16", "bf16")


@dataclass(frozen=True)
class Family:
    """Layouts of one logical tensor, and the shapes on which they meet."""

    name: str
    choices: tuple[Choice, ...]
    shapes: tuple[Shape, ...]

    @cached_property  # most of the time goes into index maps
    def reorders(self) -> tuple[Reorder, ...]:
        """
        Every layout to every layout.

        Shapes and element types change from pair to pair, so that each layout meets all of them.
        """
        count = len(self.choices)
        pairs = itertools.product(range(count), repeat=2)
        return tuple(self._reorder(self.choices[i], self.choices[j], i, j) for i, j in pairs)

    def _reorder(self, source: Choice, destination: Choice, i: int, j: int) -> Reorder:
        for attempt in range(len(self.shapes) * len(DTYPES)):
            number = i + j
            shape = self.shapes[(number + number // len(DTYPES) + attempt) % len(self.shapes)]
            dtype = DTYPES[(number + attempt // len(self.shapes)) % len(DTYPES)]
            pads = pads_of(dtype)
            left, right = layout_of(source, shape), layout_of(destination, shape)
            try:
                left.index_map(shape, dtype), right.index_map(shape, dtype)
            except li.LayoutError:  # e.g. no C0 is known for the element type
                continue
            return Reorder(left, right, shape, dtype, pads[(2 * i + j) % len(pads)])
        raise AssertionError(f"{self.name}: {source} and {destination} have no shape and element type in common")


def layout_of(choice: Choice, shape: Shape) -> li.Layout:
    """The layout that a choice means for a shape."""
    if isinstance(choice, str):
        return li.layout(choice)
    if isinstance(choice, tuple):
        text, options = choice
        return li.layout(text, **options)
    return choice(shape)


def pads_of(dtype: str) -> Sequence[float | None]:
    """What pads are set to in turn; None leaves them."""
    if dtype in REAL:
        return (0, 1.5, None, 0, -2.0)
    last = 1 if dtype == "i1" else 200 if dtype.startswith("u") else -3
    return (0, 1, None, 0, last)


# -- layouts that depend on the shape ----------------------------------------------------------------------------------


def pitched(shape: Shape) -> li.Layout:
    """Row-major with gaps behind every row, not at the origin."""
    strides = [2]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * size + 3)
    return li.StridedLayout(tuple(reversed(strides)), offset=5)


def reversed_strides(shape: Shape) -> li.Layout:
    """Column-major, dense."""
    return li.StridedLayout(tuple(reversed(row_major_strides(shape[::-1]))))


def onednn_pitched(shape: Shape) -> li.Layout:
    """oneDNN's strided tensor with padded rows."""
    return li.layout("onednn:strided", strides=row_major_strides([*shape[:-1], shape[-1] + 3]))


def fused_in_blocks(shape: Shape) -> li.Layout:
    """The last two dims as one, in blocks of 6 that start anywhere in a row."""
    dims = [f"d{i}" for i in range(len(shape))]
    together = f"(({dims[-2]} * {shape[-1]}) + {dims[-1]})"
    outer = ", ".join(reversed(dims[:-2]))
    return li.layout(f"({', '.join(dims)}) -> ({outer}, {together} floordiv 6, {together} mod 6)")


# -- families ----------------------------------------------------------------------------------------------------------

_NCHW = {"dims": "NCHW"}
_SHAPES = (
    (2, 3, 5, 7),
    (1, 17, 3, 2),
    (3, 35, 1, 5),
    (17, 15, 2, 3),
    (1, 1, 1, 1),
    (5, 33, 4, 1),
    (2, 64, 3, 3),
    (1, 7, 13, 11),
    (31, 16, 1, 2),
)

ACTIVATIONS = Family(
    "activations",
    (
        *("NCHW", "NHWC", "CHWN", "HWCN", "bfyx", "byxf", "yxfb"),
        *("cudnn:NC/1HW1", "cudnn:NC/3HW3", "cudnn:NC/32HW32", "cudnn:NCHW_VECT_C4", "cudnn:NCHW_VECT_C32"),
        *(f"openvino:b_fs_yx_fsv{block}" for block in (2, 4, 8, 16, 32)),
        *("openvino:bs_fs_yx_bsv4_fsv2", "openvino:bs_fs_yx_bsv8_fsv4", "openvino:bs_fs_yx_bsv16_fsv16"),
        *("openvino:bs_fs_yx_bsv32_fsv16", "openvino:bs_fs_yx_bsv32_fsv32", "openvino:fs_b_yx_fsv32"),
        "ascend:NC1HWC0",
        ("ascend:NC1HWC0", {"c0": 4}),
        *("ascend:FRACTAL_NZ", "ascend:FRACTAL_NZ_C0_8"),
        *(("mace:IN_OUT_CHANNEL", _NCHW), ("mace:IN_OUT_HEIGHT", _NCHW), ("mace:IN_OUT_WIDTH", _NCHW)),
        *("onednn:nChw16c", "onednn:aBcd8b", "onednn:NChw16n16c", "onednn:NChw32n32c", "onednn:Acdb16a"),
        *(onednn_pitched, pitched, reversed_strides, fused_in_blocks),
        "(n, c, h, w) -> (c floordiv 48, h, n, w, c mod 48)",
        "(n, c, h, w) -> (w, (c floordiv 2) floordiv 3, n, h, (c floordiv 2) mod 3, c mod 2), round_up = [2, 1, 3, 1]",
    ),
    _SHAPES,
)

WEIGHTS = Family(
    "weights",
    (
        *("OIHW", "HWIO", "OHWI", "HWCN", "cudnn:KRSC", "cudnn:KCRS_VECT_C4"),
        *("onednn:OIhw4i16o4i", "onednn:OIhw16i16o", "onednn:OIhw8o8i", "onednn:Ohwi16o", "onednn:hwio"),
        *("openvino:os_is_yx_isv16_osv16", "openvino:os_iyx_osv16", "openvino:is_os_yx_isv16_osv16"),
        *("openvino:os_is_yx_osv16_isv4", "openvino:os_is_yx_isa8_osv8_isv4", "openvino:os_is_yx_osv32_isv32p"),
        *("ascend:FRACTAL_Z", ("ascend:FRACTAL_Z", {"c0": 16}), "ascend:FRACTAL_Z_C04", "ascend:C1HWNCoC0"),
        *("mace:CONV2D_FILTER", "mace:BUFFER_CONV2D_FILTER", pitched),
        "(o, i, h, w) -> (h, w, o floordiv 12, i floordiv 10, i mod 10, o mod 12)",
    ),
    ((5, 3, 3, 3), (17, 15, 1, 1), (16, 33, 2, 1), (7, 1, 5, 2), (33, 17, 1, 3), (1, 64, 1, 1), (32, 31, 3, 1)),
)

WEIGHTS_FROM_HWCN = Family(
    "weights given as H,W,C,N",
    (
        *(("HWCN", {"dims": "HWCN"}), ("NCHW", {"dims": "HWCN"}), ("OIHW", {"dims": "HWIO"})),
        *(("ascend:FRACTAL_Z", {"dims": "HWCN"}), ("ascend:FRACTAL_Z", {"dims": "HWCN", "groups": 2, "c0": 16})),
        *(("onednn:OIhw16i16o", {"dims": "HWIO"}), ("openvino:os_is_yx_isv16_osv16", {"dims": "yxio"})),
        *(("mace:CONV2D_FILTER", {"dims": "HWIO"}), ("cudnn:KCRS", {"dims": "RSCK"})),
    ),
    ((2, 2, 32, 32), (1, 1, 15, 34), (3, 3, 3, 6), (1, 5, 17, 2)),
)

DEPTHWISE = Family(
    "depthwise weights",
    (
        *("MIHW", "mace:DW_CONV2D_FILTER", "mace:BUFFER_DW_CONV2D_FILTER"),
        *("OIHW", "HWIO", "onednn:OIhw4i16o4i", "openvino:os_is_yx_isv16_osv16", "ascend:FRACTAL_Z", pitched),
    ),
    ((1, 5, 3, 3), (1, 1, 1, 1), (1, 17, 5, 2), (1, 4, 1, 7)),
)

VOLUMES = Family(
    "volumes",
    (
        *("NCDHW", "NDHWC", "CDHWN", "bfzyx", "cudnn:NC/4DHW4", "onednn:nCdhw16c", "onednn:NCdhw16n16c"),
        *("openvino:b_fs_zyx_fsv16", "openvino:b_fs_zyx_fsv2", "openvino:bs_fs_zyx_bsv16_fsv16"),
        *("ascend:NDC1HWC0", "ascend:FRACTAL_NZ", pitched, fused_in_blocks),
    ),
    ((2, 3, 2, 3, 5), (1, 17, 1, 2, 3), (3, 33, 2, 1, 1), (17, 1, 1, 3, 2), (1, 1, 1, 1, 1)),
)

VOLUME_WEIGHTS = Family(
    "volume weights",
    (
        *("OIDHW", "DHWIO", "onednn:OIdhw16i16o", "onednn:OIdhw4i16o4i", "ascend:FRACTAL_Z_3D", "cudnn:KTRSC"),
        *("openvino:os_is_zyx_isv16_osv16", "openvino:os_is_zyx_osv32_isv16", pitched),
    ),
    ((5, 3, 2, 3, 1), (17, 33, 1, 1, 2), (16, 1, 3, 1, 1), (31, 15, 1, 2, 1)),
)

GROUPED_WEIGHTS = Family(
    "grouped weights",
    (
        *("GOIHW", "onednn:goihw", "onednn:gOIhw16i16o", "onednn:Goihw16g", "onednn:gOIhw4i16o4i", "onednn:hwigo"),
        *("openvino:g_os_iyx_osv16", "openvino:g_os_is_yx_isv16_osv16", "openvino:gs_oiyx_gsv16"),
        *("openvino:gs_oi_yxs_gsv4_yxsv4", "openvino:gs_oi_yxs_gsv16_yxsv4", pitched, fused_in_blocks),
    ),
    ((2, 3, 5, 3, 1), (17, 1, 1, 3, 3), (3, 17, 15, 1, 1), (1, 5, 33, 2, 2), (33, 2, 3, 1, 5)),
)

MATRICES = Family(
    "matrices",
    (
        *("NC", "CN", "onednn:ab", "onednn:AB16b16a", "onednn:BA16a16b2a", "openvino:bf", "openvino:bs_fs_fsv8_bsv8"),
        *("ascend:FRACTAL_NZ", "ascend:ND", "ascend:FRACTAL_ZZ", "mace:IN_OUT_CHANNEL", pitched, reversed_strides),
        *("(d0, d1) -> (d1 floordiv 6, d0 floordiv 4, d1 mod 6, d0 mod 4)", "(d0, d1) -> (d1, d0), round_up = [5, 3]"),
    ),
    ((1, 1), (7, 13), (17, 33), (31, 16), (64, 65), (3, 128)),
)

VECTORS = Family(
    "vectors",
    (
        *("onednn:a", "onednn:x", "openvino:f", "mace:ARGUMENT", "mace:BUFFER_ARGUMENT", pitched),
        *(("ascend:ND_RNN_BIAS", {"hidden_size": 3}), "(d0) -> (d0 mod 8, d0 floordiv 8)"),
    ),
    ((1,), (3,), (15,), (33,), (201,)),
)

FAMILIES = (
    ACTIVATIONS,
    WEIGHTS,
    WEIGHTS_FROM_HWCN,
    DEPTHWISE,
    VOLUMES,
    VOLUME_WEIGHTS,
    GROUPED_WEIGHTS,
    MATRICES,
    VECTORS,
)
