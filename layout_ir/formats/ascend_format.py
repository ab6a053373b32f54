"""AscendFormat: what all of Ascend's names share - order of the source, C0, groups and the merged physical shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir.affine import AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.formats.ascend_channel_block import channel_block
from layout_ir.formats.format import Format, FormatOptions
from layout_ir.layouts.element_type import ElementType
from layout_ir.layouts.tiled import TiledLayout


@dataclass(frozen=True)
class Parameters:
    """One tensor and everything that a name leaves open, as a formula needs it."""

    name: str
    """The qualified name, for messages."""

    shape: tuple[int, ...]
    """Extents of the logical dims in the notation's order."""

    c0: int
    """Channels in one block."""

    options: FormatOptions

    @property
    def groups(self) -> int:
        """Groups of a grouped convolution, 1 when none are given."""
        return self.options.groups or 1

    def dims(self) -> list[AffineExpr]:
        """The logical dims as expressions."""
        return [AffineExpr.dimension(i) for i in range(len(self.shape))]


@dataclass(frozen=True)
class Notation:
    """What a name means, apart from the tensor."""

    dims: tuple[str, ...] | None
    """Logical dims in the order of the formula; None where any rank will do."""

    formula: Callable[[Parameters], TiledLayout]

    takes: tuple[str, ...] = ()
    """The options that change the layout, besides `dims`."""

    fixed_c0: int | None = None
    """C0 where the name says it."""

    default_c0: int | None = None
    """C0 where the element type does not matter."""

    merged_axes: int = 1
    """How many leading axes the vendor writes as one; grouped weights have one axis more."""

    keeps_order: bool = False
    """Whether the formula counts positions instead of letters, so that `dims` names the axes without permuting them."""

    unnamed_dims: bool = False
    """Whether `dims = "ND"` is an order too: that of the formula."""


@dataclass(frozen=True)
class AscendFormat(Format):
    """A name of Ascend's with its options."""

    notation: Notation

    @cached_property
    def _order(self) -> tuple[int, ...]:
        unnamed = self.notation.unnamed_dims and _is_nd(self.options.dims)
        if self.dims is not None and (self.notation.keeps_order or unnamed):
            return tuple(range(len(self.dims)))
        return super()._order

    def resolve_canonical(self, shape: tuple[int, ...], dtype: ElementType) -> TiledLayout:
        return self.notation.formula(Parameters(self.qualified_name, shape, self._channel_block(dtype), self.options))

    def physical_shape(self, shape: tuple[int, ...], dtype: ElementType, extents: tuple[int, ...]) -> tuple[int, ...]:
        merged = self.notation.merged_axes
        if merged > 1 and (self.options.groups or 1) > 1:
            merged += 1
        return extents if merged == 1 else (math.prod(extents[:merged]), *extents[merged:])

    def _channel_block(self, dtype: ElementType) -> int:
        if "c0" not in self.notation.takes:
            return self.notation.fixed_c0 or 1
        given = self.options.c0 or self.notation.default_c0
        try:
            return given or channel_block(dtype)
        except LayoutError as error:
            raise LayoutError(f"{self.qualified_name}: {error}") from None


def _is_nd(dims: str | None) -> bool:
    """Whether `dims` says that the dims have no names."""
    return dims is not None and dims.upper() == "ND"


def ascend_format(name: str, options: FormatOptions, notation: Notation) -> AscendFormat:
    """A format of a notation, once the options have been found to fit it; raises `LayoutError` where they do not."""
    what = f"ascend:{name}"
    _check_options(what, options, notation)
    dims = notation.dims
    if notation.keeps_order and options.dims is not None and not _is_nd(options.dims):
        dims = _free_dims(what, options.dims)
    result = AscendFormat("ascend", name, options, dims, notation)
    _ = result.logical_dims  # an order that does not fit is refused here, before any tensor is there
    return result


def _check_options(what: str, options: FormatOptions, notation: Notation) -> None:
    # neutral values say what holds anyway: callers that always pass groups = 1 or the name's own C0 are right
    neutral = {"groups": 1, "c0": notation.fixed_c0}
    for name, value in options.given().items():
        if name == "dims":
            continue
        if isinstance(value, int) and value < (0 if name == "input_size" else 1):
            raise LayoutError(f"{what}: expected {name} to be positive, got {value}")
        if name in notation.takes or neutral.get(name) == value:
            continue
        if name == "c0" and notation.fixed_c0 is not None:
            raise LayoutError(f"{what}: expected c0 = {notation.fixed_c0}, which the name says, got c0 = {value}")
        allowed = " and ".join(("dims", *notation.takes))
        raise LayoutError(f"{what}: expected only {allowed}, got the option '{name}'")


def _free_dims(what: str, dims: str) -> tuple[str, ...]:
    """Names of dims that may be any letters, each once."""
    for position, letter in enumerate(dims):
        if not (letter.isascii() and letter.isalpha()) or letter.lower() in dims[:position].lower():
            raise LayoutError(
                f"{what}: expected dims to be 'ND' or different letters, got '{dims}' (position {position})"
            )
    if not dims:
        raise LayoutError(f"{what}: expected dims to be 'ND' or different letters, got an empty string")
    return tuple(dims)


def checked_rank(parameters: Parameters, minimum: int) -> None:
    """Raise `LayoutError` for a tensor of fewer dims than `minimum`."""
    rank = len(parameters.shape)
    if rank < minimum:
        raise LayoutError(
            f"{parameters.name}: expected a tensor of rank {minimum} or more, got rank {rank}: {list(parameters.shape)}"
        )
