"""Boxes with unknown extents that share lines of a large source, or of either side in the caches, in common loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.line_copy import LineCopy
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.shared_walk import CommonSteps, Sharing, Side, common_steps, sharing
from layout_ir.layouts.symbols import Symbols, is_symbolic
from layout_ir.layouts.tile import WORTHWHILE, Tile, loose_pads
from layout_ir.layouts.tiling import within_storage
from layout_ir.lowering.box_loops import Buffers, emit_box
from layout_ir.lowering.level_loops import level_loops, part_loops
from layout_ir.lowering.line_runs import begins_at_line
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.loop_order import loop_levels
from layout_ir.lowering.parts import WRITES_PARTS, Part
from layout_ir.lowering.schedule import Schedule, staying_in_caches
from layout_ir.lowering.tile_choice import tile_of
from layout_ir.lowering.tile_guards import are_as_long, is_as_large, may_be_large
from layout_ir.lowering.tile_loops import TileEmitter
from layout_ir.lowering.unknown_shares import MANY_MEETING_ROWS, axes_across
from layout_ir.lowering.walk_loops import DEAR_WALK
from layout_ir.lowering.whole_units import are_multiples, line_products


@dataclass(frozen=True)
class WalkedBox:
    """A box of a walk, its common axes in front."""

    box: Box
    tile: Tile | None
    """None where scalar loops are as good."""

    levels: tuple[LoopLevel, ...]
    """The loops around the tile inside of the common ones."""

    schedule: Schedule
    """For tiles that write whole lines if the `multiples` are multiples of a line."""

    @property
    def taken(self) -> list[tuple[Axis, int]]:
        """The axes of which the tile takes several steps, and how many."""
        extents = self.tile.extents if self.tile else ()
        return [(axis, steps) for axis, steps in zip(self.box.axes, extents, strict=False) if steps > 1]

    @property
    def cost(self) -> float:
        """Instructions for a cell."""
        return WORTHWHILE if self.tile is None else self.tile.cost

    def asking_for_nothing(self) -> WalkedBox:
        """The same for a destination of which all lines are near."""
        processor = replace(self.schedule.processor, asks_for_destination=False, asks_across_gaps=False)
        return replace(self, schedule=replace(self.schedule, processor=processor))

    def emit(self, builder: LoopBuilder, buffers: Buffers, common: dict[int, SSAValue], steps: int) -> None:
        """What is copied of the box inside of common loops, the last of which is over so many steps at a time."""
        if self.tile is not None:
            around = [LoopLevel(i, steps if i == len(common) - 1 else 1) for i in common]
            levels = (*(around if self.schedule.narrows else ()), *self.levels)
            with level_loops(builder, self.box, self.levels, common) as starts:
                TileEmitter(builder, buffers, self.schedule).emit(self.box, self.tile, starts, levels)
            return
        *outer, first = common.values()
        axis = self.box.axes[len(outer)]
        end = builder.index(AffineExpr.dimension(0) + steps, [first])
        with builder.loop_between(first, builder.minimum(end, axis.extent), axis.name) as index:
            emit_box(builder, self.box, buffers, started=[*outer, index])


@dataclass(frozen=True)
class UnknownWalk:
    """Boxes that are copied part by part, one after the other."""

    boxes: tuple[WalkedBox, ...]
    common: CommonSteps
    side: Side
    is_large: bool
    """Whether it is for what goes past the caches, or for what stays there."""
    is_parallel: bool
    """Whether threads share the common loops."""

    @property
    def axis(self) -> Axis:
        """The axis that is cut into parts, of any length."""
        return self.common.loops[0][-1]

    def conditions(self, builder: LoopBuilder, buffers: Buffers, schedule: Schedule) -> list[SSAValue]:
        """Whether what is copied is large, in whole lines, or is not, and has two parts at least."""
        is_large = is_as_large(builder, buffers, schedule.stream_bytes)
        has_parts = are_as_long(builder, [(self.axis.extent, 2 * self.common.steps)])
        if not self.is_large:
            return [builder.negated(is_large), *has_parts]
        lines = dict.fromkeys(number for one in self.boxes for number in sorted(one.schedule.multiples))
        at_lines = [begins_at_line(builder, buffers.destination), *are_multiples(builder, list(lines), schedule.lanes)]
        return [is_large, *at_lines, *has_parts]

    def emit(self, builder: LoopBuilder, buffers: Buffers) -> None:
        """The common loops, and in them those of every box."""
        axes = self.common.loops[0]
        size = builder.large() if self.is_large else nullcontext()
        with size, part_loops(builder, axes, self.common.steps, is_parallel=self.is_parallel) as starts:
            common = dict(enumerate(starts))
            for one in self.boxes:
                one.emit(builder, buffers, common, self.common.steps)


def unknown_walks(
    parts: Sequence[Part], schedule: Schedule, source_size: int, symbols: Symbols
) -> list[tuple[list[Part], list[UnknownWalk]]]:
    """
    Parts of which boxes share lines, with the walks that stand for them: of large copies, and in the caches.

    What is left over at the end of unknown blocks holds too little to be worth one, and fills of such blocks go first.
    """
    if not schedule.has_line_vectors:
        return []
    left = [part for part in parts if all(_may_walk(box, symbols) for box in part.group.boxes)]
    width = LINE_BYTES // schedule.lanes
    found: list[tuple[list[Part], list[UnknownWalk]]] = []
    for side in (Side.SOURCE, Side.DESTINATION):
        for together in sharing([box for part in left for box in part.group.boxes], width, side):
            own = [part for part in left if set(part.group.boxes) & set(together.boxes)]
            common = common_steps(together, width) if len(together.boxes) > 1 else None
            if common is None or sum(len(part.group.boxes) for part in own) > len(together.boxes):
                continue
            search = _Search(together, common, schedule, source_size, symbols)
            walks = [walk for walk in (search.large(own), search.in_caches()) if walk is not None]
            if walks:
                found.append((own, walks))
        left = [part for part in left if not any(part in own for own, _ in found)]
    return found


def _may_walk(box: Box, symbols: Symbols) -> bool:
    return not box.is_fill and may_be_large(box, symbols)


@dataclass(frozen=True)
class _Search:
    """The walks of some boxes."""

    together: Sharing
    common: CommonSteps
    schedule: Schedule
    source_size: int
    symbols: Symbols

    def large(self, parts: Sequence[Part]) -> UnknownWalk | None:
        """Past the caches, if boxes share lines of the source, and tiles that move each of them write whole lines."""
        by_tiles = all(part.fault in ("", WRITES_PARTS) and len(part.group.boxes) == 1 for part in parts)
        if self.together.side is not Side.SOURCE or not by_tiles:
            return None
        if not (self.schedule.streams and self.schedule.prefetches):
            return None
        return self._walk(replace(self.schedule, narrows=False, trusts_lines=True, starts_at_line=True), is_large=True)

    def in_caches(self) -> UnknownWalk | None:
        """
        In the caches, if that pays there by the longest tiles, which compare with those of boxes of any size.

        Threads only share parts that meet in few lines, as they may begin inside of these.
        """
        if self.schedule.threads and self._meeting_rows() >= MANY_MEETING_ROWS:
            return None
        cached = staying_in_caches(self.schedule)
        walk = self._walk(cached, is_large=False)
        return walk if walk is not None and self._pays(replace(cached, narrows=False)) else None

    def _meeting_rows(self) -> int:
        """In how many rows of the destination two parts meet."""
        pairs = zip(self.together.boxes, self.common.loops, strict=True)
        return sum(math.prod(axis.extent for axis in axes_across(box, loops[-1], loops)) for box, loops in pairs)

    def _pays(self, schedule: Schedule) -> bool:
        """Whether tiles inside of the common loops are not too dear beside those of the boxes one by one."""
        walk = self._walk(schedule, is_large=False)
        alone = together = 0.0
        for one, box in zip(walk.boxes if walk else (), self.together.boxes, strict=False):
            tile = tile_of(box, schedule, self.source_size)
            cells = math.prod(axis.extent for axis in one.box.axes[len(self.common.loops[0]) :])
            alone += cells * (WORTHWHILE if tile is None else tile.cost)
            together += cells * one.cost
        has_tiles = walk is not None and any(one.tile for one in walk.boxes)
        return has_tiles and together <= DEAR_WALK[self.together.side] * alone

    def _walk(self, schedule: Schedule, *, is_large: bool) -> UnknownWalk | None:
        pairs = zip(self.together.boxes, self.common.loops, strict=True)
        boxes = [
            _walked(box, loops, self.common.steps, schedule, self.source_size, self.symbols) for box, loops in pairs
        ]
        walked = tuple(box for box in boxes if box is not None)
        if len(walked) < len(boxes):
            return None
        if self.together.side is Side.DESTINATION:  # the first one has got the lines
            walked = (walked[0], *(one.asking_for_nothing() for one in walked[1:]))
        return UnknownWalk(walked, self.common, self.together.side, is_large, self.schedule.threads > 0)


def _walked(
    box: Box, loops: Sequence[Axis], steps: int, schedule: Schedule, source_size: int, symbols: Symbols
) -> WalkedBox | None:
    """A box with the tile and the loops for one part; None where tiles past the caches would not write whole lines."""
    axis, outer = loops[-1], len(loops) - 1
    behind = replace(box, axes=(*loops, *(own for own in box.axes if own not in loops)))
    part = replace(behind, axes=(replace(axis, extent=steps, valid=steps), *behind.axes[outer + 1 :]))
    inner, size = within_storage(behind, part, source_size) if source_size else (part, 0)
    if is_symbolic(size):
        if schedule.streams:
            return None
        inner, size = part, 0
    schedule = replace(schedule, cells=inner.cells)
    tile = tile_of(inner, schedule, size)
    if tile is None or loose_pads(inner, tile):
        return None if schedule.streams or box.is_padded else WalkedBox(behind, None, (), schedule)
    if isinstance(tile, LineCopy):
        return None
    extended = replace(tile, extents=(*[1] * outer, *tile.extents))
    whole = line_products(behind, extended, schedule.lanes, symbols) if schedule.streams else []
    if whole is None:
        return None
    # rows that are asked for ahead would be those of the whole axis
    may_be_pages = schedule.may_be_pages and not schedule.narrows  # nothing looks for pages
    order = replace(schedule, may_be_pages=may_be_pages, threads=0)
    levels = [replace(level, rows=None) for level in loop_levels(inner, tile, order)]
    levels = [replace(one, inside=steps) if one.axis == 0 and one.inside is None else one for one in levels]
    if tile.extents[0] == steps:
        levels.append(LoopLevel(0, steps, inside=steps))
    own = tuple(level.behind(outer) for level in levels)
    return WalkedBox(behind, extended, own, replace(schedule, multiples=frozenset(whole)))
