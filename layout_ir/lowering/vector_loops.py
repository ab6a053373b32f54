"""The boxes of a plan through vector registers: the loops of all its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from layout_ir.layouts.line_copy import LineCopy
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import Symbols
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.common_lengths import COMMON_LENGTH, of_common_length
from layout_ir.lowering.destination_prefetching import has_gaps
from layout_ir.lowering.line_runs import begins_at_line
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.loop_order import loop_levels
from layout_ir.lowering.medium_copies import AtLines, for_part_of_any_size
from layout_ir.lowering.panel_guards import PanelGuards
from layout_ir.lowering.panel_loops import emit_panels
from layout_ir.lowering.parts import Part, split
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.staged_loops import emit_staged
from layout_ir.lowering.tile_choice import tile_of
from layout_ir.lowering.tile_guards import emit_where
from layout_ir.lowering.tile_loops import emit_part
from layout_ir.lowering.unknown_walks import UnknownWalk, unknown_walks
from layout_ir.lowering.walk_loops import TiledWalk, emit_walk, with_walks
from layout_ir.lowering.whole_steps import WholeSteps, whole_steps


def emit_vector_boxes(builder: LoopBuilder, boxes: Sequence[Box], buffers: Buffers, schedule: Schedule) -> None:
    """The loops of all boxes of a plan."""
    emitter = _Emitter(builder, buffers, schedule)
    parts = list(split(boxes, buffers.source_size, schedule, buffers.pad is not None, emitter.symbols))
    if builder.unknown is not None:
        emitter.of_any_size(parts)
        return
    for part in parts:
        if part.is_by_panels:
            emitter.by_panels(part.panel)
    emitter.by_start([part for part in parts if not part.is_by_panels])


def emit_by_start(
    builder: LoopBuilder, boxes: Sequence[Box], buffers: Buffers, at_lines: AtLines, usual: Schedule
) -> None:
    """The same with a schedule of its own for a destination that begins at a cache line."""

    def emit_at_lines() -> None:
        _Emitter(builder, buffers, replace(at_lines.schedule, starts_at_line=True)).at_line(at_lines.parts)

    def emit_elsewhere() -> None:
        parts = split(boxes, buffers.source_size, usual, buffers.pad is not None)
        _Emitter(builder, buffers, usual).elsewhere(list(parts))

    emit_where(builder, [begins_at_line(builder, buffers.destination)], emit_at_lines, emit_elsewhere)


@dataclass(frozen=True)
class _Emitter:
    """Emits the parts of a plan that may go by tiles."""

    builder: LoopBuilder
    buffers: Buffers
    schedule: Schedule

    @property
    def symbols(self) -> Symbols | None:
        """What stands for unknown extents, if there are any."""
        return None if self.builder.unknown is None else self.builder.unknown.symbols

    def of_any_size(self, parts: Sequence[Part]) -> None:
        """Parts with unknown extents; those that read the same lines in common loops where these are found to pay."""
        assert self.symbols is not None
        walks = unknown_walks(parts, self.schedule, self.buffers.source_size, self.symbols)
        walked = [part for own, _ in walks for part in own]
        self._one_by_one([part for part in parts if part not in walked])
        for own, some in walks:
            self._by_walks(own, some)

    def _by_walks(self, parts: Sequence[Part], walks: Sequence[UnknownWalk]) -> None:
        """Parts in the common loops of the first walk whose conditions hold, or else one by one."""
        if not walks:
            self._one_by_one(parts)
            return
        walk, *others = walks
        emit_where(
            self.builder,
            walk.conditions(self.builder, self.buffers, self.schedule),
            partial(walk.emit, self.builder, self.buffers),
            partial(self._by_walks, parts, others),
        )

    def _one_by_one(self, parts: Sequence[Part]) -> None:
        """The same without common loops."""
        for steps in whole_steps(parts, self.buffers.source_size, self.schedule):
            self._where_any(steps.group.boxes, partial(self._by_length, steps))

    def _where_any(self, boxes: Sequence[Box], emit: Callable[[], None]) -> None:
        """What moves boxes; around all of their loops it is asked whether there are any steps, as a call may tell."""
        symbols = self.symbols
        assert symbols is not None
        rests = ({axis.extent for axis in box.axes if symbols.may_be_none(axis.extent)} for box in boxes)
        none = self.builder.constant(0)
        common = sorted(set[int].intersection(*rests))
        emit_where(
            self.builder,
            [self.builder.compare(self.builder.constant(rest), "ne", none) for rest in common],
            emit,
            lambda: None,
        )

    def _by_length(self, steps: WholeSteps) -> None:
        """Steps with rows of a common length as those of known length where that is worth it."""
        symbols = self.symbols
        common = symbols and of_common_length(steps, self.buffers, self.schedule, symbols)
        if not common:
            self.by_steps(steps)
            return

        def emit_common() -> None:
            size, schedule = common.buffers.source_size, replace(self.schedule, cells=common.buffers.cells)
            parts = tuple(split(common.boxes, size, schedule, self.buffers.pad is not None, symbols))
            emitter = replace(self, buffers=common.buffers, schedule=schedule)
            emitter.by_steps(WholeSteps(parts[0].group, parts))

        length = self.builder.constant(common.extent)
        is_common = self.builder.compare(length, "eq", self.builder.constant(COMMON_LENGTH))
        emit_where(self.builder, [is_common], emit_common, lambda: self.by_steps(steps))

    def by_steps(self, steps: WholeSteps) -> None:
        """Parts with unknown extents: step by step where these are small, else each part by itself."""
        schedule = self.schedule
        if len(steps.parts) == 1:
            schedule = for_part_of_any_size(steps.parts[0], schedule, self.buffers.source_size)
        guards = PanelGuards(self.builder, self.buffers, schedule, steps.group)
        if steps.together is None:
            self._by_shorter_tiles(steps, guards)
            return
        panel = steps.together
        emit_where(
            self.builder,
            [*guards.is_large(), *guards.fits(panel)],
            lambda: replace(self, schedule=inside_of_lines(self.schedule)).by_panels(panel),
            lambda: self._by_shorter_tiles(steps, guards),
        )

    def _by_shorter_tiles(self, steps: WholeSteps, guards: PanelGuards) -> None:
        """Steps by panels that shorter tiles fill where only these fit in, else each part by itself."""

        def otherwise() -> None:
            if len(steps.parts) == 1:  # of which there are some
                self.by_sizes(steps.parts[0], guards.schedule)
                return
            for part in steps.parts:
                self._where_any(part.group.boxes, partial(self.by_sizes, part, guards.schedule))

        short, usual = steps.short, steps.usual
        if short is None or usual is None:
            otherwise()
            return
        # vectors are parts of lines, which are asked for several times as it is
        processor = replace(self.schedule.processor, asks_times=1)
        filled = replace(self, schedule=replace(inside_of_lines(self.schedule), processor=processor))
        emit_where(self.builder, guards.only_fits(short, usual), lambda: filled.by_panels(short), otherwise)

    def by_sizes(self, part: Part, schedule: Schedule) -> None:
        """A part with unknown extents: by its panels where a kernel finds that these pay; both with this schedule."""
        panel = part.panel
        if panel is None:
            self._by_tiles(part.group.boxes)
            return
        guards = PanelGuards(self.builder, self.buffers, schedule, panel.group)
        emit_where(
            self.builder,
            [*guards.panels_pay(panel), *guards.one_fits(panel, part.for_steps.in_order)],
            lambda: self._panels_by_size([*part.for_steps.in_order, panel], guards),
            lambda: replace(self, schedule=guards.left_to_tiles(panel))._by_tiles(part.group.boxes),
        )

    def _panels_by_size(self, panels: Sequence[Panel], guards: PanelGuards) -> None:
        """The first panels that fit: of steps, of pieces or parts of them where these are small enough, or the last."""
        inside = replace(self, schedule=inside_of_lines(self.schedule))
        first, *others = panels
        conditions = guards.fits(first) if others else []
        emit_where(
            self.builder,
            conditions,
            lambda: inside.by_panels(first),
            lambda: self._panels_by_size(others, guards),
        )

    def by_panels(self, panel: Panel | None) -> None:
        """Panels, if there are any."""
        if panel is not None:
            emit_panels(self.builder, panel, self.buffers, self.schedule)

    def by_start(self, parts: Sequence[Part]) -> None:
        """Parts that a destination which begins at a line gets by tiles or by other panels than any other."""
        if self._go_alike(parts):
            self._by_tiles(_boxes_of(parts))
            return
        at_line = begins_at_line(self.builder, self.buffers.destination)
        starting = replace(self, schedule=replace(self.schedule, starts_at_line=True))
        emit_where(self.builder, [at_line], lambda: starting.at_line(parts), lambda: self._inside_of_lines(parts))

    def elsewhere(self, parts: Sequence[Part]) -> None:
        """Parts of a destination that does not begin at a line."""
        if self._go_alike(parts):
            self._by_tiles(_boxes_of(parts))
        else:
            self._inside_of_lines(parts)

    def _go_alike(self, parts: Sequence[Part]) -> bool:
        """Whether tiles move all parts in the same way wherever the destination begins."""
        is_by_tiles = not any(part.panel or part.staged for part in parts)
        return is_by_tiles and moves_alike(_boxes_of(parts), self.schedule, self.buffers.source_size)

    def at_line(self, parts: Sequence[Part]) -> None:
        """Parts of a destination that begins at a line."""
        for part in parts:
            self.by_panels(part.at_line)
        self._by_tiles([box for part in parts if part.at_line is None for box in part.group.boxes])

    def _inside_of_lines(self, parts: Sequence[Part]) -> None:
        usual = replace(self, schedule=inside_of_lines(self.schedule))
        for part in parts:
            if part.staged is not None:
                emit_staged(self.builder, part.staged, self.buffers, self.schedule)
            elif part.panel is not None:
                usual.by_panels(part.panel)
            else:
                usual._by_tiles(part.group.boxes)

    def _by_tiles(self, boxes: Sequence[Box]) -> None:
        walks: Sequence[TiledWalk | Box] = boxes
        if self.builder.unknown is None:
            walks = with_walks(boxes, self.schedule, self.buffers.source_size, self.buffers.pad is not None)
        for one in walks:
            if isinstance(one, TiledWalk):
                emit_walk(self.builder, one, self.buffers, self.schedule)
            else:
                emit_part(self.builder, one, self.buffers, self.schedule)


def _boxes_of(parts: Sequence[Part]) -> list[Box]:
    return [box for part in parts for box in part.group.boxes]


def inside_of_lines(schedule: Schedule) -> Schedule:
    """The schedule of tiles for a destination that begins inside of a line."""
    return replace(schedule, streams=False, at_line=False, starts_at_line=False)


def moves_alike(boxes: Sequence[Box], schedule: Schedule, source_size: int) -> bool:
    """
    Whether tiles move boxes in the same way wherever the destination begins.

    They may not in the caches, nor where parts of lines bypass these: they would not be all that their line gets.
    """
    if any(_is_for_lines(box, schedule, source_size) for box in boxes):
        return False
    return not schedule.narrows or all(
        _choice(box, schedule, source_size) == _choice(box, inside_of_lines(schedule), source_size) for box in boxes
    )


def _is_for_lines(box: Box, schedule: Schedule, source_size: int) -> bool:
    """Whether rows are copied by lines in a way that only suits a destination that begins at one."""
    tile = tile_of(box, schedule, source_size)
    if not isinstance(tile, LineCopy):
        return False
    if schedule.processor.asks_across_gaps and has_gaps(box):
        return True  # inside of lines nothing bypasses the caches, and all of it has to be asked for
    return any(store.lanes < schedule.lanes for store in tile.network.stores if store.offset in tile.streamed)


def _choice(box: Box, schedule: Schedule, source_size: int) -> tuple[Tile, list[LoopLevel]] | None:
    tile = tile_of(box, schedule, source_size)
    return None if tile is None else (tile, loop_levels(box, tile, schedule))
