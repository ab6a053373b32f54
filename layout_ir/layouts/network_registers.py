"""What a network takes of registers that hold a part of its vectors: where each of these is several of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Union

from layout_ir.layouts.lane_stages import is_cheap
from layout_ir.layouts.shuffle_network import Network, Shuffle, width_of


def most_registers(network: Network, lanes: int, register_lanes: int) -> int:
    """How many registers have to be kept at the same time, of a network of vectors of `lanes` elements."""
    return network.most_live * lanes // register_lanes


def dear_shuffles(network: Network, register_lanes: int) -> int:
    """Shuffles of registers for which no single instruction is known: each takes several, and registers for masks."""
    found = 0
    for value in network.values:
        if isinstance(value, Shuffle):
            mask, width = lanes_taken(network, value)
            for start in range(0, len(mask), register_lanes):
                part = mask[start : start + register_lanes]
                found += _dear_shuffles(part, min(width, register_lanes), network.segment_bits)
    return found


def lanes_taken(network: Network, value: Shuffle) -> tuple[tuple[int, ...], int]:
    """The lanes that a shuffle takes, numbered through one vector where both are the same, and those of a vector."""
    width = width_of(network.values[value.left])
    return tuple(lane % width for lane in value.mask) if value.left == value.right else value.mask, width


def registers_taken(mask: Sequence[int], width: int) -> tuple[list[int], list[int]]:
    """
    The registers of `width` elements that lanes come from, which are numbered through all of them; and these lanes,
    numbered through the registers taken, in the order in which they are.
    """
    registers = list(dict.fromkeys(lane // width for lane in mask))
    place = {register: number * width for number, register in enumerate(registers)}
    return registers, [place[lane // width] + lane % width for lane in mask]


Part = Union[int, "Mixture"]
"""A register by its number, or what is made of several."""


@dataclass(frozen=True)
class Mixture:
    """A shuffle of two registers, or of what is made of some."""

    left: Part
    right: Part
    lanes: tuple[int, ...]
    """Numbered through both."""


@lru_cache(maxsize=1024)
def mixtures(mask: tuple[int, ...], width: int, length: int) -> tuple[Part, ...]:
    """What makes each part, of `length` lanes, of a shuffle of registers of `width` elements, with lanes as there."""
    return tuple(_mixture(mask[at : at + length], width) for at in range(0, len(mask), length))


def _mixture(mask: Sequence[int], width: int) -> Part:
    taken, chosen = registers_taken(mask, width)
    if chosen == list(range(width)):
        return taken[0]
    if len(taken) <= 2:
        return Mixture(taken[0], taken[-1], tuple(chosen))
    # lanes of some registers and those of the others, all in their places, then one or the other
    near = taken[: len(taken) // 2]
    is_near = [lane // width in near for lane in mask]
    padded = [*mask, *[mask[0]] * (width - len(mask))]
    left, right = (
        _mixture([lane if (lane // width in near) == side else other * width for lane in padded], width)
        for side, other in ((True, near[0]), (False, taken[len(near)]))
    )
    return Mixture(left, right, tuple(lane if stays else width + lane for lane, stays in enumerate(is_near)))


def _dear_shuffles(mask: Sequence[int], width: int, segment_bits: int) -> int:
    """How many put lanes of registers of `width` elements, numbered through all of them, into one."""
    registers, chosen = registers_taken(mask, width)
    if len(registers) != 2:
        return len(registers) - 1
    return 0 if is_cheap(tuple(chosen), width, segment_bits) else 1
