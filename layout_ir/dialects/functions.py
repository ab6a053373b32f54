"""Questions about index maps as functions: whether two are the same, and whether one gives two elements one place."""

from __future__ import annotations

from functools import lru_cache

from layout_ir.errors import LayoutError
from layout_ir.layouts import affine
from layout_ir.layouts.index_map import IndexMap, evaluate

LARGEST_ENUMERATION = 2**24
"""Elements up to which a question that the expressions leave open is settled by looking at every offset."""


@lru_cache(maxsize=4096)
def same_function(left: IndexMap, right: IndexMap) -> bool:
    """
    Whether two index maps put every element of one shape into the same place of a storage of the same size.

    Equality is of functions, not of spelling. An image and a buffer are never the same. Raises `LayoutError` where the
    expressions differ and the tensor is too large to compare every offset.
    """
    if (left.shape, left.storage_size, left.is_image) != (right.shape, right.storage_size, right.is_image):
        return False
    if left.size == 0 or left.linear == right.linear:
        return True
    if _corners(left) != _corners(right):
        return False
    if left.size >= LARGEST_ENUMERATION:
        raise LayoutError(f"cannot tell whether two layouts of {list(left.shape)} agree: too many elements to compare")
    import numpy as np

    return bool(np.array_equal(left.offsets(), right.offsets()))


@lru_cache(maxsize=4096)
def overlaps_itself(index_map: IndexMap) -> bool:
    """
    Whether two elements share one place, which a source may do and a destination must not.

    Raises `LayoutError` where neither the strides nor an enumeration of at most 2^24 elements settle it.
    """
    if index_map.size <= 1:
        return False
    if index_map.has_broadcast:
        return True
    if _cells_are_apart(index_map) and _coordinates_tell_apart(index_map):
        return False
    if index_map.size >= LARGEST_ENUMERATION:
        raise LayoutError(f"cannot tell whether elements of {list(index_map.shape)} overlap: too many to compare")
    import numpy as np

    return np.unique(index_map.offsets()).size < index_map.size


def check_coordinates(index_map: IndexMap) -> None:
    """
    Raise `LayoutError` unless every coordinate of every element lies inside of the storage's extents.

    Written coordinates such as `d0 - 4` need not. What the ranges of the dims leave open is settled by evaluating the
    coordinate; a tensor of 2^24 elements and more is refused then.
    """
    if index_map.size == 0:
        return
    for coordinate, extent in zip(index_map.coordinates, index_map.extents, strict=True):
        low, high = affine.bounds(affine.simplify(coordinate, index_map.shape), index_map.shape)
        if (low < 0 or high >= extent) and index_map.size < LARGEST_ENUMERATION:
            values = evaluate(coordinate, index_map.shape)
            low, high = int(values.min()), int(values.max())
        if low < 0 or high >= extent:
            raise LayoutError(
                f"expected coordinates from 0 to {extent - 1}, got {low} to {high} from {affine.text(coordinate)} "
                f"for {list(index_map.shape)}"
            )


def _corners(index_map: IndexMap) -> list[int]:
    """Offsets of the origin and of each dim's second and last element: most functions that differ do so there."""
    origin = [0] * index_map.rank
    steps = [(dim, step) for dim, size in enumerate(index_map.shape) for step in (min(1, size - 1), size - 1)]
    indices = [[*origin[:dim], step, *origin[dim + 1 :]] for dim, step in steps]
    return [index_map.linear.eval(index, []) for index in (origin, *indices)]


def _cells_are_apart(index_map: IndexMap) -> bool:
    """Whether no two cells share a place: every stride steps over all the axes of smaller strides."""
    reach = 0
    for stride, extent in sorted(zip(index_map.strides, index_map.extents, strict=True)):
        if extent > 1:
            if stride <= reach:
                return False
            reach += stride * (extent - 1)
    return True


def _coordinates_tell_apart(index_map: IndexMap) -> bool:
    """Whether the coordinates determine the index, seen from the pieces of each dim that stand alone on an axis."""
    from layout_ir.dialects.digits import digits_cover

    return all(digits_cover(index_map.coordinates, dim, size) for dim, size in enumerate(index_map.shape))
