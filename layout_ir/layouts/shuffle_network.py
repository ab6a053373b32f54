"""
Shuffle networks: which loads, two-input shuffles and stores move one small tile through vector registers.

A tile is a set of elements, each with an offset in the source and one in the destination. Its source is read in whole
vectors along contiguous *runs*, one run a *row*. First the rows' index bits are exchanged with lane bits, one stage of
shuffles a bit (a 16 x 16 transpose is 4 stages of 16 shuffles); then every vector of the destination is gathered from
the few values that hold its lanes. Where row counts are no powers of two there is nothing to exchange, and the gather
does it all (three planes of colour to RGBRGB... is two shuffles a vector).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

PAD = -1
"""What a lane holds that belongs to no element."""

ROWS_GATHERED = 8
"""The most rows that are gathered when their number is no power of two."""


@dataclass(frozen=True)
class Load:
    """A vector of `lanes` elements read at `offset` elements behind the tile's origin in the source."""

    offset: int
    lanes: int


@dataclass(frozen=True)
class Splat:
    """A vector whose lanes all hold the pad value."""

    lanes: int


@dataclass(frozen=True)
class Shuffle:
    """Lane i is lane `mask[i]` of `left` followed by `right`, which name earlier values by their numbers."""

    left: int
    right: int
    mask: tuple[int, ...]


@dataclass(frozen=True)
class Store:
    """The first `lanes` lanes of a value, written at `offset` elements behind the tile's origin in the destination."""

    offset: int
    lanes: int
    value: int


Value = Load | Splat | Shuffle


@dataclass(frozen=True)
class Network:
    """A straight-line program: values in order, then stores."""

    values: tuple[Value, ...]
    stores: tuple[Store, ...]

    @property
    def cost(self) -> float:
        """Vector instructions, the quantity that a choice between networks minimises."""
        return len(self.values) + len(self.stores)


@dataclass
class _Builder:
    """Values under construction, and what each lane of each value holds (a destination offset, or `PAD`)."""

    values: list[Value]
    contents: list[tuple[int, ...]]

    def add(self, value: Value, contents: Sequence[int]) -> int:
        self.values.append(value)
        self.contents.append(tuple(contents))
        return len(self.values) - 1

    def shuffle(self, left: int, right: int, mask: Sequence[int]) -> int:
        both = self.contents[left] + self.contents[right]
        return self.add(Shuffle(left, right, tuple(mask)), [both[lane] for lane in mask])


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


Element = tuple[int | None, int]
"""Source offset (None: the pad value) and destination offset."""


def build_network(
    rows: Sequence[Sequence[Element]], pads: Sequence[int], lanes: int, readable: int = 0
) -> Network | None:
    """
    The cheapest network found for a tile, or None where its rows are too many to gather and too few to exchange.

    `rows`: for every row its elements; the source offsets of a row are consecutive, or all None for a row of pads.
    `pads`: further destination offsets that get the pad value. `lanes`: elements of a full vector, a power of two.
    `readable`: elements behind every row that may be read although the tile does not need them.
    """
    count = len(rows)
    if count & (count - 1) == 0:
        sizes = [count] if count <= lanes else []
        if 1 < count <= ROWS_GATHERED:
            sizes.append(1)
    elif count <= ROWS_GATHERED:
        sizes = [1]
    else:
        sizes = [size for size in (1 << bit for bit in range(2, 7)) if size <= min(count, lanes)]
    networks = [_network(rows, pads, lanes, readable, size) for size in sizes]
    return min((n for n in networks if n is not None), key=lambda n: n.cost, default=None)


def _network(
    rows: Sequence[Sequence[Element]], pads: Sequence[int], lanes: int, readable: int, size: int
) -> Network | None:
    """The cheapest network that exchanges rows in groups of `size`, a power of two."""
    base = _Builder([], [])
    columns: list[list[int]] = []
    joined = 0
    for start, count in chunks(len(rows), size):
        group = _load(base, rows[start : start + count], lanes, readable)
        joined = _join(base, group, lanes)
        columns += group
    stages = (len(columns[0]) - 1).bit_length()
    positions = (len(base.contents[columns[0][0]]) >> joined).bit_length() - 1
    if stages > positions:
        return None
    wanted = [destination for row in rows for _, destination in row] + list(pads)
    best: Network | None = None
    for chosen in itertools.combinations(range(positions), stages):
        builder = _Builder(list(base.values), list(base.contents))
        exchanged = [_exchange(builder, column, chosen) for column in columns]
        network = _gather(builder, [value for column in exchanged for value in column], wanted, lanes)
        if best is None or network.cost < best.cost:
            best = network
        if best.cost <= len(base.values) + len(columns) * len(columns[0]) * stages + len(best.stores):
            break  # nothing but the exchanges: no choice does better
    return best


def _load(builder: _Builder, rows: Sequence[Sequence[Element]], lanes: int, readable: int) -> list[list[int]]:
    """Read every row in vectors: for every piece of a row, the values of all rows."""
    length = len(rows[0])
    whole = 1 << (length - 1).bit_length()
    pieces = [(0, whole)] if whole <= lanes and whole - length <= readable else chunks(length, lanes)
    columns: list[list[int]] = []
    for start, count in pieces:
        column: list[int] = []
        for row in rows:
            part = row[start : start + count]
            source = part[0][0]
            value = Splat(count) if source is None else Load(source, count)
            contents = [destination for _, destination in part] + [PAD] * (count - len(part))
            column.append(builder.add(value, contents))
        columns.append(column)
    return columns


