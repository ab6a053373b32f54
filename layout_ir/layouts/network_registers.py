"""What a network takes of registers that hold a part of its vectors: where each of these is several of them."""

from __future__ import annotations

from collections.abc import Sequence

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
            width = width_of(network.values[value.left])
            mask = [lane % width for lane in value.mask] if value.left == value.right else value.mask
            for start in range(0, len(mask), register_lanes):
                part = mask[start : start + register_lanes]
                found += _dear_shuffles(part, min(width, register_lanes), network.segment_bits)
    return found


def registers_taken(mask: Sequence[int], width: int) -> tuple[list[int], list[int]]:
    """
    The registers of `width` elements that lanes come from, which are numbered through all of them; and these lanes,
    numbered through the registers taken, in the order in which they are.
    """
    registers = list(dict.fromkeys(lane // width for lane in mask))
    place = {register: number * width for number, register in enumerate(registers)}
    return registers, [place[lane // width] + lane % width for lane in mask]


def _dear_shuffles(mask: Sequence[int], width: int, segment_bits: int) -> int:
    """How many put lanes of registers of `width` elements, numbered through all of them, into one."""
    registers, chosen = registers_taken(mask, width)
    if len(registers) != 2:
        return len(registers) - 1
    return 0 if is_cheap(tuple(chosen), width, segment_bits) else 1
