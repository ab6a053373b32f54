"""Source data that every contestant moves bit for bit, and the proof that a result is right."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from benchmarks.buffers import SENTINEL
from benchmarks.digits import offsets_at

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from benchmarks.buffers import Bytes
    from layout_ir.layouts.index_map import IndexMap

CHUNK = 1 << 20
"""Elements whose offsets are computed at once."""

SAMPLED_CHUNKS = 3
UNSIGNED = {1: "uint8", 2: "uint16", 4: "uint32"}
NORMAL_EXPONENT = {"f32": (0xBFFFFFFF, 0x20000000), "f16": (0xBFFF, 0x2000)}
"""Masks (and, or) that make any bits a normal number: a library that computes may change a NaN or a denormal."""


def words(storage: Bytes, width: int) -> npt.NDArray[np.unsignedinteger]:
    """Bytes as unsigned integers of an element's width."""
    return storage.view(UNSIGNED[width])


def fill_source(storage: Bytes, index_map: IndexMap, dtype: str, width: int) -> None:
    """Random elements; pads are 0, which oneDNN demands of a source."""
    import numpy as np

    elements = words(storage, width)
    half = len(elements) // 2 + 1
    noise = np.frombuffer(np.random.default_rng(1).bytes(half * width), elements.dtype)
    if dtype in NORMAL_EXPONENT:
        keep, add = (noise.dtype.type(mask) for mask in NORMAL_EXPONENT[dtype])
        noise = noise & keep | add
    if index_map.pad_count == 0:
        elements[:half] = noise[: len(elements[:half])]
        elements[half:] = noise[1 : 1 + len(elements) - half]
        return
    elements.fill(0)
    for index in chunks(index_map.shape):
        offsets = offsets_at(index_map, index)
        elements[offsets] = noise[offsets % half]


def chunks(shape: Sequence[int]) -> Iterator[list[npt.NDArray[np.int64]]]:
    """Open index grids that together cover a shape, each with at most about `CHUNK` elements."""
    import numpy as np

    dim = next((d for d in range(len(shape)) if math.prod(shape[d + 1 :]) <= CHUNK), len(shape) - 1)
    step = max(1, CHUNK // math.prod(shape[dim + 1 :]))
    for outer in np.ndindex(*shape[:dim]):
        for start in range(0, shape[dim], step):
            ranges = [*((i, i + 1) for i in outer), (start, min(start + step, shape[dim]))]
            ranges += [(0, n) for n in shape[dim + 1 :]]
            yield [grid.astype(np.int64) for grid in np.ogrid[tuple(slice(*r) for r in ranges)]]


def find_error(
    source: Bytes, destination: Bytes, maps: tuple[IndexMap, IndexMap], width: int, *, sampled: bool
) -> str | None:
    """
    What is wrong with a destination that was `SENTINEL` before, or None.

    `sampled`: look at three chunks only, and not at pads. Otherwise at every element, pad (0) and gap (untouched).
    """
    import numpy as np

    left, right = words(source, width), words(destination, width)
    pieces = list(chunks(maps[0].shape)) if sampled else chunks(maps[0].shape)
    if isinstance(pieces, list):
        pieces = [pieces[len(pieces) * i // SAMPLED_CHUNKS] for i in range(SAMPLED_CHUNKS)]
    reached = None if sampled else np.zeros(len(right), np.bool_)
    for index in pieces:
        reads, writes = (offsets_at(index_map, index) for index_map in maps)
        if not np.array_equal(left[reads], right[writes]):
            return f"wrong elements at indices from {[int(axis.flat[0]) for axis in index]}"
        if reached is not None:
            reached[writes] = True
    if reached is None:
        return None
    others = right[~reached]
    expected = 0 if maps[1].is_dense else int.from_bytes(bytes([SENTINEL]) * width, "little")
    return None if (others == expected).all() else f"cells that are no elements are not {expected:#x}"
