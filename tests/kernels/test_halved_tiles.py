"""Images of a few tiles of bytes: by tiles of half as many pixels where these move fewer of them twice."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from sized_runs import noise

import layout_ir as li
from layout_ir.interpreter.reference import reorder_reference
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.target import Target
from layout_ir.runtime.compiler import VECTOR_VARIABLE, register_bytes
from layout_ir.runtime.module import lower_to_c
from layout_ir.runtime.sized_kernel import SizedKernel

PIXELS = (63, 64, 65, 72, 95, 96, 97, 127, 128, 129, 160, 161, 196, 224, 225, 255, 256, 257, 288)
"""Around every multiple of half a tile."""

LOOKS = re.compile(r"h_w < 256 && \(h_w \+ 63\) % 64 < 32")


@pytest.mark.usefixtures("quickest_compiler")
@pytest.mark.parametrize("names, channels", [
    (("NCHW", "NHWC"), 64),
    (("NHWC", "NCHW"), 100),
    (("NCHW", "ascend:NC1HWC0"), 35),
    (("NCHW", "onednn:nChw16c"), 100),
])  # fmt: skip
def test_images_of_every_length(names: tuple[str, str], channels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = sized_kernel(names, channels, monkeypatch)
    assert bool(LOOKS.search(kernel.source)) == (register_bytes() == 64)  # halves of lines are usual for shorter ones
    for pixels in PIXELS:
        check(kernel, names, (3, channels, 1, pixels))


@pytest.mark.usefixtures("quickest_compiler")
def test_batches_of_every_length_of_images_of_one_pixel_and_two(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = sized_kernel(("NCHW", "NHWC"), 35, monkeypatch)
    assert "n < 256 && (n + 63) % 64 < 32" in kernel.source
    for images, pixels in itertools.product(PIXELS, (1, 2)):
        check(kernel, ("NCHW", "NHWC"), (images, 35, 1, pixels))


def sized_kernel(names: tuple[str, str], channels: int, monkeypatch: pytest.MonkeyPatch) -> SizedKernel:
    monkeypatch.setenv(VECTOR_VARIABLE, "64")
    kernel = li.compile_reorder(*names, shape=(None, channels, None, None), dtype="i8")
    assert isinstance(kernel, SizedKernel)
    return kernel


def check(kernel: SizedKernel, names: tuple[str, str], shape: tuple[int, ...]) -> None:
    source, destination = map(li.layout, names)
    maps = [layout.index_map(shape, "i8") for layout in (source, destination)]
    values = noise(source, shape, "i8")
    expected = reorder_reference(values, *maps)
    result = np.full_like(expected, -1)
    kernel.at((shape[0], *shape[2:]))(values, result)
    assert np.array_equal(result, expected), shape


@pytest.mark.parametrize(
    ("dtype", "channels", "looks"),
    [("i8", 64, True), ("f16", 64, False), ("i8", 3, False)],  # halves of three planes take 2.6 times the instructions
)
def test_only_vectors_of_bytes_are_worth_a_look(dtype: str, channels: int, looks: bool) -> None:
    module = reorder_module(li.layout("NCHW"), li.layout("NHWC"), (None, channels, None, None), dtype)
    _, text = lower_to_c(module, Target(64))
    assert bool(LOOKS.search(text)) == looks
