"""Orders of lanes in shuffle networks: the one that the destination wants, and one from which stages lead there."""

from __future__ import annotations

from collections.abc import Sequence

from layout_ir.layouts.lane_stages import Label, Stages, find_arrangement
from layout_ir.layouts.network_gather import PAD, Builder, chunks, collect, places_of


def wanted_bits(contents: Sequence[Sequence[int]]) -> tuple[Label, ...] | None:
    """
    Which bit of the lanes' or the rows' numbers each lane bit shall be for vectors to hold runs of the destination.

    `contents`: destination offsets of the lanes of every row. None where they are not sums of one weight a bit.
    """
    rows = _row_weights(contents)
    lanes = _weights(contents[0])
    if rows is None or lanes is None or PAD in contents[0]:
        return None
    return _labels(len(lanes), rows, {weight: bit for bit, weight in enumerate(lanes)})


def arrange(
    builder: Builder, columns: Sequence[Sequence[int]], segment_bits: int, dear: float
) -> list[tuple[list[int], Stages]] | None:
    """
    Vectors of every row's elements in an order from which cheap stages lead to the destination's, and those stages.

    `columns`: for every piece of a row, the values of all rows. None where the rows are not alike, or are shorter than
    a vector.
    """
    width = len(builder.contents[columns[0][0]])
    places = [places_of(builder, [column[row] for column in columns]) for row in range(len(columns[0]))]
    contents = [sorted(row) for row in places]
    rows = _row_weights(contents)
    if rows is None or len(contents[0]) < width:
        return None
    arranged: list[tuple[list[int], Stages]] = []
    for start, count in chunks(len(contents[0]), width):
        lanes = _weights(contents[0][start : start + count])
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
            collect(builder, [row[offset] for offset in _sums(content[start], weights)], width)
            for row, content in zip(places, contents, strict=True)
        ]
        arranged.append((column, stages))
    return arranged


def _labels(bits: int, rows: dict[int, Label], lanes: dict[int, Label]) -> tuple[Label, ...]:
    """For every lane bit the row or lane bit of its weight, up to the first weight that is missing."""
    labels: list[Label] = [rows.get(1 << bit, lanes.get(1 << bit)) for bit in range(bits)]
    run = labels.index(None) if None in labels else bits
    return (*labels[:run], *([None] * (bits - run)))


def _row_weights(contents: Sequence[Sequence[int]]) -> dict[int, Label] | None:
    """The weight of every bit of the row's number, as a key of that bit's label; None where rows are not alike."""
    first = contents[0]
    starts = [content[0] for content in contents]
    weights = _weights(starts)
    if weights is None or any(len(content) != len(first) for content in contents):
        return None
    for start, content in zip(starts, contents, strict=True):
        if any(offset - start != other - first[0] for offset, other in zip(content, first, strict=True)):
            return None
    return {weight: -1 - bit for bit, weight in enumerate(weights)}


def _weights(offsets: Sequence[int]) -> list[int] | None:
    """What every bit of the position adds to the first offset; None where the offsets are no such sums."""
    weights = [offsets[1 << bit] - offsets[0] for bit in range((len(offsets) - 1).bit_length())]
    return weights if _sums(offsets[0], weights) == list(offsets) else None


def _sums(start: int, weights: Sequence[int]) -> list[int]:
    """`start` plus the weights of the bits that are set, for all numbers of as many bits."""
    sums = [start]
    for weight in weights:
        sums += [number + weight for number in sums]
    return sums
