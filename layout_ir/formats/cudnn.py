"""
cuDNN's tensor and filter formats.

    name     ::= [prefix] letters | [prefix] letters "_VECT_C" [number] | "NC/" x [D]HW x | "strided"
    prefix   ::= "CUDNN_TENSOR_"
    letters  ::= an order of N,C,[D,]H,W (tensors), of N,C,L or N,C (fewer dims) or of K,C,[T,]R,S (filters)

Logical dims are N,C,(D,)H,W for tensors and K,C,(T,)R,S for filters unless the option `dims` gives another order.
`NC/xHWx` keeps x channels together as `NHWC` would, for any x: x = 1 is NCHW, x = C is NHWC. `NCHW_VECT_Cx` is the
same function under the name of cuDNN's enum, with x = 4 for INT8x4 and UINT8x4 and x = 32 for INT8x32; as the enum's
name leaves x open, `NCHW_VECT_C` takes the option `c0`. Where C is no multiple of x it is rounded up, and the rest of
the last vector is a pad.

`strided` is a tensor descriptor with the option `strides`, in elements, of the dims in the order N,C,(D,)H,W.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from layout_ir.errors import LayoutError, nearest
from layout_ir.formats.format import ExplicitLayout, FixedFormat, Format, FormatOptions
from layout_ir.layouts.blocked import blocked_layout
from layout_ir.layouts.element_type import ElementType
from layout_ir.layouts.strided import StridedLayout

NAMES = (
    *("NCHW", "NHWC", "CHWN", "NCDHW", "NDHWC", "CDHWN", "KCRS", "KRSC", "KCTRS", "KTRSC"),
    *("NCHW_VECT_C4", "NCHW_VECT_C32", "KCRS_VECT_C4", "KCRS_VECT_C32", "NC/32HW32"),
    *("CUDNN_TENSOR_NCHW", "CUDNN_TENSOR_NHWC", "CUDNN_TENSOR_NCHW_VECT_C", "strided"),
)
"""cuDNN's own names; the grammar accepts every order of the dims and every x."""

_PREFIX = "CUDNN_TENSOR_"
_LOGICAL_DIMS = ("NCHW", "NCDHW", "NCL", "NC", "KCRS", "KCTRS")
_VECTOR = re.compile(r"_VECT_C([1-9][0-9]{0,8})?")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_SPACES = ("HW", "DHW")


@dataclass(frozen=True)
class IncompleteFormat(Format):
    """A name of cuDNN's that an option must complete before it is a layout."""

    missing: str
    """What is missing, for the message."""

    def resolve_canonical(self, shape: tuple[int, ...], dtype: ElementType) -> ExplicitLayout:
        raise LayoutError(f"{self.qualified_name}: expected {self.missing}, got none")


def names() -> Sequence[str]:
    """cuDNN's own names."""
    return NAMES


def parse(name: str, options: FormatOptions) -> Format:
    """
    The format of a name of cuDNN's.

    Raises `LayoutError`, with the position, for a name that the grammar does not explain, for `NC/xHWy` with different
    numbers, and for options that the format does not take.
    """
    if name == "strided":
        return _strided(options)
    if name.startswith("NC/"):
        return _grouped(name, options)
    bare = name.removeprefix(_PREFIX)
    start = len(name) - len(bare)
    letters, underscore, _ = bare.partition("_")
    dims = _logical_dims(name, letters, start)
    if not underscore:
        options.only(f"cudnn:{name}", "dims")
        return _format(name, options, dims, [dims.index(letter) for letter in letters], None)
    return _vectors(name, options, dims, letters, start)


def _unknown(name: str, expected: str, position: int) -> LayoutError:
    got = f"'{name[position:]}'" if position < len(name) else "the end"
    return LayoutError(
        f"unknown format 'cudnn:{name}': expected {expected} at position {position}, got {got}{nearest(name, NAMES)}"
    )


