"""Boxes cut so that no axis of theirs copies and pads in turn outside of a tile."""

from __future__ import annotations

from layout_ir.layouts.plan import Box
from layout_ir.layouts.plan_rewrites import cut_box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import WORTHWHILE, loose_pads
from layout_ir.layouts.tiling import choose_tile

LONGEST_PADDED = 4
"""Vectors up to which an axis with pads is moved as a whole if a tile does that."""


def parts_without_loose_pads(box: Box, lanes: int, source_size: int, segment: int | None = None) -> list[Box]:
    """
    Boxes that together are `box`, none with an axis whose steps partly copy and partly pad outside of its tile.

    A padded axis longer than a vector is moved as a whole if there is a tile for that which is no dearer than the
    parts: it writes neighbouring lines at once. Else it is cut at the last whole vector before its pads; but first of
    all axes around it, so that their pads are one piece.
    """
    if box.is_fill or not box.is_linear or not box.is_padded:
        return [box]
    for i, axis in enumerate(box.axes):
        if axis.is_full:
            continue
        if is_symbolic(axis.extent):
            before, after = cut_box(box, i, axis.valid)
            return [*parts_without_loose_pads(before, lanes, source_size, segment), after]
        if axis.extent > lanes and not _is_moved_whole(box, i, lanes, source_size, segment):
            cut = axis.valid // lanes * lanes
            before, after = cut_box(box, i, cut or lanes)
            loose = _loose_axes(before, i, lanes, source_size, segment)
            if loose:
                before, after = cut_box(box, loose[0], box.axes[loose[0]].valid)
            return [
                *parts_without_loose_pads(before, lanes, source_size, segment),
                *parts_without_loose_pads(after, lanes, source_size, segment),
            ]
    tile = choose_tile(box, lanes, source_size, segment)
    loose = _pads_without_tile(box, lanes, source_size, segment) if tile is None else loose_pads(box, tile)
    if not loose:
        return [box]
    before, after = cut_box(box, loose[0], box.axes[loose[0]].valid)
    return [*parts_without_loose_pads(before, lanes, source_size, segment), after]


def _pads_without_tile(box: Box, lanes: int, source_size: int, segment: int | None) -> list[int]:
    """The axes without whose pads a box has a tile; of several that it has none with, all."""
    padded = [i for i, axis in enumerate(box.axes) if not axis.is_full]
    copies = {i: cut_box(box, i, box.axes[i].valid)[0] for i in padded}
    found = [i for i in padded if choose_tile(copies[i], lanes, source_size, segment) is not None]
    return found or (padded if len(padded) > 1 else [])


def _is_moved_whole(box: Box, padded: int, lanes: int, source_size: int, segment: int | None) -> bool:
    """Whether a tile takes a padded axis as a whole, and does no more than tiles of its two parts."""
    axis = box.axes[padded]
    if axis.extent > LONGEST_PADDED * lanes:
        return False
    tile = choose_tile(box, lanes, source_size, segment)
    if tile is None or tile.extents[padded] != axis.extent:
        return False
    ends_with_line = axis.valid * axis.destination_stride % lanes == 0
    cut = axis.valid // lanes * lanes or (axis.valid if ends_with_line else 0)
    if not cut:
        return True
    parts = [(part, choose_tile(part, lanes, source_size, segment)) for part in cut_box(box, padded, cut)]
    cost = sum((WORTHWHILE if own is None else own.cost) * part.axes[padded].extent for part, own in parts)
    return tile.cost * axis.extent <= cost


def _loose_axes(box: Box, inner: int, lanes: int, source_size: int, segment: int | None) -> list[int]:
    """The axes from `inner` outwards whose pads a tile of the box leaves to themselves."""
    tile = choose_tile(box, lanes, source_size, segment)
    loose = [] if tile is None else loose_pads(box, tile)
    return [i for i in loose if box.axes[i].destination_stride >= box.axes[inner].destination_stride]
