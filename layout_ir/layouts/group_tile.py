"""
The tile that a group of work items moves at once: elements that follow each other on both sides of a box.

A group reads its tile in the order of the source and writes it in the order of the destination, so that both sides see
runs of neighbouring elements however the axes changed places. A run may cover several axes, as the `4i16o4i` of a
weights' block, or the rows and columns of a small image.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from layout_ir.layouts import affine
from layout_ir.layouts.plan import Box

SHORTEST_RUN = 2
"""Steps of the shorter run with which a tile is worth it."""

RUN_BYTES = 64
"""A run has as many bytes at least: memory delivers no fewer at once."""

WORD_BYTES = 4
"""A work item moves so many bytes at once."""

BANK_BYTES = 4
"""Neighbouring words of this size lie in different banks of local memory."""

WIDEST_ELEMENT = 8
"""Bytes."""


@dataclass(frozen=True)
class Run:
    """Axes along which one side of a tile lies in one piece, innermost first."""

    axes: tuple[int, ...]

    length: int
    """Elements."""

    lanes: int = 1
    """Elements that a work item moves at once."""


@dataclass(frozen=True)
class GroupTile:
    """So many steps of every axis of a box; the last tile along an axis may exceed it."""

    steps: tuple[int, ...]
    source: Run
    destination: Run
    element_bytes: int

    @property
    def rows(self) -> tuple[int, ...]:
        """The axes of the tile that are not in the source's run."""
        return tuple(i for i, steps in enumerate(self.steps) if steps > 1 and i not in self.source.axes)

    @property
    def columns(self) -> tuple[int, ...]:
        """The axes of the tile that are not in the destination's run."""
        return tuple(i for i, steps in enumerate(self.steps) if steps > 1 and i not in self.destination.axes)

    def read_steps(self, box: Box) -> tuple[int, ...]:
        """Steps of every axis that may have an element to read: all behind them are pads in every tile."""
        return tuple(
            min(steps, max(axis.valid, 1)) if steps == axis.extent else steps
            for steps, axis in zip(self.steps, box.axes, strict=True)
        )

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements of local memory between two steps of every axis, 0 of those that the tile takes one step of."""
        return self._local[0]

    @property
    def size(self) -> int:
        """Elements in local memory."""
        return self._local[1]

    @property
    def pieces(self) -> tuple[int, ...]:
        """Elements of the source's run that lie in one piece of local memory, whatever is inside of what."""
        return self._local[2]

    def places(self, run: Run) -> list[tuple[int, int]]:
        """How a run lies in local memory, innermost first: how far apart its pieces are, and how many follow."""
        groups: list[tuple[int, int]] = []
        for i in run.axes:
            stride, steps = self.strides[i], self.steps[i]
            if groups and stride == groups[-1][0] * groups[-1][1]:
                stride, steps = groups[-1][0], groups.pop()[1] * steps
            if steps > 1:
                groups.append((stride, steps))
        return groups

    @cached_property
    def _local(self) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
        """
        Local memory holds a tile in the order of the source.

        Neighbouring work items write what lies along the destination's axes. Steps of these are an odd number of words
        apart where they are whole words at all, so that they lie in different banks.
        """
        strides, size, elements = [0] * len(self.steps), 1, 1
        pieces: list[int] = []
        for i in (*self.source.axes, *self.rows):
            if self.steps[i] == 1:
                continue
            if size > 1 and (i in self.destination.axes or i not in self.source.axes):
                padded = _odd_words(size, self.element_bytes)
                if padded > size and i in self.source.axes:
                    pieces.append(elements)
                size = padded
            strides[i] = size
            size *= self.steps[i]
            elements *= self.steps[i]
        return tuple(strides), size, tuple(pieces)


def most_bytes(side: int) -> int:
    """Bytes of local memory that the largest tile takes."""
    return WIDEST_ELEMENT * side * (side + 1)