def _logical_dims(name: str, letters: str, start: int) -> str:
    for position, letter in enumerate(letters):
        if letter in letters[:position]:
            raise _unknown(name, f"every dim once, not '{letter}' again", start + position)
        prefix = set(letters[: position + 1])
        if not any(prefix <= set(dims) for dims in _LOGICAL_DIMS):
            raise _unknown(name, "an order of N,C,(D,)H,W or K,C,(T,)R,S", start + position)
    for dims in _LOGICAL_DIMS:
        if sorted(letters) == sorted(dims):
            return dims
    raise _unknown(name, "an order of N,C,(D,)H,W or K,C,(T,)R,S", start + len(letters))


def _format(name: str, options: FormatOptions, dims: str, outer: Sequence[int], vector: int | None) -> FixedFormat:
    """The dims in the order `outer`, C counted in vectors of `vector`, which are innermost."""
    blocks = [] if vector in (None, 1) else [(dims.index("C"), vector)]
    result = FixedFormat("cudnn", name, options, tuple(dims), blocked_layout(len(dims), outer, blocks))
    _ = result.logical_dims  # an order that does not fit is refused here, before any tensor is there
    return result


def _vectors(name: str, options: FormatOptions, dims: str, letters: str, start: int) -> Format:
    end = start + len(letters)
    match = _VECTOR.fullmatch(name, end)
    if match is None:
        raise _unknown(name, "_VECT_C and the channels in a vector (4 or 32)", end)
    if letters not in ("NCHW", "NCDHW", "KCRS", "KCTRS"):
        raise _unknown(name, "NCHW or KCRS in front of _VECT_C", start)
    if match.group(1) is not None:
        options.only(f"cudnn:{name}", "dims")
        vector = int(match.group(1))
    else:
        options.only(f"cudnn:{name}", "dims", "c0")
        if options.c0 is None:
            missing = "the channels in a vector, as NCHW_VECT_C4, NCHW_VECT_C32 or the option c0"
            return IncompleteFormat("cudnn", name, options, tuple(dims), missing)
        vector = _positive(name, options.c0)
    return _format(name, options, dims, range(len(dims)), vector)


def _positive(name: str, vector: int) -> int:
    if vector < 1:
        raise LayoutError(f"cudnn:{name}: expected c0 to be positive, got {vector}")
    return vector


def _grouped(name: str, options: FormatOptions) -> FixedFormat:
    """`NC/xHWx` and `NC/xDHWx`."""
    position = len("NC/")
    first = _NUMBER.match(name, position)
    if first is None:
        raise _unknown(name, "the number x of NC/xHWx", position)
    space = next((space for space in _SPACES if name.startswith(space, first.end())), None)
    if space is None:
        raise _unknown(name, "HW or DHW", first.end())
    end = first.end() + len(space)
    second = _NUMBER.fullmatch(name, end)
    if second is None:
        raise _unknown(name, f"the number {first.group()} again", end)
    if second.group() != first.group():
        raise _unknown(name, f"the same number as in front, {first.group()},", end)
    options.only(f"cudnn:{name}", "dims")
    dims = "NC" + space
    return _format(name, options, dims, range(len(dims)), int(first.group()))


def _strided(options: FormatOptions) -> Format:
    options.only("cudnn:strided", "dims", "strides", "offset")
    if options.strides is None:
        return IncompleteFormat("cudnn", "strided", options, None, "the option strides")
    layout = StridedLayout(options.strides, options.offset or 0)
    named = {len(dims): tuple(dims) for dims in ("NC", "NCL", "NCHW", "NCDHW")}
    dims = named.get(layout.rank)
    if dims is None:
        if options.dims is not None:
            raise LayoutError(f"cudnn:strided: expected dims only with 2 to 5 strides, got {layout.rank}")
        dims = tuple(f"d{i}" for i in range(layout.rank))
    result = FixedFormat("cudnn", "strided", options, dims, layout)
    _ = result.logical_dims
    return result
