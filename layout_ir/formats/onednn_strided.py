"""
oneDNN's layouts with explicit strides: a memory descriptor is the strides of the outer dims plus inner blocks.

Source of the rules: the behaviour of oneDNN 3.13's `dnnl_memory_desc_create_with_strides`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from xdsl.ir.affine import AffineDimExpr

from layout_ir.errors import LayoutError
from layout_ir.formats.format import ExplicitLayout, Format
from layout_ir.formats.onednn_tag import Tag
from layout_ir.layouts import affine
from layout_ir.layouts.blocked import blocked_layout
from layout_ir.layouts.element_type import ElementType
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.layout import checked_shape
from layout_ir.layouts.strided import StridedLayout

Blocks = tuple[tuple[int, int], ...]
"""Inner blocks as pairs (dim, size), outermost first."""


def block_of_each_dim(rank: int, blocks: Blocks) -> tuple[int, ...]:
    """What each dim is padded to a multiple of: the product of its inner blocks."""
    sizes = [1] * rank
    for dim, size in blocks:
        sizes[dim] *= size
    return tuple(sizes)


def outer_counts(shape: Sequence[int], blocks: Blocks) -> tuple[int, ...]:
    """How many blocks each dim takes (its size, of a dim without blocks)."""
    return tuple(-(-size // block) for size, block in zip(shape, block_of_each_dim(len(shape), blocks), strict=True))


def dense_strides(counts: Sequence[int], outer: Sequence[int], blocks: Blocks) -> tuple[int, ...]:
    """
    Elements per step of each dim's outer index when the dims lie densely in the order `outer`, slowest first.

    A dim of size 0 counts as 1.
    """
    strides = [0] * len(counts)
    step = math.prod(size for _, size in blocks)
    for dim in reversed(outer):
        strides[dim] = step
        step *= max(counts[dim], 1)
    return tuple(strides)


def strided_elements(counts: Sequence[int], strides: Sequence[int], blocks: Blocks = ()) -> int:
    """
    The library's size of a strided tensor in elements: the largest product of a dim's count and its stride.

    That counts the gap behind the last row of the outermost dim, and no element at all where every stride is 0. The
    stride of a dim of count 1 is taken as 1; a dim of size 0 makes the tensor empty.
    """
    if 0 in counts:
        return 0
    inner = math.prod(size for _, size in blocks)
    largest = max(
        (count * (1 if count == 1 else stride) for count, stride in zip(counts, strides, strict=True)), default=1
    )
    return max(largest, inner) if blocks else largest


def check_strides_nest(counts: Sequence[int], strides: Sequence[int], blocks: Blocks, what: str) -> None:
    """
    Raise `LayoutError` unless no two cells overlap.

    The library's rule: sorted by size, each stride is at least the one before times its count; dims of count 1 and
    strides of 0 (broadcasts) do not take part, and of an empty tensor nothing overlaps.
    """
    if any(stride < 0 for stride in strides):
        raise LayoutError(f"{what}: expected strides that are not negative, got {list(strides)}")
    if 0 in counts:
        return
    reach, inner = math.prod(size for _, size in blocks), "the inner blocks"
    for stride, count, dim in sorted((s, n, d) for d, (s, n) in enumerate(zip(strides, counts, strict=True))):
        if stride == 0 or count <= 1:
            continue
        if stride < reach:
            raise LayoutError(
                f"{what}: expected strides that nest: dim {dim} of stride {stride} must step over the {reach} elements "
                f"of {inner}, got strides {list(strides)} for counts {list(counts)}"
            )
        reach, inner = stride * count, f"dim {dim}"


def plain_strides(index_map: IndexMap) -> tuple[int, ...] | None:
    """
    The strides over the logical dims that say the same function as `index_map`, or None where none do.

    None also for an image, an offset, and a storage larger than the strides reach (pads behind the elements).
    """
    by_axis = {
        coordinate.position: stride
        for coordinate, stride in zip(index_map.coordinates, index_map.strides, strict=True)
        if isinstance(coordinate, AffineDimExpr)
    }
    terms, offset = affine.linear_sum(index_map.linear, index_map.shape)
    if index_map.is_image or offset or any(not isinstance(atom, AffineDimExpr) for atom in terms):
        return None
    steps = {atom.position: factor for atom, factor in terms.items() if isinstance(atom, AffineDimExpr)}
    strides = tuple(steps.get(dim, 0) if size > 1 else by_axis.get(dim, 1) for dim, size in enumerate(index_map.shape))
    return strides if strided_elements(index_map.shape, strides) >= index_map.storage_size else None


@dataclass(frozen=True)
class StridedFormat(Format):
    """
    A tag, or none for `strided`, with the options `strides` and `offset`.

    `strides[d]` is in elements, for one step of dim d's outer index (a whole block of a blocked dim). Without the
    option they are the tag's dense ones. `storage_size` is the library's: see `strided_elements`.
    """

    tag: Tag | None

    def __post_init__(self) -> None:
        strides = self.options.strides
        if strides is not None and self.tag is not None and len(strides) != self.tag.rank:
            raise LayoutError(f"{self.qualified_name}: expected {self.tag.rank} strides, got {list(strides)}")
        if any(stride < 0 for stride in strides or ()):
            raise LayoutError(
                f"{self.qualified_name}: expected strides that are not negative, got {list(strides or ())}"
            )
        if (self.options.offset or 0) < 0:
            raise LayoutError(
                f"{self.qualified_name}: expected an offset that is not negative, got {self.options.offset}"
            )

    @property
    def rank(self) -> int | None:
        if self.tag is None and self.options.strides is not None:
            return len(self.options.strides)
        return super().rank

    def resolve_canonical(self, shape: tuple[int, ...], dtype: ElementType) -> ExplicitLayout:
        strides, offset = self._strides(shape), self.options.offset or 0
        if self.tag is None or not self.tag.blocks:
            return StridedLayout(strides, offset)
        counts = outer_counts(shape, self.tag.blocks)
        dense = dense_strides(counts, self.tag.outer, self.tag.blocks)
        if offset or any(s != d and n > 1 for s, d, n in zip(strides, dense, counts, strict=True)):
            raise LayoutError(
                f"{self.qualified_name}: expected the dense strides {list(dense)} and no offset for an explicit tiled "
                f"layout, got strides {list(strides)} and offset {offset}; the index map holds them"
            )
        return self.tag.layout

    def index_map(self, shape: Sequence[int], dtype: object = "f32") -> IndexMap:
        sizes = checked_shape(shape, self.rank, self.qualified_name, self.logical_dims or ())
        canonical = self._canonical(sizes)
        strides, offset = self._strides(canonical), self.options.offset or 0
        tag = self.tag or Tag(tuple(map(str, range(len(sizes)))), tuple(range(len(sizes))), ())
        tiled = self._as_given(blocked_layout(tag.rank, tag.outer, tag.blocks))
        dense = tiled.index_map(sizes)
        axes = tuple(strides[dim] for dim in tag.outer) + dense.strides[tag.rank :]
        result = replace(dense, strides=axes, offset=offset)
        elements = offset + strided_elements(outer_counts(canonical, tag.blocks), strides, tag.blocks)
        return replace(result, allocation=max(elements, result.required_size) if dense.size else 0)

    def _strides(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Strides over the tag's own dims, checked against the shape."""
        blocks = self.tag.blocks if self.tag else ()
        counts = outer_counts(shape, blocks)
        outer = self.tag.outer if self.tag else tuple(range(len(shape)))
        if self.options.strides is None:
            return dense_strides(counts, outer, blocks)
        strides = self._canonical(self.options.strides)
        check_strides_nest(counts, strides, blocks, self.qualified_name)
        if self.tag is not None:
            self._check_order(counts, strides, self.tag)
        return strides

    def _check_order(self, counts: Sequence[int], strides: Sequence[int], tag: Tag) -> None:
        """Strides that contradict the tag are a mistake, most often of the order in which they are given."""
        free = [dim for dim in tag.outer if counts[dim] > 1 and strides[dim] > 0]
        for slow, fast in pairwise(free):
            if strides[slow] < strides[fast]:
                raise LayoutError(
                    f"{self.qualified_name}: expected strides that fall in the tag's order, with that of "
                    f"'{tag.dims[slow]}' at least that of '{tag.dims[fast]}', got {strides[slow]} and {strides[fast]}; "
                    "strides are given in the order of the logical dims, and `onednn:strided` takes any order"
                )
