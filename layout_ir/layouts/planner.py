"""From two index maps over one shape to the plan of the copy between them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineDimExpr, AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.layouts import affine
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.plan import Axis, Box, CopyPlan
from layout_ir.layouts.plan_rewrites import drop_unit_axes, merge_axes, relinearize, roll, sort_axes, unroll
from layout_ir.layouts.refinement import Digit, Piece, nested_chain, pieces, split_points
from layout_ir.layouts.symbols import Symbols, is_symbolic

UNROLL_LIMIT = 128
"""Boxes that unrolling may make of one; beyond it divisions stay in the loops."""

BOX_LIMIT = 4096
"""Boxes of one plan; beyond it the plan falls back on loops over the logical dims."""


LETTERS = "abcdefghijklmnopqrstuvwxyz"
"""Names of dims that have none; the digits of b are b1, b0."""


@dataclass(frozen=True)
class Problem:
    """A reorder in the dims that the planner works with: logical dims, or several of them fused into one."""

    names: tuple[str, ...]
    shape: tuple[int, ...]
    padded: tuple[int, ...]
    """What the destination's cells cover of every dim; equal to `shape` where pads are left alone."""
    source: AffineExpr
    """Source offset, right for every index inside `shape`."""
    destination: AffineExpr
    """Destination offset, right for every index inside `padded`."""


def make_plan(
    source: IndexMap, destination: IndexMap, write_pads: bool = True, dim_names: Sequence[str] = ()
) -> CopyPlan:
    """
    The plan that copies every element from its place in `source` to its place in `destination`.

    `write_pads`: also write the destination's pads. `dim_names` names the loops. Raises `LayoutError` where the shapes
    differ or the destination would be written twice in one place.
    """
    if source.shape != destination.shape:
        raise LayoutError(
            f"expected source and destination of one shape, got {list(source.shape)} and {list(destination.shape)}"
        )
    if destination.has_broadcast:
        raise LayoutError(f"expected a destination without broadcast strides, got {list(destination.strides)}")
    names = tuple(dim_names) or tuple(LETTERS[i] if i < len(LETTERS) else f"dim{i}" for i in range(source.rank))
    if source.size == 0:
        return CopyPlan((), destination.storage_size if write_pads and destination.storage_size else None)
    writes_pads = write_pads and destination.pad_count > 0
    if writes_pads and (plan := _plan_with_pads(source, destination, names)) is not None:
        return plan
    boxes = plan_boxes(fuse(_problem(source, destination, names, source.shape)))
    fill = destination.required_size if writes_pads else None
    return CopyPlan(boxes, fill)


def _problem(source: IndexMap, destination: IndexMap, names: tuple[str, ...], padded: tuple[int, ...]) -> Problem:
    expr: AffineExpr = AffineConstantExpr(destination.offset)
    for coordinate, stride in zip(destination.coordinates, destination.strides, strict=True):
        expr = expr + coordinate * stride
    return Problem(names, source.shape, padded, source.linear, affine.simplify(expr, padded))


def _plan_with_pads(source: IndexMap, destination: IndexMap, names: tuple[str, ...]) -> CopyPlan | None:
    """A plan whose boxes also write every pad, or None where the pads are not the ends of the dims' ranges."""
    problem = fuse(_problem(source, destination, names, destination.padded_shape), destination)
    if math.prod(problem.padded) != destination.cell_count or not cells_nest(problem):
        return None
    return CopyPlan(plan_boxes(problem))


def cells_nest(problem: Problem) -> bool:
    """Whether the padded dims never reach a cell of the destination twice, proved by nesting strides."""
    whole = [
        Piece(0, _whole_digits(padded, nested_chain(split_points([problem.destination], dim))))
        for dim, padded in enumerate(problem.padded)
    ]
    box = _box(problem, whole)
    if not affine.is_linear(box.destination_offset) or _reaches_below(problem, box, whole):
        return False
    cells = 1
    gaps = sorted((abs(axis.destination_stride), axis.extent) for axis in box.axes if axis.extent > 1)
    for stride, extent in gaps:
        if stride < cells:
            return False
        cells = stride * extent
    return True


def _reaches_below(problem: Problem, box: Box, whole: Sequence[Piece]) -> bool:
    """Whether pads of a mirrored dim would lie in front of its elements, where there may be no cells for them."""
    axes = iter(box.axes)
    for size, piece in zip(problem.shape, whole, strict=True):
        of_dim = [next(axes) for _ in piece.digits]
        if any(axis.destination_stride < 0 for axis in of_dim) and math.prod(axis.extent for axis in of_dim) != size:
            return True
    return False


