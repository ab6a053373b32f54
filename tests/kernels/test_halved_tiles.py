"""Images of a few tiles of bytes: by tiles of half as many pixels where these move fewer of them twice."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sized_runs import noise

import layout_ir as li
from layout_ir.interpreter.reference import reorder_reference
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.target import Target
from layout_ir.runtime.compiler import VECTOR_VARIABLE
from layout_ir.runtime.module import lower_to_c
from layout_ir.runtime.sized_kernel import SizedKernel

PIXELS = (63, 64, 65, 72, 95, 96, 97, 127, 128, 129, 160, 161, 196, 224, 225, 255, 256, 257, 288)
"""Around every multiple of half a tile."""


@pytest.mark.usefixtures("quickest_compiler")
@pytest.mark.parametrize("names", [("NCHW", "NHWC"), ("NHWC", "NCHW"), ("NCHW", "ascend:NC1HWC0")], ids=str)
@pytest.mark.parametrize("channels", [35, 64])
def test_images_of_every_length(names: tuple[str, str], channels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VECTOR_VARIABLE, "64")
    source, destination = map(li.layout, names)
    kernel = li.compile_reorder(*names, shape=(None, channels, None, None), dtype="i8")
    assert isinstance(kernel, SizedKernel)
    for pixels in PIXELS:
        shape = (3, channels, 1, pixels)
        maps = [layout.index_map(shape, "i8") for layout in (source, destination)]
        values = noise(source, shape, "i8")
        expected = reorder_reference(values, *maps)
        result = np.full_like(expected, -1)
        kernel.at((3, 1, pixels))(values, result)
        assert np.array_equal(result, expected), pixels


@pytest.mark.parametrize(
    ("dtype", "channels", "looks"),
    [("i8", 64, True), ("f16", 64, False), ("i8", 3, False)],  # halves of three planes take 2.6 times the instructions
)
def test_only_vectors_of_bytes_are_worth_a_look(dtype: str, channels: int, looks: bool) -> None:
    module = reorder_module(li.layout("NCHW"), li.layout("NHWC"), (None, channels, None, None), dtype)
    _, text = lower_to_c(module, Target(64))
    assert bool(re.search(r"h_w < 256 && \(h_w \+ 63\) % 64 < 32", text)) == looks
