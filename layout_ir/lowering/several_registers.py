"""
Tiles whose vectors take several registers each, as those of whole lines do where registers are half as long.

They read and write whole lines, but keep more than there are registers, and move lanes from any of four registers to
another. The tiles that fill panels go through single registers. Measured on Zen 3, where 15 copies of filters and of
channels are 1.1 to 3 times as fast by panels, and the others faster without.
"""

from __future__ import annotations

from layout_ir.layouts.network_registers import dear_shuffles, most_registers
from layout_ir.layouts.tiling import Tile
from layout_ir.lowering.schedule import Schedule

FEWER_DEAR_SHUFFLES = 0.7
"""How many dear shuffles less, for every register of the destination, the tiles of panels have to take."""


def takes_many_registers(tile: Tile, schedule: Schedule) -> bool:
    """Whether a tile keeps so many registers at a time that most of them are written to memory and read again."""
    return schedule.register_lanes > 0 and _registers(tile, schedule) > schedule.processor.most_registers


def shuffles_less(filling: Tile, tile: Tile, schedule: Schedule) -> bool:
    """Whether a tile that fills panels takes clearly fewer dear shuffles than one that writes whole lines."""
    if not counts_dear_shuffles(tile, schedule):
        return False
    lanes = schedule.register_lanes
    less, more = (dear_shuffles(one.network, lanes) * lanes / one.elements for one in (filling, tile))
    return more - less >= FEWER_DEAR_SHUFFLES


def counts_dear_shuffles(tile: Tile, schedule: Schedule) -> bool:
    """Whether a tile keeps so many elements in several registers a vector that dear shuffles between them matter."""
    lanes = schedule.register_lanes
    return lanes > 0 and _registers(tile, schedule) * lanes > schedule.processor.dear_elements


def _registers(tile: Tile, schedule: Schedule) -> int:
    return most_registers(tile.network, schedule.lanes, schedule.register_lanes)
