"""
What the tiles of a box with unknown extents depend on: conditions that a kernel looks at when it is called.

A tile that is moved back where it would reach too far needs an axis that it fits into; shorter ones are left to shorter
vectors, or to scalar loops. Whether a destination is large enough to bypass the caches, in whole lines, only its size
says, and whether rows of either side begin at lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.dialects.types import element_type_of
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import Symbols, is_symbolic
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.line_runs import begins_at_line
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.loop_order import loop_levels
from layout_ir.lowering.quantities import Unknown
from layout_ir.lowering.request_model import PAGE_LINES
from layout_ir.lowering.schedule import Schedule, axes_of_tile, staying_in_caches
from layout_ir.lowering.tile_choice import cached_tile_of_unknown, shorter_tiles, tile_of
from layout_ir.lowering.whole_units import (
    are_multiples,
    line_products,
    page_products,
    products_beside,
    row_products,
    without_factors,
)

LONG_TILE = 64
"""
Steps of the tiles that are compared with those of half as many, and elements of their vectors: bytes.

Images of 72, 77 and 196 pixels of bytes are 1.09 times as fast by those that move fewer on Emerald Rapids, in the mean
of 60 calls, 0.92 to 1.4 times; of two bytes, in tiles of 32 steps, such images would be 1.01 times as fast.
"""

HALVING = 1.2
"""By how many more instructions for a cell, at most, tiles of half as many steps move what others move again."""

FEW_TILES = 4
"""Tiles below which what the last one moves again is worth a look."""


@dataclass(frozen=True)
class Guards:
    """The conditions around the tiles of one box."""

    builder: LoopBuilder
    unknown: Unknown
    box: Box
    tile: Tile
    buffers: Buffers
    _moves: dict[Schedule, tuple[Tile, list[LoopLevel]]] = field(default_factory=dict, compare=False, repr=False)
    """What `_move` has found for a schedule: several conditions compare the same ones."""

    def emit(self, schedule: Schedule, tiles: Callable[[Schedule], None], otherwise: Callable[[], None]) -> None:
        """The loops over tiles by `tiles`, with the schedule for each case, and `otherwise` where no tile fits in."""
        extents = [axis.extent for axis in self.box.axes]
        lengths = [(extent, steps) for extent, steps in zip(extents, self.tile.extents, strict=True) if steps > 1]
        if any(self.unknown.symbols.most(extent) < steps for extent, steps in lengths):
            otherwise()
            return
        conditions = are_as_long(self.builder, lengths)
        unknown = [(extent, steps) for extent, steps in lengths if is_symbolic(extent)]
        is_long = len(unknown) == 1 and unknown[0][1] >= LONG_TILE and schedule.lanes >= LONG_TILE
        if is_long and self._may_be_halved(schedule):
            conditions.append(self._moves_little_again(schedule, *unknown[0]))
        emit_where(self.builder, conditions, lambda: self._by_size(schedule, tiles), otherwise)

    def _may_be_halved(self, schedule: Schedule) -> bool:
        """Whether what is taken where this tile does not fit in has half as many steps, and is about as good."""
        is_usual = schedule.most_steps is None and schedule.moves_short
        if not is_usual or not may_be_large(self.box, self.unknown.symbols):
            return False
        shorter = shorter_tiles(self.box, self.tile, schedule, self.buffers.source_size)
        half = None if shorter is None else tile_of(self.box, shorter, self.buffers.source_size)
        if half is None or half.cost > HALVING * self.tile.cost:
            return False
        return half.extents == tuple(
            steps // 2 if steps > 1 and is_symbolic(axis.extent) else steps
            for axis, steps in zip(self.box.axes, self.tile.extents, strict=True)
        )

    def _moves_little_again(self, schedule: Schedule, extent: int, steps: int) -> SSAValue:
        """Whether fewer steps of a short extent in the caches would not be moved by tiles of half as many."""
        builder = self.builder
        length = builder.constant(extent)
        last = builder.index((AffineExpr.dimension(0) + (steps - 1)) % steps, [length])  # step of the last tile
        conditions = [
            builder.compare(length, "ult", builder.constant(FEW_TILES * steps)),
            builder.compare(last, "ult", builder.constant(steps // 2)),
        ]
        if self._may_leave_caches(schedule):
            conditions.append(builder.negated(self._is_large(schedule)))
        return builder.negated(builder.all_hold(conditions))

    def _by_size(self, schedule: Schedule, tiles: Callable[[Schedule], None]) -> None:
        """What goes past the caches only where it is large."""
        usual = staying_in_caches(schedule)
        if not may_be_large(self.box, self.unknown.symbols):
            tiles(usual)
            return
        if not self._may_leave_caches(schedule):
            self._in_caches(usual, tiles)
            return

        def past_caches() -> None:
            with self.builder.large():
                self._large(schedule, tiles)

        emit_where(self.builder, [self._is_large(schedule)], past_caches, lambda: self._in_caches(usual, tiles))

    def _may_leave_caches(self, schedule: Schedule) -> bool:
        """Whether there are sizes for which these tiles go past the caches."""
        if schedule.leaves_parts and self._whole_lines(schedule) is None:
            return False
        return schedule.streams or schedule.prefetches

    def _is_large(self, schedule: Schedule) -> SSAValue:
        """Whether a destination goes past the caches."""
        has_one_limit = schedule.parts_bytes == schedule.stream_bytes and not schedule.leaves_parts
        if has_one_limit or not schedule.streams:
            return is_as_large(self.builder, self.buffers, schedule.stream_bytes)
        whole = self._are_whole_lines(schedule)
        if whole is None:
            return is_as_large(self.builder, self.buffers, schedule.parts_bytes)
        in_lines = self.builder.all_hold([is_as_large(self.builder, self.buffers, schedule.stream_bytes), *whole])
        if schedule.leaves_parts:
            return in_lines
        return self.builder.any_holds([is_as_large(self.builder, self.buffers, schedule.parts_bytes), in_lines])

    def _large(self, schedule: Schedule, tiles: Callable[[Schedule], None]) -> None:
        """Past the caches where all stores write whole lines."""
        whole = self._whole_lines(schedule) if schedule.streams else None
        if whole is None:
            tiles(replace(schedule, streams=False))
            return
        multiples = frozenset(whole) | self._whole_distances(schedule.lanes)
        trusting = replace(schedule, trusts_lines=True, starts_at_line=True, multiples=multiples)
        conditions: list[SSAValue] = []
        if not schedule.trusts_lines and not schedule.leaves_parts:
            conditions += self._are_whole_lines(schedule) or []
        emit_where(
            self.builder,
            conditions,
            lambda: self._by_distances(trusting, tiles),
            lambda: tiles(replace(schedule, streams=False)),
        )

    def _whole_distances(self, unit: int) -> frozenset[int]:
        """The unknown distances in the source that are multiples of a unit for all sizes."""
        strides = [axis.source_stride for axis in self.box.axes if is_symbolic(axis.source_stride)]
        return frozenset(stride for stride in strides if self.unknown.symbols.divides(unit, stride))

    def _by_distances(self, schedule: Schedule, tiles: Callable[[Schedule], None]) -> None:
        """In an order of its own where rows lie so far apart that they belong to few sets of a cache."""
        lines = schedule.processor.crowding_lines
        if lines is None:
            unit = PAGE_LINES * schedule.lanes
            competing, others = schedule, replace(schedule, may_be_pages=False)
            products = page_products(self.box, self.tile, unit, self.unknown.symbols)
        else:
            unit = lines * schedule.lanes
            competing, others = replace(schedule, may_crowd=True), schedule
            strides = [axis.source_stride for axis in axes_of_tile(self.box, self.tile) if axis.source_stride != 1]
            products = products_beside(strides, unit, self.unknown.symbols)
        if loop_levels(self.box, self.tile, competing) == loop_levels(self.box, self.tile, others):
            tiles(schedule)
            return
        if products is None:
            tiles(others)
            return
        conditions = are_multiples(self.builder, products, unit)
        emit_where(self.builder, conditions, lambda: tiles(competing), lambda: tiles(others))

    def _are_whole_lines(self, schedule: Schedule) -> list[SSAValue] | None:
        """What has to hold for all stores to write whole lines; None where they never do."""
        whole = self._whole_lines(schedule)
        if whole is None:
            return None
        lines = are_multiples(self.builder, whole, schedule.lanes)
        return [begins_at_line(self.builder, self.buffers.destination), *lines]

    def _in_caches(self, schedule: Schedule, tiles: Callable[[Schedule], None]) -> None:
        """By the tiles for whole lines where they would be, if the destination began at one, and in its order."""
        whole = self._whole_lines(schedule) if schedule.narrows else None
        schedule = replace(schedule, looks_for_pages=schedule.processor.unknown_tile_cycles > 0)
        if whole is None:
            self._by_rows(schedule, tiles)
            return
        trusting = replace(schedule, trusts_lines=True, multiples=frozenset(whole))
        emit_where(
            self.builder,
            are_multiples(self.builder, whole, schedule.lanes),
            lambda: self._by_start(trusting, tiles),
            lambda: self._by_rows(replace(schedule, may_be_pages=False), tiles),
        )

    def _by_start(self, schedule: Schedule, tiles: Callable[[Schedule], None]) -> None:
        """In the order for a destination that begins at a line, and for any other in its own where that differs."""
        inside = replace(schedule, at_line=False, starts_at_line=False)
        starts: list[SSAValue] = []
        if self._differ(inside, schedule):
            starts.append(begins_at_line(self.builder, self.buffers.destination))
        emit_where(self.builder, starts, lambda: self._by_rows(schedule, tiles), lambda: self._by_rows(inside, tiles))

    def _by_rows(self, schedule: Schedule, tiles: Callable[[Schedule], None]) -> None:
        """By other tiles where all rows of the source would begin at lines, if the first did, and those are better."""
        products = row_products(self.box, schedule.lanes, self.unknown.symbols) or []
        products = without_factors(products, self.unknown.symbols)
        trusting = replace(schedule, trusts_rows=True, multiples=schedule.multiples | frozenset(products))
        if not schedule.narrows or not products or not self._differ(trusting, schedule):
            self._by_pages(schedule, tiles)
            return
        elsewhere = replace(schedule, may_be_pages=False)
        unseen = [product for product in products if product not in schedule.multiples]
        lines = are_multiples(self.builder, unseen, schedule.lanes)
        emit_where(self.builder, lines, lambda: self._by_pages(trusting, tiles), lambda: tiles(elsewhere))

    def _by_pages(self, schedule: Schedule, tiles: Callable[[Schedule], None]) -> None:
        """By other tiles where rows are whole pages apart, if those are better."""
        page = PAGE_LINES * schedule.lanes
        products = page_products(self.box, self.tile, page, self.unknown.symbols)
        others = replace(schedule, may_be_pages=False)
        if not schedule.narrows or products is None or self._move(schedule) == self._move(others):
            tiles(others)
            return
        emit_where(
            self.builder, are_multiples(self.builder, products, page), lambda: tiles(schedule), lambda: tiles(others)
        )

    def _differ(self, schedule: Schedule, other: Schedule) -> bool:
        """Whether two schedules move data in the caches otherwise where rows may be whole pages apart, or where not."""
        return any(
            self._move(replace(schedule, may_be_pages=may_be_pages))
            != self._move(replace(other, may_be_pages=may_be_pages))
            for may_be_pages in (True, False)
        )

    def _move(self, schedule: Schedule) -> tuple[Tile, list[LoopLevel]]:
        """The tile for data in the caches, and its loops."""
        if schedule not in self._moves:
            tile = cached_tile_of_unknown(self.box, self.tile, schedule, self.buffers.source_size)
            self._moves[schedule] = tile, loop_levels(self.box, tile, schedule)
        return self._moves[schedule]

    def _whole_lines(self, schedule: Schedule) -> list[int] | None:
        """What have to be multiples of a line for stores to write whole ones if the first does; None: never."""
        return line_products(self.box, self.tile, schedule.lanes, self.unknown.symbols)


def may_be_large(box: Box, symbols: Symbols) -> bool:
    """Whether a box can hold most of a tensor: what is left over at the end of blocks never does."""
    return not any(is_symbolic(axis.extent) and len(symbols.polynomial(axis.extent)) > 1 for axis in box.axes)


def are_as_long(builder: LoopBuilder, lengths: Sequence[tuple[int, int]]) -> list[SSAValue]:
    """For each unknown length whether it is as long as it has to be."""
    return [
        builder.compare(builder.constant(length), "uge", builder.constant(least))
        for length, least in lengths
        if is_symbolic(length)
    ]


def is_as_large(builder: LoopBuilder, buffers: Buffers, least: int) -> SSAValue:
    """Whether the destination has so many bytes."""
    limit = least // element_type_of(buffers.source.type).bytes
    return builder.compare(builder.constant(buffers.cells), "uge", builder.constant(limit))


def emit_where(
    builder: LoopBuilder, conditions: Sequence[SSAValue], then: Callable[[], None], otherwise: Callable[[], None]
) -> None:
    """What `then` emits where all conditions hold, else what `otherwise` does."""
    if not conditions:
        then()
        return
    builder.choose(builder.all_hold(conditions), then, otherwise)
