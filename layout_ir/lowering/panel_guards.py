"""
When a copy with unknown extents goes by panels: conditions that a kernel looks at when it is called.

Panels pay where the destination is large, where tiles would write its lines in parts, and where runs are long. And an
unknown extent has to hold the tiles that fill a panel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.layouts import panel_choice
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_group import Group
from layout_ir.layouts.panel_of_step import step_length
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import walked_cells
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.line_runs import begins_at_line, bytes_behind_line
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.picked_lines import picks_from_lines
from layout_ir.lowering.schedule import Schedule, axes_of_tile
from layout_ir.lowering.several_registers import counts_dear_shuffles, takes_many_registers
from layout_ir.lowering.tile_choice import tile_of
from layout_ir.lowering.tile_guards import are_as_long, is_as_large
from layout_ir.lowering.whole_units import line_products, rest_of_division

SHARES = 100
"""Parts of a cell in which kernels, which compute with whole numbers, compare how much is moved again."""


@dataclass(frozen=True)
class PanelGuards:
    """The conditions around the panels of one group."""

    builder: LoopBuilder
    buffers: Buffers
    schedule: Schedule
    group: Group

    def panels_pay(self, panel: Panel) -> list[SSAValue]:
        """Whether the copy is large enough, and tiles would write lines in parts."""
        conditions = self.is_large()
        products = self._products_beside(panel)
        if products is not None:
            total = bytes_behind_line(self.builder, self.buffers.destination)
            for product in products:
                rest = rest_of_division(self.builder, product, self.schedule.lanes)
                total = self.builder.insert(arith.AddiOp(total, rest)).results[0]
            pays = self.builder.compare(total, "ne", self.builder.constant(0))
            pays = self.builder.any_holds([pays, *self._are_written_again()])
            conditions.append(pays)
        return conditions

    def _are_written_again(self) -> list[SSAValue]:
        """For each unknown extent whether its last tile overlaps the one before so far that panels pay."""
        box = self.group.main
        tile = tile_of(box, self.schedule, self.buffers.source_size)
        return [
            self._is_written_again(axis.extent, steps)
            for axis, steps in zip(box.axes, tile.extents if tile else (), strict=False)
            if is_symbolic(axis.extent) and steps > 1
        ]

    def _is_written_again(self, extent: int, steps: int) -> SSAValue:
        """Whether tiles of so many steps move more cells of an extent than are worth it, for every one there is."""
        dim, length = AffineExpr.dimension(0), self.builder.constant(extent)
        moved = self.builder.index((dim + (steps - 1)) // steps * (SHARES * steps), [length])
        most = self.builder.index(dim * round(SHARES * self.schedule.processor.written_again), [length])
        return self.builder.compare(moved, "ugt", most)

    def only_fits(self, panel: Panel, usual: Panel) -> list[SSAValue]:
        """Whether the copy is large, and the group's extents hold the tiles of a panel, but not the usual one's."""
        tiles = are_as_long(self.builder, _tile_extents(usual))
        return [*self.is_large(), self.builder.negated(self.builder.all_hold(tiles)), *self.fits(panel)]

    def is_large(self) -> list[SSAValue]:
        """
        Whether the copy is large enough to bypass the caches.

        That may be later for what tiles write in parts of lines, but on some processors not for rows far apart.
        """
        large = is_as_large(self.builder, self.buffers, self.schedule.parts_bytes)
        far_bytes = self.schedule.processor.far_written_bytes
        if far_bytes is None or self.schedule.parts_bytes == self.schedule.stream_bytes:
            return [large]
        tile = tile_of(self.group.main, self.schedule, self.buffers.source_size)
        rows = [axis.destination_stride for axis in axes_of_tile(self.group.main, tile)] if tile else []
        far = are_as_long(self.builder, [(row, far_bytes // self._width) for row in dict.fromkeys(rows)])
        medium = is_as_large(self.builder, self.buffers, self.schedule.stream_bytes)
        return [self.builder.any_holds([large, *(self.builder.all_hold([medium, row]) for row in far)])]

    def one_fits(self, panel: Panel, others: Sequence[Panel]) -> list[SSAValue]:
        """Whether a kernel can take one of some panels; `others` need smaller extents where they differ at all."""
        every = [self.fits(panel), *(self.fits(other) for other in others if self._needs_less(other, panel))]
        if not all(every):
            return []
        return [self.builder.any_holds([self.builder.all_hold(conditions) for conditions in every])]

    def _needs_less(self, panel: Panel, usual: Panel) -> bool:
        return _some_are_less(_least_extents(panel, self._width), _least_extents(usual, self._width))

    def left_to_tiles(self, panel: Panel) -> Schedule:
        """
        The schedule of tiles that get what panels leave.

        Where panels fit whenever tiles do, these get nothing large, or only what they write whole lines of.
        """
        products, schedule = self._products_beside(panel), self.schedule
        if products is None:  # whole lines pay no sooner than parts of them, as they are written again
            schedule = replace(schedule, stream_bytes=schedule.parts_bytes)
        for extent, steps in _least_extents(panel, self._width):
            if is_symbolic(extent) and not all(self._holds(box, extent, steps) for box in self.group.boxes):
                return schedule
        if products is None:
            return replace(schedule, streams=False, prefetches=False)
        if schedule.parts_bytes == schedule.stream_bytes:
            return replace(schedule, trusts_lines=True)
        return replace(schedule, leaves_parts=True)

    def _holds(self, box: Box, extent: int, steps: int) -> bool:
        """Whether the tile of a box only fits into extents of so many steps."""
        tile = tile_of(box, self.schedule, self.buffers.source_size)
        lengths = zip(box.axes, tile.extents, strict=True) if tile else ()
        return any(axis.extent == extent and length >= steps for axis, length in lengths)

    def fits(self, panel: Panel) -> list[SSAValue]:
        """
        Whether tiles fit into the extents, and a step that is asked for as a whole, or kept, into a cache.

        Or parts of a larger one take its short rows; what they ask for is the next part then.
        """
        conditions = are_as_long(self.builder, _least_extents(panel, self._width))
        if panel.kept_step is not None:
            return [*conditions, *self._is_step_kept(panel, panel.kept_step)]
        if panel.region is None:
            return conditions
        is_unknown = any(map(is_symbolic, (*panel.steps, self.group.stretch)))
        cells = (
            math.prod(panel.steps, start=self.group.stretch) if is_unknown else step_length(self.group, panel.region)
        )
        most = self.schedule.processor.costs_of_panels(at_lines=True).kept_region_bytes // self._width
        if is_unknown:  # a panel is a run, and has to fit into scratch
            least = max(panel_choice.LEAST_RUN_BYTES // self._width, self.schedule.lanes)
            most = panel.size - panel.lead - self.schedule.lanes
            enough = self.builder.compare(self.builder.constant(cells), "uge", self.builder.constant(least))
            conditions.append(enough)
        is_kept = [self._is_at_most(cells, most)]
        if not is_unknown:
            is_kept += self._reads_short_rows()
        return [*conditions, self.builder.any_holds(is_kept)]

    def _is_step_kept(self, panel: Panel, outer: int) -> list[SSAValue]:
        """Whether both sides begin at lines, a second level cache keeps a step, and rows are long enough for pieces."""
        assert panel.carried is not None
        axis, processor = panel.group.axes[panel.carried], self.schedule.processor
        most = processor.costs_of_panels(at_lines=True).kept_source_bytes // self._width
        row, least = axis.destination_stride * axis.extent, processor.kept_row_bytes // self._width
        return [
            *(begins_at_line(self.builder, side) for side in (self.buffers.source, self.buffers.destination)),
            self.builder.compare(self.builder.constant(row), "uge", self.builder.constant(least)),
            self._is_at_most(step_length(self.group, outer), most),
        ]

    def _reads_short_rows(self) -> list[SSAValue]:
        """Whether rows of the source of unknown length are so short that parts of several had better be taken."""
        most = self.schedule.processor.short_row_bytes // self._width
        rows = [axis.extent for axis in self.group.main.axes if axis.source_stride == 1 and is_symbolic(axis.extent)]
        return [self._is_at_most(row, most) for row in rows] if most else []

    def _is_at_most(self, number: int, most: int) -> SSAValue:
        return self.builder.compare(self.builder.constant(number), "ule", self.builder.constant(most))

    def _products_beside(self, panel: Panel) -> list[int] | None:
        """What `_line_products` has; None also where several registers a vector make panels of one run pay."""
        tile = None if panel.rows else tile_of(self.group.main, self.schedule, self.buffers.source_size)
        is_dear = tile is not None and counts_dear_shuffles(tile, self.schedule)
        return None if is_dear else self._line_products

    @cached_property
    def _line_products(self) -> list[int] | None:
        """
        Numbers of which one is no multiple of a line where tiles write lines in parts, and panels pay.

        None where tiles always do, or write so many lines twice, read so many, or take so many registers, that panels
        pay in any case.
        """
        assert self.builder.unknown is not None
        if picks_from_lines(self.group.main, self.schedule):
            return None
        products: dict[int, None] = {}
        for box in self.group.boxes:
            tile = tile_of(box, self.schedule, self.buffers.source_size)
            if tile is None or walked_cells(box, tile) > self.schedule.processor.written_again:
                return None
            if takes_many_registers(tile, self.schedule):
                return None
            numbers = line_products(box, tile, self.schedule.lanes, self.builder.unknown.symbols)
            if numbers is None:
                return None
            products |= dict.fromkeys(numbers)
        return list(products)

    @property
    def _width(self) -> int:
        """Bytes of an element."""
        return LINE_BYTES // self.schedule.lanes


def _least_extents(panel: Panel, width: int) -> list[tuple[int, int]]:
    """The extents of all axes, and how long each must be for tiles, and for the runs."""
    least = list(panel.least)
    if panel.run:
        *inner, last = panel.run
        length = width * math.prod((panel.steps[i] for i in inner), start=panel.group.stretch)
        least[last] = max(least[last], -(-panel_choice.LEAST_RUN_BYTES // length))
    return _several(panel, least)


def holds_shorter(panel: Panel, usual: Panel) -> bool:
    """Whether extents that are not known can hold the tiles of a panel, but not those of the usual one."""
    unknown = [(extent, steps) for extent, steps in _tile_extents(usual) if is_symbolic(extent)]
    return _some_are_less(_tile_extents(panel), unknown)


def _some_are_less(extents: Sequence[tuple[int, int]], usual: Sequence[tuple[int, int]]) -> bool:
    """Whether some of the usual extents need not be as long for others."""
    least: dict[int, int] = {}
    for extent, steps in extents:
        least[extent] = max(steps, least.get(extent, 1))
    return any(least.get(extent, 1) < steps for extent, steps in usual)


def _tile_extents(panel: Panel) -> list[tuple[int, int]]:
    """The extents of all axes, and how long each must be for tiles."""
    return _several(panel, panel.least)


def _several(panel: Panel, least: Sequence[int]) -> list[tuple[int, int]]:
    """The extents that have to be longer than one step: of the shared axes as given, and of the boxes' own ones."""
    shared = [(axis.extent, steps) for axis, steps in zip(panel.group.axes, least, strict=True) if steps > 1]
    return [*shared, *_own_extents(panel)]


def _own_extents(panel: Panel) -> list[tuple[int, int]]:
    """The extents of axes of single boxes that fill steps together, and how long each must be for tiles."""
    longest: dict[int, int] = {}
    for position, tile in enumerate(panel.tiles):
        axes, joined = panel.scratch_box(position).axes, panel.joined(position)
        for axis, members, steps in zip(axes, joined, tile.extents if tile else (), strict=False):
            if members[0] >= panel.group.shared and steps > 1:
                longest[axis.extent] = max(steps, longest.get(axis.extent, 0))
    return list(longest.items())
