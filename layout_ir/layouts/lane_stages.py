"""
Stages of shuffles: which of them bring the bits of a row's number into the lanes, in a wanted order.

A stage takes pairs of vectors that differ in one bit of their rows' numbers. It moves that bit to a bit of the lanes'
numbers, and a bit of the lanes' numbers takes its place. Processors have cheap instructions for some of these moves
only: those that stay within the 16-byte *segments* of a vector, and those that move whole segments.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

ROW = -1
"""In `Stage.sources`: the bit of the row's number."""

CHEAP = 1.0
"""Cost of an instruction that every processor has, as `punpcklbw` or `zip1`."""


@dataclass(frozen=True)
class Stage:
    """Where every bit of a lane's number comes from: a bit of the lane's number before, or `ROW`."""

    sources: tuple[int, ...]

    @property
    def inserted(self) -> int:
        """The bit of the lane's number that was one of the row's."""
        return self.sources.index(ROW)

    @property
    def removed(self) -> int:
        """The bit of the lane's number that becomes one of the row's."""
        return next(bit for bit in range(len(self.sources)) if bit not in self.sources)

    @cached_property
    def masks(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The lanes, of two vectors behind each other, that the two results hold: removed bit 0, then 1."""
        lanes = 1 << len(self.sources)
        low = tuple(
            sum(((lane >> bit) & 1) << (len(self.sources) if source == ROW else source) for bit, source in
                enumerate(self.sources))
            for lane in range(lanes)
        )  # fmt: skip
        return low, tuple(lane + (1 << self.removed) for lane in low)


@lru_cache(maxsize=64)
def exchange(bits: int, position: int) -> Stage:
    """The bit at `position` of `bits` changes places with the row's."""
    return Stage(tuple(ROW if bit == position else bit for bit in range(bits)))


@lru_cache(maxsize=64)
def cheap_stages(bits: int, segment_bits: int) -> tuple[Stage, ...]:
    """The stages that are one instruction for vectors of `2**bits` lanes, `2**segment_bits` of them a segment."""
    inside = min(bits, segment_bits)
    outside = tuple(range(inside, bits))
    stages = [
        Stage((*range(position), ROW, *range(position, inside - 1), *outside)) for position in reversed(range(inside))
    ]
    if inside >= 2:  # the deinterleaving of 4-byte parts, as `shufps`
        stages.append(Stage((*range(inside - 2), inside - 1, ROW, *outside)))
    if outside:
        stages.append(exchange(bits, bits - 1))
    if len(outside) == 2:
        stages.append(Stage((*range(inside), bits - 1, ROW)))
    return tuple(dict.fromkeys(stages))


@lru_cache(maxsize=256)
def cheap_masks(bits: int, segment_bits: int) -> frozenset[tuple[int, ...]]:
    """The masks of the cheap stages, and those that put one vector behind another."""
    masks = [mask for stage in cheap_stages(bits, segment_bits) for mask in stage.masks]
    return frozenset([*masks, tuple(range(2 << bits)), tuple(range(1 << bits))])


Label = int | None
"""What a bit of a lane's number shall be: lane bit b as b, row bit r as -1 - r, None for any other."""

Stages = tuple[tuple[Stage, int], ...]
"""Stages in order, each with the bit of the row's number that it moves."""


@lru_cache(maxsize=1024)
def find_stages(wanted: tuple[Label, ...], segment_bits: int, dear: float) -> Stages | None:
    """
    The cheapest stages after which the lanes' bits are as `wanted`; None where there are none.

    `dear`: the cost of a stage for which there is no cheap instruction.
    """
    found = _search(wanted, segment_bits, dear, is_free=False)
    return None if found is None else found[0]


@lru_cache(maxsize=1024)
def find_arrangement(
    wanted: tuple[Label, ...], segment_bits: int, dear: float
) -> tuple[Stages, tuple[Label, ...]] | None:
    """The cheapest stages that end as `wanted` from any order of the lanes' bits, and the order from which they do."""
    return _search(wanted, segment_bits, dear, is_free=True)


def _search(
    wanted: tuple[Label, ...], segment_bits: int, dear: float, is_free: bool
) -> tuple[Stages, tuple[Label, ...]] | None:
    bits = len(wanted)
    stages = [(CHEAP, stage) for stage in cheap_stages(bits, segment_bits)]
    stages += [(dear, stage) for stage in (exchange(bits, bit) for bit in range(bits)) if (CHEAP, stage) not in stages]
    order = itertools.count()
    queue: list[tuple[float, int, tuple[Label, ...], Stages]] = [(0.0, next(order), wanted, ())]
    seen: set[tuple[Label, ...]] = set()
    while queue:
        cost, _, state, found = heapq.heappop(queue)
        if state in seen:
            continue
        seen.add(state)
        if all(label is None or label == bit or (is_free and label >= 0) for bit, label in enumerate(state)):
            return found, state
        for extra, stage in stages:
            for row, before in _undone(stage, state):
                heapq.heappush(queue, (cost + extra, next(order), before, ((stage, row), *found)))
    return None


def _undone(stage: Stage, state: Sequence[Label]) -> Iterator[tuple[int, tuple[Label, ...]]]:
    """The row bit of a stage that ends in `state`, and the state before it, if a row bit is where it puts one."""
    label = state[stage.inserted]
    if label is None or label >= 0:
        return
    before: list[Label] = [None] * len(state)
    for bit, source in enumerate(stage.sources):
        if source != ROW:
            before[source] = state[bit]
    yield -1 - label, tuple(before)


@lru_cache(maxsize=65536)
def is_cheap(mask: tuple[int, ...], width: int, segment_bits: int) -> bool:
    """Whether a shuffle of two vectors of `width` lanes is one instruction everywhere."""
    bits = width.bit_length() - 1
    return is_blend(mask, width) or mask in cheap_masks(bits, segment_bits)


def is_blend(mask: tuple[int, ...], width: int) -> bool:
    """Whether every lane of a shuffle of two vectors stays where it is in one of them."""
    return len(mask) == width and all(lane in (place, place + width) for place, lane in enumerate(mask))