def choose_group_tile(box: Box, side: int, element_bytes: int) -> GroupTile | None:
    """
    The tile of a box for groups that move about `side` times `side` words.

    None without a `side`, where both sides run along one axis, and where one has no run. Boxes with divisions, and
    those that write pads only, have none either.
    """
    if not side or not box.is_linear or box.is_fill or any(axis.is_irregular for axis in box.axes):
        return None
    chains = _source_chain(box), _destination_chain(box)
    if not all(chains) or chains[0][0] == chains[1][0]:
        return None
    steps = _grown(box, chains, side, element_bytes)
    source, destination = (_run(box, chain, steps) for chain in chains)
    if min(source.length, destination.length) < SHORTEST_RUN:
        return None
    tile = GroupTile(steps, source, destination, element_bytes)
    read, written = _lanes(box, tile, is_source=True), _lanes(box, tile, is_source=False)
    return replace(tile, source=replace(source, lanes=read), destination=replace(destination, lanes=written))


def _source_chain(box: Box) -> tuple[int, ...]:
    """The axes that lie behind each other in the source, innermost first; pads end what lies in one piece."""
    return _chain([axis.source_stride for axis in box.axes], [axis.extent * axis.is_full for axis in box.axes])


def _destination_chain(box: Box) -> tuple[int, ...]:
    return _chain([axis.destination_stride for axis in box.axes], [axis.extent for axis in box.axes])


def _chain(strides: Sequence[int], extents: Sequence[int]) -> tuple[int, ...]:
    """Axes each of whose steps is as long as all of the one before."""
    chain: list[int] = []
    wanted = 1
    while wanted:
        found = next((i for i, stride in enumerate(strides) if stride == wanted and i not in chain), None)
        if found is None:
            break
        chain.append(found)
        wanted *= extents[found]
    return tuple(chain)


def _grown(box: Box, chains: Sequence[Sequence[int]], side: int, element_bytes: int) -> tuple[int, ...]:
    """Steps of every axis: the side with the shorter run gets longer, until both are long and there is enough to do."""
    steps = [1] * len(box.axes)
    target = max(side, RUN_BYTES // element_bytes)
    enough, most = BANK_BYTES * side * side // element_bytes, most_bytes(side)

    def next_axis(chain: Sequence[int]) -> int | None:
        return next((i for i in chain if steps[i] < box.axes[i].extent), None)

    def length(chain: Sequence[int]) -> int:
        return _run(box, chain, steps).length

    while True:
        growing = [chain for chain in chains if next_axis(chain) is not None]
        short = [chain for chain in growing if length(chain) < target]
        if not short and math.prod(steps) >= enough:
            break
        for chain in sorted(short or growing, key=length):
            position = next_axis(chain)
            assert position is not None
            before = steps[position]
            steps[position] = min(2 * before, box.axes[position].extent)
            source, destination = (_run(box, chain, steps) for chain in chains)
            if GroupTile(tuple(steps), source, destination, element_bytes).size * element_bytes <= most:
                break
            steps[position] = before
        else:
            break
    return tuple(steps)


def _run(box: Box, chain: Sequence[int], steps: Sequence[int]) -> Run:
    """What of a chain lies in one piece: all axes of which every step is taken, and the next one."""
    axes: list[int] = []
    for i in chain:
        axes.append(i)
        if steps[i] < box.axes[i].extent:
            break
    return Run(tuple(axes), math.prod(steps[i] for i in axes))


def _odd_words(elements: int, element_bytes: int) -> int:
    """Whole words as an odd number of them; anything else as it is."""
    word = max(element_bytes, BANK_BYTES)
    words, rest = divmod(elements * element_bytes, word)
    return elements if rest else (words | 1) * word // element_bytes


def _lanes(box: Box, tile: GroupTile, *, is_source: bool) -> int:
    """Elements of the widest word in whose multiples all runs of one side begin and end."""
    run = tile.source if is_source else tile.destination
    offset = box.source_offset if is_source else box.destination_offset
    last = run.axes[-1]
    inner = run.length // tile.steps[last]
    ends = [run.length, box.axes[last].extent * inner, affine.constant_value(offset)]
    if is_source:
        ends += [box.axes[last].valid * inner, *tile.pieces]
    for i, axis in enumerate(box.axes):
        if i not in run.axes and axis.extent > 1:
            ends.append(axis.source_stride if is_source else axis.destination_stride)
    return math.gcd(max(WORD_BYTES // tile.element_bytes, 1), *ends)
