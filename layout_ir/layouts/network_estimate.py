"""What a shuffle network takes at least, found without making it: most that could be made are not worth it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from layout_ir.layouts.lane_stages import CHEAP, Stages
from layout_ir.layouts.network_gather import PAD, Builder, Goal
from layout_ir.layouts.shuffle_network import (
    Load,
    Network,
    Shuffle,
    Splat,
    cost_of_mask,
    dear_shuffle,
    reads_both,
    whole_part_bits,
    width_of,
)

Columns = Sequence[tuple[Sequence[int], Stages]]
"""Columns of values, one of every row, with the stages that they go through."""

Contents = npt.NDArray[np.int64]
"""Numbers of the destination offsets in the lanes of values, or `PAD`; the last dimension is the lanes."""

Values = npt.NDArray[np.intp]
"""Values by the column and the row that they belong to."""

Flags = npt.NDArray[np.bool_]
"""What holds for these values or not."""


def least_cost(builder: Builder, columns: Columns, goal: Goal) -> float:
    """A lower bound of the cost of exchanging columns and gathering what results: of one more network."""
    groups = [
        (np.array([column for column, _ in group]), stages)
        for (stages, _), group in itertools.groupby(columns, key=lambda one: (one[1], len(one[0])))
    ]
    copies = [_copies(builder, *group) for group in groups]
    contents = np.concatenate(
        [_after_stages(builder, goal, *group, flags[-1]) for group, flags in zip(groups, copies, strict=True)]
    )
    numbers, places = _in_one_lane(contents, goal)
    sources = places // contents.shape[1]
    cost = _merging_cost(contents, numbers, places, goal)
    needed = np.zeros(len(contents), bool)
    needed[sources] = True
    inputs: set[int] = set()
    for (values, stages), flags in zip(groups, copies, strict=True):
        wanted, needed = np.split(needed, [values.size])
        before, shuffles = _before_stages(wanted.reshape(values.shape), flags, stages, goal.segment_bits)
        inputs |= set(values[before].tolist())
        cost += shuffles
    return cost + _least_cost(builder, inputs, goal.segment_bits)


def least_cost_of_any_stages(builder: Builder, columns: Columns, goal: Goal) -> float:
    """
    A lower bound of `least_cost` that no stages change: a vector takes a shuffle for every column but the first.

    Columns are exchanged along all their rows, so that what is loaded is needed.
    """
    lanes = [np.concatenate([goal.numbers_of(builder.contents[value]) for value in column]) for column, _ in columns]
    column_of = np.repeat(np.arange(len(lanes)), [len(column) for column in lanes])
    numbers, places = _in_one_lane(np.concatenate(lanes), goal)
    pairs = goal.piece_of[numbers] * len(lanes) + column_of[places]
    loads = sum(isinstance(value, Load) for value in builder.values)
    return CHEAP * (loads + len(np.unique(pairs)))


def _in_one_lane(contents: Contents, goal: Goal) -> tuple[Contents, Values]:
    """The numbers that are in one lane only, and where: of an offset that is in two values either of them may do."""
    behind_pads = contents.ravel() - PAD  # numbers of lanes of pads are 0
    counts = np.bincount(behind_pads, minlength=len(goal.numbers))
    places = np.empty(len(goal.numbers), np.intp)
    places[behind_pads] = np.arange(len(behind_pads))
    numbers = np.flatnonzero(counts[-PAD:] == 1)
    return numbers, places[numbers - PAD]


def _merging_cost(contents: Contents, numbers: Contents, places: Values, goal: Goal) -> float:
    """
    What it takes at least to store `numbers`, each of which is in one lane only: that of `contents` at its place.

    A vector takes a store, and a shuffle for every further value. That is a dear one where it moves an element inside
    of the part that shuffles move as a whole, unless it takes half of its lanes from each value.
    """
    width = contents.shape[1]
    pieces = goal.piece_of[numbers]
    pairs = pieces * len(contents) + places // width
    cost = CHEAP * np.count_nonzero(np.bincount(pairs))
    starts, lanes = goal.bounds[pieces].T
    part = 1 << whole_part_bits(goal.segment_bits)
    moves = (numbers - starts - places) % part != 0
    moved = pairs[moves & (lanes <= width)]
    if not len(moved):
        return cost
    filled = np.flatnonzero(contents != PAD)
    taken = np.bincount(goal.piece_of[contents.ravel()[filled]] * len(contents) + filled // width)
    dear = np.unique(moved[2 * taken[moved] < width])
    extra = dear_shuffle(goal.segment_bits) - CHEAP
    return cost + extra * (len(dear) - len(np.unique(dear // len(contents))))


def _after_stages(builder: Builder, goal: Goal, values: Values, stages: Stages, copies: Flags) -> Contents:
    """What the values of some columns hold after the stages, which are the same for all; nothing but for `copies`."""
    flat: list[int] = values.ravel().tolist()
    rows = np.stack([goal.numbers_of(builder.contents[value]) for value in flat])
    contents: Contents = rows.reshape(*values.shape, -1)
    for stage, bit in stages:
        pairs = contents.reshape(len(contents), -1, 2, 1 << bit, contents.shape[-1])
        both = np.concatenate([pairs[:, :, 0], pairs[:, :, 1]], axis=-1)
        contents = np.stack([both[..., mask] for mask in stage.masks], axis=2).reshape(contents.shape)
    contents[~copies] = PAD
    return contents.reshape(-1, contents.shape[-1])


def _copies(builder: Builder, values: Values, stages: Stages) -> list[Flags]:
    """Before the stages and after each of them, which values are no pads."""
    found = [np.array([not isinstance(builder.values[value], Splat) for value in values.flat]).reshape(values.shape)]
    if found[0].all():
        return found * (1 + len(stages))
    for _, bit in stages:
        found.append(_in_either_row(found[-1], bit))
    return found


def exchanges(builder: Builder, columns: Columns) -> int:
    """Shuffles of the stages of some columns; those of pads are none."""
    return sum(
        int(flags.sum()) for column, stages in columns for flags in _copies(builder, np.array([column]), stages)[1:]
    )


def _before_stages(wanted: Flags, copies: Sequence[Flags], stages: Stages, segment_bits: int) -> tuple[Flags, float]:
    """
    Which values have to be there before the stages for some to be there after them, and what their shuffles cost.

    `copies`: which values are no pads before the stages and after each; shuffles of pads are none. The last shuffles
    may become one with those that read them.
    """
    cost = 0.0
    for number, ((stage, bit), is_copy) in enumerate(zip(reversed(stages), reversed(copies), strict=False)):
        price = cost_of_mask(stage.masks[0], len(stage.masks[0]), segment_bits) if number else CHEAP
        wanted = wanted & is_copy
        cost += price * int(wanted.sum())
        wanted = _in_either_row(wanted, bit)
    return wanted & copies[0], cost


def _in_either_row(flags: Flags, bit: int) -> Flags:
    """What holds for either of two rows that differ in a bit of their numbers."""
    pairs = flags.reshape(len(flags), -1, 2, 1 << bit)
    return np.broadcast_to(pairs.any(axis=2, keepdims=True), pairs.shape).reshape(flags.shape)


def _least_cost(builder: Builder, needed: set[int], segment_bits: int) -> float:
    """
    What it costs at least to have some values: loads, and shuffles of two values.

    Those of one value may become one with what that was made by; so may `needed` with what is made of them.
    """
    network = Network(tuple(builder.values), (), segment_bits)
    used, left, may_change = set(needed), list(needed), set(needed)
    merges: list[int] = []
    cost = 0.0
    while left:
        number = left.pop()
        value = builder.values[number]
        if isinstance(value, Shuffle):
            sources = {value.left, value.right}
            if len(sources) == 2 and reads_both(value.mask, width_of(builder.values[value.left])):
                merges.append(number)
            else:
                may_change |= sources
            left += sources - used
            used |= sources
        elif isinstance(value, Load):
            cost += CHEAP
    return cost + sum(CHEAP if number in may_change else network.cost_of(builder.values[number]) for number in merges)
