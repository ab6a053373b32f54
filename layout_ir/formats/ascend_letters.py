"""
Ascend's names that spell their storage axis by axis: `NCHW`, `NC1HWC0`, `NDC1HWC0`, `C1HWNCoC0`, ...

    name   ::= axis+ ["_C04"]
    axis   ::= N | C | D | H | W | L     a dim, whole
             | C1                        C floordiv C0
             | C0 | Co                   C mod C0

A name has `C1` if and only if it has `C0`. With `Co` beside `C0` an element sits on the diagonal of the Co x C0 matrix
and everything beside the diagonal is a pad; N stays whole there, as the host transfer code has it (the framework's
shape code rounds it up to 16). `_C04` fixes C0 = 4.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import accumulate

from xdsl.ir.affine import AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.formats.ascend_format import Notation, Parameters
from layout_ir.layouts.tiled import TiledLayout

LOGICAL_ORDER = "NCDHWL"
"""The order of the logical dims when the option `dims` does not say another."""

NAMES = (
    *("NCHW", "NHWC", "CHWN", "HWCN", "NCDHW", "NDHWC", "DHWCN", "DHWNC", "NCL", "NC", "CN"),
    *("NC1HWC0", "NC1HWC0_C04", "NDC1HWC0", "C1HWNC0", "C1HWNCoC0"),
)
"""The names that the vendor lists; the grammar accepts every other order of the axes too."""

_AXIS = re.compile(r"C1|C0|Co|[NCDHWL]")
_NARROW = "_C04"


def parse_letters(name: str) -> Notation:
    """The notation of a name by letters; raises `LayoutError` with the position where the grammar ends."""
    narrow = name.endswith(_NARROW)
    spelled = name.removesuffix(_NARROW)
    axes = _axes(name, spelled)
    _check_together(name, axes, len(spelled), narrow)
    whole = {axis[0] for axis in axes}
    dims = tuple(letter for letter in LOGICAL_ORDER if letter in whole)
    formula = partial(_axis_formula, axes=axes, dims=dims)
    if narrow:
        return Notation(dims, formula, fixed_c0=4)
    return Notation(dims, formula, takes=("c0",)) if "C1" in axes else Notation(dims, formula)


def _check_together(name: str, axes: Sequence[str], end: int, narrow: bool) -> None:
    """Raise `LayoutError` for axes that mean nothing without others, or beside them; `end` is the position after."""
    positions = dict(zip(axes, accumulate(map(len, axes), initial=0), strict=False))
    for axis, partner in (("C1", "C0"), ("C0", "C1"), ("Co", "C1")):
        if axis in positions and partner not in positions:
            raise LayoutError(
                f"'{name}': expected C1 and C0 together, got {axis} at position {positions[axis]} without {partner}"
            )
    if narrow and "C1" not in positions:
        raise LayoutError(f"'{name}': expected C1 and C0 together in front of {_NARROW} at position {end}, got none")
    if "C1" in positions and "C" in positions:
        raise LayoutError(f"'{name}': expected C whole or as C1 and C0, got both, C at position {positions['C']}")
    if "C1" in positions and "N" not in positions:
        # the shape code of C1HWC0 blocks N under the name of C, so such a name does not say what it means
        raise LayoutError(f"'{name}': expected the axis N in a blocked format, got none before position {end}")


def _axes(name: str, spelled: str) -> tuple[str, ...]:
    axes: list[str] = []
    position = 0
    while position < len(spelled):
        match = _AXIS.match(spelled, position)
        if match is None:
            raise LayoutError(
                f"'{name}': expected an axis (N, C, D, H, W, L, C1, C0 or Co) at position {position}, "
                f"got '{spelled[position:]}'"
            )
        if match.group() in axes:
            raise LayoutError(f"'{name}': expected every axis once, got '{match.group()}' again at position {position}")
        axes.append(match.group())
        position = match.end()
    if not axes:
        raise LayoutError(f"'{name}': expected an axis (N, C, D, H, W, L, C1, C0 or Co) at position 0")
    return tuple(axes)


def _axis_formula(parameters: Parameters, axes: Sequence[str], dims: Sequence[str]) -> TiledLayout:
    def coordinate(axis: str) -> AffineExpr:
        dim = AffineExpr.dimension(dims.index(axis[0]))
        if axis == "C1":
            return dim // parameters.c0
        return dim % parameters.c0 if axis in ("C0", "Co") else dim

    return TiledLayout(len(dims), tuple(coordinate(axis) for axis in axes))


def nd_formula(parameters: Parameters) -> TiledLayout:
    """ND: the dims as given, the last one fastest."""
    return TiledLayout(len(parameters.shape), tuple(parameters.dims()))