def _join(builder: _Builder, columns: list[list[int]], lanes: int) -> int:
    """Join short vectors of two rows into one, as often as that fits; returns how often."""
    joined = 0
    while len(columns[0]) > 1 and 2 * len(builder.contents[columns[0][0]]) <= lanes:
        width = len(builder.contents[columns[0][0]])
        half = len(columns[0]) // 2
        for position, column in enumerate(columns):
            columns[position] = [builder.shuffle(column[i], column[i + half], range(2 * width)) for i in range(half)]
        joined += 1
    return joined


def _exchange(builder: _Builder, column: Sequence[int], chosen: Sequence[int]) -> list[int]:
    """Exchange the bits of the row number, least significant first, with the lane bits `chosen`."""
    values = list(column)
    lanes = range(len(builder.contents[values[0]]))
    for stage, position in enumerate(chosen):
        bit, step = 1 << position, 1 << stage
        low = [lane if not lane & bit else len(lanes) + lane - bit for lane in lanes]
        high = [lane + bit if not lane & bit else len(lanes) + lane for lane in lanes]
        for first in range(len(values)):
            if not first & step:
                left, right = values[first], values[first | step]
                values[first] = builder.shuffle(left, right, low)
                values[first | step] = builder.shuffle(left, right, high)
    return values


def _gather(builder: _Builder, final: Sequence[int], wanted: Sequence[int], lanes: int) -> Network:
    """Collect every vector of the destination from the values that hold its lanes."""
    places: dict[int, list[tuple[int, int]]] = {}
    for value in final:
        for lane, destination in enumerate(builder.contents[value]):
            places.setdefault(destination, []).append((value, lane))
    width = len(builder.contents[final[0]])
    stores: list[Store] = []
    for start, length in _runs(sorted(set(wanted))):
        for first, count in chunks(length, lanes):
            needed = [places.get(start + first + lane) for lane in range(count)]
            for part, value in _collect_in_parts(builder, needed, width):
                stores.append(Store(start + first + part, len(builder.contents[value]), value))
    return _simplified(Network(tuple(builder.values), tuple(stores)))


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
    builder: _Builder, needed: Sequence[list[tuple[int, int]] | None], width: int
) -> list[tuple[int, int]]:
    """Values with the needed lanes, each with the position of its first: one, or several where values are too short."""
    if len(needed) > width:
        sources = {place[0][0] if place else PAD for place in needed}
        if len(needed) > 2 * width or len(sources) > 2:
            half = len(needed) // 2
            first = _collect_in_parts(builder, needed[:half], width)
            second = _collect_in_parts(builder, needed[half:], width)
            return [*first, *((half + part, value) for part, value in second)]
    return [(0, _collect(builder, needed, width))]


def _collect(builder: _Builder, needed: Sequence[list[tuple[int, int]] | None], width: int) -> int:
    """A value with the needed lanes in order; None asks for the pad value."""
    sources: list[int] = []
    lanes: list[tuple[int, int]] = []
    if None in needed:
        sources.append(builder.add(Splat(width), [PAD] * width))
    for places in needed:
        if places is None:
            lanes.append((sources[0], 0))
            continue
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


def _simplified(network: Network) -> Network:
    """Compose shuffles of one value with the shuffle that made it, drop what is an identity and what nobody uses."""
    values = list(network.values)
    alias = list(range(len(values)))
    for number, value in enumerate(values):
        if not isinstance(value, Shuffle):
            continue
        value = Shuffle(alias[value.left], alias[value.right], value.mask)
        values[number] = value
        only = _only_source(value, values)
        if only is None:
            continue
        source, mask = only
        inner = values[source]
        if mask == tuple(range(_width(inner))):
            alias[number] = source
        elif isinstance(inner, Shuffle):
            values[number] = Shuffle(inner.left, inner.right, tuple(inner.mask[lane] for lane in mask))
        elif isinstance(inner, Splat):
            values[number] = Splat(len(mask))
    stores = [Store(store.offset, store.lanes, alias[store.value]) for store in network.stores]
    return _without_dead_values(values, stores)


def _only_source(shuffle: Shuffle, values: Sequence[Value]) -> tuple[int, tuple[int, ...]] | None:
    """The one value that a shuffle reads, and the lanes that it takes of it; None where it reads two."""
    width = _width(values[shuffle.left])
    if shuffle.left == shuffle.right:
        return shuffle.left, tuple(lane % width for lane in shuffle.mask)
    if all(lane < width for lane in shuffle.mask):
        return shuffle.left, shuffle.mask
    if all(lane >= width for lane in shuffle.mask):
        return shuffle.right, tuple(lane - width for lane in shuffle.mask)
    return None


def _width(value: Value) -> int:
    return len(value.mask) if isinstance(value, Shuffle) else value.lanes


def _without_dead_values(values: Sequence[Value], stores: Sequence[Store]) -> Network:
    used = {store.value for store in stores}
    for number in range(len(values) - 1, -1, -1):
        value = values[number]
        if number in used and isinstance(value, Shuffle):
            used |= {value.left, value.right}
    numbers = {old: new for new, old in enumerate(sorted(used))}
    kept = [
        Shuffle(numbers[v.left], numbers[v.right], v.mask) if isinstance(v, Shuffle) else v
        for v in (values[old] for old in sorted(used))
    ]
    return Network(tuple(kept), tuple(Store(s.offset, s.lanes, numbers[s.value]) for s in stores))
