"""Memory that ends at a page that nobody may touch: a read beyond an array stops the process instead of passing."""

from __future__ import annotations

import ctypes
import mmap
import sys

import numpy as np

_NO_ACCESS = 0


class FencedMemory:
    """Room for one array at a time, directly in front of a forbidden page or directly behind one."""

    def __init__(self, capacity: int):
        page = mmap.PAGESIZE
        self._room = -(-capacity // page) * page
        self._mapping = mmap.mmap(-1, self._room + 2 * page)
        self._bytes = np.frombuffer(self._mapping, np.uint8)[page : page + self._room]
        if sys.platform == "linux":
            start = self._bytes.ctypes.data
            libc = ctypes.CDLL(None, use_errno=True)
            for fence in (start - page, start + self._room):
                status = libc.mprotect(ctypes.c_void_p(fence), ctypes.c_size_t(page), _NO_ACCESS)
                assert status == 0, ctypes.get_errno()

    def copy_of(self, array: np.ndarray, at_end: bool) -> np.ndarray:
        """The array's elements, the last (or the first) of them next to the fence; valid until the next call."""
        assert array.nbytes <= self._room, f"expected at most {self._room} bytes, got {array.nbytes}"
        start = self._room - array.nbytes if at_end else 0
        place = self._bytes[start : start + array.nbytes].view(array.dtype)
        place[...] = array.reshape(-1)
        return place
