"""A nest of parallel loops as the grid of a kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import affine, arith, gpu, scf, vector
from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from layout_ir.layouts.affine import simplify, substitute
from layout_ir.lowering.to_device_kernel import Kernel, KernelBuilder

DIMENSIONS = (gpu.DimensionEnum.X, gpu.DimensionEnum.Y, gpu.DimensionEnum.Z)
ITEMS_STEP = 8
"""Groups have a multiple of this many work items, where the grid has as many: devices run that many or more at once."""

MOST_GROUPS = 65535
"""Groups along y and z that all devices take."""

_UNBOUNDED = 1 << 62


@dataclass(frozen=True)
class Count:
    """One loop: its index is `first + step * trip`."""

    index: SSAValue
    first: int
    step: int
    trips: int


@dataclass(frozen=True)
class Nest:
    """Loops that stand directly inside of each other, outermost first, and what they repeat."""

    counts: tuple[Count, ...]
    body: Block

    @property
    def is_empty(self) -> bool:
        """Whether nothing is repeated at all."""
        return any(count.trips == 0 for count in self.counts)

    @property
    def is_staged(self) -> bool:
        """Whether one step has parallel loops of its own, which are for the work items of one group."""
        return any(isinstance(op, scf.ParallelOp) for op in self.body.ops)

    @property
    def is_heavy(self) -> bool:
        """Whether one step is the work of a whole group: it moves tiles through vector registers."""
        return any(isinstance(op, vector.ShuffleOp | scf.ForOp) for op in self.body.walk())


def nest_of(loop: scf.ParallelOp) -> Nest | None:
    """The nest that starts with a loop; None unless its bounds are constants."""
    counts: list[Count] = []
    while True:
        if loop.initVals:
            return None
        body = loop.body.block
        for index, *bounds in zip(body.args, loop.lowerBound, loop.upperBound, loop.step, strict=True):
            first, end, step = map(_constant, bounds)
            if first is None or end is None or step is None or first < 0 or step < 1:
                return None
            counts.append(Count(index, first, step, max(-(-(end - first) // step), 0)))
        operations = [op for op in body.ops if not isinstance(op, scf.ReduceOp)]
        if len(operations) != 1 or not isinstance(inner := operations[0], scf.ParallelOp):
            return Nest(tuple(counts), body)
        if not all(_constant(bound) is not None for bound in (*inner.lowerBound, *inner.upperBound, *inner.step)):
            return Nest(tuple(counts), body)
        loop = inner


def _constant(value: SSAValue) -> int | None:
    if isinstance(value.owner, arith.ConstantOp) and isinstance(value.owner.value, IntegerAttr):
        return value.owner.value.value.data
    return None


def nest_kernel(nest: Nest, name: str, work_group: int) -> Kernel:
    """
    The kernel of a nest.

    The innermost loops that together have as many steps as a group has work items are the x dimension, the loop around
    them is y, and all others together are z; all are x where y or z would be too long.
    """
    if nest.is_heavy:
        work_group = 1
    trips = [count.trips for count in nest.counts]
    inner = len(trips)
    while inner and math.prod(trips[inner:]) < work_group:
        inner -= 1
    outer = max(inner - 1, 0)
    parts = dimensions(nest, inner, outer)
    sizes = tuple(math.prod(trips[i] for i in part) for part in parts)
    width = sizes[0]
    items = group_size(width, work_group)
    builder = KernelBuilder()
    grid = make_grid(builder, nest, parts, of_groups=False)
    operations = [op for op in nest.body.ops if not isinstance(op, scf.ReduceOp)]
    if width % items == 0:
        copy_body(builder, operations, grid)
    else:
        inside = builder.builder.insert(arith.CmpiOp(grid.ids[0], builder.constant(width), "ult")).result
        block = Block()
        builder.builder.insert(scf.IfOp(inside, [], Region(block)))
        outside, builder.builder = builder.builder, Builder(InsertPoint.at_end(block))
        copy_body(builder, operations, grid)
        builder.builder.insert(scf.YieldOp())
        builder.builder = outside
    return builder.finish(name, (-(-width // items), sizes[1], sizes[2]), (items, 1, 1))


def dimensions(nest: Nest, inner: int, outer: int) -> tuple[range, range, range]:
    """Which loops are x, y and z: those from `inner` on, those from `outer` on, the others; or all x."""
    count = len(nest.counts)
    parts = range(inner, count), range(outer, inner), range(outer)
    if all(math.prod(nest.counts[i].trips for i in part) <= MOST_GROUPS for part in parts[1:]):
        return parts
    return range(count), range(0), range(0)


def group_size(width: int, work_group: int) -> int:
    """Work items of a group of a grid `width` wide, so that few in the last group are idle."""
    if width <= work_group:
        return width
    groups = -(-width // work_group)
    needed = -(-width // groups)
    return min(-(-needed // ITEMS_STEP) * ITEMS_STEP, work_group)


@dataclass(frozen=True)
class Grid:
    """Where a work item stands: the ids it has, their extents, and the loops' indices as expressions over them."""

    ids: Sequence[SSAValue]
    sizes: Sequence[int]
    digits: dict[SSAValue, AffineExpr]


