"""A slow and obvious execution of a plan, and the copy that the index maps themselves define."""

from __future__ import annotations

import itertools
import random

import numpy as np
from xdsl.ir.affine import AffineExpr

from layout_ir.layouts.blocked import blocked_layout
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.plan import CopyPlan
from layout_ir.layouts.tiled import TiledLayout

SENTINEL, PAD = -7, 0


def execute(plan: CopyPlan, source: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The destination after the plan, and how often its boxes wrote each cell."""
    result = np.full(size, SENTINEL)
    writes = np.zeros(size, dtype=int)
    if plan.fill_first is not None:
        result[: plan.fill_first] = PAD
    for box in plan.boxes:
        source_index, destination_index = box.source_index(), box.destination_index()
        for step in itertools.product(*(range(axis.extent) for axis in box.axes)):
            irregular = [(axis, i) for axis, i in zip(box.axes, step, strict=True) if axis.is_irregular]
            target = destination_index.eval(list(step), []) + sum(axis.destination_at(i) for axis, i in irregular)
            origin = source_index.eval(list(step), []) + sum(axis.source_at(i) for axis, i in irregular)
            is_pad = any(i >= axis.valid for i, axis in zip(step, box.axes, strict=True))
            result[target] = PAD if is_pad else source[origin]
            writes[target] += 1
    return result, writes


def expected(source: IndexMap, destination: IndexMap, data: np.ndarray, write_pads: bool) -> np.ndarray:
    """What the copy means: elements by their offsets, pads filled, gaps untouched."""
    result = np.full(destination.storage_size, SENTINEL)
    if write_pads and destination.pad_count:
        cells = sum(
            (
                index * stride
                for index, stride in zip(np.indices(destination.extents), destination.strides, strict=True)
            ),
            start=np.array(destination.offset),
        )
        result[cells.ravel()] = PAD
    result[destination.offsets().ravel()] = data[source.offsets().ravel()]
    return result


def random_layout(rng: random.Random, rank: int) -> TiledLayout:
    """A blocked layout with up to three blocks, sometimes with padded or fused dims."""
    outer = rng.sample(range(rank), rank)
    blocks = [(rng.randrange(rank), rng.choice([2, 3, 4, 6, 8])) for _ in range(rng.randrange(4))]
    round_up = {rng.randrange(rank): rng.choice([4, 6])} if rng.random() < 0.3 else {}
    return blocked_layout(rank, outer, blocks, round_up)


def fused_layout(rng: random.Random, shape: tuple[int, ...]) -> TiledLayout:
    """A layout that blocks the fused index of its last two dims."""
    rank, block = len(shape), rng.choice([2, 4, 6])
    dims = [AffineExpr.dimension(i) for i in range(rank)]
    fused = dims[-2] * shape[-1] + dims[-1]
    channel = rng.choice([1, 4])
    return TiledLayout(rank, (*dims[1:-2], fused // block, dims[0] // channel, fused % block, dims[0] % channel))
