"""StridedLayout: explicit strides, for views with a row pitch, transposed views and broadcast sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir.affine import AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.layout import Layout, checked_shape


@dataclass(frozen=True)
class StridedLayout(Layout):
    """Offset of index i: `offset + sum(i[d] * strides[d])`, in elements. The gaps belong to nobody."""

    strides: tuple[int, ...]
    offset: int = 0

    def __post_init__(self) -> None:
        if any(stride < 0 for stride in self.strides):
            raise LayoutError(f"strided layout: expected strides that are not negative, got {list(self.strides)}")
        if self.offset < 0:
            raise LayoutError(f"strided layout: expected an offset that is not negative, got {self.offset}")

    @property
    def rank(self) -> int:
        return len(self.strides)

    def index_map(self, shape: Sequence[int], dtype: object = "f32") -> IndexMap:
        sizes = checked_shape(shape, self.rank, "strided layout")
        return IndexMap(
            shape=sizes,
            coordinates=tuple(AffineExpr.dimension(d) for d in range(self.rank)),
            extents=sizes,
            strides=self.strides,
            offset=self.offset,
        )

    def __str__(self) -> str:
        offset = f", offset: {self.offset}" if self.offset else ""
        return f"strided<[{', '.join(map(str, self.strides))}]{offset}>"
