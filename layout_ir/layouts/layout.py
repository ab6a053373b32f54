"""What every layout can do: given a shape and an element type, say where each element lies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from operator import index

from layout_ir.errors import LayoutError
from layout_ir.layouts.index_map import IndexMap


class Layout(ABC):
    """A layout before the shape is known."""

    @property
    @abstractmethod
    def rank(self) -> int | None:
        """Number of logical dims, or None if the layout takes any."""

    @abstractmethod
    def index_map(self, shape: Sequence[int], dtype: object = "f32") -> IndexMap:
        """
        The layout of one tensor.

        `shape`: extents of the logical dims. `dtype`: an element type as in `element_type`; most layouts ignore it.
        Raises `LayoutError` for a wrong rank, a negative extent, or a storage of 2^63 elements and more.
        """


def checked_shape(shape: Sequence[int], rank: int | None, what: str, dims: Sequence[str] = ()) -> tuple[int, ...]:
    """`shape` as a tuple of ints; raises `LayoutError` for another rank or a negative extent, naming `what`."""
    sizes = whole_numbers(shape, f"{what}: expected a shape")
    if rank is not None and len(sizes) != rank:
        names = f" ({', '.join(dims)})" if dims else ""
        raise LayoutError(f"{what}: expected a shape of rank {rank}{names}, got rank {len(sizes)}: {list(sizes)}")
    if any(size < 0 for size in sizes):
        raise LayoutError(f"{what}: expected sizes that are known and not negative, got {list(sizes)}")
    return sizes


def whole_numbers(values: Iterable[int], expected: str) -> tuple[int, ...]:
    """`values` as ints; raises `LayoutError`, which begins with `expected`, for fractions, text and what is no list."""
    try:
        return tuple(index(value) for value in values)
    except TypeError:
        raise LayoutError(f"{expected} of whole numbers, got {values!r}") from None


def whole_number(value: int, what: str) -> int:
    """`value` as an int; raises `LayoutError`, which names `what`, for fractions and text."""
    try:
        return index(value)
    except TypeError:
        raise LayoutError(f"{what}: expected a whole number, got {value!r}") from None
