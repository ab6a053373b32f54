"""
A reorder as one strided copy of views, which is what numpy and PyTorch can be asked to do.

Found by looking at the two index maps' values alone, so that this shares nothing with the compiler that is measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from layout_ir.layouts.index_map import IndexMap

PROBES = 2000


@dataclass(frozen=True)
class StridedCopy:
    """Two views of the same extents; strides and offsets in elements."""

    extents: tuple[int, ...]
    source_strides: tuple[int, ...]
    destination_strides: tuple[int, ...]
    source_offset: int
    destination_offset: int


def offsets_at(index_map: IndexMap, index: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Element offsets at arrays of indices, one array a dim, that broadcast together."""
    import numpy as np

    from layout_ir.layouts.index_map import affine_sum

    total: Any = affine_sum(index_map.coordinates, index_map.strides, index_map.offset)
    return np.asarray(total.eval(index, []), np.int64)


def strided_copy(source: IndexMap, destination: IndexMap) -> StridedCopy | None:
    """The reorder as one copy between views, or None where that does not write every cell of the destination."""
    if destination.pad_count:
        return None
    extents: list[int] = []
    strides: list[tuple[int, int]] = []
    for dim, size in enumerate(source.shape):
        profiles = [_profile(index_map, dim) for index_map in (source, destination)]
        bounds = sorted({bound for profile in profiles for bound in _bounds(profile)} | {size})
        for inner, outer in reversed(list(zip([1, *bounds], bounds, strict=False))):
            if outer % inner:
                return None
            extents.append(outer // inner)
            strides.append((int(profiles[0][inner]), int(profiles[1][inner])) if inner < size else (0, 0))
    left, right = (tuple(pair[side] for pair in strides) for side in (0, 1))
    starts = [int(offsets_at(m, [_array(0)] * m.rank)) for m in (source, destination)]
    copy = StridedCopy(tuple(extents), left, right, starts[0], starts[1])
    return copy if _is_right(copy, source, destination) else None


def _array(value: int) -> npt.NDArray[np.int64]:
    import numpy as np

    return np.asarray(value, np.int64)


def _profile(index_map: IndexMap, dim: int) -> npt.NDArray[np.int64]:
    """Distance from the origin of every index of one dim, the others being 0."""
    import numpy as np

    index = [_array(0)] * index_map.rank
    index[dim] = np.arange(index_map.shape[dim], dtype=np.int64)
    values = np.broadcast_to(offsets_at(index_map, index), (index_map.shape[dim],))
    return values - values[0]


def _bounds(profile: npt.NDArray[np.int64]) -> list[int]:
    """Block sizes at which a dim's offsets stop being linear, innermost first."""
    import numpy as np

    bounds: list[int] = []
    block = 1
    while len(profile) > 1:
        breaks = np.flatnonzero(profile != profile[1] * np.arange(len(profile)))
        if not len(breaks):
            break
        block *= int(breaks[0])
        bounds.append(block)
        profile = profile[:: int(breaks[0])]
    return bounds


def _is_right(copy: StridedCopy, source: IndexMap, destination: IndexMap) -> bool:
    """Whether the views agree with the index maps at random places."""
    import numpy as np

    generator = np.random.default_rng(0)
    places = generator.integers(0, source.size, PROBES)
    digits = np.unravel_index(places, copy.extents)
    index = list(np.unravel_index(places, source.shape))
    sides = ((copy.source_strides, copy.source_offset), (copy.destination_strides, copy.destination_offset))
    return all(
        np.array_equal(sum((d * s for d, s in zip(digits, strides, strict=True)), _array(offset)), offsets_at(m, index))
        for (strides, offset), m in zip(sides, (source, destination), strict=True)
    )
