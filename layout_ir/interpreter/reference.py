"""
What a reorder means, in numpy: every logical index is evaluated in both index maps, and the element goes there.

This is the definition that kernels are checked against. It uses the maps as they are written, and nothing of what
plans, lowers or simplifies them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.layouts.index_map import IndexMap

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Storage = npt.NDArray[Any]
    Box = tuple[slice, ...]

CHUNK = 1 << 20
"""Logical indices that are evaluated at once, which bounds the memory for any shape."""


def allocated_size(index_map: IndexMap) -> int:
    """Elements of a buffer that holds a storage: what its vendor allocates, and every cell."""
    return max(index_map.storage_size, index_map.required_size)


def reorder_reference(
    source_storage: Storage,
    source: IndexMap,
    destination: IndexMap,
    pad: object | None = 0,
    out: Storage | None = None,
) -> Storage:
    """
    The storage of `destination` that has the elements of `source_storage`, which is stored as `source` says.

    `source_storage`: an array of any shape with at least `source.required_size` elements. `pad`: what pads are set to,
    in the storage's dtype; None leaves them. `out`: a writable C-contiguous array to write to, whose gaps and
    unwritten pads stay as they are; a new 1-D array of zeros by default. Elements are moved bit for bit.

    Raises `LayoutError` where shapes or widths of elements differ, a buffer is too small, or the destination is a
    broadcast.
    """
    import numpy as np

    if source.shape != destination.shape:
        raise LayoutError(f"expected two layouts of one shape, got {list(source.shape)} and {list(destination.shape)}")
    if destination.has_broadcast:
        raise LayoutError(f"expected a destination without strides of 0, got {list(destination.strides)}")
    if out is None:
        out = np.zeros(allocated_size(destination), source_storage.dtype)
    if out.itemsize != source_storage.itemsize:
        raise LayoutError(f"expected a destination of {source_storage.dtype}, got {out.dtype}")
    from_cells = _flat_bits(source_storage, source.required_size, "source")
    to_cells = _flat_bits(out, destination.required_size, "destination")
    if pad is not None and destination.pad_count:
        value: Storage = np.array([pad]).astype(out.dtype).view(to_cells.dtype)
        _cells(to_cells, destination)[...] = value[0]
    for box in boxes(destination.shape):
        to_cells[_offsets(destination, box)] = from_cells[_offsets(source, box)]
    return out


def logical_to_storage(
    array: Storage, destination: IndexMap, pad: object | None = 0, out: Storage | None = None
) -> Storage:
    """The storage of a logical array; arguments and errors as in `reorder_reference`."""
    return reorder_reference(array, row_major(array.shape), destination, pad, out)


def storage_to_logical(storage: Storage, source: IndexMap) -> Storage:
    """The logical array (shape `source.shape`) that a storage holds."""
    return reorder_reference(storage, source, row_major(source.shape)).reshape(source.shape)


def row_major(shape: Sequence[int]) -> IndexMap:
    """The map of a dense array in C order."""
    return IndexMap(tuple(shape), tuple(AffineExpr.dimension(d) for d in range(len(shape))), tuple(shape))


def boxes(shape: Sequence[int], limit: int = CHUNK) -> Iterator[Box]:
    """
    Boxes of at most about `limit` indices that cover `shape` once, in row-major order.

    Example: `boxes((2, 3, 4), 8)` cuts the middle dim into slices of 2 and 1, and walks the first dim one by one.
    """
    if 0 in shape:
        return
    axis, inner = len(shape), 1
    while axis and inner * shape[axis - 1] <= limit:
        axis -= 1
        inner *= shape[axis]
    rest = tuple(slice(0, size) for size in shape[axis:])
    if not axis:
        yield rest
        return
    step = max(limit // inner, 1)
    leading = shape[: axis - 1]
    for number in range(math.prod(leading)):
        outer: list[slice] = []
        for size in reversed(leading):
            number, position = divmod(number, size)
            outer.append(slice(position, position + 1))
        for start in range(0, shape[axis - 1], step):
            stop = min(start + step, shape[axis - 1])
            yield (*reversed(outer), slice(start, stop), *rest)


def _offsets(index_map: IndexMap, box: Box) -> npt.NDArray[np.int64]:
    """Element offsets of the indices in a box."""
    import numpy as np

    expr: AffineExpr = AffineConstantExpr(index_map.offset)
    for coordinate, stride in zip(index_map.coordinates, index_map.strides, strict=True):
        expr = expr + coordinate * stride
    grids = [grid.astype(np.int64) for grid in np.ogrid[box]]
    value = np.asarray(expr.eval(grids, []), dtype=np.int64)  # pyright: ignore[reportArgumentType]
    return np.broadcast_to(value, [part.stop - part.start for part in box])


def _cells(flat: Storage, index_map: IndexMap) -> Storage:
    """A view of all cells of a storage, shaped as its extents."""
    import numpy as np

    strides = [stride * flat.itemsize for stride in index_map.strides]
    return np.lib.stride_tricks.as_strided(flat[index_map.offset :], index_map.extents, strides)


def _flat_bits(storage: Storage, size: int, what: str) -> Storage:
    """A 1-D view of a storage as unsigned integers, so that moving an element never changes its bits."""
    if storage.size < size:
        raise LayoutError(f"{what}: expected at least {size} elements, got {storage.size}")
    if not storage.flags.c_contiguous:
        raise LayoutError(f"{what}: expected a C-contiguous array, got strides {storage.strides}")
    return storage.reshape(-1).view(f"u{storage.itemsize}")
