"""
What the tiles of a box with unknown extents depend on: conditions that a kernel looks at when it is called.

A tile that is moved back where it would reach too far needs an axis that it fits into; shorter ones are left to scalar
loops. And whether a destination is large enough to bypass the caches, in whole lines, only its size says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from layout_ir.dialects.types import element_type_of
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import Product, Symbols, is_symbolic
from layout_ir.layouts.tiling import Tile
from layout_ir.lowering.box_loops import Buffers, emit_box
from layout_ir.lowering.line_runs import begins_at_line
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.quantities import Unknown
from layout_ir.lowering.schedule import Schedule, line_starts


@dataclass(frozen=True)
class Guards:
    """The conditions around the tiles of one box."""

    builder: LoopBuilder
    unknown: Unknown
    box: Box
    tile: Tile
    buffers: Buffers

    def emit(self, schedule: Schedule, tiles: Callable[[Schedule], None]) -> None:
        """The loops over tiles by `tiles`, with the schedule for each case, and scalar loops where no tile fits in."""
        fits = [
            self.builder.compare(self.builder.constant(axis.extent), "uge", self.builder.constant(steps))
            for axis, steps in zip(self.box.axes, self.tile.extents, strict=True)
            if steps > 1 and is_symbolic(axis.extent)
        ]
        emit_where(
            self.builder,
            fits,
            lambda: self._by_size(schedule, tiles),
            lambda: emit_box(self.builder, self.box, self.buffers, schedule.threads),
        )

    def _by_size(self, schedule: Schedule, tiles: Callable[[Schedule], None]) -> None:
        """What goes past the caches only where it is large."""
        usual = replace(schedule, streams=False, prefetches=False, narrows=schedule.has_line_vectors)
        if not (schedule.streams or schedule.prefetches) or not may_be_large(self.box, self.unknown.symbols):
            tiles(usual)
            return
        limit = schedule.stream_bytes // element_type_of(self.buffers.source.type).bytes
        size = self.builder.constant(self.box.cells)
        is_large = self.builder.compare(size, "uge", self.builder.constant(limit))
        emit_where(
            self.builder, [is_large], lambda: self._large(schedule, tiles), lambda: self._in_caches(usual, tiles)
        )

    def _large(self, schedule: Schedule, tiles: Callable[[Schedule], None]) -> None:
        """Past the caches where all stores write whole lines."""
        whole = self._whole_lines(schedule) if schedule.streams else None
        if whole is None:
            tiles(replace(schedule, streams=False))
            return
        emit_where(
            self.builder,
            [begins_at_line(self.builder, self.buffers.destination), *whole],
            lambda: tiles(replace(schedule, trusts_lines=True)),
            lambda: tiles(replace(schedule, streams=False)),
        )

    def _in_caches(self, schedule: Schedule, tiles: Callable[[Schedule], None]) -> None:
        """By the tiles for whole lines where they would be, if the destination began at one, and in its order."""
        whole = self._whole_lines(schedule) if schedule.narrows else None
        if whole is None:
            tiles(schedule)
            return
        trusting = replace(schedule, trusts_lines=True)
        inside = replace(trusting, at_line=False)

        def by_start() -> None:
            at_line = begins_at_line(self.builder, self.buffers.destination)
            emit_where(self.builder, [at_line], lambda: tiles(trusting), lambda: tiles(inside))

        emit_where(self.builder, whole, by_start, lambda: tiles(schedule))

    def _whole_lines(self, schedule: Schedule) -> list[SSAValue] | None:
        """What has to hold for stores to write whole lines of a destination that begins at one; None: never."""
        products = line_products(self.box, self.tile, schedule.lanes, self.unknown.symbols)
        if products is None:
            return None
        zero = self.builder.constant(0)
        rests = [rest_of_line(self.builder, product, schedule.lanes) for product in products]
        return [self.builder.compare(rest, "eq", zero) for rest in rests]


def may_be_large(box: Box, symbols: Symbols) -> bool:
    """Whether a box can hold most of a tensor: what is left over at the end of blocks never does."""
    return not any(is_symbolic(axis.extent) and len(symbols.polynomial(axis.extent)) > 1 for axis in box.axes)


def line_products(box: Box, tile: Tile, lanes: int, symbols: Symbols) -> list[int] | None:
    """Numbers that must be multiples of a line for all stores to write whole lines; None where these never do."""
    if any(store.lanes != lanes for store in tile.network.stores):
        return None
    products: dict[Product, int] = {}
    for start in line_starts(box, tile):
        terms = symbols.polynomial(start) if is_symbolic(start) else (((), start),)
        for product, factor in terms:
            if factor % lanes and not product:
                return None
            if factor % lanes:
                products[product] = symbols.number(product)
    return list(products.values())


def rest_of_line(builder: LoopBuilder, number: int, lanes: int) -> SSAValue:
    """By how many elements a number exceeds whole lines."""
    return builder.insert(arith.RemUIOp(builder.constant(number), builder.constant(lanes))).results[0]


def emit_where(
    builder: LoopBuilder, conditions: Sequence[SSAValue], then: Callable[[], None], otherwise: Callable[[], None]
) -> None:
    """What `then` emits where all conditions hold, else what `otherwise` does."""
    if not conditions:
        then()
        return
    every = conditions[0]
    for condition in conditions[1:]:
        every = builder.insert(arith.AndIOp(every, condition)).results[0]
    builder.choose(every, then, otherwise)
