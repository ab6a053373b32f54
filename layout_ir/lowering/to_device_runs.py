"""A box whose two sides run along one axis: every work item moves some neighbouring elements of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.layouts import affine
from layout_ir.layouts.plan import Axis, Box
from layout_ir.lowering.box_loops import Buffers, shifted
from layout_ir.lowering.to_device_builder import ParallelBuilder

RUN_BYTES = 16
"""Bytes that a work item moves where both sides have vectors: the longest load and store of most devices."""

ONE_BY_ONE = 4
"""Elements that a work item moves where one side has vectors, and the other one has each for itself."""


@dataclass(frozen=True)
class CommonRun:
    """The axis along which both sides run, and how many elements of it a work item moves."""

    axis: int
    lanes: int
    reads_vectors: bool
    writes_vectors: bool


def common_run(box: Box, element_bytes: int) -> CommonRun | None:
    """
    How a box is moved by vectors along its run.

    None where no vector fits in: many devices take those that do not lie at multiples of their size element by element.
    Boxes with divisions, and those that write pads only, have none either.
    """
    if not box.is_linear or box.is_fill or any(axis.is_irregular for axis in box.axes):
        return None
    position = next((i for i, axis in enumerate(box.axes) if _strides(axis) == (1, 1)), None)
    if position is None:
        return None
    most = RUN_BYTES // element_bytes
    read, written = (_lanes(box, position, most, side) for side in (0, 1))
    both = math.gcd(read, written, box.axes[position].valid)
    # vectors of two on both sides take more of them than vectors of four on one
    if both >= min(ONE_BY_ONE, max(read, written)) > 1:
        return CommonRun(position, both, True, True)
    if written > 1:
        return CommonRun(position, math.gcd(written, ONE_BY_ONE), False, True)
    if read > 1 and box.axes[position].is_full:
        return CommonRun(position, math.gcd(read, ONE_BY_ONE), True, False)
    return None


def _strides(axis: Axis) -> tuple[int, int]:
    return axis.source_stride, axis.destination_stride


def _lanes(box: Box, position: int, most: int, side: int) -> int:
    """Elements of the widest vectors of one side that all lie at multiples of their size."""
    offset = (box.source_offset, box.destination_offset)[side]
    others = [_strides(axis)[side] for i, axis in enumerate(box.axes) if i != position and axis.extent > 1]
    return math.gcd(most, box.axes[position].extent, affine.constant_value(offset), *others)


def emit_parallel_runs(builder: ParallelBuilder, box: Box, buffers: Buffers, run: CommonRun) -> None:
    """One nest for a box that every step moves some elements of, along one of its axes."""
    axis = box.axes[run.axis]
    trips = axis.extent // run.lanes
    steps = box.with_axis(run.axis, Axis(axis.name, trips, run.lanes, run.lanes, trips))
    with ExitStack() as stack:
        indices = builder.parallel(stack, [axis.extent for axis in steps.axes], [axis.name for axis in steps.axes])
        step = _Step(builder, box, steps, buffers, run, indices)
        limits = [axis.valid // run.lanes if i == run.axis else axis.valid for i, axis in enumerate(box.axes)]
        partial = [i for i, axis in enumerate(box.axes) if not axis.is_full and (i != run.axis or run.reads_vectors)]
        if partial:
            inside = [builder.compare(indices[i], "ult", builder.constant(limits[i])) for i in partial]
            builder.choose(builder.all_hold(inside), step.copy, step.fill)
        else:
            step.copy()


@dataclass(frozen=True)
class _Step:
    """What one work item moves."""

    builder: ParallelBuilder
    box: Box
    steps: Box
    """The box with as many steps of the run as one as a work item moves."""

    buffers: Buffers
    run: CommonRun
    indices: Sequence[SSAValue]

    def copy(self) -> None:
        """Move the elements; those behind the run's valid ones are pads."""
        if self.run.reads_vectors:
            vector = self.builder.load_vector(self.buffers.source, self._source(0), self.run.lanes)
            self._write(vector)
        else:
            self._write(self.builder.vector_of([self._element(lane) for lane in range(self.run.lanes)]))

    def fill(self) -> None:
        """Write pads only."""
        assert self.buffers.pad is not None
        self._write(self.builder.vector_of([self.buffers.pad] * self.run.lanes))

    def _write(self, vector: SSAValue) -> None:
        if self.run.writes_vectors:
            self.builder.store_vector(vector, self.buffers.destination, self._destination(0))
            return
        for lane in range(self.run.lanes):
            self.builder.store(self.builder.lane(vector, lane), self.buffers.destination, self._destination(lane))

    def _source(self, lane: int) -> SSAValue:
        return self.builder.index(shifted(self.steps.source_index(), lane), self.indices)

    def _destination(self, lane: int) -> SSAValue:
        return self.builder.index(shifted(self.steps.destination_index(), lane), self.indices)

    def _element(self, lane: int) -> SSAValue:
        """An element, or a pad."""
        axis, lanes, pad = self.box.axes[self.run.axis], self.run.lanes, self.buffers.pad
        if axis.extent - lanes + lane < axis.valid:
            return self.builder.load(self.buffers.source, self._source(lane))
        assert pad is not None
        if lane >= axis.valid:
            return pad
        place = affine.build(({AffineExpr.dimension(0): lanes}, lane))
        step = self.builder.index(place, [self.indices[self.run.axis]])
        is_valid = self.builder.compare(step, "ult", self.builder.constant(axis.valid))
        return self.builder.load_or(is_valid, self.buffers.source, self._source(lane), pad)
