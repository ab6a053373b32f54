"""
oneDNN's format tags: the 873 over a, b, c, ..., the 798 aliases such as nChw16c, and `strided` for explicit strides.

Options: `dims` (the order in which the logical dims are given), `strides` and `offset` (in elements; of a blocked dim
for one step of its outer index). The grammar is in `onednn_tag`, the strides in `onednn_strided`. Source: oneDNN 3.13.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layout_ir.errors import LayoutError
from layout_ir.formats.format import ExplicitLayout, Format, FormatOptions
from layout_ir.formats.onednn_strided import StridedFormat
from layout_ir.formats.onednn_tag import Tag, parse_tag
from layout_ir.layouts.element_type import ElementType

STRIDED = "strided"
"""The name of a plain strided layout of any rank: row-major unless `strides` are given."""


@dataclass(frozen=True)
class TagFormat(Format):
    """A format tag of oneDNN; its layout depends on neither shape nor element type."""

    tag: Tag

    def resolve_canonical(self, shape: tuple[int, ...], dtype: ElementType) -> ExplicitLayout:
        return self.tag.layout


def names() -> Sequence[str]:
    """The 1,671 names of the library's enumeration; the grammar explains more."""
    from layout_ir.formats.onednn_names import listed_names

    return listed_names()


def parse(name: str, options: FormatOptions) -> Format:
    """
    The format of a tag, or of `strided`.

    Logical dims: of a tag over a, b, c, ... the letters in alphabetical order, of an alias in its family's order (n, c,
    d, h, w; g, o, i, d, h, w; t, n, c; l, d, n, c; l, d, i, g, o). Raises `LayoutError` with the position and what was
    expected there.
    """
    if name == STRIDED:
        options.only("onednn:strided", "strides", "offset")
        return StridedFormat("onednn", name, options, None, None)
    if name in ("any", "undef"):
        raise LayoutError(f"onednn:{name}: expected a layout, got a state without one; in IR it is #layout.{name}")
    tag = parse_tag(name)
    options.only(f"onednn:{name}", "dims", "strides", "offset")
    if options.strides is not None or options.offset is not None:
        return StridedFormat("onednn", name, options, tag.dims, tag)
    return TagFormat("onednn", name, options, tag.dims, tag)
