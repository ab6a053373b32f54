"""Orders of lanes in shuffle networks: the one that the destination wants, and one from which stages lead there."""

from __future__ import annotations

from collections.abc import Sequence

from layout_ir.layouts.lane_stages import Label, Stages, find_arrangement
from layout_ir.layouts.network_gather import PAD, Builder, chunks, collect, places_of


def wanted_bits(contents: Sequence[Sequence[int]]) -> tuple[Label, ...] | None:
    """
    Which bit of the lanes' or the rows' numbers each lane bit shall be for vectors to hold runs of the destination.

    `contents`: destination offsets of the lanes of every row, or `PAD`. None where those of the rows are not sums of
    one weight a bit. Where those of the lanes are not, rows alone make runs; None where they make none either.
    """
    rows = _row_weights(contents)
    if rows is None:
        return None
    lanes = weights_of(contents[0])
    bits = (len(contents[0]) - 1).bit_length()
    labels = _labels(bits, rows, {weight: bit for bit, weight in enumerate(lanes or [])})
    return None if lanes is None and not any(label is not None for label in labels) else labels


def arrange(
    builder: Builder, columns: Sequence[Sequence[int]], segment_bits: int, dear: float
) -> list[tuple[list[int], Stages]] | None:
    """
    Vectors of every row's elements in an order from which cheap stages lead to the destination's, and those stages.

    `columns`: for every piece of a row, the values of all rows. None where the rows are not alike, or are shorter than
    a vector.
    """
    width = len(builder.contents[columns[0][0]])
    if PAD in builder.contents[columns[0][0]]:
        return _arrange_with_holes(builder, columns, segment_bits, dear)
    places = [places_of(builder, [column[row] for column in columns]) for row in range(len(columns[0]))]
    contents = [sorted(row) for row in places]
    rows = _row_weights(contents)
    if rows is None or len(contents[0]) < width:
        return None
    arranged: list[tuple[list[int], Stages]] = []
    for start, count in chunks(len(contents[0]), width):
        lanes = weights_of(contents[0][start : start + count])
        if lanes is None:
            return None
        labels = _labels(len(lanes), rows, {weight: bit for bit, weight in enumerate(lanes)})
        found = find_arrangement(labels, segment_bits, dear)
        if found is None:
            return None
        stages, order = found
        kept = [lanes[label] if label is not None else None for label in order]
        others = iter([weight for weight in lanes if weight not in kept])
        weights = [next(others) if weight is None else weight for weight in kept]
        column = [
            collect(builder, [row[offset] for offset in sums(content[start], weights)], width)
            for row, content in zip(places, contents, strict=True)
        ]
        arranged.append((column, stages))
    return arranged


def _arrange_with_holes(
    builder: Builder, columns: Sequence[Sequence[int]], segment_bits: int, dear: float
) -> list[tuple[list[int], Stages]] | None:
    """The same where holes keep their lanes: every vector by itself, with the bits of its lanes in another order."""
    arranged: list[tuple[list[int], Stages]] = []
    for column in columns:
        labels = wanted_bits([builder.contents[value] for value in column])
        found = None if labels is None else find_arrangement(labels, segment_bits, dear)
        if found is None:
            return None
        stages, order = found
        others = iter([bit for bit in range(len(order)) if bit not in order])
        mask = sums(0, [1 << (next(others) if bit is None else bit) for bit in order])
        arranged.append(([builder.shuffle(value, value, mask) for value in column], stages))
    return arranged


def _labels(bits: int, rows: dict[int, Label], lanes: dict[int, Label]) -> tuple[Label, ...]:
    """For every lane bit the row or lane bit of its weight, up to the first weight that is missing."""
    labels: list[Label] = [rows.get(1 << bit, lanes.get(1 << bit)) for bit in range(bits)]
    run = labels.index(None) if None in labels else bits
    return (*labels[:run], *([None] * (bits - run)))


def _row_weights(contents: Sequence[Sequence[int]]) -> dict[int, Label] | None:
    """The weight of every bit of the row's number, as a key of that bit's label; None where rows are not alike."""
    first = contents[0]
    lane = next((lane for lane, offset in enumerate(first) if offset != PAD), 0)
    starts = [content[lane] for content in contents]
    weights = weights_of(starts)
    if weights is None or any(len(content) != len(first) for content in contents):
        return None
    for start, content in zip(starts, contents, strict=True):
        if list(content) != [PAD if offset == PAD else offset - first[lane] + start for offset in first]:
            return None
    return {weight: -1 - bit for bit, weight in enumerate(weights)}


def weights_of(offsets: Sequence[int]) -> list[int] | None:
    """
    What every bit of the position adds to the first offset, 0 for a bit that only holes have set.

    None where the offsets are no such sums.
    """
    ones = [offsets[1 << bit] for bit in range((len(offsets) - 1).bit_length())]
    weights = [0 if one == PAD else one - offsets[0] for one in ones]
    holes = sum(1 << bit for bit, weight in enumerate(weights) if not weight)
    for position, (offset, expected) in enumerate(zip(offsets, sums(offsets[0], weights), strict=True)):
        if offset != (PAD if position & holes else expected) and offset != PAD:
            return None
    return None if offsets[0] == PAD else weights


def sums(start: int, weights: Sequence[int]) -> list[int]:
    """`start` plus the weights of the bits that are set, for all numbers of as many bits."""
    sums = [start]
    for weight in weights:
        sums += [number + weight for number in sums]
    return sums
