"""How far tiles read on in the source before they go elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.plan import Box
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.loop_level import LoopLevel

GAP_LINES = 4
"""Lines between two steps of an axis that a processor reads over as if they followed each other."""

FAR_BYTES = 16 << 10
"""What is moved between two parts of a sequence from which on the second finds nothing that the first has caused."""


def source_sequence(box: Box, tile: Tile, levels: Sequence[LoopLevel], lanes: int) -> int:
    """Elements that follow each other in the source and that the loops around a tile take, but for short absences."""
    chain = _chain(box, lanes)
    taken = list(tile.extents)
    length = _length(box, chain, taken)
    for level in reversed(levels):
        moved = math.prod(taken) * LINE_BYTES // lanes
        taken[level.axis] = box.axes[level.axis].extent if level.inside is None else level.inside
        longer = _length(box, chain, taken)
        if longer > length and moved > FAR_BYTES:
            break
        length = longer
    return length


def _chain(box: Box, lanes: int) -> list[int]:
    """The axes that follow each other in the source but for gaps of a few lines, innermost first."""
    chain: list[int] = []
    end = 1
    for i in sorted(range(len(box.axes)), key=lambda i: box.axes[i].source_stride):
        axis = box.axes[i]
        if axis.source_stride <= 0:
            continue
        if axis.source_stride > end + GAP_LINES * lanes:
            break
        chain.append(i)
        end = axis.source_stride * axis.valid
    return chain


def _length(box: Box, chain: Sequence[int], taken: Sequence[int]) -> int:
    """Elements of the chain of axes in front of the first that is not taken as a whole, and what is taken of that."""
    length = 1
    for i in chain:
        length *= taken[i]
        if taken[i] < box.axes[i].extent:
            break
    return length
