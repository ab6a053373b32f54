"""
IndexMap: where every element of one tensor lies.

A logical index goes through quasi-affine *coordinates* (the axes of the storage, outermost first); every coordinate has
an *extent* and a *stride* in elements. A cell of the storage that no logical index reaches is a *pad*. The gaps between
the cells of a strided layout are no cells: nobody reads or writes them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.layouts import affine
from layout_ir.layouts.symbols import Symbols, is_stand_in

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from layout_ir.layouts.inverse import Inverse
    from layout_ir.layouts.proof import Equality, Injectivity

INDEX_LIMIT = 2**63


def row_major_strides(extents: Sequence[int]) -> tuple[int, ...]:
    """Strides of a dense storage, in elements. An axis of extent 0 counts as 1, as in every vendor's library."""
    strides: list[int] = []
    step = 1
    for extent in reversed(extents):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


@dataclass(frozen=True)
class IndexMap:
    """
    The function from a logical index of `shape` to a place in memory, in elements.

    Laws: every index inside `shape` has coordinates inside `extents`; two indices never share a cell, except where a
    source is broadcast by a stride of 0.
    """

    shape: tuple[int, ...]
    """Extents of the logical dims."""

    coordinates: tuple[AffineExpr, ...]
    """One expression over the dims for every axis of the storage, outermost first."""

    extents: tuple[int, ...]
    """Extents of the storage's axes, pads included."""

    strides: tuple[int, ...] = ()
    """Elements between neighbours on each axis; dense row-major when left out."""

    offset: int = 0
    """Element offset of the cell at the origin."""

    is_image: bool = False
    """Whether the three axes are the row, column and lane of an RGBA image; its buffer is [height][width][4]."""

    padded_shape: tuple[int, ...] = ()
    """Logical extents rounded up to the layout's blocks; `shape` when left out."""

    physical_shape: tuple[int, ...] = ()
    """The storage's shape as its vendor writes it, where neighbouring axes are merged; `extents` when left out."""

    allocation: int | None = None
    """Elements that the vendor allocates, where that is more than the last cell needs."""

    unknown: Symbols | None = None
    """What the stand-ins in all these numbers are, where an extent is not known; see `symbolic_map`."""

    def __post_init__(self) -> None:
        if not self.strides:
            object.__setattr__(self, "strides", row_major_strides(self.extents))
        if not self.padded_shape:
            object.__setattr__(self, "padded_shape", self.shape)
        assert len(self.coordinates) == len(self.extents) == len(self.strides)
        assert len(self.shape) == len(self.padded_shape)
        is_large = max(self._last_cell + 1, self.allocation or 0) >= INDEX_LIMIT
        if is_large and not any(map(is_stand_in, self.shape)):
            raise LayoutError(
                f"expected a storage of less than 2^63 elements, got extents {list(self.extents)} "
                f"with strides {list(self.strides)}"
            )

    # -- sizes ---------------------------------------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        """Number of logical dims."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of logical elements."""
        return math.prod(self.shape)

    @cached_property
    def _last_cell(self) -> int:
        """Offset of the last cell, -1 of an empty storage."""
        if 0 in self.extents:
            return -1
        return self.offset + sum((e - 1) * s for e, s in zip(self.extents, self.strides, strict=True))

    @property
    def storage_size(self) -> int:
        """Number of elements of the storage, pads and gaps included."""
        return self._last_cell + 1 if self.allocation is None else self.allocation

    @property
    def required_size(self) -> int:
        """Number of elements that a buffer must have so that every cell lies in it."""
        return self._last_cell + 1

    @cached_property
    def is_dense(self) -> bool:
        """Whether the cells fill the storage without gaps, in row-major order of the axes."""
        return (
            self.offset == 0
            and self.storage_size == math.prod(self.extents)
            and all(
                stride == dense or extent <= 1
                for stride, dense, extent in zip(
                    self.strides, row_major_strides(self.extents), self.extents, strict=True
                )
            )
        )

    @property
    def storage_shape(self) -> tuple[int, ...]:
        """Shape of a numpy array that holds the storage: the vendor's axes, or one axis where there are gaps."""
        if not self.is_dense:
            return (self.storage_size,)
        return self.physical_shape or self.extents

    @property
    def cell_count(self) -> int:
        """Number of cells: elements and pads, without gaps."""
        return math.prod(self.extents)

    @property
    def pad_count(self) -> int:
        """Number of pads."""
        return 0 if self.has_broadcast else self.cell_count - self.size

    @property
    def has_pads(self) -> bool:
        """Whether there are pads, for some size where extents are not known."""
        cuts = self.unknown is not None and any(symbol.block > 1 for symbol in self.unknown.stand_ins)
        return not self.has_broadcast and (cuts or self.pad_count > 0)

    @property
    def has_broadcast(self) -> bool:
        """Whether several indices read one cell (a stride of 0), which only a source may do."""
        return any(s == 0 and e > 1 for s, e in zip(self.strides, self.extents, strict=True))

    @property
    def image_size(self) -> tuple[int, int]:
        """Width and height in pixels; raises `LayoutError` for a buffer."""
        if not self.is_image:
            raise LayoutError("expected an image layout, got a buffer, which has no image size")
        height, width, _ = self.extents
        return width, height

    # -- the function --------------------------------------------------------------------------------------------------

    @cached_property
    def linear(self) -> AffineExpr:
        """Element offset as one simplified expression over the dims."""
        expr: AffineExpr = AffineConstantExpr(self.offset)
        for coordinate, stride in zip(self.coordinates, self.strides, strict=True):
            expr = expr + coordinate * stride
        return affine.simplify(expr, self.shape)

    def __call__(self, *index: int) -> int:
        """Element offset of one logical index; raises `LayoutError` outside of the shape."""
        if len(index) != self.rank:
            raise LayoutError(f"expected an index of {self.rank} numbers, got {len(index)}")
        if not all(0 <= i < n for i, n in zip(index, self.shape, strict=True)):
            raise LayoutError(f"expected an index inside {list(self.shape)}, got {list(index)}")
        return self.linear.eval(list(index), [])

    def coordinate(self, *index: int) -> tuple[int, ...]:
        """Storage coordinates of one logical index, outermost first."""
        return tuple(expr.eval(list(index), []) for expr in self.coordinates)

    def inverse(self) -> Inverse:
        """From cells back to indices, see `Inverse`; raises `LayoutError` where two elements share a cell."""
        from layout_ir.layouts.inverse import inverse

        return inverse(self)

    def is_injective(self) -> Injectivity:
        """Whether no two elements share a place, decided for any size; if not, the result names two that do."""
        from layout_ir.layouts.proof import injectivity

        return injectivity(self)

    def equals(self, other: IndexMap) -> Equality:
        """Whether both put every element into the same place; if not, the result names the first that differs."""
        from layout_ir.layouts.proof import equality

        return equality(self, other)

    def offsets(self) -> npt.NDArray[np.int64]:
        """
        Element offset of every logical index: an int64 array of shape `shape`.

        Raises `LayoutError` for an explicit layout that leaves its storage, such as `(d0) -> (d0 - 1)`.
        """
        values = evaluate(affine_sum(self.coordinates, self.strides, self.offset), self.shape)
        if values.size and not 0 <= values.min() <= values.max() < self.storage_size:
            raise LayoutError(
                f"expected offsets from 0 to {self.storage_size - 1}, got {values.min()} to {values.max()} "
                f"for the shape {list(self.shape)}"
            )
        return values

    def pixels(self) -> npt.NDArray[np.int64]:
        """Image coordinates (x, y, lane) of every logical index: an int64 array of shape `shape + (3,)`."""
        import numpy as np

        if not self.is_image:
            raise LayoutError("expected an image layout, got a buffer, which has no pixels; use offsets()")
        y, x, lane = (evaluate(expr, self.shape) for expr in self.coordinates)
        return np.stack([x, y, lane], axis=-1)


def affine_sum(exprs: Sequence[AffineExpr], factors: Sequence[int], constant: int) -> AffineExpr:
    """`constant` plus every expression times its factor, as written (not simplified)."""
    result: AffineExpr = AffineConstantExpr(constant)
    for expr, factor in zip(exprs, factors, strict=True):
        result = result + expr * factor
    return result


def evaluate(expr: AffineExpr, shape: Sequence[int]) -> npt.NDArray[np.int64]:
    """Value of an expression at every index of `shape`."""
    import numpy as np

    grids = [grid.astype(np.int64) for grid in np.ogrid[tuple(slice(0, n) for n in shape)]]
    value = np.asarray(expr.eval(grids, []), dtype=np.int64)  # pyright: ignore[reportArgumentType]
    return np.array(np.broadcast_to(value, tuple(shape)))
