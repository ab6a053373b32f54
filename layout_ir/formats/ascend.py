"""
Ascend's formats (CANN, MindSpore): `NC1HWC0`, `FRACTAL_Z`, `FRACTAL_NZ`, ...

Logical dims are N,C,(D,)H,W unless the option `dims` gives another order (`dims = "HWCN"`); `dims = "ND"` means dims
without names. C0 follows from the element type as in the vendor's host code, or from the option `c0`; its two other
rules are `c0 = channel_block("f32", "document")` and `"platform"` (in `ascend_channel_block`). Pads are zero. Names are
the vendor's own, with or without the prefix of its enums (`FORMAT_NC1HWC0`, `ACL_FORMAT_NC1HWC0`).

Two answers of old releases are superseded and not offered: FRACTAL_Z_C04 of 1-byte elements in fractals of 32 x 32, and
MindSpore's grouped FRACTAL_Z of 1-byte elements, which wrote past its buffer.
"""

from __future__ import annotations

from collections.abc import Sequence

from layout_ir.errors import LayoutError, departure, nearest
from layout_ir.formats import ascend_fractal, ascend_letters, ascend_recurrent
from layout_ir.formats.ascend_format import AscendFormat, Notation, ascend_format
from layout_ir.formats.format import FormatOptions

_TABLE: dict[str, Notation] = {
    "ND": Notation(None, ascend_letters.nd_formula, keeps_order=True),
    **ascend_fractal.NOTATIONS,
    **ascend_recurrent.NOTATIONS,
}
_ALIASES = {"ZN_RNN": "FRACTAL_ZN_RNN", "ZN_LSTM": "FRACTAL_ZN_LSTM"}
_PREFIXES = ("ACL_FORMAT_", "FORMAT_")


def names() -> Sequence[str]:
    """The vendor's names."""
    return (*ascend_letters.NAMES, *_TABLE)


def parse(name: str, options: FormatOptions) -> AscendFormat:
    """
    The format of a name of Ascend's.

    Raises `LayoutError` for an unknown name, an option that the format does not take, or `dims` that are no order of
    its logical dims.
    """
    prefix = next((prefix for prefix in _PREFIXES if name.startswith(prefix)), "")
    bare = name.removeprefix(prefix)
    bare = _ALIASES.get(bare, bare)
    return ascend_format(name, options, _notation(name, bare, options))


def _notation(name: str, bare: str, options: FormatOptions) -> Notation:
    if bare == "FRACTAL_Z" and options.dims is not None and options.dims.upper() in ("ND", "CN", "NC"):
        return ascend_fractal.MATRIX_WEIGHT
    if bare in _TABLE:
        return _TABLE[bare]
    if bare.startswith("FRACTAL"):
        raise LayoutError(f"unknown format 'ascend:{name}': {departure(bare, _TABLE)}{nearest(bare, names())}")
    try:
        return ascend_letters.parse_letters(bare)
    except LayoutError as error:
        raise LayoutError(f"unknown format 'ascend:{name}': {error}{nearest(bare, names())}") from None
