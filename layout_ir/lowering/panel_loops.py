"""Panels as loops: tiles go to a scratch buffer, and whole cache lines from there to the destination."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.dialects.types import element_type_of
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.next_panel import counts_of, next_panel
from layout_ir.lowering.next_panel_requests import Requests
from layout_ir.lowering.next_step import LoopAround, Values, next_step
from layout_ir.lowering.panel_flush import Flush
from layout_ir.lowering.panel_prefetching import PanelPrefetching
from layout_ir.lowering.panel_requests import asked_rows, ends_ahead
from layout_ir.lowering.request_model import PAGE_LINES
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.tile_loops import TileEmitter


def emit_panels(builder: LoopBuilder, panel: Panel, buffers: Buffers, schedule: Schedule) -> None:
    """The loops over the panels of a group of boxes."""
    walk, along = panel.walk(schedule.threads), panel.carried_along(schedule.threads)
    divided = panel.divided(schedule.threads)
    scratch = None if divided or panel.is_cut(schedule.threads) else _scratch(builder, panel, buffers)
    starts: Values = {}
    part = None
    with builder.large(), ExitStack() as loops:
        if panel.is_cut(schedule.threads):
            part = loops.enter_context(_parts_in_order(builder, panel, schedule))
            scratch = _scratch(builder, panel, buffers)
        if len(divided) > 1:
            starts = loops.enter_context(_in_one_loop(builder, panel, divided))
            scratch = _scratch(builder, panel, buffers)
        for i in walk[len(starts) :]:
            axis = panel.group.axes[i]
            bounds = part or (builder.constant(0), builder.constant(axis.extent))
            is_parallel = (i,) == divided
            name = f"{axis.name}_panel" if panel.steps[i] > 1 else axis.name
            index = loops.enter_context(builder.loop_between(*bounds, name, panel.steps[i], is_parallel))
            starts[i] = _start(builder, panel, i, index)
            if is_parallel:  # every thread has a scratch of its own
                scratch = _scratch(builder, panel, buffers)
        assert scratch is not None
        counts = counts_of(builder, panel, starts)
        for position in range(len(panel.group.boxes)):
            filler = _Filler(builder, panel, position, replace(buffers, destination=scratch), starts, counts)
            filler.emit(replace(schedule, streams=False))
        ahead = ends_ahead(panel, walk, schedule)
        rows = asked_rows(panel, tuple(starts), schedule)
        following = rows and next_panel(builder, panel, starts)
        requests = rows and following and Requests(builder, panel, rows, buffers.source, following, schedule)
        Flush(builder, panel, scratch, buffers.destination, starts, counts, along, requests, ahead, part).emit()


def _scratch(builder: LoopBuilder, panel: Panel, buffers: Buffers) -> SSAValue:
    """
    A buffer for a panel, which reaches over as few pages as it can.

    Measured on Zen 4: a store over the end of a page, soon after another panel has been streamed, takes 80 ns, as if it
    waited for that to arrive. Copies by small panels took up to 1.5 times as long, depending on where the stack lay.
    """
    size = panel.size * element_type_of(buffers.destination.type).bytes
    alignment = min(max(1 << (size - 1).bit_length(), LINE_BYTES), PAGE_LINES * LINE_BYTES)
    return builder.scratch(buffers.destination.type, panel.size, alignment, "panel")


@contextmanager
def _in_one_loop(builder: LoopBuilder, panel: Panel, walk: Sequence[int]) -> Generator[Values]:
    """One parallel loop over all panels, where no extent alone is known to be one that threads share evenly."""
    trips = {i: builder.trips(panel.group.axes[i].extent, panel.steps[i]) for i in walk}
    total = builder.constant(1)
    for count in trips.values():
        total = builder.insert(arith.MuliOp(total, count)).results[0]
    with builder.loop_between(builder.constant(0), total, "number", is_parallel=True) as left:
        steps: Values = {}
        for i in reversed(walk[1:]):
            steps[i] = builder.insert(arith.RemUIOp(left, trips[i])).results[0]
            left = builder.insert(arith.DivUIOp(left, trips[i])).results[0]
        steps[walk[0]] = left
        firsts = {i: builder.index(AffineExpr.dimension(0) * panel.steps[i], [steps[i]]) for i in walk}
        yield {i: _start(builder, panel, i, first) for i, first in firsts.items()}


@contextmanager
def _parts_in_order(builder: LoopBuilder, panel: Panel, schedule: Schedule) -> Generator[tuple[SSAValue, SSAValue]]:
    """
    A parallel loop over as many parts of the axis along which lines are carried as there are threads.

    Each is moved in order. It begins at a line if the destination does, so that no two threads write one.
    """
    assert panel.carried is not None
    axis, dimension = panel.group.axes[panel.carried], AffineExpr.dimension(0)
    whole = schedule.lanes // math.gcd(schedule.lanes, axis.destination_stride)
    unit = math.lcm(whole, panel.steps[panel.carried]) * schedule.threads
    extent = builder.constant(axis.extent)
    length = builder.index((dimension + (unit - 1)) // unit * (unit // schedule.threads), [extent])
    count = builder.constant(schedule.threads)
    with builder.loop_between(builder.constant(0), count, "part", is_parallel=True) as number:
        first = builder.insert(arith.MuliOp(number, length)).results[0]
        behind = builder.insert(arith.AddiOp(first, length)).results[0]
        yield first, builder.insert(arith.MinUIOp(behind, extent)).results[0]


def _start(builder: LoopBuilder, panel: Panel, i: int, index: SSAValue) -> SSAValue:
    """The first step of a panel: the last one of an unknown extent is moved back until its tiles fit in."""
    extent, least = panel.group.axes[i].extent, panel.least[i]
    moves = is_symbolic(extent) and least > 1 and i != panel.carried
    return builder.minimum(index, extent - least) if moves else index


@dataclass(frozen=True)
class _Filler:
    """Moves one box of the present panel to scratch."""

    builder: LoopBuilder
    panel: Panel
    position: int
    buffers: Buffers
    starts: Mapping[int, SSAValue]
    counts: Mapping[int, SSAValue]

    @property
    def box(self) -> Box:
        """The copy to scratch; its last axes are those from one panel to the next."""
        inside = self.panel.scratch_box(self.position)
        outer = [replace(self.panel.group.boxes[self.position].axes[i], destination_stride=0) for i in self.starts]
        return replace(inside, axes=(*inside.axes, *outer))

    def emit(self, schedule: Schedule) -> None:
        """The loops of the box."""
        tile, box = self.panel.tiles[self.position], self.box
        count = len(box.axes) - len(self.starts)
        starts = {count + number: start for number, start in enumerate(self.starts.values())}
        if tile is None or (box.is_padded and self.buffers.pad is None):
            self._scalars(box, count, starts)
        else:
            self._tiles(box, replace(tile, extents=(*tile.extents, *[1] * len(self.starts))), count, starts, schedule)

    def _tiles(self, box: Box, tile: Tile, count: int, starts: Values, schedule: Schedule) -> None:
        axes = [i for i in range(count) if box.axes[i].extent > tile.extents[i]]
        order = sorted(
            axes, key=lambda i: -(box.axes[i].destination_stride if box.is_fill else box.axes[i].source_stride)
        )
        walked = [LoopLevel(count + number, self.panel.steps[i]) for number, i in enumerate(self.starts)]
        levels = [*walked, *(LoopLevel(i, tile.extents[i]) for i in order)]
        asks = schedule.prefetches and not box.is_fill
        prefetching = PanelPrefetching(self.panel, tuple(self.starts), self.position, schedule)
        level = prefetching.level(box, tile, levels) if asks else LoopLevel(0, 1)
        with ExitStack() as loops:
            indices = dict(starts)
            for i, members in enumerate(self.panel.joined(self.position)):
                if i not in axes and members[0] == self.panel.carried:  # the last panel may be shorter than a tile
                    indices[i] = self.builder.constant(0)
                    starts[i] = self._moved_back(indices[i], i, box.axes[i], tile.extents[i])
            for i in order:
                indices[i] = loops.enter_context(self._loop(box.axes[i], i, tile.extents[i]))
                starts[i] = self._moved_back(indices[i], i, box.axes[i], tile.extents[i])
            asked = (
                self._later(box, tile, levels, indices, level.tiles)
                if level.tiles and self.buffers.source_size
                else None
            )
            TileEmitter(self.builder, self.buffers, schedule).emit(box, tile, starts, [level], asked)

    def _later(self, box: Box, tile: Tile, levels: Sequence[LoopLevel], indices: Values, count: int) -> Values:
        """Where the tile starts that comes so many tiles later, maybe in the next panel."""
        inside = len(box.axes) - len(self.starts)
        loops: list[LoopAround] = []
        for each in levels:
            i, axis = each.axis, box.axes[each.axis]
            end = self._count(axis, i) if i < inside else None
            loops.append(LoopAround(i, indices[i], each.step, axis.extent, end))
        following = indices | next_step(self.builder, loops, count)
        panel_starts = {shared: following[inside + number] for number, shared in enumerate(self.starts)}
        later = replace(self, counts=counts_of(self.builder, self.panel, panel_starts))
        return {
            i: later._moved_back(start, i, box.axes[i], tile.extents[i]) if i < inside else start
            for i, start in following.items()
        }

    def _loop(self, axis: Axis, i: int, step: int = 1):
        bounds = self.builder.constant(0), self._count(axis, i)
        return self.builder.loop_between(*bounds, axis.name, step)

    def _count(self, axis: Axis, i: int) -> SSAValue:
        """Steps of an axis of the scratch in the present panel."""
        outer, *inner = self.panel.joined(self.position)[i]
        count = self.counts.get(outer) if outer < self.panel.group.shared else None
        if count is None:
            return self.builder.constant(axis.extent)
        length = math.prod(self.panel.steps[j] for j in inner)
        return self.builder.index(AffineExpr.dimension(0) * length, [count]) if length != 1 else count

    def _moved_back(self, index: SSAValue, i: int, axis: Axis, step: int) -> SSAValue:
        """Where the tile at an index starts: the last one of a panel must not reach beyond it."""
        outer = self.panel.joined(self.position)[i][0]
        if outer >= self.panel.group.shared or self.panel.is_even(outer):
            return self.builder.minimum(index, axis.extent - step) if axis.extent % step else index
        if step == 1:
            return index
        last = self.builder.index(AffineExpr.dimension(0) - step, [self._count(axis, i)])
        smaller = arith.MinSIOp if outer == self.panel.carried else arith.MinUIOp
        return self.builder.insert(smaller(index, last)).results[0]

    def _scalars(self, box: Box, count: int, starts: Values) -> None:
        order = sorted(range(count), key=lambda i: -box.axes[i].source_stride)
        self._nest(box, order, starts, is_pad=False)

    def _nest(self, box: Box, order: Sequence[int], at: Values, is_pad: bool) -> None:
        if not order:
            self._element(box, at, is_pad)
            return
        i, axis = order[0], box.axes[order[0]]
        if is_pad or axis.is_full:
            with self._loop(axis, i) as index:
                self._nest(box, order[1:], {**at, i: index}, is_pad)
            return
        for first, end, fills in ((0, axis.valid, False), (axis.valid, axis.extent, True)):
            if first < end:
                bounds = self.builder.constant(first), self.builder.constant(end)
                with self.builder.loop_between(*bounds, axis.name) as index:
                    self._nest(box, order[1:], {**at, i: index}, fills)

    def _element(self, box: Box, at: Values, is_pad: bool) -> None:
        indices = [at[i] for i in range(len(box.axes))]
        value = self.buffers.pad
        if not is_pad:
            value = self.builder.load(self.buffers.source, self.builder.index(box.source_index(), indices))
        assert value is not None
        self.builder.store(value, self.buffers.destination, self.builder.index(box.destination_index(), indices))