def make_grid(builder: KernelBuilder, nest: Nest, parts: Sequence[range], of_groups: bool) -> Grid:
    """
    The grid of a nest whose loops make up the dimensions x, y and z in the given parts.

    A dimension's id is that of a group, but along x, unless `of_groups`, that of the work item in the whole grid.
    """
    sizes = tuple(math.prod(nest.counts[i].trips for i in part) for part in parts)
    ids: list[SSAValue] = []
    digits: dict[SSAValue, AffineExpr] = {}
    for number, (dimension, size, part) in enumerate(zip(DIMENSIONS, sizes, parts, strict=True)):
        counts = [nest.counts[i] for i in part]
        for count, digit in zip(counts, take_apart(number, counts), strict=True):
            digits[count.index] = simplify(digit, sizes)
        if size == 1:
            ids.append(builder.constant(0))
            continue
        kind = gpu.GlobalIdOp if number == 0 and not of_groups else gpu.BlockIdOp
        operation = builder.builder.insert(kind(gpu.DimensionAttr(dimension)))
        operation.result.name_hint = "x" if kind is gpu.GlobalIdOp else f"group_{'xyz'[number]}"
        ids.append(operation.result)
    return Grid(ids, sizes, digits)


def take_apart(dimension: int, counts: Sequence[Count]) -> list[AffineExpr]:
    """The indices of several loops from one id, the innermost of which runs fastest."""
    indices: list[AffineExpr] = []
    below = 1
    for count in reversed(counts):
        digit = (AffineDimExpr(dimension) // below) % count.trips
        indices.append(digit * count.step + count.first)
        below *= count.trips
    return indices[::-1]


def copy_body(builder: KernelBuilder, operations: Sequence[Operation], grid: Grid) -> None:
    """Copies of a nest's operations, whose indices are made from the ids of the grid."""
    made: dict[SSAValue, AffineExpr] = {}
    for index, digit in grid.digits.items():
        if isinstance(digit, AffineDimExpr):
            value = grid.ids[digit.position]
        elif isinstance(digit, AffineConstantExpr):
            value = builder.constant(digit.value)
        else:
            value = builder.builder.insert(_apply(digit, grid.ids)).result
            value.name_hint = index.name_hint
        builder.values[index] = value
        made[value] = digit
    for position, value in enumerate(grid.ids):
        made.setdefault(value, AffineDimExpr(position))
    copies = builder.copy(operations)
    for copied in copies:
        for inner in list(copied.walk()):
            if isinstance(inner, affine.ApplyOp):
                _simplify_apply(inner, made, grid)
    for value in made:
        owner = value.owner
        if isinstance(owner, affine.ApplyOp) and value.first_use is None:
            owner.detach()
            owner.erase()


def _apply(expr: AffineExpr, values: Sequence[SSAValue]) -> affine.ApplyOp:
    used = sorted(expr.used_dims())
    dims: list[AffineExpr] = [AffineConstantExpr(0)] * len(values)
    for position, dim in enumerate(used):
        dims[dim] = AffineExpr.dimension(position)
    return affine.ApplyOp(
        [values[dim] for dim in used], AffineMapAttr(AffineMap(len(used), 0, (substitute(expr, dims),)))
    )


def _simplify_apply(op: affine.ApplyOp, made: dict[SSAValue, AffineExpr], grid: Grid) -> None:
    """An index straight from the ids: digits that an id was taken apart into often join again."""
    affine_map = op.map.data
    if affine_map.num_symbols or not any(operand in made for operand in op.operands):
        return
    values, sizes = list(grid.ids), list(grid.sizes)
    replacements: list[AffineExpr] = []
    for operand in op.operands:
        if operand in made:
            replacements.append(made[operand])
            continue
        replacements.append(AffineDimExpr(len(values)))
        values.append(operand)
        sizes.append(_UNBOUNDED)
    expr = simplify(substitute(affine_map.results[0], replacements), sizes)
    if isinstance(expr, AffineDimExpr):
        Rewriter.replace_op(op, [], [values[expr.position]])
    elif isinstance(expr, AffineConstantExpr):
        constant = arith.ConstantOp(IntegerAttr(expr.value, IndexType()))
        Rewriter.replace_op(op, constant)
    else:
        Rewriter.replace_op(op, _apply(expr, values))
