"""
Proof, not sampling: whether a map is injective and whether two maps are equal, with a witness where they are not.

Both questions are decided on the digits of the dims, whatever the size of the tensor: no element is looked at unless
divisions entangle several dims (diagonals, groups, pixels of fused rows), and then only those dims' elements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from layout_ir.layouts import affine
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.proof_digits import ENUMERATION_LIMIT, LinearBox, Part, fields, parts
from layout_ir.layouts.proof_search import Undecided, Unknown, null_difference, solve

COMPARISON_LIMIT = 2**28
"""Elements of entangled dims that are compared one by one."""

_CHUNK = 2**20

Index = tuple[int, ...]


@dataclass(frozen=True)
class Injectivity:
    """Whether no two elements share a place; true in a condition if so."""

    clash: tuple[Index, Index] | None = None
    """Two different indices with one offset, where there are any."""

    offset: int | None = None
    """The offset that they share."""

    def __bool__(self) -> bool:
        return self.clash is None

    def __str__(self) -> str:
        if self.clash is None:
            return "injective: no two elements share a place"
        first, second = (list(index) for index in self.clash)
        return f"not injective: elements {first} and {second} share offset {self.offset}"


@dataclass(frozen=True)
class Equality:
    """Whether two layouts are one function to storages of one size; true in a condition if so."""

    difference: str | None = None
    """What differs, in words; None where nothing does."""

    index: Index | None = None
    """The first index, in row-major order, whose places differ, where one does."""

    offsets: tuple[int, int] | None = None
    """The offsets of the element at `index`."""

    shape: Index | None = None
    """The shape on which they differ, of a statement about all shapes."""

    def __bool__(self) -> bool:
        return self.difference is None

    def __str__(self) -> str:
        if self.difference is None:
            return "equal: every element has the same place"
        return f"not equal: {self.difference}"


# -- injectivity -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def injectivity(index_map: IndexMap) -> Injectivity:
    """
    Decide whether two elements of a map's shape share a place.

    Exact for any map and, where blocks and strides make it up, for any size. Raises `LayoutError` where more than 2^24
    elements of entangled dims would have to be looked at.
    """
    shape = index_map.shape
    if index_map.size <= 1:
        return Injectivity()
    found = parts(fields(affine.linear_sum(index_map.linear, shape), shape), shape)
    idle = set(range(len(shape))).difference(*(part.dims for part in found))
    clash: tuple[Index, Index] | None = None
    for dim in sorted(idle):
        if shape[dim] > 1 and clash is None:
            first = (0,) * len(shape)
            clash = first, tuple(int(other == dim) for other in range(len(shape)))
    for part in found:
        clash = clash or _clash(part)
    return Injectivity(clash, index_map.linear.eval(list(clash[0]), []) if clash else None)


def _clash(part: Part) -> tuple[Index, Index] | None:
    if boxes := part.boxes():
        try:
            return _clash_of_boxes(part, boxes)
        except Undecided:
            pass
    part.check_size(ENUMERATION_LIMIT, "whether two elements share a place")
    return _clash_by_enumeration(part)


def _clash_of_boxes(part: Part, boxes: Sequence[LinearBox]) -> tuple[Index, Index] | None:
    for position, box in enumerate(boxes):
        difference = null_difference(box.strides, box.extents)
        if difference is not None:
            ahead, behind = [max(step, 0) for step in difference], [max(-step, 0) for step in difference]
            first, second = sorted((box.values(ahead), box.values(behind)))
            return part.index(first), part.index(second)
        for other in boxes[position + 1 :]:
            unknowns = [Unknown(s, 0, e - 1) for s, e in zip(box.strides, box.extents, strict=True)]
            unknowns += [Unknown(-s, 0, e - 1) for s, e in zip(other.strides, other.extents, strict=True)]
            found = solve(unknowns, other.base - box.base)
            if found is not None:
                split = len(box.strides)
                first, second = sorted((box.values(found[:split]), other.values(found[split:])))
                return part.index(first), part.index(second)
    return None


def _clash_by_enumeration(part: Part) -> tuple[Index, Index] | None:
    import numpy as np

    (values,) = part.chunks(max(math.prod(part.sizes), 1))
    ordered = np.sort(values)
    repeated = np.flatnonzero(ordered[1:] == ordered[:-1])
    if not repeated.size:
        return None
    first, second, *_ = np.flatnonzero(values == ordered[repeated[0]])
    return part.unravel(int(first)), part.unravel(int(second))


# -- equality ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def equality(left: IndexMap, right: IndexMap) -> Equality:
    """
    Decide whether two maps put every element of one shape into the same place of storages of the same size.

    An image and a buffer are never equal, nor are images of different width. Exact as `injectivity`; raises
    `LayoutError` where more than 2^28 elements of entangled dims would have to be compared.
    """
    if left.shape != right.shape:
        return Equality(f"the shapes are {list(left.shape)} and {list(right.shape)}")
    if left.is_image != right.is_image:
        return Equality(f"{'the first' if left.is_image else 'the second'} is an image, the other a buffer")
    if left.size and (index := _first_difference(left, right)) is not None:
        offsets = left.linear.eval(list(index), []), right.linear.eval(list(index), [])
        return Equality(f"element {list(index)} has the offsets {offsets[0]} and {offsets[1]}", index, offsets)
    if left.is_image and left.image_size != right.image_size:
        return Equality(f"the images are {list(left.image_size)} and {list(right.image_size)} pixels wide and high")
    if left.storage_size != right.storage_size:
        return Equality(f"the storages have {left.storage_size} and {right.storage_size} elements")
    return Equality()


def _first_difference(left: IndexMap, right: IndexMap) -> Index | None:
    """The first index whose offsets differ: it differs in one part only, since any other step could be taken back."""
    shape = left.shape
    origin = (0,) * len(shape)
    if left.linear.eval(list(origin), []) != right.linear.eval(list(origin), []):
        return origin
    if left.linear == right.linear:
        return None
    terms, _ = affine.linear_sum(left.linear + right.linear * -1, shape)
    found = [_first_change(part) for part in parts([{atom: factor} for atom, factor in terms.items()], shape)]
    return min((index for index in found if index is not None), default=None)


def _first_change(part: Part) -> Index | None:
    """The first index at which a part is not what it is at the origin."""
    origin = part.expr.eval([0] * len(part.extents), [])
    boxes = part.boxes()
    if boxes is not None:
        changes = [change for box in boxes if (change := _first_change_in_box(box, origin)) is not None]
        return part.index(min(changes)) if changes else None
    part.check_size(COMPARISON_LIMIT, "whether two maps are equal")
    position = 0
    for values in part.chunks(_CHUNK):
        differs = values != origin
        if differs.any():
            return part.unravel(position + int(differs.argmax()))
        position += len(values)
    return None


def _first_change_in_box(box: LinearBox, origin: int) -> Index | None:
    if box.base != origin:
        return box.starts
    steps = [
        box.values(int(i == digit) for i in range(len(box.strides)))
        for digit, (stride, extent) in enumerate(zip(box.strides, box.extents, strict=True))
        if stride and extent > 1
    ]
    return min(steps, default=None)
