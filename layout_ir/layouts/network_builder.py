"""
The shuffle network of a tile.

First the rows' index bits change places with lane bits, one stage of shuffles a bit (a 16 x 16 transpose is 4 stages of
16 shuffles); then every vector of the destination is gathered from the few values that hold its lanes. Where row
counts are no powers of two there is nothing to exchange, and the gather does it all (three planes of colour to
RGBRGB... is two shuffles a vector).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from layout_ir.layouts.lane_stages import CHEAP, Label, Stage, exchange, find_stages
from layout_ir.layouts.network_gather import PAD, Builder, chunks, gather
from layout_ir.layouts.shuffle_network import Load, Network, Splat, dear_shuffle

ROWS_GATHERED = 8
"""The most rows that are gathered when their number is no power of two."""

REGISTER_BITS = 4
"""Stages of which groups of rows are taken together: 16 values are live then, and most processors have 32 registers."""

Element = tuple[int | None, int]
"""Source offset (None: the pad value) and destination offset."""

Stages = Sequence[tuple[Stage, int]]
"""Stages in order, each with the bit of the row's number that it moves."""


def build_network(
    rows: Sequence[Sequence[Element]],
    pads: Sequence[int],
    lanes: int,
    readable: int = 0,
    segment: int | None = None,
) -> Network | None:
    """
    The cheapest network found for a tile, or None where its rows are too many to gather and too few to exchange.

    `rows`: for every row its elements; the source offsets of a row are consecutive, or all None for a row of pads.
    `pads`: further destination offsets that get the pad value. `lanes`: elements of a full vector, a power of two.
    `readable`: elements behind every row that may be read although the tile does not need them. `segment`: elements
    of 16 bytes, within which shuffles are cheap; all lanes by default.
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
    segment_bits = (segment or lanes).bit_length() - 1
    networks = [_network(rows, pads, lanes, readable, size, segment_bits) for size in sizes]
    return min((n for n in networks if n is not None), key=lambda n: n.cost, default=None)


def _network(
    rows: Sequence[Sequence[Element]], pads: Sequence[int], lanes: int, readable: int, size: int, segment_bits: int
) -> Network | None:
    """The cheapest network that exchanges rows in groups of `size`, a power of two."""
    base = Builder([], [])
    columns: list[list[int]] = []
    joined = 0
    for start, count in chunks(len(rows), size):
        group = _load(base, rows[start : start + count], lanes, readable)
        joined = _join(base, group, lanes)
        columns += group
    wanted = [destination for row in rows for _, destination in row] + list(pads)
    best: Network | None = None
    for stages in _candidates(base, columns, joined, segment_bits):
        builder = base.copy()
        exchanged = [_exchange(builder, column, stages) for column in columns]
        final = [value for column in exchanged for value in column]
        network = gather(builder, final, wanted, lanes, segment_bits)
        if best is None or network.cost < best.cost:
            best = network
        if best.cost <= len(base.values) + CHEAP * len(columns) * len(columns[0]) * len(stages) + len(best.stores):
            break  # nothing but cheap exchanges: no choice does better
    return best


def _candidates(builder: Builder, columns: Sequence[Sequence[int]], joined: int, segment_bits: int) -> Iterable[Stages]:
    """Stages worth a try: those that end in the order of the destination, or else any lane bits for all row bits."""
    wanted = {_wanted_bits([builder.contents[value] for value in column]) for column in columns}
    if len(wanted) == 1 and (labels := wanted.pop()) is not None:
        found = find_stages(labels, segment_bits, dear_shuffle(segment_bits))
        if found is not None:
            yield found
            return
    bits = len(builder.contents[columns[0][0]]).bit_length() - 1
    row_bits = (len(columns[0]) - 1).bit_length()
    for chosen in itertools.combinations(range(bits - joined), row_bits):
        yield [(exchange(bits, position), row) for row, position in enumerate(chosen)]


def _wanted_bits(contents: Sequence[Sequence[int]]) -> tuple[Label, ...] | None:
    """
    Which bit of the lanes' or the rows' numbers each lane bit shall be for vectors to hold runs of the destination.

    `contents`: destination offsets of the lanes of every row. None where the rows are not at sums of one weight a bit.
    """
    lane_bits, row_bits = (len(numbers).bit_length() - 1 for numbers in (contents[0], contents))
    first = contents[0]
    if any(PAD in content for content in contents):
        return None
    weights = {-1 - bit: contents[1 << bit][0] - first[0] for bit in range(row_bits)}
    starts = _sums(first[0], [weights[-1 - bit] for bit in range(row_bits)])
    if any(
        [offset - start for offset in content] != [offset - first[0] for offset in first]
        for start, content in zip(starts, contents, strict=True)
    ):
        return None
    lane_weights = [first[1 << bit] - first[0] for bit in range(lane_bits)]
    if _sums(first[0], lane_weights) == list(first):
        weights |= dict(enumerate(lane_weights))
    by_weight = {weight: bit for bit, weight in weights.items()}
    run = sum(1 for _ in itertools.takewhile(lambda bit: 1 << bit in by_weight, range(lane_bits)))
    return tuple(by_weight[1 << bit] if bit < run else None for bit in range(lane_bits))


def _sums(start: int, weights: Sequence[int]) -> list[int]:
    """`start` plus the weights of the bits that are set, for all numbers of as many bits."""
    sums = [start]
    for weight in weights:
        sums += [number + weight for number in sums]
    return sums


def _load(builder: Builder, rows: Sequence[Sequence[Element]], lanes: int, readable: int) -> list[list[int]]:
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


def _join(builder: Builder, columns: list[list[int]], lanes: int) -> int:
    """Join short vectors of two rows into one, as often as that fits; returns how often."""
    joined = 0
    while len(columns[0]) > 1 and 2 * len(builder.contents[columns[0][0]]) <= lanes:
        width = len(builder.contents[columns[0][0]])
        half = len(columns[0]) // 2
        for position, column in enumerate(columns):
            columns[position] = [builder.shuffle(column[i], column[i + half], range(2 * width)) for i in range(half)]
        joined += 1
    return joined


def _exchange(builder: Builder, column: Sequence[int], stages: Stages) -> list[int]:
    """
    Run the stages over all rows, in parts of a few stages: every part is finished for one group of rows after another.

    A group's values then fit the registers, where all rows at once would not.
    """
    values = list(column)
    parts = -(-len(stages) // REGISTER_BITS)
    for part in range(parts):
        chosen = stages[part * len(stages) // parts : (part + 1) * len(stages) // parts]
        inside = sum(1 << row for _, row in chosen)
        for first in range(len(values)):
            if first & inside:
                continue
            group = [row for row in range(len(values)) if row & ~inside == first]
            for stage, bit in chosen:
                for row in group:
                    if not row >> bit & 1:
                        pair = values[row], values[row | 1 << bit]
                        values[row], values[row | 1 << bit] = (builder.shuffle(*pair, mask) for mask in stage.masks)
    return values
