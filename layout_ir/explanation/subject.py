"""The layout that is asked about, with its dims' names and what they can stand for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from layout_ir.explanation.roles import NOUNS, Roles, readings
from layout_ir.explanation.structure import fixed_layout
from layout_ir.formats.format import ExplicitLayout, Format
from layout_ir.layouts.element_type import ElementType
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.layout import Layout


@dataclass(frozen=True)
class Subject:
    """A layout of tensors of one rank and element type, and of one shape if that is known."""

    layout: Layout
    rank: int
    dtype: ElementType
    shape: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """As it was named, or its explicit form."""
        return self.layout.qualified_name if isinstance(self.layout, Format) else str(self.layout)

    @cached_property
    def dims(self) -> tuple[str, ...]:
        """Names of the logical dims as given; `d0, d1, ...` where they have none."""
        logical = self.layout.logical_dims if isinstance(self.layout, Format) else None
        if logical is None or len(logical) != self.rank:
            return tuple(f"d{dim}" for dim in range(self.rank))
        return tuple(dim.lower() for dim in logical)

    @cached_property
    def readings(self) -> tuple[Roles | None, ...]:
        """The roles that the logical dims can have, in the order in which they are given."""
        if not isinstance(self.layout, Format):
            return (None,)
        dims, logical = self.layout.dims, self.layout.logical_dims
        found = readings(self.layout, self.rank)
        if dims is None or logical is None:
            return tuple(found)
        order = [dims.index(dim) for dim in logical]
        return tuple(None if roles is None else tuple(roles[i] for i in order) for roles in found)

    @property
    def nouns(self) -> tuple[str, ...]:
        """What the values of every dim are called."""
        roles = self.readings[0]
        return self.dims if roles is None else tuple(NOUNS[role] for role in roles)

    @cached_property
    def fixed(self) -> ExplicitLayout | None:
        """The explicit layout on all shapes, if it is one."""
        return fixed_layout(self.layout, self.rank, self.dtype)

    @cached_property
    def index_map(self) -> IndexMap:
        """The map of the shape; raises `LayoutError` where the layout does not fit it."""
        assert self.shape is not None
        return self.layout.index_map(self.shape, self.dtype)
