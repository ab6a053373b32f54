"""Boxes with unknown extents that read the same lines of a large source, inside of common loops."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.line_copy import LineCopy
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.shared_walk import CommonSteps, Side, common_steps, sharing
from layout_ir.layouts.symbols import Symbols, is_symbolic
from layout_ir.layouts.tiling import Tile, loose_pads, within_storage
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.level_loops import level_loops, part_loop
from layout_ir.lowering.line_runs import begins_at_line
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.loop_order import loop_levels
from layout_ir.lowering.parts import WRITES_PARTS, Part
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.tile_choice import tile_of
from layout_ir.lowering.tile_guards import are_as_long, is_as_large, may_be_large
from layout_ir.lowering.tile_loops import TileEmitter
from layout_ir.lowering.whole_units import are_multiples, line_products


@dataclass(frozen=True)
class WalkedBox:
    """A box of a walk, its common axes in front."""

    box: Box
    tile: Tile
    levels: tuple[LoopLevel, ...]
    """The loops around the tile inside of the common ones."""

    schedule: Schedule
    """For tiles that write whole lines if the `multiples` are multiples of a line."""

    @property
    def taken(self) -> list[tuple[Axis, int]]:
        """The axes of which the tile takes several steps, and how many."""
        return [(axis, steps) for axis, steps in zip(self.box.axes, self.tile.extents, strict=True) if steps > 1]


@dataclass(frozen=True)
class UnknownWalk:
    """Boxes that are copied part by part, one after the other."""

    boxes: tuple[WalkedBox, ...]
    common: CommonSteps

    @property
    def axis(self) -> Axis:
        """The axis that is cut into parts, of any length."""
        return self.common.loops[0][-1]

    def conditions(self, builder: LoopBuilder, buffers: Buffers, schedule: Schedule) -> list[SSAValue]:
        """Whether what is copied is large, in whole lines, and has two parts at least."""
        lines = dict.fromkeys(number for one in self.boxes for number in sorted(one.schedule.multiples))
        return [
            is_as_large(builder, buffers, schedule.stream_bytes),
            begins_at_line(builder, buffers.destination),
            *are_multiples(builder, list(lines), schedule.lanes),
            *are_as_long(builder, [(self.axis.extent, 2 * self.common.steps)]),
        ]

    def emit(self, builder: LoopBuilder, buffers: Buffers) -> None:
        """The common loops, and in them those of every box."""
        *outer, axis = self.common.loops[0]
        with ExitStack() as loops:
            common: dict[int, SSAValue] = {}
            for i, (one, step) in enumerate([*((each, 1) for each in outer), (axis, self.common.steps)]):
                common[i] = loops.enter_context(part_loop(builder, one, step))
            for one in self.boxes:
                with level_loops(builder, one.box, one.levels, common) as starts:
                    TileEmitter(builder, buffers, one.schedule).emit(one.box, one.tile, starts, one.levels)


def unknown_walks(
    parts: Sequence[Part], schedule: Schedule, source_size: int, symbols: Symbols
) -> list[tuple[list[Part], UnknownWalk]]:
    """
    The walks of boxes that read the same lines, each with the parts it stands for.

    What is left over at the end of unknown blocks holds too little to be worth one, and fills of such blocks go first.
    """
    if not (schedule.streams and schedule.prefetches and schedule.has_line_vectors) or schedule.threads:
        return []
    able = [part for part in parts if _may_walk(part, symbols)]
    width = LINE_BYTES // schedule.lanes
    found: list[tuple[list[Part], UnknownWalk]] = []
    for together in sharing([part.group.main for part in able], width, Side.SOURCE):
        common = common_steps(together, width) if len(together.boxes) > 1 else None
        if common is None:
            continue
        pairs = zip(together.boxes, common.loops, strict=True)
        boxes = [_walked(box, loops, common.steps, schedule, source_size, symbols) for box, loops in pairs]
        walked = tuple(box for box in boxes if box is not None)
        if len(walked) == len(boxes):
            own = [part for part in able if part.group.main in together.boxes]
            found.append((own, UnknownWalk(walked, common)))
    return found


def _may_walk(part: Part, symbols: Symbols) -> bool:
    """Whether a part is a single large box that tiles may move, if they write whole lines."""
    boxes = part.group.boxes
    is_by_tiles = part.fault in ("", WRITES_PARTS)
    return is_by_tiles and len(boxes) == 1 and not boxes[0].is_fill and may_be_large(boxes[0], symbols)


def _walked(
    box: Box, loops: Sequence[Axis], steps: int, schedule: Schedule, source_size: int, symbols: Symbols
) -> WalkedBox | None:
    """A box with the tile and the loops for one part; None where tiles would not write whole lines."""
    axis, outer = loops[-1], len(loops) - 1
    behind = replace(box, axes=(*loops, *(own for own in box.axes if own not in loops)))
    part = replace(behind, axes=(replace(axis, extent=steps, valid=steps), *behind.axes[outer + 1 :]))
    inner, size = within_storage(behind, part, source_size) if source_size else (part, 0)
    if is_symbolic(size):
        return None
    large = replace(schedule, narrows=False, trusts_lines=True, cells=inner.cells)
    tile = tile_of(inner, large, size)
    if tile is None or isinstance(tile, LineCopy) or loose_pads(inner, tile):
        return None
    extended = replace(tile, extents=(*[1] * outer, *tile.extents))
    whole = line_products(behind, extended, schedule.lanes, symbols)
    if whole is None:
        return None
    # rows that are asked for ahead would be those of the whole axis
    levels = [replace(level, rows=None) for level in loop_levels(inner, tile, large)]
    levels = [replace(one, inside=steps) if one.axis == 0 and one.inside is None else one for one in levels]
    if tile.extents[0] == steps:
        levels.append(LoopLevel(0, steps, inside=steps))
    own = tuple(level.behind(outer) for level in levels)
    return WalkedBox(behind, extended, own, replace(large, multiples=frozenset(whole)))
