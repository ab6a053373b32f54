"""
oneDNN Graph's logical tensor: what is known so far of a tensor between two operations, its layout included.

Source: the behaviour of oneDNN 3.13's `dnnl_graph_logical_tensor_*` functions. Where the library crashes or its
arithmetic wraps around, there is a `LayoutError` or None instead; what it stores without any meaning (a rank below -1,
a negative dim, a number that no enumeration has) is refused at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from layout_ir.errors import LayoutError
from layout_ir.formats.format import FormatOptions
from layout_ir.formats.onednn import parse
from layout_ir.formats.onednn_data_type import DataType, data_type
from layout_ir.formats.onednn_graph import SIZE_MAX, UNKNOWN_DIM, UNKNOWN_NDIMS, LayoutType, TensorProperty, member
from layout_ir.formats.onednn_strided import plain_strides, strided_elements
from layout_ir.formats.onednn_tag import MAX_DIMS
from layout_ir.layouts.index_map import IndexMap, row_major_strides
from layout_ir.layouts.layout import Layout


@dataclass(frozen=True)
class LogicalTensor:
    """
    An immutable logical tensor. New knowledge makes a new one with the same id: `with_dims`, `with_layout`, ...

    Names are accepted for the enumerations and the data type: `LogicalTensor(0, "f32", 2, (3, 4), "strided")`.
    Raises `LayoutError` where the library answers `invalid_arguments`, and for values without a meaning.
    """

    id: int
    dtype: DataType
    ndims: int = UNKNOWN_NDIMS

    dims: tuple[int, ...] = ()
    """Sizes; left out, all are `UNKNOWN_DIM`. Empty for an unknown rank."""

    layout_type: LayoutType = LayoutType.UNDEF
    property: TensorProperty = TensorProperty.UNDEF

    strides: tuple[int, ...] | None = None
    """
    In elements. Left out: row-major where the layout is strided and all dims are known (a dim of size 0 counts as 1),
    else all `UNKNOWN_DIM`.
    """

    layout_id: int | None = None
    """The backend's number of an opaque layout; means something only inside the process that made it."""

    stands_for: Layout | None = field(default=None, compare=False)
    """The layout behind an opaque one, where it is known."""

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "dtype", data_type(self.dtype))
        put(self, "layout_type", member(LayoutType, self.layout_type, "layout type"))
        put(self, "property", member(TensorProperty, self.property, "property"))
        if not UNKNOWN_NDIMS <= self.ndims <= MAX_DIMS:
            raise self._error(f"expected {UNKNOWN_NDIMS} (unknown) to {MAX_DIMS} dims, got ndims = {self.ndims}")
        rank = max(self.ndims, 0)
        put(self, "dims", tuple(int(n) for n in self.dims) or (UNKNOWN_DIM,) * rank)
        if len(self.dims) != rank:
            raise self._error(f"expected {rank} dims for ndims = {self.ndims}, got {list(self.dims)}")
        if any(n < 0 and n != UNKNOWN_DIM for n in self.dims):
            raise self._error(f"expected dims that are not negative or UNKNOWN_DIM (-2^63), got {list(self.dims)}")
        if self.property is TensorProperty.HOST_SCALAR and self.ndims:
            raise self._error(f"expected ndims = 0 for a host scalar, got {self.ndims}")
        if self.strides is not None and len(self.strides) != rank:
            raise self._error(f"expected {rank} strides, got {list(self.strides)}")
        if self.strides is None or self.layout_type is not LayoutType.STRIDED:
            known = self.layout_type is LayoutType.STRIDED and UNKNOWN_DIM not in self.dims
            put(self, "strides", row_major_strides(self.dims) if known else (UNKNOWN_DIM,) * rank)
        else:
            put(self, "strides", tuple(int(s) for s in self.strides))
        if self.layout_type is not LayoutType.OPAQUE and (self.layout_id is not None or self.stands_for is not None):
            raise self._error(f"expected a layout id only of an opaque layout, got one of {self.layout_type}")

    def _error(self, message: str) -> LayoutError:
        return LayoutError(f"logical tensor {self.id}: {message}")

    # -- the library's constructors ------------------------------------------------------------------------------------

    @staticmethod
    def init(
        id: int, dtype: object, ndims: int = UNKNOWN_NDIMS, layout_type: str = "undef", property: str = "undef"
    ) -> LogicalTensor:
        """`dnnl_graph_logical_tensor_init`: the dims are unknown."""
        return _make(id, dtype, ndims, (), layout_type, property, None)

    @staticmethod
    def init_with_dims(
        id: int, dtype: object, dims: Sequence[int], layout_type: str = "strided", property: str = "undef"
    ) -> LogicalTensor:
        """`dnnl_graph_logical_tensor_init_with_dims`: dims (2, 3, 4, 5) get the strides (60, 20, 5, 1)."""
        return _make(id, dtype, len(dims), dims, layout_type, property, None)

    @staticmethod
    def init_with_strides(
        id: int, dtype: object, dims: Sequence[int], strides: Sequence[int], property: str = "undef"
    ) -> LogicalTensor:
        """
        `dnnl_graph_logical_tensor_init_with_strides`: a strided layout, taken as it is.

        As in the library overlapping and negative strides are stored; `mem_size` and `layout` refuse what they cannot
        say truly.
        """
        return _make(id, dtype, len(dims), dims, "strided", property, strides)

    # -- what follows from it ------------------------------------------------------------------------------------------

    @cached_property
    def has_unknown(self) -> bool:
        """Whether the rank, a dim, or a stride of a strided layout is unknown."""
        strides = self.strides if self.layout_type is LayoutType.STRIDED else ()
        return self.ndims == UNKNOWN_NDIMS or UNKNOWN_DIM in self.dims or UNKNOWN_DIM in (strides or ())

    @cached_property
    def mem_size(self) -> int | None:
        """
        Bytes of the memory, or None while they are unknown.

        Strided: the largest `dim * stride` (a stride of a dim of size 1 counts as 1) times the element size, 0 with a
        dim of size 0. With an unknown rank, dim or stride: None, where the library's arithmetic wraps around to an
        accidental number. Layout `any` or `undef`: `SIZE_MAX`, as the library answers. Opaque: the size of the layout
        that it stands for.

        Raises `LayoutError` for a negative stride and an undefined data type (the library wraps around), a size of 2^63
        bytes or more, and an opaque layout of which only the backend knows the size (the library crashes on an id that
        it does not know).
        """
        if self.layout_type in (LayoutType.ANY, LayoutType.UNDEF):
            return SIZE_MAX
        if self.dtype.bits == 0:
            raise self._error("expected a data type to tell the size, got undef")
        if self.layout_type is LayoutType.OPAQUE:
            index_map = self._opaque_map()
            return None if index_map is None else self.dtype.bytes_of(index_map.storage_size)
        if 0 in self.dims:
            return 0
        if self.has_unknown:
            return None
        self._require_no_negative_stride()
        size = self.dtype.bytes_of(strided_elements(self.dims, self.strides or ()))
        if size >= 2**63:
            raise self._error(f"expected a size of less than 2^63 bytes, got dims {self.dims}, strides {self.strides}")
        return size

    def layout(self) -> Layout:
        """
        The layout: `onednn:strided` with these strides, or what an opaque layout stands for.

        Raises `LayoutError` where it is not chosen, not known, or has negative strides. Strides that overlap are
        refused by its `index_map`.
        """
        if self.layout_type is LayoutType.OPAQUE:
            if self.stands_for is None:
                raise self._unknown_opaque()
            return self.stands_for
        if self.layout_type is not LayoutType.STRIDED:
            raise self._error(f"expected a strided layout, got {self.layout_type}")
        if self.has_unknown:
            raise self._error(f"expected known dims and strides, got dims {self.dims}, strides {self.strides}")
        self._require_no_negative_stride()
        return parse("strided", FormatOptions(strides=self.strides))

    def is_equal(self, other: LogicalTensor) -> bool:
        """
        Whether the library calls two logical tensors equal.

        Id, rank, dims, data type and property must agree (`undef` is not `variable`). Then two of one layout type are
        equal if their strides or their layout ids are, the stride of a dim of size 1 included; two unknown values are
        equal. An opaque and a strided tensor are equal when the opaque one stands for the same function in a storage of
        the same size, and always when they have no dims or no known rank.

        Raises `LayoutError` for an opaque against a strided tensor when nobody said what the opaque one stands for (the
        library crashes on an id that it does not know).
        """
        mine = (self.id, self.ndims, self.dims, self.dtype, self.property)
        if mine != (other.id, other.ndims, other.dims, other.dtype, other.property):
            return False
        if self.layout_type is other.layout_type:
            return self.strides == other.strides and self.layout_id == other.layout_id
        if {self.layout_type, other.layout_type} != {LayoutType.STRIDED, LayoutType.OPAQUE}:
            return False
        if self.ndims <= 0:
            return True
        opaque, strided = (self, other) if self.layout_type is LayoutType.OPAQUE else (other, self)
        index_map = opaque._opaque_map()
        stood_for = None if index_map is None else plain_strides(index_map)
        return stood_for is not None and all(
            size == 1 or mine == theirs
            for size, mine, theirs in zip(self.dims, stood_for, strided.strides or (), strict=True)
        )

    # -- new knowledge -------------------------------------------------------------------------------------------------

    def with_dims(self, dims: Sequence[int]) -> LogicalTensor:
        """The same tensor with more dims known; strides that were unknown follow. Known dims cannot change."""
        sizes = tuple(int(n) for n in dims)
        if self.ndims not in (UNKNOWN_NDIMS, len(sizes)):
            raise self._error(f"expected {self.ndims} dims, got {list(sizes)}")
        if any(UNKNOWN_DIM != old != new for old, new in zip(self.dims, sizes, strict=False)):
            raise self._error(f"expected the known dims {list(self.dims)} to stay, got {list(sizes)}")
        strides = None if self.ndims == UNKNOWN_NDIMS or UNKNOWN_DIM in (self.strides or ()) else self.strides
        return replace(self, ndims=len(sizes), dims=sizes, strides=strides)

    def with_strides(self, strides: Sequence[int]) -> LogicalTensor:
        """The same tensor with a strided layout."""
        return replace(self, layout_type=LayoutType.STRIDED, strides=tuple(strides), layout_id=None, stands_for=None)

    def with_layout_type(self, layout_type: str, layout_id: int | None = None) -> LogicalTensor:
        """The same tensor with another layout type: `any`, `undef`, dense `strided`, or `opaque` with its id."""
        kind = member(LayoutType, layout_type, "layout type")
        return replace(self, layout_type=kind, strides=None, layout_id=layout_id, stands_for=None)

    def with_layout(self, layout: Layout, layout_id: int | None = None) -> LogicalTensor:
        """
        The same tensor with a chosen layout, as a compiled partition answers: strided where strides can say it, else
        opaque under `layout_id`. Raises `LayoutError` for unknown dims or a blocked layout without an id.
        """
        if self.ndims == UNKNOWN_NDIMS or UNKNOWN_DIM in self.dims:
            raise self._error(f"expected known dims to choose a layout, got {list(self.dims)}")
        strides = plain_strides(layout.index_map(self.dims, self.dtype.element_type))
        if strides is not None:
            return self.with_strides(strides)
        if layout_id is None:
            raise self._error(f"expected a layout id for a layout that strides cannot say, {layout}")
        opaque = self.with_layout_type("opaque", layout_id)
        return replace(opaque, stands_for=layout)

    def with_property(self, property: str) -> LogicalTensor:
        """The same tensor with another property."""
        return replace(self, property=member(TensorProperty, property, "property"))

    # -- helpers -------------------------------------------------------------------------------------------------------

    def _opaque_map(self) -> IndexMap | None:
        """What an opaque layout stands for; None while dims are unknown, `LayoutError` if nobody said."""
        if self.stands_for is None:
            raise self._unknown_opaque()
        if self.has_unknown:
            return None
        return self.stands_for.index_map(self.dims, self.dtype.element_type)

    def _unknown_opaque(self) -> LayoutError:
        return self._error(
            f"expected the layout that opaque layout {self.layout_id} stands for, which only its backend knows"
        )

    def _require_no_negative_stride(self) -> None:
        if any(stride < 0 for stride in self.strides or ()):
            raise self._error(f"expected strides that are not negative, got {list(self.strides or ())}")


def _make(
    id: int,
    dtype: object,
    ndims: int,
    dims: Sequence[int],
    layout_type: str,
    property: str,
    strides: Sequence[int] | None,
) -> LogicalTensor:
    return LogicalTensor(
        id,
        data_type(dtype),
        ndims,
        tuple(dims),
        member(LayoutType, layout_type, "layout type"),
        member(TensorProperty, property, "property"),
        None if strides is None else tuple(strides),
    )
