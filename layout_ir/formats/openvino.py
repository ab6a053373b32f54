"""
OpenVINO's memory formats (GPU plugin, formerly clDNN): `openvino:b_fs_yx_fsv16`, `openvino:os_iyx_osv16`, ...

A name is parsed by its grammar (`openvino_grammar`); what the grammar does not explain is a table with sources
(`openvino_exceptions`, `openvino_images`). Logical dims: b,f,(v,u,w,)z,y,x of data and (g,)o,i,(z,)y,x of weights,
those of them that the name contains. The storage is the padded structure, which is what the vendor's index functions
address; some releases allocate another number of elements, which is not reproduced.

Offsets count elements, also those of less than a byte: nibbles for u4 and i4, bits for u1.
"""

from __future__ import annotations

from dataclasses import dataclass

from layout_ir.errors import LayoutError, nearest
from layout_ir.formats.era import Era
from layout_ir.formats.format import Format, FormatOptions
from layout_ir.formats.openvino_exceptions import (
    FOUR_BIT,
    FULLY_CONNECTED,
    ODD_COLUMN,
    READS_AS,
    REFUSED,
    Demand,
    demand_of,
)
from layout_ir.formats.openvino_grammar import parse_order
from layout_ir.formats.openvino_images import IMAGES, odd_column_layout
from layout_ir.formats.openvino_names import era, names
from layout_ir.formats.openvino_order import StorageOrder
from layout_ir.layouts.element_type import ElementType
from layout_ir.layouts.tiled import TiledLayout

__all__ = ["Era", "OpenVinoFormat", "OpenVinoImage", "era", "names", "parse"]


@dataclass(frozen=True)
class OpenVinoFormat(Format):
    """A buffer format."""

    order: StorageOrder
    """The storage order of elements of a byte and more."""

    def resolve_canonical(self, shape: tuple[int, ...], dtype: ElementType) -> TiledLayout:
        """The explicit layout; raises `LayoutError` where the vendor's own offsets collide for `shape`."""
        _check(self, shape, demand_of(self.name))
        if dtype.bits == 4 and self.name in FOUR_BIT:
            _check(self, shape, FULLY_CONNECTED)
            return FOUR_BIT[self.name].layout(shape)
        if self.name in ODD_COLUMN and shape[-1] % 2:
            return odd_column_layout(shape, ODD_COLUMN[self.name])
        return self.order.layout(shape)


@dataclass(frozen=True)
class OpenVinoImage(Format):
    """An image format: row, column and lane of an RGBA image."""

    def resolve_canonical(self, shape: tuple[int, ...], dtype: ElementType) -> TiledLayout:
        """The explicit layout; raises `LayoutError` for sizes that no such image holds."""
        _check(self, shape, demand_of(self.name))
        return IMAGES[self.name][1](shape)


def _check(what: Format, shape: tuple[int, ...], demand: Demand | None) -> None:
    assert what.dims is not None
    if demand is not None and not demand.holds(dict(zip(what.dims, shape, strict=True))):
        sizes = ", ".join(f"{dim} = {size}" for dim, size in zip(what.dims, shape, strict=True))
        raise LayoutError(f"{what.qualified_name}: expected {demand.expected}, got {sizes}")


def parse(name: str, options: FormatOptions) -> Format:
    """
    The format of a name, listed or only explained by the grammar.

    Raises `LayoutError` with the position in the name, what was expected there and the nearest listed names.
    """
    options.only(f"openvino:{name[:128]}", "dims")
    if name in REFUSED:
        raise LayoutError(f"openvino:{name} has no layout: {REFUSED[name]}")
    if name in IMAGES:
        return OpenVinoImage("openvino", name, options, IMAGES[name][0])
    try:
        order = parse_order(READS_AS.get(name, name))
    except LayoutError as error:
        raise LayoutError(f"{error}{nearest(name[:128], names())}") from None
    return OpenVinoFormat("openvino", name, options, order.dims, order)
