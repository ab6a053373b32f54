"""Tiles: parts of a box that a network moves through vector registers at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from layout_ir.layouts.plan import Box
from layout_ir.layouts.shuffle_network import Network

WORTHWHILE = 0.95
"""Vector instructions per element above which scalar loops are as good."""


@dataclass(frozen=True)
class Tile:
    """A part of a box: `extents[i]` steps of axis i, moved by a network."""

    extents: tuple[int, ...]
    network: Network

    @property
    def elements(self) -> int:
        """Cells of the destination that one tile writes."""
        return math.prod(self.extents)

    @property
    def cost(self) -> float:
        """Vector instructions per cell."""
        return self.network.cost / self.elements


def loose_pads(box: Box, tile: Tile) -> list[int]:
    """The axes that a tile takes step by step although some of their steps copy and the others pad."""
    if box.is_fill:
        return []
    return [
        i for i, (axis, steps) in enumerate(zip(box.axes, tile.extents, strict=True)) if not axis.is_full and steps == 1
    ]


def walked_cells(box: Box, tile: Tile) -> float:
    """Cells that all tiles of a box move, over the cells that it has."""
    return walked(box, tile.extents)


def walked(box: Box, extents: Sequence[int]) -> float:
    """The same for tiles of so many steps of every axis."""
    return math.prod(
        -(-axis.extent // steps) * steps / axis.extent for axis, steps in zip(box.axes, extents, strict=True)
    )
