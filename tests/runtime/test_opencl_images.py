"""Images: from and to buffers and each other, of any channel type, within the device's limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from opencl_support import SENTINEL, compiled, sentinels, storages, working_device
from reorder_batch import Reorder, faults

import layout_ir as li
from layout_ir.runtime.opencl_devices import pyopencl
from layout_ir.runtime.opencl_memory import Place, Session

SHAPE = (1, 6, 5, 7)
IMAGE = {"dims": "NCHW"}
UNSOLVABLE = "(d0) -> (d0 floordiv 4, (d0 floordiv 4) * 3 + ((d0 mod 4) * 5) floordiv 3 + d0 mod 4, 0), image"


@pytest.fixture(autouse=True)
def device() -> None:
    """Nothing below runs without a device, nor without the package, which says so less clearly."""
    working_device()


def image_of(context: Any, size: tuple[int, int], channel: str, data: np.ndarray | None = None) -> Any:
    cl = pyopencl()
    wanted = cl.ImageFormat(cl.channel_order.RGBA, getattr(cl.channel_type, channel))
    image = cl.create_image(context, cl.mem_flags.READ_WRITE, wanted, size)
    if data is not None:
        with cl.CommandQueue(context) as queue:
            cl.enqueue_copy(queue, image, data, origin=(0, 0), region=size)
            queue.finish()
    return image


def content_of(context: Any, image: Any, like: np.ndarray) -> np.ndarray:
    cl = pyopencl()
    result = np.empty_like(like)
    with cl.CommandQueue(context) as queue:
        cl.enqueue_copy(queue, result, image, origin=(0, 0), region=(image.width, image.height))
        queue.finish()
    return result


@pytest.mark.parametrize(
    "dtype, channel",
    [
        *[("f32", "UNSIGNED_INT32"), ("f32", "FLOAT"), ("f16", "UNSIGNED_INT16"), ("f16", "HALF_FLOAT")],
        *[("i8", "SIGNED_INT8"), ("u8", "UNSIGNED_INT8"), ("i32", "SIGNED_INT32"), ("i16", "SIGNED_INT16")],
    ],
)
def test_images_of_the_caller_stay_on_the_device(dtype: str, channel: str) -> None:
    context = pyopencl().Context([working_device()])
    there = Reorder(li.layout("NCHW"), li.layout("mace:IN_OUT_CHANNEL", **IMAGE), SHAPE, dtype)
    back = Reorder(li.layout("mace:IN_OUT_CHANNEL", **IMAGE), li.layout("NHWC"), SHAPE, dtype)
    source, expected = storages(there)
    size = there.destination.index_map(SHAPE, dtype).image_size
    image = image_of(context, size, channel, sentinels(there))
    pack = li.compile_reorder("NCHW", there.destination, shape=SHAPE, dtype=dtype, target="opencl")
    assert pack(source, image) is image
    assert content_of(context, image, expected).tobytes() == expected.tobytes()
    unpack = li.compile_reorder(back.source, "NHWC", shape=SHAPE, dtype=dtype, target="opencl")
    got = sentinels(back)
    unpack(image, got)
    assert got.tobytes() == source.reshape(SHAPE).transpose(0, 2, 3, 1).tobytes()


def test_image_to_image_of_another_layout_and_channel_type() -> None:
    context = pyopencl().Context([working_device()])
    case = Reorder(
        li.layout("mace:IN_OUT_CHANNEL", **IMAGE), li.layout("mace:IN_OUT_WIDTH", **IMAGE), SHAPE, "f32", -2.0
    )
    source, expected = storages(case)
    sizes = [layout.index_map(SHAPE, "f32").image_size for layout in (case.source, case.destination)]
    left = image_of(context, sizes[0], "FLOAT", source)
    right = image_of(context, sizes[1], "UNSIGNED_INT32", expected[::-1].copy())
    kernel = li.compile_reorder(case.source, case.destination, shape=SHAPE, dtype="f32", target="opencl", pad=-2.0)
    kernel(left, right)
    assert content_of(context, right, expected).tobytes() == expected.tobytes()


def test_a_layout_without_a_formula_for_its_pixels_goes_through_a_buffer() -> None:
    working_device()
    cases = [
        Reorder(li.layout("W"), li.layout(UNSOLVABLE), (23,), "f32", 1.5),
        Reorder(li.layout(UNSOLVABLE), li.layout("W"), (23,), "i16"),
        Reorder(li.layout("mace:ARGUMENT"), li.layout(UNSOLVABLE), (23,), "u8", 7),
    ]
    kernels = compiled(cases, images=True)
    assert "a new memref" in kernels[0].source
    assert not faults(cases, kernels)


def test_pads_are_written_and_gaps_are_not() -> None:
    working_device()
    cases = [
        Reorder(li.layout("mace:IN_OUT_CHANNEL", **IMAGE), li.layout("cudnn:NC/4HW4"), SHAPE, "f32", 3),
        Reorder(li.layout("mace:IN_OUT_HEIGHT", **IMAGE), li.StridedLayout((500, 80, 14, 2), 3), SHAPE, "f16"),
    ]
    assert not faults(cases, compiled(cases, images=True))


def test_lanes_that_are_left_alone_keep_what_they_held() -> None:
    images = [li.layout(f"mace:IN_OUT_{name}", **IMAGE) for name in ("CHANNEL", "HEIGHT", "WIDTH")]
    pairs = [(li.layout("NHWC"), images[0]), (images[1], images[2]), (images[2], images[0])]
    cases = [Reorder(*pair, SHAPE, dtype, None) for pair, dtype in zip(pairs, ("u8", "f32", "bf16"), strict=True)]
    assert not faults(cases, compiled(cases, images=True))


def test_images_larger_than_the_device_allows_are_refused_with_the_limit() -> None:
    device = working_device()
    widest, highest = device.image2d_max_width, device.image2d_max_height
    kernel = li.compile_reorder(
        "W", "mace:ARGUMENT", shape=(4 * (widest + 1),), dtype="u8", target="opencl", images=True
    )
    got = np.full(4 * (widest + 1), SENTINEL, np.uint8)
    message = rf"destination: .*at most {widest} x {highest} pixels .*got {widest + 1} x 1"
    with pytest.raises(li.LayoutError, match=message):
        kernel(np.zeros(4 * (widest + 1), np.uint8), got)
    assert (got == SENTINEL).all()


def test_elements_of_8_bytes_have_no_pixels() -> None:
    working_device()
    with pytest.raises(li.LayoutError, match="expected an image of elements of 1, 2 or 4 bytes, got f64"):
        li.compile_reorder("W", "mace:ARGUMENT", shape=(8,), dtype="f64", target="opencl", images=True)


def test_a_device_without_images_says_so() -> None:
    class Device:
        name = "plain"
        image_support = False

    place = Place("reorder: destination", 16, 4, (1, 1))
    with pytest.raises(li.LayoutError, match="reorder: destination: the OpenCL device 'plain' has no images"):
        Session(None, Device(), None).check(place)


WRONG = [
    ((2, 2), "RGBA", "UNSIGNED_INT32", "expected a 2-D image of 14 x 5 pixels"),
    ((14, 5), "RGBA", "UNSIGNED_INT8", "expected an image of RGBA pixels with channels of 4 bytes"),
    ((14, 5), "R", "UNSIGNED_INT32", "expected an image of RGBA pixels with channels of 4 bytes"),
]


@pytest.mark.parametrize("size, order, channel, message", WRONG)
def test_images_that_do_not_fit_are_refused(size: tuple[int, int], order: str, channel: str, message: str) -> None:
    cl = pyopencl()
    context = cl.Context([working_device()])
    kind = cl.ImageFormat(getattr(cl.channel_order, order), getattr(cl.channel_type, channel))
    image = cl.create_image(context, cl.mem_flags.READ_WRITE, kind, size)
    destination = li.layout("mace:IN_OUT_CHANNEL", **IMAGE)
    kernel = li.compile_reorder("NCHW", destination, shape=SHAPE, dtype="f32", target="opencl")
    with pytest.raises(li.LayoutError, match=message):
        kernel(np.zeros(SHAPE, np.float32), image)


def test_an_image_is_no_buffer() -> None:
    context = pyopencl().Context([working_device()])
    kernel = li.compile_reorder("NC", "CN", shape=(4, 4), dtype="f32", target="opencl")
    with pytest.raises(li.LayoutError, match="destination: expected a buffer, as its layout is not that of an image"):
        kernel(np.zeros((4, 4), np.float32), image_of(context, (4, 1), "UNSIGNED_INT32"))


def test_a_call_on_images_is_ready_where_the_kernel_takes_them_as_they_are() -> None:
    there = Reorder(li.layout("NCHW"), li.layout("mace:IN_OUT_CHANNEL", **IMAGE), SHAPE)
    pack = li.compile_reorder("NCHW", there.destination, shape=SHAPE, dtype="f32", target="opencl", images=True)
    source, expected = storages(there)
    context = pyopencl().Context([working_device()])
    size = there.destination.index_map(SHAPE, "f32").image_size
    image = image_of(context, size, "UNSIGNED_INT32", sentinels(there))
    pack.ready(source, image)()
    assert content_of(context, image, expected).tobytes() == expected.tobytes()
    with pytest.raises(li.LayoutError, match="expected an image of RGBA pixels with channels of type UNSIGNED_INT32"):
        pack.ready(source, image_of(context, size, "FLOAT"))
