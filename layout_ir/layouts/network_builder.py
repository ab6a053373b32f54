"""
The shuffle network of a tile.

First the rows' index bits change places with lane bits, one stage of shuffles a bit (a 16 x 16 transpose is 4 stages of
16 shuffles); then every vector of the destination is gathered from the few values that hold its lanes. Where row
counts are no powers of two there is nothing to exchange, and the gather does it all (three planes of colour to
RGBRGB... is two shuffles a vector). Holes of the source that a row reaches over take part as lanes that nobody wants;
where they are as long as powers of two, other rows' elements are blended in (`network_loads`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from layout_ir.layouts.lane_stages import CHEAP, Stages, exchange, find_stages
from layout_ir.layouts.network_arrangement import arrange, wanted_bits
from layout_ir.layouts.network_gather import PAD, Builder, Goal, chunks, gather
from layout_ir.layouts.network_loads import Blends, Element, Reach, Row, blend, join, load, readings
from layout_ir.layouts.network_offsets import in_one_form
from layout_ir.layouts.shuffle_network import Network, dear_shuffle

ROWS_GATHERED = 8
"""The most rows that are gathered when their number is no power of two."""

REGISTER_BITS = 4
"""Stages of which groups of rows are taken together: 16 values are live then, and most processors have 32 registers."""

PIECES_ARRANGED = 6
"""The most vectors of a row whose lanes are put into another order before rows are exchanged; half as many surely."""

ENOUGH = 4
"""Vector instructions, for every vector of the destination, up to which no other loads are tried."""


def build_network(
    rows: Sequence[Row],
    pads: Sequence[int],
    lanes: int,
    reach: Reach = Reach(),  # noqa: B008 - frozen value
    segment: int | None = None,
    limit: float = math.inf,
) -> Network | None:
    """
    The cheapest network found for a tile, or None where its rows are too many to gather and too few to exchange.

    `rows`: for every row its elements; the source offsets of a row are consecutive, or all None for a row of pads.
    `pads`: further destination offsets that get the pad value. `lanes`: elements of a full vector, a power of two.
    `reach`: what else of the source may be read. `segment`: elements of 16 bytes, within which shuffles are cheap;
    all lanes by default. `limit`: the cost from which on a network is of no use.
    """
    form = in_one_form([[destination for _, destination in row] for row in rows], pads)
    formed = tuple(tuple((source, form[destination]) for source, destination in row) for row in rows)
    network = _cheapest(formed, tuple(form[offset] for offset in pads), lanes, reach, segment or lanes, limit)
    if network is None:
        return None
    back = {place: offset for offset, place in form.items()}
    return replace(network, stores=tuple(replace(store, offset=back[store.offset]) for store in network.stores))


@lru_cache(maxsize=32)  # those of a kernel: the offsets of a large tile are a megabyte
def _cheapest(
    rows: tuple[tuple[Element, ...], ...], pads: tuple[int, ...], lanes: int, reach: Reach, segment: int, limit: float
) -> Network | None:
    """The cheapest network, remembered: boxes that differ in where their rows go have one in common."""
    wanted = [destination for row in rows for _, destination in row if destination != PAD] + list(pads)
    goal = Goal(wanted, lanes, segment.bit_length() - 1)
    best: Network | None = None
    for size in _group_sizes(rows, lanes):
        for read, blends in readings(rows, lanes, reach, is_exchanged=size == len(rows)):
            if best is not None and best.cost * lanes <= ENOUGH * len(wanted):
                break
            network = _network(read, blends, size, goal, limit)
            if network is not None:
                best, limit = network, network.cost
    return best


def _group_sizes(rows: Sequence[Row], lanes: int) -> list[int]:
    """Powers of two by which rows may be exchanged; by 1 they are just gathered."""
    count = len(rows)
    if count & (count - 1) == 0:
        return ([count] if count <= lanes else []) + ([1] if 1 < count <= ROWS_GATHERED else [])
    if count <= ROWS_GATHERED:
        return [1]
    sizes = [size for size in (1 << bit for bit in range(2, 7)) if size <= min(count, lanes)]
    takes_few = count <= 2 * ROWS_GATHERED and all(2 * len(row) >= lanes and _stays_whole(row) for row in rows)
    return [1, *sizes] if takes_few else sizes


def _stays_whole(row: Row) -> bool:
    """Whether the elements of a row follow each other in the destination too, so that a vector takes few rows."""
    return all(then == before + 1 for (_, before), (_, then) in itertools.pairwise(row))


Candidate = tuple[Builder, Sequence[tuple[Sequence[int], Stages]]]
"""Columns of values, one of every row, with the stages that they go through."""


def _network(rows: Sequence[Row], blends: Blends, size: int, goal: Goal, limit: float) -> Network | None:
    """The cheapest network below a limit that exchanges rows in groups of `size`, a power of two."""
    base = Builder([], [])
    groups: list[list[list[int]]] = []
    joined = 0
    for start, count in chunks(len(rows), size):
        groups.append(blend(base, load(base, rows[start : start + count], goal.lanes), blends))
        joined = join(base, groups[-1], goal.lanes)
    best: Network | None = None
    for builder, columns in _candidates(base, groups, joined, goal.segment_bits):
        final = [value for column, stages in columns for value in _exchange(builder, column, stages)]
        network = gather(builder, final, goal, limit)
        if network is not None and network.cost < limit:
            best, limit = network, network.cost
        least = sum(CHEAP * len(column) * len(stages) for column, stages in columns)
        if best is not None and best.cost <= len(base.values) + least + len(best.stores):
            break  # nothing but cheap exchanges: no choice does better
    return best


def _candidates(
    builder: Builder, groups: Sequence[Sequence[list[int]]], joined: int, segment_bits: int
) -> Iterator[Candidate]:
    """
    What is worth a try: stages that end in the order of the destination, from the lanes as they are or arranged before.

    Where there are none, any lane bits change places with the row bits.
    """
    columns = [column for group in groups for column in group]
    dear = dear_shuffle(segment_bits)
    labels = [wanted_bits([builder.contents[value] for value in column]) for column in columns]
    found = [None if label is None else find_stages(label, segment_bits, dear) for label in labels]
    stages = [one for one in found if one is not None]
    if len(stages) == len(columns):
        yield builder.copy(), list(zip(columns, stages, strict=True))
    if len(groups[0]) <= PIECES_ARRANGED:
        copy = builder.copy()
        arranged = [arrange(copy, group, segment_bits, dear) for group in groups]
        if all(group is not None for group in arranged):
            yield copy, [column for group in arranged if group is not None for column in group]
            if len(groups[0]) <= PIECES_ARRANGED // 2:
                return
    if len(stages) != len(columns):
        bits = len(builder.contents[columns[0][0]]).bit_length() - 1
        for chosen in itertools.combinations(range(bits - joined), (len(columns[0]) - 1).bit_length()):
            any_stages = tuple((exchange(bits, position), row) for row, position in enumerate(chosen))
            yield builder.copy(), [(column, any_stages) for column in columns]


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
