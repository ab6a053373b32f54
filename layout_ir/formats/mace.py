"""
MACE's formats of its OpenCL runtime: nine image types, whose pixels hold 4 elements, and five linear buffers.

Activations have the logical dims N,H,W,C - or N,C (IN_OUT_CHANNEL) and N,H,W
(IN_OUT_HEIGHT, IN_OUT_WIDTH) - weights O,I,H,W, depthwise weights M,I,H,W with M = 1, arguments W, and transformed
Winograd filters T,O,I. Another order is the option `dims`. Pads are zero, except in the HTA buffers, whose pads are the
tensor's zero point.

Every formula is that of the kernels. Two formulas of the vendor's document differ from its kernels:

- Height-major, document: the pixel in column i and row j holds n = j % N, h = (j / H)*4 + k. Kernels:
  n = j / ceil(H/4), h = (j % ceil(H/4))*4 + k. With N = 2, H = 6, W = C = 1 the image is 4 rows high and row 1 holds
  n = 0, h = 4..5; by the document it would hold n = 1, h = 0..3.
- Width-major, document: w = (i % W)*4 + k, c = i / W. Kernels: w = (i % ceil(W/4))*4 + k, c = i / ceil(W/4). With
  N = H = 1, W = C = 2 the image is 2 pixels wide and pixel 1 holds c = 1, w = 0..1; by the document it would hold
  c = 0, w = 4..7, which do not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from layout_ir.errors import LayoutError, departure, nearest
from layout_ir.formats.format import Format, FormatOptions
from layout_ir.formats.mace_buffers import BUFFERS
from layout_ir.formats.mace_images import IMAGES
from layout_ir.layouts.element_type import ElementType
from layout_ir.layouts.tiled import TiledLayout

Formula = Callable[[tuple[int, ...]], TiledLayout]

_VARIANTS: dict[str, dict[str, Formula]] = {**IMAGES, **BUFFERS}
"""Name to the formulas by logical dims. Source: the vendor's buffer-to-image and buffer transform kernels."""


@dataclass(frozen=True)
class MaceFormat(Format):
    """A name of MACE's. Some names mean tensors of two ranks; the shape, or the option `dims`, says which."""

    def dims_of_rank(self, rank: int) -> tuple[str, ...] | None:
        by_rank = {len(dims): tuple(dims) for dims in _VARIANTS[self.name]}
        return self.logical_dims or by_rank.get(rank)

    def resolve_canonical(self, shape: tuple[int, ...], dtype: ElementType) -> TiledLayout:
        variants = _VARIANTS[self.name]
        for dims, formula in variants.items():
            if len(dims) == len(shape):
                return _checked_formula(self.qualified_name, dims, formula, shape)
        ranks = " or ".join(f"{len(dims)} ({', '.join(dims)})" for dims in variants)
        raise LayoutError(
            f"{self.qualified_name}: expected a shape of rank {ranks}, got rank {len(shape)}: {list(shape)}"
        )


def _checked_formula(what: str, dims: str, formula: Formula, shape: tuple[int, ...]) -> TiledLayout:
    if dims == "MIHW" and shape[0] != 1:
        raise LayoutError(
            f"{what}: expected a depthwise multiplier of M = 1, got M = {shape[0]}: MACE's kernels store no more"
        )
    return formula(shape)


def names() -> Sequence[str]:
    """The vendor's names."""
    return tuple(_VARIANTS)


def parse(name: str, options: FormatOptions) -> Format:
    """The format of a name of MACE's; raises `LayoutError` for an unknown one or for `dims` that do not fit it."""
    if name not in _VARIANTS:
        raise LayoutError(f"unknown format 'mace:{name}': {departure(name, _VARIANTS)}{nearest(name, _VARIANTS)}")
    options.only(f"mace:{name}", "dims")
    result = MaceFormat("mace", name, options, _dims(name, options.dims))
    _ = result.logical_dims  # an order that does not fit is refused here, before any tensor is there
    return result


def _dims(name: str, wanted: str | None) -> tuple[str, ...] | None:
    variants = list(_VARIANTS[name])
    if wanted is None:
        return tuple(variants[0]) if len(variants) == 1 else None
    for dims in variants:
        if sorted(dims.lower()) == sorted(wanted.lower()):
            return tuple(dims)
    raise LayoutError(f"mace:{name}: expected dims to be an order of {' or '.join(variants)}, got '{wanted}'")
