"""The end of a shuffle network: every vector of the destination is collected from the values that hold its lanes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from layout_ir.layouts.lane_stages import CHEAP
from layout_ir.layouts.shuffle_network import Network, Shuffle, Splat, Store, Value, simplified

PAD = -1
"""What a lane holds that belongs to no element."""


@dataclass
class Builder:
    """Values under construction, and what each lane of each value holds (a destination offset, or `PAD`)."""

    values: list[Value]
    contents: list[tuple[int, ...]]

    def add(self, value: Value, contents: Sequence[int]) -> int:
        """Append a value; returns its number."""
        self.values.append(value)
        self.contents.append(tuple(contents))
        return len(self.values) - 1

    def shuffle(self, left: int, right: int, mask: Sequence[int]) -> int:
        """Append a shuffle, which of pads is pads; returns its number."""
        both = self.contents[left] + self.contents[right]
        is_pad = isinstance(self.values[left], Splat) and isinstance(self.values[right], Splat)
        value = Splat(len(mask)) if is_pad else Shuffle(left, right, tuple(mask))
        return self.add(value, [both[lane] for lane in mask])

    def copy(self) -> Builder:
        """Another builder that starts from the same values."""
        return Builder(list(self.values), list(self.contents))


def power_of_two_below(number: int) -> int:
    """The largest power of two that is not above `number`."""
    return 1 << (number.bit_length() - 1)


def chunks(length: int, lanes: int) -> list[tuple[int, int]]:
    """
    Pieces (start, count) that cover `length` elements by vectors of one power of two of at most `lanes`.

    The last piece overlaps its neighbour where the length is no multiple.
    """
    count = min(power_of_two_below(length), lanes)
    starts = [*range(0, length - count + 1, count)]
    if starts[-1] + count < length:
        starts.append(length - count)
    return [(start, count) for start in starts]


@dataclass(frozen=True)
class Goal:
    """The destination offsets that a network writes, and the vectors that it does it by."""

    wanted: Sequence[int]
    lanes: int
    segment_bits: int

    @cached_property
    def pieces(self) -> list[tuple[int, int]]:
        """Where in the destination the vectors that are stored begin, and their lanes."""
        runs = runs_of(sorted(set(self.wanted)))
        return [(start + first, count) for start, length in runs for first, count in chunks(length, self.lanes)]

    def least_cost_of_loads(self, loads: int) -> float:
        """What it costs at least to reach the goal from so many vectors: to read them, and to write all."""
        return CHEAP * loads + len(self.wanted) / self.lanes

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The destination offsets in order, by which each has a number; `PAD` has none."""
        return {PAD: PAD} | {offset: number for number, offset in enumerate(sorted(set(self.wanted)))}

    def numbers_of(self, contents: tuple[int, ...]) -> npt.NDArray[np.int64]:
        """The numbers of what the lanes of a value hold; the same value is asked for again and again."""
        known = self._numbered.get(contents)
        if known is None:
            known = self._numbered[contents] = np.array([self.numbers[offset] for offset in contents])
        return known

    @cached_property
    def _numbered(self) -> dict[tuple[int, ...], npt.NDArray[np.int64]]:
        return {}

    @cached_property
    def piece_of(self) -> npt.NDArray[np.int64]:
        """For every number of an offset the last of those vectors that takes it."""
        return np.searchsorted(self.bounds[:, 0], np.arange(len(self.numbers) - 1), side="right") - 1

    @cached_property
    def bounds(self) -> npt.NDArray[np.int64]:
        """For every one of those vectors the number of its first offset, and its lanes."""
        return np.array([(self.numbers[start], count) for start, count in self.pieces])


def gather(builder: Builder, final: Sequence[int], goal: Goal, prepared: int) -> Network:
    """
    Collect every vector of the destination from the values that hold its lanes; those of pads are all the same.

    `prepared`: how many of the first values are made only when others need them.
    """
    places = places_of(builder, [value for value in final if not isinstance(builder.values[value], Splat)])
    width = len(builder.contents[final[0]])
    stores: list[Store] = []
    for start, count in goal.pieces:
        needed = [places.get(start + lane) for lane in range(count)]
        for part, found in _in_parts(needed, width):
            value = _merge(builder, found, width)
            stores.append(Store(start + part, len(builder.contents[value]), value))
    return simplified(Network(tuple(builder.values), tuple(stores), goal.segment_bits), prepared)


