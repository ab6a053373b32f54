"""Where arrays lie in memory, found in the time that a call of a kernel on a tiny one may take."""

from __future__ import annotations

from ctypes import addressof, c_char
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy.typing as npt
    from _typeshed import WriteableBuffer


def address_of(array: npt.NDArray[Any]) -> int:
    """
    The address of the first element of a C-contiguous array.

    A view by ctypes takes a quarter of the time of numpy's own dictionary; it is refused for arrays that are read-only,
    empty, or of elements that other libraries do not know.
    """
    if array.flags.writeable:
        try:
            return addressof(c_char.from_buffer(cast("WriteableBuffer", array)))
        except (TypeError, ValueError, BufferError):
            pass
    return int(array.__array_interface__["data"][0])
