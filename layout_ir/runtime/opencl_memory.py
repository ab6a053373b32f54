"""Memory of a device: buffers and images for the arguments of a kernel, made from numpy arrays or a caller's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from layout_ir.errors import LayoutError
from layout_ir.runtime.opencl_devices import pyopencl

if TYPE_CHECKING:
    import numpy.typing as npt

    Bytes = npt.NDArray[Any]

CHANNELS = {1: "UNSIGNED_INT8", 2: "UNSIGNED_INT16", 4: "UNSIGNED_INT32"}
"""Bytes of an element to the channel type that moves its bits."""

VECTOR_BYTES = 16
"""The longest vectors that kernels of a GPU read and write; devices want them at multiples of their size."""


@dataclass(frozen=True)
class Place:
    """What one buffer of a program is made of."""

    name: str
    """What messages call it."""
    bytes: int
    element_bytes: int
    image_size: tuple[int, int] | None = None
    """Width and height in pixels of an image, None of a buffer."""


@dataclass(frozen=True, eq=False)
class Session:
    """A context with a queue whose commands run in order."""

    context: Any
    device: Any
    queue: Any

    @cached_property
    def image_limit(self) -> tuple[int, int]:
        """Width and height of the largest image."""
        return self.device.image2d_max_width, self.device.image2d_max_height

    def check(self, place: Place) -> None:
        """Raise `LayoutError` where the device can have no such buffer or image."""
        if place.image_size is None:
            limit = self.device.max_mem_alloc_size
            if place.bytes > limit:
                raise LayoutError(
                    f"{place.name}: expected a buffer of at most {limit} bytes on the OpenCL device "
                    f"'{self.device.name}', got {place.bytes}"
                )
            return
        if not self.device.image_support:
            raise LayoutError(f"{place.name}: the OpenCL device '{self.device.name}' has no images")
        (width, height), (widest, highest) = place.image_size, self.image_limit
        if width > widest or height > highest:
            raise LayoutError(
                f"{place.name}: expected an image of at most {widest} x {highest} pixels (width x height) on the "
                f"OpenCL device '{self.device.name}', got {width} x {height}"
            )

    def allocate(self, place: Place) -> Any:
        """A new buffer or image."""
        cl = pyopencl()
        self.check(place)
        if place.image_size is None:
            return cl.Buffer(self.context, cl.mem_flags.READ_WRITE, max(place.bytes, 1))
        kinds = cl.channel_type
        wanted = cl.ImageFormat(cl.channel_order.RGBA, getattr(kinds, CHANNELS[place.element_bytes]))
        return cl.create_image(self.context, cl.mem_flags.READ_WRITE, wanted, place.image_size)

    def upload(self, place: Place, data: Bytes) -> Any:
        """A buffer or image with the content of an array of bytes."""
        cl = pyopencl()
        memory = self.allocate(place)
        if not data.size:
            return memory
        if place.image_size is None:
            cl.enqueue_copy(self.queue, memory, data)
        else:
            cl.enqueue_copy(self.queue, memory, data, origin=(0, 0), region=place.image_size)
        return memory

    def download(self, place: Place, memory: Any) -> Bytes:
        """The content of a buffer or image as a new array of bytes."""
        import numpy as np

        cl = pyopencl()
        data = np.empty(place.bytes, np.uint8)
        if not data.size:
            return data
        if place.image_size is None:
            cl.enqueue_copy(self.queue, data, memory)
        else:
            cl.enqueue_copy(self.queue, data, memory, origin=(0, 0), region=place.image_size)
        return data

    def copy(self, place: Place, source: Any, destination: Any) -> None:
        """Copy all elements on the device, between buffers and images of any channel type, bit for bit."""
        cl = pyopencl()
        regions = {"origin": (0, 0), "region": place.image_size}
        match isinstance(source, cl.Image), isinstance(destination, cl.Image):
            case False, False:
                cl.enqueue_copy(self.queue, destination, source, byte_count=place.bytes)
            case True, False:
                cl.enqueue_copy(self.queue, destination, source, offset=0, **regions)
            case False, True:
                cl.enqueue_copy(self.queue, destination, source, offset=0, **regions)
            case _:
                between = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, place.bytes)
                self.copy(place, source, between)
                self.copy(place, between, destination)
                between.release()

    def takes(self, place: Place, memory: Any) -> bool:
        """Whether kernels can read and write a caller's buffer or image as it is."""
        cl = pyopencl()
        if place.image_size is None:
            return True
        if not isinstance(memory, cl.Image):
            return False
        return memory.format.channel_data_type == getattr(cl.channel_type, CHANNELS[place.element_bytes])


def overlap(left: Any, right: Any) -> bool:
    """Whether two buffers or images share memory of the device, as parts of one buffer may."""
    (first, start, size), (second, other_start, other_size) = _extent(left), _extent(right)
    return first == second and start < other_start + other_size and other_start < start + size


def _extent(memory: Any) -> tuple[int, int, int]:
    """The buffer that memory is a part of, where in it and how long, in bytes."""
    kinds = pyopencl().mem_info
    whole = memory.get_info(kinds.ASSOCIATED_MEMOBJECT) or memory
    return whole.int_ptr, memory.get_info(kinds.OFFSET), memory.get_info(kinds.SIZE)


def _behind_vector(memory: Any) -> int:
    """Bytes from the last multiple of a vector to where a buffer begins: what a device makes begins at one."""
    host = memory.hostbuf if memory.flags & pyopencl().mem_flags.USE_HOST_PTR else None
    return 0 if host is None else host.ctypes.data % VECTOR_BYTES


def check_given(place: Place, memory: Any, is_written: bool) -> None:
    """Raise `LayoutError` unless a caller's buffer or image can be an argument."""
    cl = pyopencl()
    forbidden, allowed = ("READ_ONLY", "write") if is_written else ("WRITE_ONLY", "read")
    if memory.flags & getattr(cl.mem_flags, forbidden):
        raise LayoutError(f"{place.name}: expected memory that kernels may {allowed}, got one made as {forbidden}")
    if not isinstance(memory, cl.Image):
        if memory.size < place.bytes:
            raise LayoutError(f"{place.name}: expected a buffer of at least {place.bytes} bytes, got {memory.size}")
        if (behind := _behind_vector(memory)) != 0:
            raise LayoutError(
                f"{place.name}: expected memory of the host at a multiple of {VECTOR_BYTES} bytes for a buffer made "
                f"with USE_HOST_PTR, got it {behind} bytes behind one"
            )
        return
    if place.image_size is None:
        raise LayoutError(f"{place.name}: expected a buffer, as its layout is not that of an image; got an image")
    width, height = place.image_size
    if (memory.width, memory.height) != (width, height) or memory.type != cl.mem_object_type.IMAGE2D:
        raise LayoutError(
            f"{place.name}: expected a 2-D image of {width} x {height} pixels (width x height), "
            f"got {memory.width} x {memory.height}"
        )
    channels = memory.format
    if channels.channel_order != cl.channel_order.RGBA or channels.itemsize != 4 * place.element_bytes:
        raise LayoutError(
            f"{place.name}: expected an image of RGBA pixels with channels of {place.element_bytes} bytes, "
            f"got {channels!r}"
        )
