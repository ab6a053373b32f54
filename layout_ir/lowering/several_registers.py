"""
Tiles whose vectors take several registers each, as those of whole lines do where registers are half as long.

They read and write whole lines, but keep more than there are registers, and move lanes from any of four registers to
another. The tiles that fill panels go through single registers. Measured on Zen 3, where 15 copies of filters and of
channels are 1.1 to 3 times as fast by panels, and the others faster without.
"""

from __future__ import annotations

from layout_ir.layouts.network_registers import dear_shuffles, most_registers
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.schedule import Schedule

MOST_REGISTERS = 150
"""
Registers of a tile above which panels are faster.

On Zen 4 without its vectors of 64 bytes 14 tiles of 118 to 148 are 1.25 times as fast as panels in the mean, 0.97 to
1.6 times, since parts that have nothing to do with each other come in their turn. Tiles of 162 are 0.9 times as fast.
"""

MOST_STAGED_REGISTERS = 100
"""The same where a destination does not begin at a line, as C compilers take a second for a tile that comes twice."""

LONG_TILE = 512
"""
Elements of a tile above which dear shuffles are counted in any case.

Filters of 3 x 3 go up to 1.3 times as fast by tiles of 1024 and 2304 on Zen 4 without its vectors of 64 bytes, but
take 1.5 seconds to compile, and 0.2 to 0.4 by panels.
"""

ELEMENTS_OF_4_BYTES = 4
"""Those in 16 bytes."""

FEWER_DEAR_SHUFFLES = 0.7
"""How many dear shuffles less, for every register of the destination, the tiles of panels have to take."""


def takes_many_registers(tile: Tile, schedule: Schedule, most: int = MOST_REGISTERS) -> bool:
    """Whether a tile keeps so many registers at a time that most of them are written to memory and read again."""
    lanes = schedule.register_lanes
    return lanes > 0 and most_registers(tile.network, schedule.lanes, lanes) > most


def shuffles_less(filling: Tile, tile: Tile, schedule: Schedule) -> bool:
    """Whether a tile that fills panels takes clearly fewer dear shuffles than one that writes whole lines."""
    if not counts_dear_shuffles(tile, schedule):
        return False
    lanes = schedule.register_lanes
    less, more = (dear_shuffles(one.network, lanes) * lanes / one.elements for one in (filling, tile))
    return more - less >= FEWER_DEAR_SHUFFLES


def counts_dear_shuffles(tile: Tile, schedule: Schedule) -> bool:
    """Whether a tile keeps so many elements in several registers a vector that dear shuffles between them matter."""
    are_many = tile.network.most_live * schedule.lanes > schedule.processor.dear_elements
    return schedule.register_lanes > 0 and (are_many or tile.elements > LONG_TILE)


def has_small_elements(schedule: Schedule) -> bool:
    """
    Whether elements are so small that general shuffles of two registers are up to nine instructions.

    Those of 4 bytes are three. Where tiles that fill panels do without these, and others do cells again for it, filters
    of 3 x 3 in f32 are 0.75 to 0.8 times as fast on Zen 4 without its vectors of 64 bytes; in f16 1.2 to 1.8 times.
    """
    return schedule.segment is not None and schedule.segment > ELEMENTS_OF_4_BYTES
