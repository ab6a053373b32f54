"""The timing loops of harness.c, what empties caches before them, and the number of threads that OpenMP code uses."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes

    from benchmarks.buffers import Buffers


@cache
def harness() -> ctypes.CDLL:
    """The compiled loops; raises `LayoutError` if there is no C compiler."""
    import ctypes

    from layout_ir.runtime.cache import cached_library

    library = load_shared(cached_library(Path(__file__).with_name("harness.c").read_text("utf-8"), threads=True))
    pointer, number, count = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
    library.time_kernel.argtypes = [pointer, pointer, pointer, count]
    library.time_primitive.argtypes = [pointer, pointer, pointer, pointer, number, pointer, count]
    library.time_memcpy.argtypes = [pointer, pointer, count, number, count]
    library.evict.argtypes = [pointer, count]
    for function in (library.time_kernel, library.time_primitive, library.time_memcpy):
        function.restype = ctypes.c_double
    return library


def load_shared(path: Path | str) -> ctypes.CDLL:
    """A shared library; raises `OSError` if it cannot be loaded."""
    import ctypes

    return ctypes.CDLL(str(path))


def set_threads(count: int) -> None:
    """Set the number of threads of all code that uses the system's OpenMP: kernels, oneDNN and the memcpy loop."""
    library = harness()
    if hasattr(library, "omp_set_num_threads"):
        library.omp_set_num_threads(count)


def evict(buffers: Buffers) -> bool:
    """Write both buffers back to memory and drop them from all caches; False where the processor cannot be told to."""
    sizes = (len(buffers.source), len(buffers.destination))
    results = [harness().evict(start, size) for start, size in zip(buffers.addresses, sizes, strict=True)]
    return all(results)


def address_of(function: object) -> int:
    """The address of a ctypes function."""
    import ctypes

    address = ctypes.cast(function, ctypes.c_void_p).value  # pyright: ignore[reportArgumentType]
    assert address is not None
    return address
