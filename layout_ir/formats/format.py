"""Format: a name in a vendor's notation, which becomes an explicit layout once shape and element type are known."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

from xdsl.ir.affine import AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.layouts.affine import substitute
from layout_ir.layouts.element_type import ElementType, element_type
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.layout import Layout, checked_shape
from layout_ir.layouts.strided import StridedLayout
from layout_ir.layouts.tiled import TiledLayout

ExplicitLayout = TiledLayout | StridedLayout
"""What a format resolves to."""


@dataclass(frozen=True)
class FormatOptions:
    """What a name alone does not say. None means: the vendor's default."""

    dims: str | None = None
    """The order in which the logical dims are given, e.g. `HWCN`; the vendor's own order by default."""

    groups: int | None = None
    """Number of groups of a grouped convolution's weights (Ascend)."""

    c0: int | None = None
    """Channels in one block (Ascend); follows from the element type by default."""

    hidden_size: int | None = None
    """Hidden size of a recurrent cell (Ascend)."""

    input_size: int | None = None
    """Input size of a recurrent cell (Ascend)."""

    strides: tuple[int, ...] | None = None
    """Explicit strides in elements, of formats that take them."""

    offset: int | None = None
    """Offset of the first element, with `strides`."""

    def given(self) -> dict[str, str | int | tuple[int, ...]]:
        """The options that are set, in the order of their declaration."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def only(self, what: str, *allowed: str) -> None:
        """Raise `LayoutError` if an option is set that `what` does not take."""
        for name in self.given():
            if name not in allowed:
                expected = " and ".join(allowed) if allowed else "no option"
                raise LayoutError(f"{what}: expected {expected}, got the option '{name}'")


@dataclass(frozen=True)
class Format(Layout):
    """A vendor's name with its options. Subclasses say what it means by `resolve_canonical`."""

    system: str
    """The vendor's system, empty for plain dim strings."""

    name: str
    """The name in the vendor's own spelling."""

    options: FormatOptions
    """The options that were given with the name."""

    dims: tuple[str, ...] | None
    """Names of the logical dims in the vendor's order; None where any rank will do."""

    @property
    def qualified_name(self) -> str:
        """`system:NAME`, or the plain dim string."""
        return f"{self.system}:{self.name}" if self.system else self.name

    @property
    def rank(self) -> int | None:
        return None if self.dims is None else len(self.dims)

    @property
    def logical_dims(self) -> tuple[str, ...] | None:
        """Names of the logical dims in the order in which they are given."""
        if self.dims is None:
            return None
        return tuple(self.dims[i] for i in self._order)

    def dims_of_rank(self, rank: int) -> tuple[str, ...] | None:
        """As `logical_dims`, where a name that means tensors of several ranks is used for one of `rank` dims."""
        return self.logical_dims

    @abstractmethod
    def resolve_canonical(self, shape: tuple[int, ...], dtype: ElementType) -> ExplicitLayout:
        """The explicit layout of a tensor whose dims are given in the vendor's own order."""

    def physical_shape(self, shape: tuple[int, ...], dtype: ElementType, extents: tuple[int, ...]) -> tuple[int, ...]:
        """The storage's shape as the vendor writes it, where it merges neighbouring axes of `extents`."""
        return extents

    def allocation(self, shape: tuple[int, ...], dtype: ElementType) -> int | None:
        """Elements that the vendor allocates, where that is more than the last cell needs."""
        return None

    # -- order of the logical dims -------------------------------------------------------------------------------------

    @cached_property
    def _order(self) -> tuple[int, ...]:
        """For every logical dim as given, its position in the vendor's own order."""
        assert self.dims is not None
        wanted = self.options.dims
        if wanted is None:
            return tuple(range(len(self.dims)))
        names = [dim.lower() for dim in self.dims]
        if sorted(wanted.lower()) != sorted(names):
            raise LayoutError(
                f"{self.qualified_name}: expected dims to be an order of {''.join(self.dims)}, got '{wanted}'"
            )
        return tuple(names.index(letter) for letter in wanted.lower())

    def _canonical(self, sizes: Sequence[int]) -> tuple[int, ...]:
        if self.dims is None:
            return tuple(sizes)
        result = [0] * len(sizes)
        for size, position in zip(sizes, self._order, strict=True):
            result[position] = size
        return tuple(result)

    def _as_given(self, layout: ExplicitLayout) -> ExplicitLayout:
        """A layout over the vendor's order as one over the order in which the dims are given."""
        if self.dims is None or self._order == tuple(range(len(self.dims))):
            return layout
        if isinstance(layout, StridedLayout):
            return StridedLayout(tuple(layout.strides[i] for i in self._order), layout.offset)
        position_given = {position: given for given, position in enumerate(self._order)}
        values = [AffineExpr.dimension(position_given[i]) for i in range(layout.num_dims)]
        return TiledLayout(
            layout.num_dims,
            tuple(substitute(expr, values) for expr in layout.coordinates),
            tuple(layout.round_up[i] for i in self._order),
            layout.is_image,
        )

    # -- Layout --------------------------------------------------------------------------------------------------------

    def resolve(self, shape: Sequence[int], dtype: object = "f32") -> ExplicitLayout:
        """The explicit layout of one tensor; raises `LayoutError` where the name does not fit shape or dtype."""
        sizes = checked_shape(shape, self.rank, self.qualified_name, self.logical_dims or ())
        return self._as_given(self.resolve_canonical(self._canonical(sizes), element_type(dtype)))

    def index_map(self, shape: Sequence[int], dtype: object = "f32") -> IndexMap:
        sizes = checked_shape(shape, self.rank, self.qualified_name, self.logical_dims or ())
        canonical, element = self._canonical(sizes), element_type(dtype)
        layout = self._as_given(self.resolve_canonical(canonical, element))
        try:
            result = layout.index_map(sizes, element)
        except LayoutError as error:
            raise LayoutError(f"{self.qualified_name}: {error}") from None
        physical = self.physical_shape(canonical, element, result.extents)
        allocation = self.allocation(canonical, element)
        if physical != result.extents or allocation is not None:
            result = replace(result, physical_shape=physical, allocation=allocation)
        return result

    def __str__(self) -> str:
        options = "".join(f", {name} = {value}" for name, value in self.options.given().items())
        return f'"{self.qualified_name}"{options}'


@dataclass(frozen=True)
class FixedFormat(Format):
    """A format whose explicit layout depends on neither shape nor element type."""

    layout: ExplicitLayout

    def resolve_canonical(self, shape: tuple[int, ...], dtype: ElementType) -> ExplicitLayout:
        return self.layout
