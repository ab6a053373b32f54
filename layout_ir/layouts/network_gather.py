"""The end of a shuffle network: every vector of the destination is collected from the values that hold its lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
        """Append a shuffle; returns its number."""
        both = self.contents[left] + self.contents[right]
        return self.add(Shuffle(left, right, tuple(mask)), [both[lane] for lane in mask])

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


def gather(
    builder: Builder, final: Sequence[int], wanted: Sequence[int], lanes: int, segment_bits: int, limit: float
) -> Network | None:
    """
    Collect every vector of the destination from the values that hold its lanes.

    None as soon as that takes at least `limit` instructions by itself.
    """
    places = places_of(builder, final)
    width = len(builder.contents[final[0]])
    stores: list[Store] = []
    instructions = 0.0
    for start, length in _runs(sorted(set(wanted))):
        for first, count in chunks(length, lanes):
            before = len(builder.values)
            needed = [places.get(start + first + lane) for lane in range(count)]
            for part, value in _collect_in_parts(builder, needed, width):
                stores.append(Store(start + first + part, len(builder.contents[value]), value))
                instructions += 1
            instructions += sum(map(_merges, builder.values[before:]))
            if instructions >= limit:
                return None
    return simplified(Network(tuple(builder.values), tuple(stores), segment_bits))


def _merges(value: Value) -> float:
    return CHEAP if isinstance(value, Shuffle) and value.left != value.right else 0


def places_of(builder: Builder, values: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
    """The values and lanes in which each destination offset is."""
    places: dict[int, list[tuple[int, int]]] = {}
    for value in values:
        for lane, offset in enumerate(builder.contents[value]):
            if offset != PAD:
                places.setdefault(offset, []).append((value, lane))
    return places


def _runs(offsets: Sequence[int]) -> list[tuple[int, int]]:
    """Maximal contiguous stretches (start, length) of sorted numbers."""
    runs: list[tuple[int, int]] = []
    for offset in offsets:
        if runs and offset == runs[-1][0] + runs[-1][1]:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((offset, 1))
    return runs


def _collect_in_parts(
    builder: Builder, needed: Sequence[list[tuple[int, int]] | None], width: int
) -> list[tuple[int, int]]:
    """Values with the needed lanes, each with the position of its first: one, or several where values are too short."""
    if len(needed) > width:
        sources = {place[0][0] if place else PAD for place in needed}
        if len(needed) > 2 * width or len(sources) > 2:
            half = len(needed) // 2
            first = _collect_in_parts(builder, needed[:half], width)
            second = _collect_in_parts(builder, needed[half:], width)
            return [*first, *((half + part, value) for part, value in second)]
    return [(0, collect(builder, needed, width))]


def collect(builder: Builder, needed: Sequence[list[tuple[int, int]] | None], width: int) -> int:
    """A value with the needed lanes in order; None asks for the pad value."""
    sources: list[int] = []
    lanes: list[tuple[int, int]] = []
    if None in needed:
        sources.append(builder.add(Splat(width), [PAD] * width))
    for places in needed:
        if places is None:
            lanes.append((sources[0], 0))
            continue
        value, lane = places[0]
        if value not in sources and len(places) > 1:
            value, lane = next((place for place in places if place[0] in sources), places[0])
        if value not in sources:
            sources.append(value)
        lanes.append((value, lane))
    count = len(lanes)
    if len(sources) == 1:
        return builder.shuffle(sources[0], sources[0], [lane for _, lane in lanes])
    result = sources[0]
    placed = {sources[0]}
    for source in sources[1:]:
        is_last = len(placed) == len(sources) - 1
        mask: list[int] = []
        for position, (value, lane) in enumerate(lanes):
            if value == source:
                mask.append(width + lane)
            elif value in placed:
                mask.append(lane if result == sources[0] else position)
            else:
                mask.append(0)
        mask += [0] * (0 if is_last else width - count)
        result = builder.shuffle(result, source, mask)
        placed.add(source)
    return result
