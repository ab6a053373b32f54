"""
What a format is for every shape, if it is one thing.

A format's formula is run on sizes that cannot be read: if it gets by without them, its layout is the same for all
shapes; if it looks at one, it is not (or is not known to be).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NoReturn, cast

from xdsl.ir.affine import AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.formats.format import ExplicitLayout, Format
from layout_ir.layouts.affine import substitute
from layout_ir.layouts.element_type import ElementType
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.layout import Layout
from layout_ir.layouts.strided import StridedLayout
from layout_ir.layouts.tiled import TiledLayout


class _SizeWasRead(Exception):
    """A formula depends on the shape."""


def _refuse(*_: object) -> NoReturn:
    raise _SizeWasRead


class _UnreadSize:
    """A size that stands for all sizes: whatever is done with it, the layout would depend on it."""

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _refuse
    __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __neg__ = __abs__ = __pow__ = __truediv__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __bool__ = __int__ = __index__ = _refuse  # pyright: ignore[reportAssignmentType]
    __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = __rtruediv__ = __rpow__ = __hash__ = _refuse  # pyright: ignore[reportAssignmentType]


def _dims_in_order(layout: Format) -> tuple[int, ...] | None:
    """For every logical dim as given its position in the vendor's order, or None where they are the same."""
    dims, logical = layout.dims, layout.logical_dims
    if dims is None or logical is None or dims == logical:
        return None
    return tuple(dims.index(dim) for dim in logical)


@lru_cache(maxsize=16384)
def fixed_layout(layout: Layout, rank: int, dtype: ElementType) -> ExplicitLayout | None:
    """The explicit layout that a layout is on all shapes of `rank`, over the dims as given; None if there is none."""
    if isinstance(layout, TiledLayout | StridedLayout):
        return layout if layout.rank == rank else None
    if not isinstance(layout, Format) or layout.rank not in (None, rank):
        return None
    sizes = cast(tuple[int, ...], tuple(_UnreadSize() for _ in range(rank)))
    try:
        explicit = layout.resolve_canonical(sizes, dtype)
        if layout.allocation(sizes, dtype) is not None:
            return None
        hash(explicit)  # reads every number in it, should a size have become one unread
    except (_SizeWasRead, LayoutError, NotImplementedError):  # the last: a dim times what is no number
        return None
    order = _dims_in_order(layout)
    return explicit if order is None else permuted_layout(explicit, tuple(order.index(i) for i in range(rank)))


def permuted_layout(layout: ExplicitLayout, dims: Sequence[int]) -> ExplicitLayout:
    """A layout over other dims: its dim `i` becomes dim `dims[i]`."""
    if isinstance(layout, StridedLayout):
        return StridedLayout(tuple(layout.strides[dims.index(i)] for i in range(len(dims))), layout.offset)
    values = [AffineExpr.dimension(dim) for dim in dims]
    return TiledLayout(
        layout.num_dims,
        tuple(substitute(expr, values) for expr in layout.coordinates),
        tuple(layout.round_up[dims.index(i)] for i in range(len(dims))),
        layout.is_image,
    )


def permuted_map(index_map: IndexMap, dims: Sequence[int]) -> IndexMap:
    """A map over other dims: its dim `i` becomes dim `dims[i]`."""
    if tuple(dims) == tuple(range(len(dims))):
        return index_map
    values = [AffineExpr.dimension(dim) for dim in dims]
    return replace(
        index_map,
        shape=tuple(index_map.shape[dims.index(i)] for i in range(len(dims))),
        padded_shape=tuple(index_map.padded_shape[dims.index(i)] for i in range(len(dims))),
        coordinates=tuple(substitute(expr, values) for expr in index_map.coordinates),
    )