def places_of(builder: Builder, values: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
    """The values and lanes in which each destination offset is."""
    places: dict[int, list[tuple[int, int]]] = {}
    for value in values:
        for lane, offset in enumerate(builder.contents[value]):
            if offset == PAD:
                continue
            if offset in places:
                places[offset].append((value, lane))
            else:
                places[offset] = [(value, lane)]
    return places


def runs_of(offsets: Sequence[int]) -> list[tuple[int, int]]:
    """Maximal contiguous stretches (start, length) of sorted numbers."""
    if not offsets:
        return []
    breaks = [i for i, (offset, after) in enumerate(itertools.pairwise(offsets), 1) if after != offset + 1]
    return [(offsets[start], end - start) for start, end in itertools.pairwise([0, *breaks, len(offsets)])]


Place = tuple[int, int]
"""A value and one of its lanes."""


@dataclass(frozen=True)
class Lanes:
    """Where each lane of a vector comes from."""

    places: tuple[Place, ...]

    sources: tuple[int, ...]
    """The values in the order in which they are merged; `PAD` stands for one of pads."""

    @staticmethod
    def of(needed: Sequence[list[Place] | None]) -> Lanes:
        """Lanes from as few values as possible; None asks for the pad value."""
        sources: dict[int, None] = {PAD: None} if None in needed else {}
        places: list[Place] = []
        for choice in needed:
            if choice is None:
                places.append((PAD, 0))
                continue
            value, lane = choice[0]
            if value not in sources and len(choice) > 1:
                value, lane = next((place for place in choice if place[0] in sources), choice[0])
            sources[value] = None
            places.append((value, lane))
        return Lanes(tuple(places), tuple(sources))


def _in_parts(needed: Sequence[list[Place] | None], width: int) -> list[tuple[int, Lanes]]:
    """The needed lanes by the position of the first: all at once, or in parts where values are too short."""
    if len(needed) > width:
        sources = {place[0][0] if place else PAD for place in needed}
        if len(needed) > 2 * width or len(sources) > 2:
            half = len(needed) // 2
            first, second = _in_parts(needed[:half], width), _in_parts(needed[half:], width)
            return [*first, *((half + part, found) for part, found in second)]
    return [(0, Lanes.of(needed))]


def collect(builder: Builder, needed: Sequence[list[Place] | None], width: int) -> int:
    """A value with the needed lanes in order; None asks for the pad value."""
    return _merge(builder, Lanes.of(needed), width)


def _merge(builder: Builder, found: Lanes, width: int) -> int:
    """A value with some lanes: one source after the other is shuffled into it."""
    pads = builder.add(Splat(width), [PAD] * width) if PAD in found.sources else PAD
    sources = [pads if source == PAD else source for source in found.sources]
    lanes = [(pads if value == PAD else value, lane) for value, lane in found.places]
    if len(sources) == 1:
        return builder.shuffle(sources[0], sources[0], [lane for _, lane in lanes])
    if len(sources) == 2:
        left, right = sources
        return builder.shuffle(left, right, [lane if value == left else width + lane for value, lane in lanes])
    own: dict[int, list[tuple[int, int]]] = {source: [] for source in sources}
    for position, (value, lane) in enumerate(lanes):
        own[value].append((position, lane))
    result = sources[0]
    merged = [0] * max(width, len(lanes))  # where in `result` each lane is
    for position, lane in own[result]:
        merged[position] = lane
    for number, source in enumerate(sources[1:], 1):
        mask = merged[: len(lanes)] if source == sources[-1] else list(merged)
        for position, lane in own[source]:
            mask[position] = width + lane
        result = builder.shuffle(result, source, mask)
        for position, _ in (*own[source], *(own[sources[0]] if number == 1 else ())):
            merged[position] = position
    return result
