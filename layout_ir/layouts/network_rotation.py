"""
Shuffle networks that turn vectors against each other, for transpositions whose extents share no factor.

Where 9 rows of 16 elements are transposed, every vector of the destination takes lanes of all 9 of the source, but no
lane's position twice. Lane p comes from the source whose number is an amount of p further than that of another lane:
if the sources are turned by these amounts, all positions by one amount each, every result has the right elements, in
some order. A turn by any amounts below 2**k is k stages of blends (turn by 1, 2, 4, ... where that bit of the amount
is set), and a shuffle of one vector puts the lanes in order: of 9 vectors, 5 instructions each instead of 8. This is
the decomposition of Catanzaro, Keller and Garland, "A Decomposition for In-place Matrix Transposition", PPoPP 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layout_ir.layouts.network_gather import PAD, Builder, Goal, Place, places_of
from layout_ir.layouts.network_loads import Row, join, load
from layout_ir.layouts.shuffle_network import Network, Splat, Store, simplified

FEWEST = 4
"""Vectors from which on turning them may take less than gathering every result from all of them."""

MOST = 16
"""The most vectors that are turned: all of them are live at the same time."""

Grid = Sequence[Sequence[int | None]]
"""For every result, and every position of a lane, the number of the source that it takes; None where any will do."""


@dataclass(frozen=True)
class Turn:
    """Result j takes at position p the lane of source (amounts[p] + starts[j]) modulo their number."""

    amounts: tuple[int, ...]
    starts: tuple[int, ...]


def rotate(rows: Sequence[Row], goal: Goal) -> Network | None:
    """The network that turns the vectors of a tile's rows, or None where they do not fit into one another so."""
    length = len(rows[0])
    lanes = min(length & -length, goal.lanes)
    is_alike = all(len(row) == length and row[0][0] is not None for row in rows)
    if lanes < 4 or not is_alike or not FEWEST * lanes <= len(rows) * length <= MOST * goal.lanes:
        return None
    builder = Builder([], [])
    columns = load(builder, rows, lanes)
    if len(rows) & (len(rows) - 1) == 0:
        join(builder, columns, goal.lanes)
    sources: list[int] = [column[row] for row in range(len(columns[0])) for column in columns]
    if not FEWEST <= len(sources) <= MOST:
        return None
    pieces = Goal(goal.wanted, len(builder.contents[sources[0]]), goal.segment_bits).pieces
    firsts = {offset: found[0] for offset, found in places_of(builder, sources).items()}
    wanted = [[firsts.get(start + lane) for lane in range(count)] for start, count in pieces]
    results = _turned_then_ordered(builder, sources, wanted) or _ordered_then_turned(builder, sources, wanted)
    if results is None:
        return None
    stores = [Store(start, count, value) for (start, count), value in zip(pieces, results, strict=True)]
    return simplified(Network(tuple(builder.values), tuple(stores), goal.segment_bits))


Wanted = Sequence[Sequence[Place | None]]
"""For every result the value and the lane that each of its lanes is; None for a pad."""


def _turned_then_ordered(builder: Builder, sources: Sequence[int], wanted: Wanted) -> list[int] | None:
    """Results of which every one takes a position at most once."""
    numbers = {value: number for number, value in enumerate(sources)}
    width = len(builder.contents[sources[0]])
    grid: list[list[int | None]] = []
    for places in wanted:
        line: list[int | None] = [None] * width
        for place in places:
            if place is not None:
                if line[place[1]] is not None:
                    return None
                line[place[1]] = numbers[place[0]]
        grid.append(line)
    turn = _turn_of(grid, len(sources))
    if turn is None:
        return None
    turned = _turned(builder, sources, turn)
    order = [[None if place is None else place[1] for place in places] for places in wanted]
    return [_ordered(builder, value, lanes) for value, lanes in zip(turned, order, strict=True)]


def _ordered_then_turned(builder: Builder, sources: Sequence[int], wanted: Wanted) -> list[int] | None:
    """Sources of which every one gives a result's position at most one lane."""
    numbers = {value: number for number, value in enumerate(sources)}
    width = len(builder.contents[sources[0]])
    orders: list[list[int | None]] = [[None] * width for _ in sources]
    for places in wanted:
        if len(places) != width:
            return None
        for position, place in enumerate(places):
            if place is not None:
                order = orders[numbers[place[0]]]
                if order[position] not in (None, place[1]):
                    return None
                order[position] = place[1]
    grid = [[None if place is None else numbers[place[0]] for place in places] for places in wanted]
    turn = _turn_of(grid, len(sources))
    if turn is None:
        return None
    ordered = [
        builder.shuffle(value, value, [lane or 0 for lane in order])
        for value, order in zip(sources, orders, strict=True)
    ]
    turned = _turned(builder, ordered, turn)
    has_pads = [None in places for places in wanted]
    return [
        _ordered(builder, value, [None if place is None else i for i, place in enumerate(places)]) if pads else value
        for value, places, pads in zip(turned, wanted, has_pads, strict=True)
    ]


def _ordered(builder: Builder, value: int, lanes: Sequence[int | None]) -> int:
    """A value's lanes in another order; None for a pad."""
    if None not in lanes:
        return builder.shuffle(value, value, [lane for lane in lanes if lane is not None])
    width = len(builder.contents[value])
    pads = builder.add(Splat(width), [PAD] * width)
    return builder.shuffle(value, pads, [width if lane is None else lane for lane in lanes])


def _turn_of(grid: Grid, count: int) -> Turn | None:
    """The turn of `count` sources that gives every result its lanes; None where there is none, or none is needed."""
    amounts: list[int | None] = [None] * len(grid[0])
    starts: list[int] = []
    for line in grid:
        both = [(source, amount) for source, amount in zip(line, amounts, strict=True) if source is not None]
        known = [(source - amount) % count for source, amount in both if amount is not None]
        if starts and not known:
            return None
        start = known[0] if known else 0
        for position, source in enumerate(line):
            if source is not None:
                amount = (source - start) % count
                if amounts[position] not in (None, amount):
                    return None
                amounts[position] = amount
        starts.append(start)
    turn = _in_fewest_stages(Turn(tuple(amount or 0 for amount in amounts), tuple(starts)), count)
    return turn if _stages(turn) else None


def _in_fewest_stages(turn: Turn, count: int) -> Turn:
    """The same turn, begun at the source from which its amounts have the fewest bits."""

    def begun_at(first: int) -> Turn:
        amounts = tuple((amount - first) % count for amount in turn.amounts)
        return Turn(amounts, tuple((start + first) % count for start in turn.starts))

    return min(map(begun_at, range(count)), key=lambda turn: len(_stages(turn)))


def _stages(turn: Turn) -> list[int]:
    """The powers of two by which some lanes are turned."""
    return [1 << bit for bit in range(max(turn.amounts).bit_length()) if any(a >> bit & 1 for a in turn.amounts)]


def _turned(builder: Builder, sources: Sequence[int], turn: Turn) -> list[int]:
    """What every result takes, each lane at its position in the source."""
    width, values = len(turn.amounts), list(sources)
    for step in _stages(turn):
        mask = [lane + width if amount & step else lane for lane, amount in enumerate(turn.amounts)]
        values = [
            builder.shuffle(value, values[(number + step) % len(values)], mask) for number, value in enumerate(values)
        ]
    return [values[start] for start in turn.starts]
