"""What tests of the OpenCL backend need: a device that works, image layouts, and reorders into guarded memory."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
import pytest
from layout_families import DTYPES, Choice, Shape, layout_of
from reorder_batch import Reorder, module_of, pad_bits

import layout_ir as li
from layout_ir.interpreter.reference import allocated_size, reorder_reference
from layout_ir.layouts.element_type import element_type
from layout_ir.runtime.opencl import DeviceKernel, compile_device_functions
from layout_ir.runtime.opencl_devices import choose_device, pyopencl

SENTINEL, GUARD = 0xA5, 96


def require(found: object, what: str) -> None:
    """Skip a test without something, and say so where everybody sees it; in continuous integration fail instead."""
    if found:
        return
    _missing(what)


def _missing(what: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"OpenCL tests must run in continuous integration, but {what}")
    warnings.warn(f"OpenCL tests did NOT run: {what}", stacklevel=3)
    pytest.skip(what)


def working_device() -> Any:
    """The device that tests run on."""
    try:
        return choose_device()
    except li.LayoutError as error:
        _missing(str(error))


def program(*names: str) -> str:
    """The path of the first program that there is."""
    found = next((path for name in names if (path := shutil.which(name))), None)
    require(found, f"there is none of the programs {', '.join(names)}")
    assert found is not None
    return found


def compiled(reorders: Sequence[Reorder], *, images: bool = False) -> list[DeviceKernel]:
    """All reorders as the kernels of one program."""
    names = [f"case_{number}" for number in range(len(reorders))]
    return compile_device_functions(module_of(reorders), names, images=images)


def buffer_of(context: Any, data: np.ndarray) -> Any:
    """A buffer of a device that holds an array."""
    cl = pyopencl()
    return cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=data)


# -- images ------------------------------------------------------------------------------------------------------------

_NCHW = {"dims": "NCHW"}
_NHW = {"dims": "NHW"}
_OIHW = ("mace:CONV2D_FILTER", "mace:WEIGHT_HEIGHT", "mace:WEIGHT_WIDTH")
IMAGE_WIDTHS = (1, 2, 4)

IMAGES: tuple[tuple[tuple[Choice, ...], tuple[Choice, ...], tuple[Shape, ...]], ...] = (
    (
        ("NCHW", "NHWC", "onednn:nChw8c"),
        (
            *(("mace:IN_OUT_CHANNEL", _NCHW), ("mace:IN_OUT_HEIGHT", _NCHW), ("mace:IN_OUT_WIDTH", _NCHW)),
            "(n, c, h, w) -> (h * 17 + w, n, c mod 4), image",
        ),
        ((2, 3, 5, 7), (1, 1, 1, 1), (2, 4, 4, 4), (1, 3, 3, 17)),
    ),
    (("bfyx", "byxf"), ("openvino:image_2d_rgba", ("mace:IN_OUT_CHANNEL", _NCHW)), ((1, 3, 5, 7), (1, 4, 2, 2))),
    (("NC", "CN"), ("mace:IN_OUT_CHANNEL",), ((3, 5), (1, 1), (2, 65))),
    (("NHW", "WHN"), (("mace:IN_OUT_HEIGHT", _NHW), ("mace:IN_OUT_WIDTH", _NHW)), ((3, 5, 7), (1, 4, 1))),
    (
        ("OIHW", "HWIO", "onednn:OIhw4i16o4i", "ascend:FRACTAL_Z_C04"),
        (
            *_OIHW,
            *("openvino:image_2d_weights_c4_fyx_b", "openvino:image_2d_weights_c1_b_fyx"),
            *(f"openvino:image_2d_weights_winograd_6x3_s1_{order}" for order in ("fbxyb", "xfbyb")),
        ),
        ((5, 3, 3, 2), (17, 4, 1, 3), (16, 1, 4, 3)),
    ),
    (("MIHW", "onednn:OIhw4i16o4i"), ("mace:DW_CONV2D_FILTER",), ((1, 5, 3, 2), (1, 16, 1, 1))),
    (("W",), ("mace:ARGUMENT",), ((7,), (64,))),
    (("TOI",), ("mace:WINOGRAD_FILTER",), ((16, 5, 7), (36, 2, 4))),
)
"""Buffers, images and shapes of one tensor each."""


def image_reorders() -> Iterator[Reorder]:
    """Buffer to image, image to buffer and image to image, with shapes and element types that change on the way."""
    number = 0
    for buffers, images, shapes in IMAGES:
        pairs = [(a, b) for a in (*buffers, *images) for b in (*buffers, *images) if a in images or b in images]
        for left, right in pairs:
            for _ in DTYPES:
                number += 1
                if element_type(DTYPES[number % len(DTYPES)]).bytes in IMAGE_WIDTHS:
                    break
            shape, dtype = shapes[number % len(shapes)], DTYPES[number % len(DTYPES)]
            try:
                yield Reorder(_checked(left, shape, dtype), _checked(right, shape, dtype), shape, dtype, number % 2)
            except li.LayoutError:  # e.g. a format of at most 4 channels
                continue


def _checked(choice: Choice, shape: Shape, dtype: str) -> li.Layout:
    layout = layout_of(choice, shape)
    layout.index_map(shape, dtype)
    return layout


# -- storages ----------------------------------------------------------------------------------------------------------


def storages(case: Reorder, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Random bits in the source's layout, and what the destination holds afterwards if it was all sentinels before."""
    width = element_type(case.dtype).bytes
    maps = [layout.index_map(case.shape, case.dtype) for layout in (case.source, case.destination)]
    random = np.random.default_rng(seed)
    source = random.integers(0, 256, allocated_size(maps[0]) * width, np.uint8).view(f"u{width}")
    expected = sentinels(case)
    pad = None if case.pad is None else pad_bits(case.pad, case.dtype)
    reorder_reference(source, *maps, pad, expected)
    return source, expected


def sentinels(case: Reorder) -> np.ndarray:
    """A destination before the kernel."""
    width = element_type(case.dtype).bytes
    size = allocated_size(case.destination.index_map(case.shape, case.dtype))
    return np.full(size * width, SENTINEL, np.uint8).view(f"u{width}")
