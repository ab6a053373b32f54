"""
The inverse of an index map: which element a cell of the storage holds, and whether it holds one at all.

Where digits make the map up, the index is a list of quasi-affine expressions over the storage coordinates and the
predicate a list of conditions on them; both are right for any size. Maps that cannot be solved (pieces that are stored
apart) fall back on a table of all cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.layouts import affine
from layout_ir.layouts.affine_text import affine_text
from layout_ir.layouts.index_map import IndexMap, evaluate, row_major_strides
from layout_ir.layouts.inverse_solver import solve_for_dims
from layout_ir.layouts.proof import injectivity
from layout_ir.layouts.proof_search import Undecided, Unknown, solve

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

TABLE_LIMIT = 2**26
"""Cells of the largest table."""


def axis_name(axis: int) -> str:
    """How a storage coordinate is written: `s0` is the outermost."""
    return f"s{axis}"


@dataclass(frozen=True)
class Condition:
    """`left relation right`, over the storage coordinates."""

    left: AffineExpr
    relation: Literal["<", ">=", "=="]
    right: AffineExpr

    def holds(self, coordinate: Sequence[int]) -> bool:
        """Whether it holds at one storage coordinate."""
        left, right = self.left.eval(list(coordinate), []), self.right.eval(list(coordinate), [])
        return {"<": left < right, ">=": left >= right, "==": left == right}[self.relation]

    def grid(self, extents: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Whether it holds at every storage coordinate: a boolean array of shape `extents`."""
        left, right = evaluate(self.left, extents), evaluate(self.right, extents)
        return {"<": left < right, ">=": left >= right, "==": left == right}[self.relation]

    def __str__(self) -> str:
        return f"{affine_text(self.left, axis_name)} {self.relation} {affine_text(self.right, axis_name)}"


