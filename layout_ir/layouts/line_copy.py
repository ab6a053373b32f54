"""
Copies of rows that begin and end inside of lines of the destination: their vectors end where its lines do.

A row of a sub-box with a pitch is written in parts of lines at its ends, and in whole lines between. Cut there, the
whole lines can be written past the caches, as if the row began at a line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from layout_ir.layouts.affine import constant_value
from layout_ir.layouts.plan import Box
from layout_ir.layouts.shuffle_network import Load, Network, Store
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import Tile

VECTOR_LIMIT = 256
"""Vectors of the largest tile, which becomes straight-line code."""


@dataclass(frozen=True)
class LineCopy(Tile):
    """A tile of whole rows whose stores are cut at lines of the destination."""

    streamed: frozenset[int]
    """Offsets of the stores that bypass the caches: those that together write all that their line gets."""


@lru_cache(maxsize=1024)
def copy_by_lines(box: Box, line: int, least: int, segment_bits: int) -> LineCopy | None:
    """
    The tile that copies the rows of a box by lines of `line` elements; None where an ordinary tile does, or none can.

    `least`: elements of the shortest vector that can bypass the caches. The tiles begin at lines of the destination as
    long as they begin at multiples of their extents: the box has to be cut where these do not divide its own.
    """
    along = next((i for i, axis in enumerate(box.axes) if axis.source_stride == axis.destination_stride == 1), None)
    numbers = [n for axis in box.axes for n in (axis.extent, axis.source_stride, axis.destination_stride)]
    if along is None or box.is_fill or box.is_padded or not box.is_linear or any(map(is_symbolic, numbers)):
        return None
    others = [i for i, axis in enumerate(box.axes) if i != along and axis.extent > 1]
    length = box.axes[along].extent
    if not others or length < line or any(axis.is_irregular for axis in box.axes):
        return None
    rows = min(others, key=lambda i: box.axes[i].destination_stride)
    pitch = box.axes[rows].destination_stride
    count = line // math.gcd(line, pitch)
    if pitch <= length or (length % line == 0 and count == 1):
        return None
    apart = [box.axes[i].destination_stride for i in others if i != rows]
    if count > box.axes[rows].extent or any(stride % line for stride in apart) or count * length > VECTOR_LIMIT * line:
        return None
    loads: list[Load] = []
    stores: list[Store] = []
    streamed: set[int] = set()
    first = constant_value(box.destination_offset)
    for row in range(count):
        start = row * pitch
        for piece, lanes in aligned_pieces((first + start) % line, length, line):
            stores.append(Store(start + piece, lanes, len(loads)))
            loads.append(Load(row * box.axes[rows].source_stride + piece, lanes))
            if _is_streamable(first + start, piece, length, line, least):
                streamed.add(start + piece)
    extents = [1] * len(box.axes)
    extents[along], extents[rows] = length, count
    return LineCopy(tuple(extents), Network(tuple(loads), tuple(stores), segment_bits), frozenset(streamed))


def aligned_pieces(phase: int, length: int, line: int) -> Iterator[tuple[int, int]]:
    """
    Pieces (start, count) of a row that begins `phase` elements behind a line: lines, and shorter vectors at its ends.

    Every piece has a power of two of elements, and begins at a multiple of as many.
    """
    start = 0
    while start < length:
        place = phase + start
        count = min(place & -place or line, line)
        while count > length - start:
            count //= 2
        yield start, count
        start += count


def _is_streamable(first: int, piece: int, length: int, line: int, least: int) -> bool:
    """Whether the part of a line that a row has there consists of vectors that can all bypass the caches."""
    begin = (first + piece) // line * line - first
    inside = max(begin, 0), min(begin + line, length)
    return all((first + edge) % least == 0 for edge in inside)
