"""
oneDNN's memory descriptor: dims, padded dims, strides of the outer dims, inner blocks, offset and size in bytes.

Source of every rule: the behaviour of oneDNN 3.13's `dnnl_memory_desc_*` functions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from layout_ir.errors import LayoutError
from layout_ir.formats.onednn_data_type import DataType, data_type
from layout_ir.formats.onednn_strided import (
    Blocks,
    block_of_each_dim,
    check_strides_nest,
    dense_strides,
    strided_elements,
)
from layout_ir.formats.onednn_tag import MAX_DIMS, parse_tag
from layout_ir.layouts.blocked import blocked_layout
from layout_ir.layouts.index_map import INDEX_LIMIT, IndexMap

RUNTIME_DIM = -(2**63)
"""`DNNL_RUNTIME_DIM_VAL`: a dim or stride that is known only when the primitive runs."""

_REFUSED_TYPES = ("undef", "boolean", "f4_e3m0")


@dataclass(frozen=True)
class MemoryDescriptor:
    """
    A tensor in memory as oneDNN describes it. Made by `from_tag` or `from_strides`, which check it.

    Without dims it is the empty descriptor, which takes 0 bytes.
    """

    dims: tuple[int, ...]
    """Logical sizes; `RUNTIME_DIM` where unknown."""

    data_type: DataType

    strides: tuple[int, ...]
    """Elements per step of each dim's outer index (a whole block of a blocked dim); `RUNTIME_DIM` where unknown."""

    inner_blocks: Blocks
    """Pairs (dim, size), outermost first: the library's `inner_idxs` and `inner_blks`."""

    padded_dims: tuple[int, ...]
    """Each dim rounded up to its blocks; dims without blocks are never padded."""

    offset0: int = 0
    """Elements before the first one."""

    @staticmethod
    def from_tag(dims: Sequence[int], dtype: object, tag: str) -> MemoryDescriptor:
        """
        The dense descriptor of a format tag; `dims` in the tag's logical order.

        Every stride that lies outside of a runtime dim is a runtime value. Raises `LayoutError` for an unknown tag,
        another rank than the tag's, a negative dim, a refused type, and 2^63 elements or more.
        """
        parsed = parse_tag(tag)
        what = f"memory descriptor of {tag}"
        if dims and len(dims) != parsed.rank:
            raise LayoutError(f"{what}: expected {parsed.rank} dims ({', '.join(parsed.dims)}), got {list(dims)}")
        sizes, element, padded = _checked(dims, dtype, parsed.blocks if dims else (), what)
        if not sizes:
            return MemoryDescriptor((), element, (), (), ())
        blocks = block_of_each_dim(len(sizes), parsed.blocks)
        counts = [n if n == RUNTIME_DIM else n // block for n, block in zip(padded, blocks, strict=True)]
        strides = list(dense_strides([max(n, 1) for n in counts], parsed.outer, parsed.blocks))
        runtime = False
        for dim in reversed(parsed.outer):
            if runtime:
                strides[dim] = RUNTIME_DIM
            runtime = runtime or sizes[dim] == RUNTIME_DIM
        result = MemoryDescriptor(sizes, element, tuple(strides), parsed.blocks, padded)
        result.check_packing(what)
        return result

    @staticmethod
    def from_strides(
        dims: Sequence[int], dtype: object, strides: Sequence[int] | None = None, inner_blocks: Blocks = ()
    ) -> MemoryDescriptor:
        """
        The descriptor of explicit strides, row-major where none are given, and inner blocks.

        As in the library the row-major strides outside of a dim of size 0 are 0 here, while `from_tag` counts it as 1;
        with a runtime dim or stride, overlaps go unnoticed. Outside of a runtime dim they are runtime values, where the
        library wraps around to accidental ones.

        Raises `LayoutError` where the strides overlap or do not nest (see `check_strides_nest`), are negative, or pack
        4-bit elements at odd places.
        """
        what = "memory descriptor"
        sizes, element, padded = _checked(dims, dtype, inner_blocks, what)
        blocks = block_of_each_dim(len(sizes), inner_blocks)
        counts = [n if n == RUNTIME_DIM else n // block for n, block in zip(padded, blocks, strict=True)]
        if strides is None:
            strides = [_row_major_stride(counts[dim + 1 :], inner_blocks) for dim in range(len(sizes))]
        if len(strides) != len(sizes):
            raise LayoutError(f"{what}: expected {len(sizes)} strides, got {list(strides)}")
        if any(stride < 0 and stride != RUNTIME_DIM for stride in strides):
            raise LayoutError(f"{what}: expected strides that are not negative, got {list(strides)}")
        if RUNTIME_DIM not in (*sizes, *strides):
            check_strides_nest(counts, strides, inner_blocks, what)
        result = MemoryDescriptor(sizes, element, tuple(int(s) for s in strides), inner_blocks, padded)
        result.check_packing(what)
        return result

    # -- sizes ---------------------------------------------------------------------------------------------------------

    @property
    def ndims(self) -> int:
        """Number of dims."""
        return len(self.dims)

    @property
    def is_runtime(self) -> bool:
        """Whether a dim or a stride is not known yet."""
        return RUNTIME_DIM in self.dims or RUNTIME_DIM in self.strides

    @property
    def elements(self) -> int | None:
        """Elements of the storage counted from `offset0`, or None with a runtime dim or stride."""
        if not self.dims or 0 in self.dims:
            return 0
        if self.is_runtime:
            return None
        return strided_elements(self._counts, self.strides, self.inner_blocks)

    @property
    def size_in_bytes(self) -> int | None:
        """
        Bytes of the storage counted from `offset0`; None with a runtime dim or stride.

        The largest product of a dim's count and its stride, which for a tag is the product of the padded dims; 4-bit
        elements are packed in pairs. The library says `DNNL_RUNTIME_SIZE_VAL` (2^63) where this is None, and 0 for a
        submemory smaller than a block in every dim, which still takes that block.
        """
        elements = self.elements
        return None if elements is None else self.data_type.bytes_of(elements)

    @property
    def _counts(self) -> tuple[int, ...]:
        blocks = block_of_each_dim(self.ndims, self.inner_blocks)
        return tuple(-(-n // block) for n, block in zip(self.padded_dims, blocks, strict=True))

    # -- relations -----------------------------------------------------------------------------------------------------

    def equals(self, other: MemoryDescriptor) -> bool:
        """
        Whether the library calls two descriptors equal.

        The strides of dims of padded size 1 do not count, all other fields do: `aBcd16b` with 16 channels differs from
        `acdb` although the bytes agree. Two runtime values are equal.
        """
        return replace(self, strides=()) == replace(other, strides=()) and all(
            mine == theirs or size == 1
            for mine, theirs, size in zip(self.strides, other.strides, self.padded_dims, strict=True)
        )

    def index_map(self) -> IndexMap:
        """The function from a logical index to an element offset; raises `LayoutError` for runtime dims or strides."""
        if self.is_runtime:
            raise LayoutError(
                f"memory descriptor: expected known dims and strides, got {list(self.dims)}, {list(self.strides)}"
            )
        dense = blocked_layout(self.ndims, range(self.ndims), self.inner_blocks).index_map(self.dims)
        axes = self.strides + dense.strides[self.ndims :]
        result = replace(dense, strides=axes, offset=self.offset0)
        end = self.offset0 + (self.elements or 0)
        return replace(result, allocation=max(end, result.required_size) if dense.size else 0)

    def check_packing(self, what: str) -> None:
        """Raise `LayoutError` for 4-bit elements with a stride that is neither 1 nor even on a dim larger than 1."""
        if self.data_type.bits != 4 or self.is_runtime or 0 in self.dims:
            return
        for dim, (size, stride) in enumerate(zip(self.dims, self.strides, strict=True)):
            if size > 1 and stride != 1 and stride % 2:
                raise LayoutError(
                    f"{what}: expected strides of {self.data_type} elements to be 1 or even, got {stride} on dim {dim} "
                    f"of {list(self.dims)}"
                )


def _row_major_stride(inside: Sequence[int], blocks: Blocks) -> int:
    """The stride of a dim outside of dims with these counts."""
    if RUNTIME_DIM in inside:
        return RUNTIME_DIM
    return math.prod(inside, start=math.prod(size for _, size in blocks))


def _checked(
    dims: Sequence[int], dtype: object, blocks: Blocks, what: str
) -> tuple[tuple[int, ...], DataType, tuple[int, ...]]:
    """Dims, type and padded dims, or `LayoutError` where the library answers `invalid_arguments`."""
    element = data_type(dtype)
    if element.name in _REFUSED_TYPES:
        raise LayoutError(f"{what}: expected a data type other than {', '.join(_REFUSED_TYPES)}, got {element}")
    sizes = tuple(int(size) for size in dims)
    if len(sizes) > MAX_DIMS:
        raise LayoutError(f"{what}: expected at most {MAX_DIMS} dims, got {len(sizes)}")
    if any(size < 0 and size != RUNTIME_DIM for size in sizes):
        raise LayoutError(f"{what}: expected dims that are not negative (or RUNTIME_DIM), got {list(sizes)}")
    if any(not 0 <= dim < len(sizes) or size < 1 for dim, size in blocks) or len(blocks) > MAX_DIMS:
        raise LayoutError(f"{what}: expected blocks (dim, size) of dims 0 to {len(sizes) - 1}, got {list(blocks)}")
    units = block_of_each_dim(len(sizes), blocks)
    padded = tuple(n if n == RUNTIME_DIM else -(-n // unit) * unit for n, unit in zip(sizes, units, strict=True))
    if math.prod(n for n in padded if n != RUNTIME_DIM) >= INDEX_LIMIT:
        raise LayoutError(f"{what}: expected less than 2^63 elements, got dims {list(sizes)}")
    return sizes, element, padded
