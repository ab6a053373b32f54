"""A nest whose every step is the work of a group: its inner parallel loops are shared by the group's work items."""

from __future__ import annotations

import math

from xdsl.builder import Builder
from xdsl.dialects import gpu, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from layout_ir.layouts.affine import simplify
from layout_ir.lowering.to_device_kernel import Kernel, KernelBuilder
from layout_ir.lowering.to_device_nest import Grid, Nest, copy_body, dimensions, make_grid, nest_of, take_apart


def group_kernel(nest: Nest, name: str, work_group: int) -> Kernel:
    """
    The kernel of a nest whose steps are groups. The parallel loops in its body run one after the other.

    The work items of a group share the steps of each; before the next one they wait for each other.
    """
    count = len(nest.counts)
    outer, last = max(count - 2, 0), max(count - 1, 0)
    builder = KernelBuilder()
    grid = make_grid(builder, nest, dimensions(nest, last, outer), of_groups=True)
    loops = {op: nest_of(op) for op in nest.body.ops if isinstance(op, scf.ParallelOp)}
    shared = [loop for loop in loops.values() if loop is not None]
    assert len(shared) == len(loops), "expected loops of work items with constant bounds"
    items = min(work_group, max(_total(loop) for loop in shared))
    item = builder.builder.insert(gpu.ThreadIdOp(gpu.DimensionAttr(gpu.DimensionEnum.X))).result
    item.name_hint = "item"
    for op in nest.body.ops:
        if isinstance(op, scf.ReduceOp):
            continue
        if not isinstance(op, scf.ParallelOp):
            copy_body(builder, [op], grid)
            continue
        loop = loops[op]
        assert loop is not None
        if loop is not shared[0]:
            builder.builder.insert(gpu.BarrierOp())
        _share(builder, loop, items, item, grid)
    width, height, depth = grid.sizes
    return builder.finish(name, (width, height, depth), (items, 1, 1))


def _total(nest: Nest) -> int:
    return math.prod(count.trips for count in nest.counts)


def _share(builder: KernelBuilder, nest: Nest, items: int, item: SSAValue, grid: Grid) -> None:
    """The steps of a nest, taken in turn by the work items of a group."""
    total = _total(nest)
    body = Block(arg_types=[IndexType()])
    body.args[0].name_hint = "turn"
    loop = scf.ForOp(item, builder.constant(total), builder.constant(items), [], Region(body))
    builder.builder.insert(loop)
    outside, builder.builder = builder.builder, Builder(InsertPoint.at_end(body))
    sizes = (*grid.sizes, total)
    digits = dict(grid.digits)
    for count, digit in zip(nest.counts, take_apart(len(grid.ids), nest.counts), strict=True):
        digits[count.index] = simplify(digit, sizes)
    operations = [op for op in nest.body.ops if not isinstance(op, scf.ReduceOp)]
    copy_body(builder, operations, Grid((*grid.ids, body.args[0]), sizes, digits))
    builder.builder.insert(scf.YieldOp())
    builder.builder = outside
