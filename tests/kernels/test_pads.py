"""Kernels that write many pads: in the tiles of what they belong to, or in vectors, and never element by element."""

from __future__ import annotations

from pathlib import Path

import pytest
from reorder_batch import Reorder, faults, kernels, lowered

import layout_ir as li


def _reorder(source: str, destination: str, shape: tuple[int, ...], dtype: str, pad: float = 0) -> Reorder:
    return Reorder(li.layout(source), li.layout(destination), shape, dtype, pad)


PADDED = (
    # blocks of a source that end inside of blocks of the destination
    _reorder("onednn:nChw4c", "onednn:nChw16c", (2, 8, 9, 13), "f32"),
    _reorder("onednn:nChw8c", "onednn:nChw16c", (3, 24, 8, 8), "f16", 3),
    _reorder("openvino:bs_fs_yx_bsv8_fsv4", "openvino:bs_fs_yx_bsv32_fsv32", (40, 20, 5, 4), "i8", -1),
    _reorder("onednn:nChw8c", "openvino:fs_b_yx_fsv32", (6, 8, 9, 8), "f64"),
    # a last block of a batch, which has no tile with its pads
    _reorder("NCHW", "openvino:bs_fs_yx_bsv16_fsv16", (25, 36, 9, 8), "i8"),
    _reorder("openvino:bfxy", "openvino:bs_fs_yx_bsv32_fsv16", (36, 32, 7, 9), "f16", 5),
    # little but pads
    _reorder("NCHW", "openvino:bs_fs_yx_bsv32_fsv32", (1, 32, 8, 9), "i8", 2),
    _reorder("NCHW", "openvino:bs_fs_yx_bsv16_fsv16", (3, 16, 16, 9), "f32"),
)


@pytest.mark.parametrize("panels", [False, True], ids=["tiles", "panels"])
@pytest.mark.parametrize("stream_bytes", [0, None], ids=["large", "small"])
def test_every_pad_is_written_once_and_in_vectors(panels: bool, stream_bytes: int | None, tmp_path: Path) -> None:
    module = lowered(PADDED, 64, threads=False, panels=panels, stream_bytes=stream_bytes)
    assert "memref.store" not in str(module)
    found = faults(PADDED, kernels(module, tmp_path))
    assert not found, "\n".join(found)