def _whole_digits(padded: int, chain: Sequence[int]) -> tuple[Digit, ...]:
    weights = [1, *(block for block in chain if block < padded)]
    uppers = [*weights[1:], -(-padded // weights[-1]) * weights[-1]]
    return tuple(Digit(w, upper // w, upper // w) for w, upper in zip(weights, uppers, strict=True))[::-1]


# -- fusing dims that only occur together ------------------------------------------------------------------------------


def fuse(problem: Problem, destination: IndexMap | None = None) -> Problem:
    """Fuse dims such as h and w where divisions cut h*W + w: one dim p then replaces both, if both sides allow it."""
    for outer, inner in itertools.permutations(range(len(problem.shape)), 2):
        if not _divided_together(problem, outer, inner):
            continue
        fused = _fused(problem, outer, inner, destination)
        if fused is not None:
            return fuse(fused, destination)
    return problem


def _divided_together(problem: Problem, outer: int, inner: int) -> bool:
    """Whether some division has both dims in its dividend, in the proportion of one row to one element."""
    size = problem.shape[inner]
    if problem.padded[inner] != size or problem.padded[outer] != problem.shape[outer]:
        return False
    for expr in (problem.source, problem.destination):
        for node in _divisions(expr):
            low = affine.coefficient(node.lhs, inner)
            if low and affine.coefficient(node.lhs, outer) == low * size:
                return True
    return False


def _divisions(expr: AffineExpr) -> Iterator[AffineBinaryOpExpr]:
    for node in expr.dfs():
        if isinstance(node, AffineBinaryOpExpr) and node.kind in (affine.FLOORDIV, affine.MOD):
            yield node


def _fused(problem: Problem, outer: int, inner: int, destination: IndexMap | None) -> Problem | None:
    size = problem.shape[inner]
    kept = [d for d in range(len(problem.shape)) if d not in (outer, inner)]
    values: list[AffineExpr] = [AffineConstantExpr(0)] * len(problem.shape)
    for position, dim in enumerate(kept):
        values[dim] = AffineExpr.dimension(position)
    together = AffineExpr.dimension(len(kept))
    values[outer], values[inner] = together // size, together % size
    names = (*(problem.names[d] for d in kept), f"{problem.names[outer]}{problem.names[inner]}")
    shape = (*(problem.shape[d] for d in kept), problem.shape[outer] * size)
    padded = [*(problem.padded[d] for d in kept), shape[-1]]
    source = affine.simplify(affine.substitute(problem.source, values), shape)
    target = affine.simplify(affine.substitute(problem.destination, values), padded)
    if _mentions(source, len(kept), size) or _mentions(target, len(kept), size):
        return None
    if destination is not None:  # the fused dim may be padded as a whole
        others = math.prod(padded[:-1])
        padded[-1] = max(destination.cell_count // others, shape[-1]) if others else shape[-1]
        target = affine.simplify(affine.substitute(_unsimplified(destination, problem, values), values), padded)
        if _mentions(target, len(kept), size):
            return None
    return Problem(names, shape, tuple(padded), source, target)


def _unsimplified(destination: IndexMap, problem: Problem, values: Sequence[AffineExpr]) -> AffineExpr:
    """The destination's offset with nothing dropped that the true size of the fused dim would allow to drop."""
    if len(values) != destination.rank:
        return problem.destination
    expr: AffineExpr = AffineConstantExpr(destination.offset)
    for coordinate, stride in zip(destination.coordinates, destination.strides, strict=True):
        expr = expr + coordinate * stride
    return expr


def _mentions(expr: AffineExpr, dim: int, number: int) -> bool:
    """Whether a division by exactly `number` of the bare dim is left."""
    return any(
        node.lhs == AffineDimExpr(dim) and affine.constant_value(node.rhs) == number for node in _divisions(expr)
    )


# -- boxes -------------------------------------------------------------------------------------------------------------


def plan_boxes(problem: Problem, symbols: Symbols | None = None) -> tuple[Box, ...]:
    """
    The boxes of a problem: one of every piece of every dim, cut where divisions are.

    An unknown extent, made of `symbols`, is not cut where it may be no multiple of its blocks.
    """
    exprs = [problem.source, problem.destination]
    per_dim: list[tuple[Piece, ...]] = []
    for dim, (size, padded) in enumerate(zip(problem.shape, problem.padded, strict=True)):
        chain = nested_chain(split_points(exprs, dim))
        if chain and symbols is not None and is_symbolic(padded) and not symbols.divides(chain[-1], padded):
            chain = ()
        per_dim.append(pieces(size, padded, chain))
    if math.prod(map(len, per_dim)) > BOX_LIMIT:
        per_dim = [pieces(size, padded, ()) for size, padded in zip(problem.shape, problem.padded, strict=True)]
    boxes: list[Box] = []
    for choice in itertools.product(*per_dim):
        boxes.extend(_without_divisions(_box(problem, choice)))
    return tuple(merge_axes(sort_axes(drop_unit_axes(box))) for box in boxes)


def _box(problem: Problem, choice: Sequence[Piece]) -> Box:
    """The box of one piece of every dim, its axes in the order of the dims."""
    values: list[AffineExpr] = []
    axes: list[Axis] = []
    for name, piece in zip(problem.names, choice, strict=True):
        values.append(piece.value(len(axes)))
        top = len(piece.digits) - 1
        for position, digit in enumerate(piece.digits):
            label = name if top == 0 else f"{name}{top - position}"
            axes.append(Axis(label, digit.extent, 0, 0, digit.valid))
    valid = [max(axis.valid, 1) for axis in axes]
    extents = [axis.extent for axis in axes]
    is_fill = any(axis.valid == 0 for axis in axes)
    source: AffineExpr = AffineConstantExpr(0)
    if not is_fill:
        source = affine.simplify(affine.substitute(problem.source, values), valid)
    destination = affine.simplify(affine.substitute(problem.destination, values), extents)
    return relinearize(Box(tuple(axes)), source, destination)


def _without_divisions(box: Box) -> list[Box]:
    """Unroll the axes that divisions depend on, where they are short; keep the divisions otherwise."""
    if box.is_linear:
        return [box]
    divided = {
        dim
        for expr in (box.source_offset, box.destination_offset)
        for node in _divisions(expr)
        for dim in node.used_dims()
    }
    positions = sorted(divided)
    if math.prod(box.axes[i].extent for i in positions) > UNROLL_LIMIT:
        return [box]
    unrolled = unroll(box, positions)
    return roll(unrolled) if all(part.is_linear for part in unrolled) else unrolled
