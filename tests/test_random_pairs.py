"""
Names of different systems, shapes and element types at random: a compiled kernel equals the numpy interpreter.

`LAYOUT_IR_TESTS=all` tries ten times as many, and each of them with vectors of every width.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from random_pairs import random_reorder
from reorder_batch import faults, kernels, lowered

import layout_ir as li
from layout_ir.formats.registry import SYSTEMS

ALL = os.environ.get("LAYOUT_IR_TESTS") == "all"
BATCH = 50
BATCHES = [(start, width) for start in range(0, 2000, BATCH) for width in (0, 16, 32, 64)]
"""The first seed, and the width of vectors in bytes."""


@pytest.mark.parametrize("start, vector_bytes", BATCHES if ALL else [(0, 0), (50, 16), (100, 0), (150, 32)])
def test_kernels_equal_the_interpreter(start: int, vector_bytes: int, tmp_path: Path) -> None:
    reorders = [random_reorder(seed) for seed in range(start, start + BATCH)]
    found = faults(reorders, kernels(lowered(reorders, vector_bytes), tmp_path))
    assert not found, "\n".join(found)


def test_the_pairs_are_of_all_systems_ranks_and_widths() -> None:
    reorders = [random_reorder(seed) for seed in range(200)]
    for side in ("source", "destination"):
        assert {getattr(case, side).system for case in reorders} == {"", *SYSTEMS}
    assert {len(case.shape) for case in reorders} >= {2, 3, 4, 5}
    assert {li.element_type(case.dtype).bytes for case in reorders} == {1, 2, 4, 8}
    assert len({(case.source, case.destination) for case in reorders}) > 190


@pytest.mark.parametrize("buffer", ["NHWC", "onednn:nChw16c", "openvino:b_fs_yx_fsv4", "ascend:NC1HWC0"])
@pytest.mark.parametrize("image", ["mace:IN_OUT_CHANNEL", "mace:IN_OUT_HEIGHT", "mace:IN_OUT_WIDTH"])
def test_a_buffer_reaches_an_image_and_comes_back(buffer: str, image: str) -> None:
    shape = (2, 5, 6, 3)
    source, picture = li.layout(buffer), li.layout(image, dims="NCHW")
    index_map = picture.index_map(shape, "f16")
    assert index_map.is_image
    stored = li.reorder(np.arange(180, dtype=np.float16).reshape(shape), "NCHW", source)
    pixels = li.reorder(stored, source, picture, shape=shape)
    width, height = index_map.image_size
    assert pixels.shape == (height, width, 4)
    assert np.array_equal(li.reorder(pixels, picture, source, shape=shape), stored)
