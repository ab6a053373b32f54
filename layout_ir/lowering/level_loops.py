"""The loops around a tile as operations."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.symbols import is_multiple, is_symbolic
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.whole_units import are_multiples


@contextmanager
def level_loops(
    builder: LoopBuilder, box: Box, levels: Sequence[LoopLevel], outside: Mapping[int, SSAValue]
) -> Generator[dict[int, SSAValue]]:
    """Loops around a tile, outermost first, inside of others: where it starts along the axes of all of them."""
    starts = dict(outside)
    shared = list(itertools.takewhile(lambda level: level.is_parallel, levels))
    with ExitStack() as loops:
        parts: dict[int, SSAValue] = {}
        depends = any(level.is_as_needed for level in shared)
        if len(shared) > 1 or depends:
            lengths = _lengths_of_parts(builder, box, shared)
            parts = lengths if depends else {}
            axes = [box.axes[level.axis] for level in shared]
            names = [axis.name for axis in axes]
            ends = [_end(builder, axis, level) for axis, level in zip(axes, shared, strict=True)]
            firsts, steps = [builder.constant(0)] * len(shared), list(lengths.values())
            indices = loops.enter_context(builder.parallel_loops(firsts, ends, names, steps))
            for level, index in zip(shared, indices, strict=True):
                starts[level.axis] = _moved_back(builder, box.axes[level.axis], level, index)
            levels = levels[len(shared) :]
        for level in levels:
            part = parts.pop(level.axis, None)  # only the outermost loop in a part goes through all of it
            starts[level.axis] = loops.enter_context(level_loop(builder, box.axes[level.axis], level, starts, part))
        yield starts


def part_loop(
    builder: LoopBuilder, axis: Axis, step: int = 1, *, is_parallel: bool = False
) -> AbstractContextManager[SSAValue]:
    """A loop that is common to several boxes: where their parts start along one axis."""
    bounds = builder.constant(0), builder.constant(axis.extent)
    return builder.loop_between(*bounds, _part_name(axis), step, is_parallel)


@contextmanager
def part_loops(
    builder: LoopBuilder, axes: Sequence[Axis], steps: int, *, is_parallel: bool
) -> Generator[Sequence[SSAValue]]:
    """Loops common to several boxes over some axes, outermost first, the last of which is cut into parts of `steps`."""
    lengths = [*[1] * (len(axes) - 1), steps]
    with ExitStack() as loops:
        if is_parallel:
            firsts, ends = [builder.constant(0)] * len(axes), [builder.constant(axis.extent) for axis in axes]
            each = [builder.constant(length) for length in lengths]
            yield loops.enter_context(builder.parallel_loops(firsts, ends, list(map(_part_name, axes)), each))
        else:
            pairs = zip(axes, lengths, strict=True)
            yield [loops.enter_context(part_loop(builder, axis, length)) for axis, length in pairs]


def _part_name(axis: Axis) -> str:
    return f"{axis.name}_part"


def _lengths_of_parts(builder: LoopBuilder, box: Box, shared: Sequence[LoopLevel]) -> dict[int, SSAValue]:
    """What each parallel loop takes of its axis at a time: all if those before it have enough trips."""
    lengths: dict[int, SSAValue] = {}
    trips: SSAValue | None = None
    for level in shared:
        axis = box.axes[level.axis]
        length = _length_of_step(builder, axis, level)
        meets = _meets(builder, level)
        stays_whole = [] if meets is None else [meets]
        if level.whole_from and trips is not None:
            stays_whole.append(builder.compare(trips, "uge", builder.constant(level.whole_from)))
        if stays_whole:
            extent = builder.constant(axis.extent)
            whole = builder.maximum(extent, length)  # no step is of an axis of no elements
            length = builder.select(builder.any_holds(stays_whole), whole, length)
        lengths[level.axis] = length
        if level is not shared[-1]:
            own = builder.trips(axis.extent, level.step if level.lines is None else length)
            own = own if meets is None else builder.select(meets, builder.constant(1), own)
            trips = own if trips is None else builder.insert(arith.MuliOp(trips, own)).results[0]
    return lengths


def _meets(builder: LoopBuilder, level: LoopLevel) -> SSAValue | None:
    """Whether steps of a loop meet in lines of rows; None where it makes no difference."""
    if level.meeting is None:
        return None
    at_lines = are_multiples(builder, level.meeting.apart, level.meeting.lanes)
    return builder.negated(builder.all_hold(at_lines))


def _length_of_step(builder: LoopBuilder, axis: Axis, level: LoopLevel) -> SSAValue:
    """How much of its axis a loop takes at a time: as few whole lines as will do, or the fewest parts that will."""
    length = builder.constant(level.step)
    if level.even is not None:
        units = builder.trips(axis.extent, level.even.unit * level.even.count)
        return builder.maximum(builder.index(AffineExpr.dimension(0) * level.even.unit, [units]), length)
    if level.lines is None:
        return length
    shorter = level.step // 2
    while is_symbolic(axis.destination_stride) and shorter > 0:
        (is_whole,) = are_multiples(builder, [shorter * axis.destination_stride], level.lines.lanes)
        length = builder.select(is_whole, builder.constant(shorter), length)
        shorter //= 2
    is_enough = builder.compare(builder.trips(axis.extent, length), "uge", builder.constant(level.lines.enough))
    return builder.select(is_enough, length, builder.constant(1))


@contextmanager
def level_loop(
    builder: LoopBuilder, axis: Axis, level: LoopLevel, starts: dict[int, SSAValue], part: SSAValue | None = None
) -> Generator[SSAValue]:
    """
    A loop over the starts of tiles along one axis; the last tile is moved back where it would reach too far.

    `part`: the length of what it is inside of, where that is not always the same.
    """
    if level.inside is None:
        first, end = builder.constant(0), _end(builder, axis, level)
    else:
        first = starts[level.axis]
        end = builder.behind(first, level.inside) if part is None else builder.place([(first, 1), (part, 1)], 0)
        if level.longer:
            is_last = builder.compare(end, "uge", builder.constant(axis.extent - level.longer))
            end = builder.select(is_last, builder.constant(axis.extent), end)
        elif part is not None or not is_multiple(axis.extent, level.inside):
            end = builder.minimum(end, axis.extent)
    with builder.loop_between(first, end, axis.name, level.step, level.is_parallel) as index:
        yield _moved_back(builder, axis, level, index)


def _end(builder: LoopBuilder, axis: Axis, level: LoopLevel) -> SSAValue:
    """Where a loop over a whole axis ends: what its last part has beyond the others needs no start of its own."""
    return builder.constant(axis.extent - level.longer)


def _moved_back(builder: LoopBuilder, axis: Axis, level: LoopLevel, index: SSAValue) -> SSAValue:
    """Where a tile starts: the last one of an axis must not reach beyond it."""
    if level.is_last and not level.is_even and not is_multiple(axis.extent, level.step):
        return builder.minimum(index, axis.extent - level.step)
    return index
