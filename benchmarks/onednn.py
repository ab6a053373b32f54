"""
oneDNN's reorder through its C API by ctypes: the primitive is created once, only its execution is timed.

The library comes with the package `onednn-cpu-gomp`; the environment variable ONEDNN_LIBRARY names another one (a build
whose own dependencies the loader finds). Source of names and numbers: oneDNN's public headers, API version 3.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness import address_of, harness

if TYPE_CHECKING:
    from benchmarks.buffers import Buffers

DATA_TYPES = {"f16": 1, "bf16": 2, "f32": 3, "i32": 4, "i8": 5, "u8": 6}
CPU_ENGINE = 1
QUERY_IMPLEMENTATION = 8
ARG_FROM, ARG_TO = 1, 17

Descriptor = str | tuple[int, ...]
"""A format tag over a, b, c, ... or strides in elements."""


class OneDNNError(Exception):
    """A call that failed: its name and status."""


class _Argument(ctypes.Structure):
    _fields_ = [("position", ctypes.c_int), ("memory", ctypes.c_void_p)]


class _Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int), ("patch", ctypes.c_int)]


def library_path() -> Path | None:
    """Where the library is, or None if it is not installed."""
    if named := os.environ.get("ONEDNN_LIBRARY"):
        return Path(named)
    candidates = [Path(sys.prefix, "lib", "libdnnl.so.3"), *(Path(p, "libdnnl.so.3") for p in sys.path)]
    return next((path for path in candidates if path.exists()), None)


@cache
def library() -> ctypes.CDLL | None:
    """The loaded library, or None if it is not installed; raises `OSError` if it is there and cannot be loaded."""
    path = library_path()
    return None if path is None else ctypes.CDLL(str(path))


def version() -> str | None:
    """`3.2.0`, or None if the library is not installed."""
    loaded = library()
    if loaded is None:
        return None
    loaded.dnnl_version.restype = ctypes.POINTER(_Version)
    found = loaded.dnnl_version().contents
    return f"{found.major}.{found.minor}.{found.patch}"


def _call(name: str, *arguments: object) -> None:
    loaded = library()
    assert loaded is not None
    status = loaded[name](*arguments)
    if status != 0:
        raise OneDNNError(f"{name}: status {status}")


def _created(name: str, *arguments: object) -> ctypes.c_void_p:
    handle = ctypes.c_void_p()
    _call(name, ctypes.byref(handle), *arguments)
    return handle


@cache
def _engine() -> ctypes.c_void_p:
    return _created("dnnl_engine_create", CPU_ENGINE, ctypes.c_size_t(0))


@cache
def _stream() -> ctypes.c_void_p:
    return _created("dnnl_stream_create", _engine(), 1)


def _descriptor(shape: Sequence[int], dtype: str, layout: Descriptor) -> ctypes.c_void_p:
    dims = (ctypes.c_int64 * len(shape))(*shape)
    if isinstance(layout, str):
        name = "dnnl_memory_desc_create_with_string_tag"
        return _created(name, len(shape), dims, DATA_TYPES[dtype], layout.encode())
    strides = (ctypes.c_int64 * len(shape))(*layout)
    return _created("dnnl_memory_desc_create_with_strides", len(shape), dims, DATA_TYPES[dtype], strides)


@dataclass(frozen=True)
class Reorder:
    """A reorder primitive with its two memory objects."""

    implementation: str
    """What oneDNN says runs, e.g. `jit:uni` or `simple:any`."""

    sizes: tuple[int, int]
    """Bytes of source and destination as oneDNN counts them."""

    primitive: ctypes.c_void_p
    arguments: ctypes.Array[_Argument]
    owned: tuple[tuple[str, ctypes.c_void_p], ...]

    def seconds(self, calls: int) -> float:
        """Seconds of `calls` executions; raises `OneDNNError`."""
        loaded = library()
        functions = (
            [address_of(loaded[name]) for name in ("dnnl_primitive_execute", "dnnl_stream_wait")] if loaded else []
        )
        result = harness().time_primitive(*functions, self.primitive, _stream(), 2, self.arguments, calls)
        if result < 0:
            raise OneDNNError(f"dnnl_primitive_execute: status {-result:.0f}")
        return result

    def destroy(self) -> None:
        """Free everything that belongs to it."""
        for kind, handle in self.owned:
            _call(f"dnnl_{kind}_destroy", handle)


def create_reorder(
    shape: Sequence[int], dtype: str, source: Descriptor, destination: Descriptor, buffers: Buffers
) -> Reorder:
    """The primitive for two layouts on two buffers; raises `OneDNNError` where oneDNN has none."""
    descriptors = [_descriptor(shape, dtype, layout) for layout in (source, destination)]
    left, right = descriptors
    what = _created("dnnl_reorder_primitive_desc_create", left, _engine(), right, _engine(), None)
    name = ctypes.c_char_p()
    _call("dnnl_primitive_desc_query", what, QUERY_IMPLEMENTATION, 0, ctypes.byref(name))
    primitive = _created("dnnl_primitive_create", what)
    pointers = [ctypes.c_void_p(address) for address in buffers.addresses]
    memories = [_created("dnnl_memory_create", d, _engine(), p) for d, p in zip(descriptors, pointers, strict=True)]
    arguments = (_Argument * 2)(_Argument(ARG_FROM, memories[0].value), _Argument(ARG_TO, memories[1].value))
    owned = (
        ("primitive", primitive),
        ("primitive_desc", what),
        *(("memory", memory) for memory in memories),
        *(("memory_desc", descriptor) for descriptor in descriptors),
    )
    return Reorder((name.value or b"").decode(), (_bytes(left), _bytes(right)), primitive, arguments, owned)


def _bytes(descriptor: ctypes.c_void_p) -> int:
    loaded = library()
    assert loaded is not None
    loaded.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
    return int(loaded.dnnl_memory_desc_get_size(descriptor))
