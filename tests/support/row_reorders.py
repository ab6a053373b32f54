"""Reorders out of rows that end soon: kernels for Zen 4 ask for whole rows of the next step there."""

from __future__ import annotations

from reorder_batch import Reorder
from varied_reorders import reorder

import layout_ir as li


def pitched(shape: tuple[int, int, int, int], pitch: int, dtype: str) -> Reorder:
    """From images whose rows begin so many elements apart to pixels."""
    _, channels, height, _ = shape
    strides = (channels * height * pitch, height * pitch, pitch, 1)
    return Reorder(li.layout("strided", strides=strides), li.layout("NHWC"), shape, dtype, 0)


ROWS = (
    (pitched((2, 64, 3, 56), 120, "f16"), 6),
    (pitched((2, 64, 3, 56), 120, "f32"), 6),
    (pitched((2, 128, 3, 56), 120, "i8"), 6),
    (pitched((2, 64, 3, 40), 81, "f16"), 6),
    (pitched((1, 96, 4, 33), 77, "f16"), 4),
    (pitched((3, 64, 2, 64), 130, "f16"), 6),
)
"""And how many steps they take one after the other."""

REORDERS = (
    *(case for case, _ in ROWS),
    reorder("NCHW", "openvino:bs_fs_yx_bsv16_fsv16", (32, 35, 7, 7), "f16"),
    reorder("NCHW", "openvino:bs_fs_yx_bsv16_fsv16", (32, 64, 7, 7), "i8", 3),
)
"""These, and some that take several boxes, each of which has steps of its own."""
