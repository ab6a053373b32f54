"""Where arrays lie in memory, found in the time that a call of a kernel on a tiny one may take."""

from __future__ import annotations

from ctypes import addressof, c_char
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

view_of: Callable[[npt.NDArray[Any]], c_char] = cast("Any", c_char.from_buffer)
"""
A view of an array's first byte, whose address ctypes knows; raises `TypeError`, `ValueError` or `BufferError` for an
array that is not C-contiguous, that is read-only, empty, or of elements that other libraries do not know.
"""


def address_of(array: npt.NDArray[Any]) -> int:
    """
    The address of the first element of a C-contiguous array.

    A view by ctypes takes a quarter of the time of numpy's own dictionary.
    """
    if array.flags.writeable:
        try:
            return addressof(view_of(array))
        except (TypeError, ValueError, BufferError):
            pass
    return int(array.__array_interface__["data"][0])
