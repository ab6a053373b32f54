"""
Instructions of shuffles where registers are of 32 bytes, and no general shuffle of two of them is one instruction.

One register's elements move within its two segments of 16 bytes by one instruction, and so do parts of 4 bytes through
all of it. Anything else takes both: segments change places before or as well. What comes from several registers is
moved in each of them, and then put together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from layout_ir.layouts.lane_stages import is_cheap
from layout_ir.layouts.network_registers import lanes_taken, registers_taken
from layout_ir.layouts.shuffle_network import Network, Shuffle, moves_whole_parts, whole_part_bits


def further_instructions(network: Network, register_lanes: int) -> float:
    """How many more a network takes in registers than it counts, for each register of its vectors."""
    further = 0.0
    for value in network.values:
        if isinstance(value, Shuffle):
            mask, width = lanes_taken(network, value)
            count = shuffle_instructions(mask, width, network.segment_bits, register_lanes)
            further += max(count / max(len(mask) // register_lanes, 1) - network.cost_of(value), 0)
    return further


@lru_cache(maxsize=65536)
def shuffle_instructions(mask: tuple[int, ...], width: int, segment_bits: int, register_lanes: int) -> int:
    """Those of a shuffle of vectors of `width` lanes, each in registers of `register_lanes`."""
    parts = (mask[at : at + register_lanes] for at in range(0, len(mask), register_lanes))
    return sum(_instructions(part, min(width, register_lanes), segment_bits) for part in parts)


def _instructions(mask: Sequence[int], width: int, segment_bits: int) -> int:
    """Those that put lanes of registers of `width` elements, numbered through all of them, into one."""
    registers, chosen = registers_taken(mask, width)
    if chosen == list(range(width)):
        return 0
    if len(registers) == 2 and is_cheap(tuple(chosen), width, segment_bits):
        return 1
    if len(registers) <= 2 and moves_whole_parts(chosen, segment_bits):
        return 1
    moves = 0
    for number in range(len(registers)):
        places = {place: lane % width for place, lane in enumerate(chosen) if lane // width == number}
        moves += _moves(places, segment_bits)
    return max(moves + len(registers) - 1, 1)


def _moves(places: Mapping[int, int], segment_bits: int) -> int:
    """Instructions that move some lanes of one register to their places, from place to lane."""
    if all(place == lane for place, lane in places.items()):
        return 0
    if all(place >> segment_bits == lane >> segment_bits for place, lane in places.items()):
        return 1
    if all((place - lane) % (1 << whole_part_bits(segment_bits)) == 0 for place, lane in places.items()):
        return 1
    moved = {(place >> segment_bits, lane >> segment_bits) for place, lane in places.items()}
    return 2 if len(moved) == len({to for to, _ in moved}) else 4
