"""Questions about index maps as functions: whether two are the same, and whether one gives two elements one place."""

from __future__ import annotations

from layout_ir.errors import LayoutError
from layout_ir.layouts import affine
from layout_ir.layouts.affine_text import affine_text
from layout_ir.layouts.index_map import IndexMap, evaluate

LARGEST_ENUMERATION = 2**24
"""Elements up to which a question that the expressions leave open is settled by looking at every element."""


def same_function(left: IndexMap, right: IndexMap) -> bool:
    """
    Whether two index maps put every element of one shape into the same place of a storage of the same size.

    Equality is of functions, not of spelling, and proved. An image and a buffer are never the same, nor are images of
    different width. Where extents are not known, it is for all of them. Raises `LayoutError` where divisions entangle
    too many elements to decide it.
    """
    if left.unknown != right.unknown:
        return False  # one of them rounds an unknown extent up
    from layout_ir.layouts.proof import equality  # start-up does not need proofs

    return left.storage_size == right.storage_size and bool(equality(left, right))


def overlaps_itself(index_map: IndexMap) -> bool:
    """
    Whether two elements share one place, which a source may do and a destination must not.

    Proved, whatever the size. Raises `LayoutError` where divisions entangle more than 2^24 elements.
    """
    from layout_ir.layouts.proof import injectivity  # start-up does not need proofs

    return not injectivity(index_map)


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
                f"expected coordinates from 0 to {extent - 1}, got {low} to {high} from {affine_text(coordinate)} "
                f"for {list(index_map.shape)}"
            )
