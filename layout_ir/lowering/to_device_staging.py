"""
A box whose two sides run along different axes, staged through local memory.

A group reads a tile along the source's run into its local memory, waits, and writes it along the destination's run, so
that neighbouring work items touch neighbouring elements on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.utils.hints import isa

from layout_ir.layouts import affine
from layout_ir.layouts.plan import Box
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.to_device_builder import ParallelBuilder

LOCAL_SPACE = StringAttr("workgroup")
"""Memory space of what the work items of a group share."""

SHORTEST_RUN = 4
"""Steps of the shortest axis along which a tile is worth it."""

ROW_BYTES = 64
"""A tile's rows have as many bytes at least: memory delivers no fewer at once."""

BANK_BYTES = 4
"""Neighbouring words of this size lie in different banks of local memory."""


@dataclass(frozen=True)
class Staging:
    """A tile of `rows` steps of the destination's axis by `columns` steps of the source's."""

    source_axis: int
    destination_axis: int
    columns: int
    rows: int
    element_bytes: int

    @property
    def pitch(self) -> int:
        """Elements from row to row: an odd number of words, so that a column lies in different banks."""
        word = max(self.element_bytes, BANK_BYTES)
        words = -(-self.columns * self.element_bytes // word) | 1
        return words * word // self.element_bytes


def choose_staging(box: Box, side: int, element_bytes: int) -> Staging | None:
    """
    The tile of a box, at most `side` elements square, or more where the elements are small.

    None without a `side`, where both sides run along one axis, and where one has no run. Boxes with pads or divisions
    are not staged.
    """
    if not side or box.is_padded or not box.is_linear or any(axis.is_irregular for axis in box.axes):
        return None
    runs = [
        next((i for i, stride in enumerate(strides) if stride == 1), None)
        for strides in ([axis.source_stride for axis in box.axes], [axis.destination_stride for axis in box.axes])
    ]
    source, destination = runs
    if source is None or destination is None or source == destination:
        return None
    longest = max(side, ROW_BYTES // element_bytes)
    columns, rows = (min(box.axes[i].extent, longest) for i in (source, destination))
    return Staging(source, destination, columns, rows, element_bytes) if min(columns, rows) >= SHORTEST_RUN else None


def emit_staged_box(builder: ParallelBuilder, box: Box, buffers: Buffers, staging: Staging) -> None:
    """Parallel loops over tiles; in them one over the elements to read and one over the elements to write."""
    others = [i for i in range(len(box.axes)) if i not in (staging.source_axis, staging.destination_axis)]
    extents = [box.axes[i].extent for i in others]
    names = [box.axes[i].name for i in others]
    for i, size in ((staging.destination_axis, staging.rows), (staging.source_axis, staging.columns)):
        extents.append(-(-box.axes[i].extent // size))
        names.append(f"{box.axes[i].name}_tile")
    kind = buffers.source.type
    assert isa(kind, MemRefType[Attribute])
    with ExitStack() as groups:
        indices = builder.parallel(groups, extents, names)
        size = staging.rows * staging.pitch
        tile = builder.insert(memref.AllocaOp.get(kind.element_type, None, [size], memory_space=LOCAL_SPACE)).results[0]
        tile.name_hint = "tile"
        step = _Step(builder, box, staging, others, (*extents, staging.rows, staging.columns))
        with ExitStack() as items:
            row, column = builder.parallel(items, [staging.rows, staging.columns], ["row", "column"])
            place = (*indices, row, column)
            with builder.when(step.is_inside(place)):
                value = builder.load(buffers.source, step.index(box.source_index(), place))
                builder.store(value, tile, step.in_tile(place))
        with ExitStack() as items:
            column, row = builder.parallel(items, [staging.columns, staging.rows], ["column", "row"])
            place = (*indices, row, column)
            with builder.when(step.is_inside(place)):
                value = builder.load(tile, step.in_tile(place))
                builder.store(value, buffers.destination, step.index(box.destination_index(), place))


@dataclass(frozen=True)
class _Step:
    """One element of a tile; its place is the steps of the other axes, the tile's number along both, row and column."""

    builder: ParallelBuilder
    box: Box
    staging: Staging
    others: Sequence[int]
    sizes: tuple[int, ...]

    def index(self, expr: AffineExpr, place: Sequence[SSAValue]) -> SSAValue:
        """An index over the box's axes."""
        return self.builder.index(affine.simplify(affine.substitute(expr, self._axes()), self.sizes), place)

    def in_tile(self, place: Sequence[SSAValue]) -> SSAValue:
        """Where the element lies in local memory."""
        count = len(self.others)
        row, column = AffineExpr.dimension(count + 2), AffineExpr.dimension(count + 3)
        return self.builder.index(row * self.staging.pitch + column, place)

    def is_inside(self, place: Sequence[SSAValue]) -> SSAValue | None:
        """Whether the box has the element, which the last tiles may exceed; None where it is certain."""
        conditions: list[SSAValue] = []
        staging = self.staging
        for i, size in ((staging.destination_axis, staging.rows), (staging.source_axis, staging.columns)):
            extent = self.box.axes[i].extent
            if extent % size:
                step = self.builder.index(self._axes()[i], place)
                conditions.append(self.builder.compare(step, "ult", self.builder.constant(extent)))
        return self.builder.every(conditions)

    def _axes(self) -> list[AffineExpr]:
        """The step of every axis of the box over the place."""
        count, staging = len(self.others), self.staging
        values: list[AffineExpr] = [AffineExpr.constant(0)] * len(self.box.axes)
        for number, i in enumerate(self.others):
            values[i] = AffineExpr.dimension(number)
        tiles = (staging.destination_axis, staging.rows), (staging.source_axis, staging.columns)
        for number, (i, size) in enumerate(tiles):
            values[i] = AffineExpr.dimension(count + number) * size + AffineExpr.dimension(count + 2 + number)
        return values
