"""Arrays as storages: what a user's array is for a layout, and arrays for what a kernel writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from layout_ir.errors import LayoutError
from layout_ir.layouts.element_type import ElementType
from layout_ir.layouts.index_map import IndexMap

if TYPE_CHECKING:
    import numpy.typing as npt

    from layout_ir.interpreter.functions import Storage
    from layout_ir.runtime.kernel import Kernel


def as_storage(array: npt.NDArray[Any], index_map: IndexMap, element: ElementType, what: str) -> npt.NDArray[Any]:
    """
    A user's array as the 1-D storage of a layout, copied only where it is not contiguous or of foreign byte order.

    The array has the elements of the storage in any shape. Raises `LayoutError` for another number of elements or
    dtype, and for an array of the logical shape where the storage has another one: whether that is a storage or still
    has to be put in order cannot be told.
    """
    import numpy as np

    check_dtype(array, element, what)
    shape, stored = array.shape, index_map.storage_shape
    if array.size != index_map.storage_size:
        raise LayoutError(
            f"{what}: expected {index_map.storage_size} elements, shaped {list(stored)} or flat, got {list(shape)}"
        )
    if shape != stored and shape == index_map.shape and len(shape) > 1 and not is_row_major(index_map):
        raise LayoutError(
            f"{what}: expected the storage, shaped {list(stored)} or flat, got an array of the logical shape "
            f"{list(shape)}, which the layout does not store in that order"
        )
    native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    return np.ascontiguousarray(native).reshape(-1)


def check_dtype(array: npt.NDArray[Any], element: ElementType, what: str) -> None:
    """Raise `LayoutError` unless an array's dtype is that of an element type; bfloat16 may come as uint16."""
    names = [element.numpy.name, *(["bfloat16"] if element.name == "bf16" else [])]
    if array.dtype.name not in names:
        raise LayoutError(f"{what}: expected elements of {' or '.join(names)} ({element}), got {array.dtype}")


def is_row_major(index_map: IndexMap) -> bool:
    """Whether the storage is the logical array itself, in C order, without pads and gaps."""
    from layout_ir.dialects.functions import same_function
    from layout_ir.interpreter.reference import row_major

    return same_function(index_map, row_major(index_map.shape))


def new_storage(index_map: IndexMap, dtype: npt.DTypeLike, fill: int = 0) -> npt.NDArray[Any]:
    """
    A 1-D array for a storage, every byte set to `fill`; raises `LayoutError` for 2^63 bytes and more.

    It starts at a cache line, since kernels are fastest where the lines that they write are whole.
    """
    import numpy as np

    from layout_ir.interpreter.reference import allocated_size
    from layout_ir.layouts.cache_line import LINE_BYTES

    dtype = np.dtype(dtype)
    size = allocated_size(index_map) * dtype.itemsize
    if size >= 2**63:  # numpy's own message says less
        raise LayoutError(f"expected a storage of less than 2^63 bytes, got {size}")
    whole = np.zeros(size + LINE_BYTES - 1, np.uint8)  # of pages that are zero already, so nothing is written twice
    skipped = -whole.ctypes.data % LINE_BYTES
    result = whole[skipped : skipped + size]
    if fill:
        result.fill(fill)
    return result.view(dtype)


def traffic(kernel: Kernel, storages: Sequence[Storage]) -> tuple[int, int]:
    """Bytes of the elements that a kernel reads, and of the cells that it writes; `storages` are its arguments'."""
    read = written = 0
    for argument, storage in zip(kernel.arguments, storages, strict=True):
        if argument.is_written:
            written += storage.index_map.cell_count * storage.element.bytes
        else:
            read += storage.index_map.size * storage.element.bytes
    return read, written
