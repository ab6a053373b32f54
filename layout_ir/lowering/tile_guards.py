"""
What the tiles of a box with unknown extents depend on: conditions that a kernel looks at when it is called.

A tile that is moved back where it would reach too far needs an axis that it fits into; shorter ones are left to scalar
loops. And whether a destination is large enough to bypass the caches, in whole lines, only its size says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from layout_ir.dialects.types import element_type_of
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import Product, is_symbolic
from layout_ir.layouts.tiling import Tile
from layout_ir.lowering.box_loops import Buffers, emit_box
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
        self._where(
            fits,
            lambda: self._by_size(schedule, tiles),
            lambda: emit_box(self.builder, self.box, self.buffers, schedule.threads),
        )

    def _by_size(self, schedule: Schedule, tiles: Callable[[Schedule], None]) -> None:
        """What goes past the caches only where it is large."""
        usual = replace(schedule, streams=False, prefetches=False)
        if not (schedule.streams or schedule.prefetches) or not self._may_be_large():
            tiles(usual)
            return
        limit = schedule.stream_bytes // element_type_of(self.buffers.source.type).bytes
        size = self.builder.constant(self.box.cells)
        is_large = self.builder.compare(size, "uge", self.builder.constant(limit))
        self._where([is_large], lambda: self._large(schedule, tiles), lambda: tiles(usual))

    def _may_be_large(self) -> bool:
        """Whether the box can hold most of a tensor: what is left over at the end of blocks never does."""
        return not any(
            is_symbolic(axis.extent) and len(self.unknown.symbols.polynomial(axis.extent)) > 1 for axis in self.box.axes
        )

    def _large(self, schedule: Schedule, tiles: Callable[[Schedule], None]) -> None:
        products = self._line_conditions(schedule.lanes) if schedule.streams else None
        if products is None:
            tiles(replace(schedule, streams=False))
            return
        lanes, zero = self.builder.constant(schedule.lanes), self.builder.constant(0)
        whole: list[SSAValue] = []
        for product in products:
            remainder = arith.RemUIOp(self.builder.constant(product), lanes)
            self.builder.insert(remainder)
            whole.append(self.builder.compare(remainder.result, "eq", zero))
        streaming = replace(schedule, trusts_lines=True)
        self._where(whole, lambda: tiles(streaming), lambda: tiles(replace(schedule, streams=False)))

    def _line_conditions(self, lanes: int) -> list[int] | None:
        """
        Numbers that must be multiples of a line for all stores to write whole lines; None where these never do.
        """
        if any(store.lanes != lanes for store in self.tile.network.stores):
            return None
        symbols = self.unknown.symbols
        products: dict[Product, int] = {}
        for start in line_starts(self.box, self.tile):
            terms = symbols.polynomial(start) if is_symbolic(start) else (((), start),)
            for product, factor in terms:
                if factor % lanes and not product:
                    return None
                if factor % lanes:
                    products[product] = symbols.number(product)
        return list(products.values())

    def _where(self, conditions: list[SSAValue], then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        if not conditions:
            then()
            return
        every = conditions[0]
        for condition in conditions[1:]:
            both = arith.AndIOp(every, condition)
            self.builder.insert(both)
            every = both.result
        self.builder.choose(every, then, otherwise)
