"""
The shuffle network of a tile that is read in one way.

First the rows' index bits change places with lane bits, one stage of shuffles a bit (a 16 x 16 transpose is 4 stages of
16 shuffles); then every vector of the destination is gathered from the few values that hold its lanes. Where row
counts are no powers of two there is nothing to exchange, and the gather does it all (three planes of colour to
RGBRGB... is two shuffles a vector). Holes of the source that a row reaches over take part as lanes that nobody wants;
where they are as long as powers of two, other rows' elements are blended in (`network_loads`). Rows whose parts make
longer runs in the destination are cut into these (`network_parts`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from layout_ir.layouts.lane_stages import CHEAP, Stages, exchange, find_stages
from layout_ir.layouts.network_arrangement import arrange, wanted_bits
from layout_ir.layouts.network_estimate import Columns, exchanges, least_cost, least_cost_of_any_stages
from layout_ir.layouts.network_gather import Builder, Goal, chunks, gather
from layout_ir.layouts.network_loads import Blends, Row, blend, join, load
from layout_ir.layouts.network_parts import PartLoader, Parts
from layout_ir.layouts.shuffle_network import Network, Splat, dear_shuffle

REGISTER_BITS = 4
"""Stages of which groups of rows are taken together: 16 values are live then, and most processors have 32 registers."""

PIECES_ARRANGED = 6
"""The most vectors of a row whose lanes are put into another order before rows are exchanged; half as many surely."""


def build_network(rows: Sequence[Row], blends: Blends, size: int, goal: Goal, limit: float) -> Network | None:
    """The cheapest network below a limit that exchanges rows in groups of `size`, a power of two."""
    base = Builder([], [])
    groups: list[list[list[int]]] = []
    joined = 0
    for start, count in chunks(len(rows), size):
        if start and all(source is None for row in rows[start : start + count] for source, _ in row):
            continue  # pads of which no vector is read
        groups.append(blend(base, load(base, rows[start : start + count], goal.lanes), blends))
        joined = join(base, groups[-1], goal.lanes)
    return _finished(base, groups, joined, goal, limit)


def build_network_of_parts(parts: Parts, size: int, goal: Goal, limit: float) -> Network | None:
    """The cheapest network below a limit that exchanges parts of rows in groups of `size`, a power of two."""
    base = Builder([], [])
    loader = PartLoader(base, parts, goal.lanes)
    groups: list[list[list[int]]] = []
    joined = 0
    for start, count in chunks(len(parts.order), size):
        groups.append(loader.load(start, count))
        joined = join(base, groups[-1], goal.lanes)
    return _finished(base, groups, joined, goal, limit)


def _finished(
    base: Builder, groups: Sequence[list[list[int]]], joined: int, goal: Goal, limit: float
) -> Network | None:
    """The cheapest network below a limit of groups of rows that have been read."""
    best: Network | None = None
    for candidates in _candidates(base, groups, joined, goal.segment_bits):
        # several are the same columns with other stages
        if len(candidates) > 1 and least_cost_of_any_stages(*candidates[0], goal) >= limit:
            continue
        found = _cheapest(candidates, goal, limit, len(base.values))
        if found is not None:
            best, limit = found, found.cost
            least = CHEAP * min(exchanges(builder, columns) for builder, columns in candidates)
            copies = sum(not isinstance(value, Splat) for value in base.values)
            if limit <= copies + least + len(best.stores):
                break  # nothing but cheap exchanges: no choice does better
    return best


Candidate = tuple[Builder, Columns]
"""The values that are loaded, and columns of them with the stages that they go through."""


def _cheapest(candidates: Sequence[Candidate], goal: Goal, limit: float, prepared: int) -> Network | None:
    """
    The first of the cheapest networks below a limit; those that may be cheap are made first, few others at all.

    `prepared`: how many of the first values are made of what is read, and only when others need them.
    """
    best: Network | None = None
    winner = -1
    bounds = [least_cost(builder, columns, goal) for builder, columns in candidates]
    for number in sorted(range(len(candidates)), key=lambda number: bounds[number]):
        if bounds[number] > limit or (bounds[number] == limit and number > winner):
            continue
        builder, columns = candidates[number]
        final = [value for column, stages in columns for value in _exchange(builder, column, stages)]
        network = gather(builder, final, goal, prepared)
        if network.cost < limit or (network.cost == limit and number < winner):
            best, limit, winner = network, network.cost, number
    return best


def _candidates(
    builder: Builder, groups: Sequence[Sequence[list[int]]], joined: int, segment_bits: int
) -> Iterator[list[Candidate]]:
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
        yield [(builder.copy(), list(zip(columns, stages, strict=True)))]
    if len(groups[0]) <= PIECES_ARRANGED:
        copy = builder.copy()
        arranged = [arrange(copy, group, segment_bits, dear) for group in groups]
        if all(group is not None for group in arranged):
            others = [column for group in arranged if group is not None for column in group]
            if not _leave_lanes(copy, others, columns, found):
                yield [(copy, others)]
            if len(groups[0]) <= PIECES_ARRANGED // 2:
                return
    if len(stages) != len(columns):
        bits = len(builder.contents[columns[0][0]]).bit_length() - 1
        any_stages = [
            tuple((exchange(bits, position), row) for row, position in enumerate(chosen))
            for chosen in itertools.combinations(range(bits - joined), (len(columns[0]) - 1).bit_length())
        ]
        yield [(builder.copy(), [(column, stages) for column in columns]) for stages in any_stages]


def _leave_lanes(
    builder: Builder, arranged: Columns, columns: Sequence[Sequence[int]], found: Sequence[Stages | None]
) -> bool:
    """
    Whether arranged columns hold in their lanes what the columns do, and go through the stages found for these.

    Their network would be the one that is made of these, or a dearer one.
    """
    contents = builder.contents
    return len(arranged) == len(columns) and all(
        stages == own and [contents[value] for value in column] == [contents[value] for value in other]
        for (column, stages), other, own in zip(arranged, columns, found, strict=True)
    )


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