@dataclass(frozen=True)
class Inverse:
    """From a storage coordinate (or an offset) back to the logical index; pads have none."""

    index_map: IndexMap

    indices: tuple[AffineExpr, ...] | None
    """One expression over the storage coordinates for every logical dim; None where only a table gives them."""

    conditions: tuple[Condition, ...]
    """Together false exactly on pads; empty where there is no pad, or where `indices` is None."""

    def index_of(self, coordinate: Sequence[int]) -> tuple[int, ...] | None:
        """
        The logical index of the element in a cell, None of a pad.

        Raises `LayoutError` for a coordinate outside of the storage's extents.
        """
        extents = self.index_map.extents
        if len(coordinate) != len(extents) or not all(0 <= c < e for c, e in zip(coordinate, extents, strict=True)):
            raise LayoutError(f"expected a storage coordinate inside {list(extents)}, got {list(coordinate)}")
        if self.indices is None:
            return self._unraveled(int(self._table[tuple(coordinate)]))
        if self.index_map.size == 0 or not all(condition.holds(coordinate) for condition in self.conditions):
            return None
        return tuple(expr.eval(list(coordinate), []) for expr in self.indices)

    def of_offset(self, offset: int) -> tuple[int, ...] | None:
        """
        The logical index of the element at an offset, None of a pad or of a gap between strided elements.

        Raises `LayoutError` for an offset outside of the storage, and where strides interleave beyond what can be
        searched.
        """
        if not 0 <= offset < self.index_map.storage_size:
            raise LayoutError(f"expected an offset from 0 to {self.index_map.storage_size - 1}, got {offset}")
        coordinate = self._coordinate(offset - self.index_map.offset)
        return None if coordinate is None else self.index_of(coordinate)

    def evaluate(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """
        The inverse at every cell: logical indices of shape `extents + (rank,)`, and whether the cell holds an element.

        What stands in the indices of a pad means nothing.
        """
        import numpy as np

        extents, rank = self.index_map.extents, self.index_map.rank
        if self.indices is None:
            # numpy 2.4's unravel_index is wrong for arrays of several axes that end in one of extent 1
            digits: list[npt.NDArray[np.int64]] = []
            number = np.maximum(self._table, 0)
            for size in reversed(self.index_map.shape):
                number, digit = np.divmod(number, size)
                digits.insert(0, digit)
            return np.stack(digits, axis=-1), self._table >= 0
        owned = np.full(extents, self.index_map.size > 0)
        for condition in self.conditions:
            owned &= condition.grid(extents)
        values = [evaluate(expr, extents) for expr in self.indices]
        return np.stack(values, axis=-1) if rank else np.zeros((*extents, 0), np.int64), owned

    @property
    def predicate(self) -> str:
        """The conditions as text: `true` where every cell holds an element."""
        if self.indices is None:
            return "a table of all cells"
        return " and ".join(map(str, self.conditions)) or "true"

    def __str__(self) -> str:
        if self.indices is None:
            return f"a table of {self.index_map.cell_count} cells"
        axes = ", ".join(map(axis_name, range(len(self.index_map.extents))))
        indices = ", ".join(affine_text(expr, axis_name) for expr in self.indices)
        return f"({axes}) -> ({indices}) if {self.predicate}"

    @cached_property
    def _table(self) -> npt.NDArray[np.int64]:
        """Row-major number of the element in every cell, -1 in pads."""
        import numpy as np

        index_map = self.index_map
        cells = np.zeros(index_map.size, np.int64)
        for expr, step in zip(index_map.coordinates, row_major_strides(index_map.extents), strict=True):
            cells += evaluate(expr, index_map.shape).ravel() * step
        table = np.full(index_map.cell_count, -1, np.int64)
        table[cells] = np.arange(index_map.size)
        return table.reshape(index_map.extents)

    def _unraveled(self, number: int) -> tuple[int, ...] | None:
        if number < 0:
            return None
        result: list[int] = []
        for size in reversed(self.index_map.shape):
            number, value = divmod(number, size)
            result.append(value)
        return tuple(reversed(result))

    def _coordinate(self, distance: int) -> tuple[int, ...] | None:
        """The cell at a distance from the origin, None in a gap."""
        extents, strides = self.index_map.extents, self.index_map.strides
        result = [0] * len(extents)
        reach, nested, rest = 0, True, distance
        for stride, axis in sorted((stride, axis) for axis, stride in enumerate(strides) if extents[axis] > 1):
            nested &= stride > reach
            reach += stride * (extents[axis] - 1)
        if not nested:
            return self._searched(distance)
        for stride, axis in sorted(((s, a) for a, s in enumerate(strides) if extents[a] > 1), reverse=True):
            result[axis], rest = divmod(rest, stride)
            if not 0 <= result[axis] < extents[axis]:
                return None
        return None if rest else tuple(result)

    def _searched(self, distance: int) -> tuple[int, ...] | None:
        unknowns = [
            Unknown(stride, 0, extent - 1)
            for stride, extent in zip(self.index_map.strides, self.index_map.extents, strict=True)
        ]
        try:
            return solve(unknowns, distance)
        except Undecided:
            strides = list(self.index_map.strides)
            raise LayoutError(f"cannot find the element at {distance}: strides {strides} interleave") from None


def inverse(index_map: IndexMap) -> Inverse:
    """
    The inverse of a map.

    Raises `LayoutError` for a map that is not injective, with the two indices that share a place, and for one that is
    neither made of digits nor of at most 2^26 cells.
    """
    unique = injectivity(index_map)
    if not unique:
        raise LayoutError(f"expected a map that can be inverted, got one that is {unique}")
    indices = solve_for_dims(index_map.coordinates, index_map.shape, index_map.extents) if index_map.size else None
    if indices is None and index_map.size:
        _check_table(index_map)
        return Inverse(index_map, None, ())
    if indices is None:
        return Inverse(index_map, (AffineConstantExpr(0),) * index_map.rank, ())
    return Inverse(index_map, indices, tuple(_conditions(index_map, indices)))


def _check_table(index_map: IndexMap) -> None:
    if index_map.cell_count > TABLE_LIMIT:
        raise LayoutError(
            f"cannot invert a map of {index_map.cell_count} cells: it is not made of digits, and a table "
            f"holds at most {TABLE_LIMIT}"
        )


def _conditions(index_map: IndexMap, indices: Sequence[AffineExpr]) -> list[Condition]:
    """That the index lies in the shape, and that its element lies in this cell, as far as that is not certain."""
    extents = index_map.extents
    result: list[Condition] = []
    for expr, size in zip(indices, index_map.shape, strict=True):
        low, high = affine.bounds(expr, extents)
        if low < 0:
            result.append(Condition(expr, ">=", AffineConstantExpr(0)))
        if high >= size:
            result.append(Condition(expr, "<", AffineConstantExpr(size)))
    for axis, coordinate in enumerate(index_map.coordinates):
        back = affine.substitute(coordinate, indices)
        terms, constant = affine.linear_sum(back - AffineExpr.dimension(axis), extents)
        if terms or constant:  # the axis itself stands on the left, unless it is part of what it must equal
            left = {atom: -factor for atom, factor in terms.items() if factor < 0}
            right = {atom: factor for atom, factor in terms.items() if factor > 0}
            condition = affine.build((left, max(-constant, 0))), affine.build((right, max(constant, 0)))
            result.append(Condition(condition[0], "==", condition[1]))
    return result
