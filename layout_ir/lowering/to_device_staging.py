"""
A box whose two sides run along different axes, staged through local memory.

A group reads a tile in the order of the source into its local memory, waits, and writes it in the order of the
destination, so that neighbouring work items touch neighbouring elements on both sides. Of short elements a work item
moves a word at once where those of a run lie at multiples of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from xdsl.dialects import memref
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.dialects.types import is_buffer
from layout_ir.layouts import affine
from layout_ir.layouts.group_tile import WORD_BYTES, GroupTile, Run
from layout_ir.layouts.plan import Box
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.to_device_builder import ParallelBuilder

LOCAL_SPACE = StringAttr("workgroup")
"""Memory space of what the work items of a group share."""


def is_local(kind: Attribute) -> bool:
    """Whether a type is memory that the work items of a group share."""
    return is_buffer(kind) and kind.memory_space == LOCAL_SPACE


def emit_staged_box(builder: ParallelBuilder, box: Box, buffers: Buffers, tile: GroupTile) -> None:
    """Parallel loops over tiles; in them one over the words to read and one over the words to write."""
    kind = buffers.source.type
    assert is_buffer(kind)
    counts = [-(-axis.extent // steps) for axis, steps in zip(box.axes, tile.steps, strict=True)]
    order = [i for i in _outside_in(tile) if counts[i] > 1] or [0]
    names = [box.axes[i].name + ("_tile" if tile.steps[i] > 1 else "") for i in order]
    with ExitStack() as groups:
        indices = builder.parallel(groups, [counts[i] for i in order], names)
        alignment = max(WORD_BYTES, tile.element_bytes)
        place = memref.AllocaOp.get(kind.element_type, alignment, [tile.size], memory_space=LOCAL_SPACE)
        local = builder.insert(place).results[0]
        local.name_hint = "tile"
        group = _Group(builder, box, tile, buffers, local, dict(zip(order, indices, strict=True)))
        with ExitStack() as items:
            group.enter(items, tile.source, {i: tile.read_steps(box)[i] for i in tile.rows}).read()
        with ExitStack() as items:
            group.enter(items, tile.destination, {i: tile.steps[i] for i in tile.columns}).write()


def _outside_in(tile: GroupTile) -> list[int]:
    """The axes as loops over tiles: neighbouring groups read what lies next to each other in the source."""
    runs = [*reversed(tile.source.axes)]
    runs = [*(i for i in reversed(tile.destination.axes) if i not in runs), *runs]
    return [*(i for i in range(len(tile.steps)) if i not in runs), *runs]


@dataclass(frozen=True)
class _Group:
    """One tile of a box."""

    builder: ParallelBuilder
    box: Box
    tile: GroupTile
    buffers: Buffers
    local: SSAValue
    numbers: dict[int, SSAValue]
    """The tile's number along every axis that has several."""

    def enter(self, items: ExitStack, run: Run, others: dict[int, int]) -> _Item:
        """Loops of work items over the words of one side's runs: steps of other axes, and the run as one loop."""
        extents = [*others.values(), run.length // run.lanes]
        names = [*(self.box.axes[i].name for i in others), "word" if run.lanes > 1 else "element"]
        indices = self.builder.parallel(items, extents, names)
        values = (*self.numbers.values(), *indices)
        counts = [-(-self.box.axes[i].extent // self.tile.steps[i]) for i in self.numbers]
        sizes = (*counts, *extents)
        start = len(self.numbers)
        steps = {i: AffineExpr.dimension(start + number) for number, i in enumerate(others)}
        return _Item(self, run, steps, AffineExpr.dimension(len(values) - 1) * run.lanes, values, sizes)


@dataclass(frozen=True)
class _Item:
    """What one work item moves at once: some elements of a run."""

    group: _Group
    run: Run
    steps: dict[int, AffineExpr]
    """The step in the tile of every axis that is not in the run."""

    first: AffineExpr
    """Where in the run the elements begin."""

    values: Sequence[SSAValue]
    sizes: tuple[int, ...]
    """What the expressions are over, and the extents of that."""

    def read(self) -> None:
        """Bring the elements into local memory, but those that are pads."""
        builder, buffers = self.group.builder, self.group.buffers
        axes = self.group.box.axes
        with builder.when(self._below([axis.valid for axis in axes])):
            source = self._index(self.group.box.source_index())
            local = self._local(0)
            if self.run.lanes == 1:
                builder.store(builder.load(buffers.source, source), self.group.local, local)
                return
            word = builder.load_vector(buffers.source, source, self.run.lanes)
            builder.store_vector(word, self.group.local, local)

    def write(self) -> None:
        """Write the elements of the destination, pads among them."""
        builder, buffers = self.group.builder, self.group.buffers
        with builder.when(self._below([axis.extent for axis in self.group.box.axes])):
            elements = [self._element_at(lane) for lane in range(self.run.lanes)]
            destination = self._index(self.group.box.destination_index())
            if len(elements) == 1:
                builder.store(elements[0], buffers.destination, destination)
                return
            builder.store_vector(builder.vector_of(elements), buffers.destination, destination)

    def _element_at(self, lane: int) -> SSAValue:
        """An element of the destination from local memory, or a pad."""
        builder, axes = self.group.builder, self.group.box.axes
        partial = [i for i, axis in enumerate(axes) if not axis.is_full]
        condition = self._below([axis.valid for axis in axes], partial, lane)
        return builder.load_or(condition, self.group.local, self._local(lane), self.group.buffers.pad)

    def _digits(self, lane: int) -> dict[int, AffineExpr]:
        """The step in the tile of every axis that has several."""
        digits, below = dict(self.steps), 1
        for i in self.run.axes:
            digits[i] = ((self.first + lane) // below) % self.group.tile.steps[i]
            below *= self.group.tile.steps[i]
        return digits

    def _axes(self, digits: dict[int, AffineExpr]) -> list[AffineExpr]:
        """The step of every axis of the box."""
        tile = self.group.tile
        axes = [digits.get(i, AffineExpr.constant(0)) for i in range(len(self.group.box.axes))]
        for number, i in enumerate(self.group.numbers):
            axes[i] = AffineExpr.dimension(number) * tile.steps[i] + axes[i]
        return axes

    def _index(self, expr: AffineExpr) -> SSAValue:
        """A place in the side that runs: what is not in the run is linear in the axes, the run itself has stride 1."""
        return self._value(affine.substitute(expr, self._axes(self.steps)) + self.first)

    def _local(self, lane: int) -> SSAValue:
        """Where an element lies in local memory."""
        tile, below = self.group.tile, 1
        place = sum((step * tile.strides[i] for i, step in self.steps.items()), AffineExpr.constant(0))
        for stride, count in tile.places(self.run):
            place += ((self.first + lane) // below) % count * stride
            below *= count
        return self._value(place)

    def _below(self, limits: Sequence[int], wanted: Sequence[int] | None = None, lane: int = 0) -> SSAValue | None:
        """Whether the step of every axis is below its limit; None where it is certain."""
        builder, axes = self.group.builder, self._axes(self._digits(lane))
        conditions: list[SSAValue] = []
        for i in range(len(axes)) if wanted is None else wanted:
            step = affine.simplify(axes[i], self.sizes)
            if affine.bounds(step, self.sizes)[1] >= limits[i]:
                conditions.append(builder.compare(self._value(step), "ult", builder.constant(limits[i])))
        return builder.every(conditions)

    def _value(self, expr: AffineExpr) -> SSAValue:
        return self.group.builder.index(affine.simplify(expr, self.sizes), self.values)
