"""
Views of a memory descriptor: part of it, other dims, other order. No element moves.

Source of the rules: the behaviour of oneDNN 3.13's `dnnl_memory_desc_create_submemory`, `_reshape`, `_permute_axes`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from layout_ir.errors import LayoutError
from layout_ir.formats.onednn_memory_descriptor import RUNTIME_DIM, MemoryDescriptor
from layout_ir.formats.onednn_strided import block_of_each_dim


def submemory(parent: MemoryDescriptor, dims: Sequence[int], offsets: Sequence[int]) -> MemoryDescriptor:
    """
    The region of `dims` elements from the logical index `offsets` on, with the parent's strides and blocks.

    In a dim with block B the region begins at a multiple of B, and it ends at one, or at the parent's end, or inside
    of its first block. Raises `LayoutError` otherwise, and for a region outside of the parent.
    """
    _require_known(parent, "submemory")
    _require_rank("submemory", parent, dims, offsets)
    padded, offset0 = list(dims), parent.offset0
    for dim, block in enumerate(block_of_each_dim(parent.ndims, parent.inner_blocks)):
        size, start, whole = dims[dim], offsets[dim], parent.dims[dim]
        if size < 0 or start < 0 or start + size > whole:
            raise LayoutError(
                f"submemory: expected a region inside 0 to {whole} of dim {dim}, got {size} elements from {start} on"
            )
        if start % block:
            raise LayoutError(f"submemory: expected dim {dim} to begin at a multiple of its block {block}, got {start}")
        if size % block and start + size != whole and size > block:
            raise LayoutError(
                f"submemory: expected the size of dim {dim} to be a multiple of its block {block}, less than one, or "
                f"to reach the end at {whole}, got {size} from {start} on"
            )
        if start + size == whole:
            padded[dim] = parent.padded_dims[dim] - start
        offset0 += start // block * parent.strides[dim]
    return replace(parent, dims=tuple(dims), padded_dims=tuple(padded), offset0=offset0)


def permute_axes(source: MemoryDescriptor, permutation: Sequence[int]) -> MemoryDescriptor:
    """The descriptor whose dim `permutation[i]` is dim i of the source."""
    if sorted(permutation) != list(range(source.ndims)):
        raise LayoutError(f"permute_axes: expected an order of 0 to {source.ndims - 1}, got {list(permutation)}")
    origin = [list(permutation).index(dim) for dim in range(source.ndims)]
    return replace(
        source,
        dims=tuple(source.dims[d] for d in origin),
        strides=tuple(source.strides[d] for d in origin),
        padded_dims=tuple(source.padded_dims[d] for d in origin),
        inner_blocks=tuple((permutation[d], size) for d, size in source.inner_blocks),
    )


def reshape(source: MemoryDescriptor, dims: Sequence[int]) -> MemoryDescriptor:
    """
    The same memory under other dims of the same product.

    Dims of size 1 come and go; neighbours that are dense in logical order are merged and split. A blocked dim is kept
    as it is. Raises `LayoutError` for anything else, also for the few merges of blocked dims that the library lets
    through with blocks that no longer belong to their dim.
    """
    _require_known(source, "reshape")
    if math.prod(dims) != math.prod(source.dims) or any(size < 0 for size in dims):
        raise LayoutError(f"reshape: expected dims of the same product as {list(source.dims)}, got {list(dims)}")
    strides, padded = [1] * len(dims), list(dims)
    moved: dict[int, int] = {}
    for old, new in _groups(source, dims):
        if len(old) == len(new) == 1:
            strides[new[0]], padded[new[0]] = source.strides[old[0]], source.padded_dims[old[0]]
            moved[old[0]] = new[0]
            continue
        for dim in old:
            _require_plain(source, dim)
        step = _merged_stride(source, old) if old else 1
        for dim in reversed(new):
            strides[dim] = step
            step *= dims[dim]
    return replace(
        source,
        dims=tuple(dims),
        strides=tuple(strides),
        padded_dims=tuple(padded),
        inner_blocks=tuple((moved[dim], size) for dim, size in source.inner_blocks),
    )


def _groups(source: MemoryDescriptor, wanted: Sequence[int]) -> Iterator[tuple[list[int], range]]:
    """
    Neighbouring source dims and neighbouring wanted dims of the same product, as few as possible at a time.

    Plain source dims of size 1 vanish. The rest is matched from the last dim on, as the library does: that decides
    which of several wanted dims of size 1 is the blocked one.
    """
    kept = [dim for dim, size in enumerate(source.dims) if size != 1 or not _is_plain(source, dim)]
    sizes = [source.dims[dim] for dim in kept]
    old, new = len(kept), len(wanted)
    while old > 0 or new > 0:
        last, end = old, new
        size = sizes[old - 1] if old > 0 else 1
        target = wanted[new - 1] if new > 0 else 1
        if old > 0 and new > 0 and (size == target or 1 not in (size, target)):
            old, new = old - 1, new - 1
            while size != target and (old > 0 if size < target else new > 0):
                if size < target:
                    old -= 1
                    size *= sizes[old]
                else:
                    new -= 1
                    target *= wanted[new]
        elif new > 0 and (target == 1 or old == 0):
            new -= 1
        else:
            old -= 1
        if math.prod(sizes[old:last]) != math.prod(wanted[new:end]):
            raise LayoutError(f"reshape: expected dims that split or merge {list(source.dims)}, got {list(wanted)}")
        yield kept[old:last], range(new, end)


def _merged_stride(source: MemoryDescriptor, dims: Sequence[int]) -> int:
    """The stride of several dims as one; raises `LayoutError` unless they are dense."""
    wide = [dim for dim in dims if source.dims[dim] != 1]
    if not wide:
        return 1
    step = source.strides[wide[-1]]
    for dim in reversed(wide):
        if source.strides[dim] != step:
            raise LayoutError(
                f"reshape: expected dims {list(dims)} to be dense to be merged, with a stride of {step} on dim {dim}, "
                f"got {source.strides[dim]}"
            )
        step *= source.dims[dim]
    return source.strides[wide[-1]]


def _is_plain(source: MemoryDescriptor, dim: int) -> bool:
    return source.padded_dims[dim] == source.dims[dim] and all(blocked != dim for blocked, _ in source.inner_blocks)


def _require_plain(source: MemoryDescriptor, dim: int) -> None:
    if not _is_plain(source, dim):
        raise LayoutError(
            f"reshape: expected a dim without blocks to be split, merged or removed, got dim {dim} of "
            f"{list(source.dims)}"
        )


def _require_known(source: MemoryDescriptor, what: str) -> None:
    if source.is_runtime:
        raise LayoutError(f"{what}: expected known dims and strides, got {RUNTIME_DIM} (runtime) among {source.dims}")


def _require_rank(what: str, parent: MemoryDescriptor, dims: Sequence[int], offsets: Sequence[int]) -> None:
    if len(dims) != parent.ndims or len(offsets) != parent.ndims:
        raise LayoutError(f"{what}: expected {parent.ndims} dims and offsets, got {list(dims)} and {list(offsets)}")
