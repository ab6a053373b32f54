"""
OpenVINO's image formats and the one piecewise buffer format, as functions from a shape to an explicit layout.

Source: the reorder kernels of the GPU plugin, run on the host; no name explains these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from layout_ir.formats.openvino_order import mixed_radix
from layout_ir.layouts.tiled import TiledLayout

Shape = tuple[int, ...]

WEIGHTS = ("o", "i", "y", "x")


def _image(row: AffineExpr, column: AffineExpr, lane: AffineExpr | None = None) -> TiledLayout:
    return TiledLayout(4, (row, column, AffineConstantExpr(0) if lane is None else lane), is_image=True)


def _dims() -> list[AffineExpr]:
    return [AffineExpr.dimension(position) for position in range(4)]


def _input_filter(shape: Shape) -> AffineExpr:
    """`(i*Y + y)*X + x`."""
    return mixed_radix(list(zip(_dims()[1:], shape[1:], strict=True)))


def _rgba(shape: Shape) -> TiledLayout:
    _, f, y, x = _dims()
    return _image(y, x, f)


def _filter_in_columns(shape: Shape) -> TiledLayout:
    return _image(_dims()[0], _input_filter(shape) // 4, _input_filter(shape) % 4)


def _filter_in_rows(shape: Shape) -> TiledLayout:
    return _image(_input_filter(shape), _dims()[0])


def _winograd_columns_of_x(shape: Shape) -> TiledLayout:
    o, i, y, x = _dims()
    return _image(i, mixed_radix([(o // 16, 1), (x, shape[3]), (y, shape[2]), (o % 16, 16)]))


def _winograd_rows_of_x(shape: Shape) -> TiledLayout:
    o, i, y, x = _dims()
    return _image(mixed_radix([(x, shape[3]), (i, shape[1])]), mixed_radix([(o // 16, 1), (y, shape[2]), (o % 16, 16)]))


IMAGES: Mapping[str, tuple[tuple[str, ...], Callable[[Shape], TiledLayout]]] = {
    "image_2d_rgba": (("b", "f", "y", "x"), _rgba),
    "image_2d_weights_c4_fyx_b": (WEIGHTS, _filter_in_columns),
    "image_2d_weights_c1_b_fyx": (WEIGHTS, _filter_in_rows),
    "image_2d_weights_winograd_6x3_s1_fbxyb": (WEIGHTS, _winograd_columns_of_x),
    "image_2d_weights_winograd_6x3_s1_xfbyb": (WEIGHTS, _winograd_rows_of_x),
}
"""Name to the logical dims and the layout of a shape: row, column and lane of every element."""


def odd_column_layout(shape: Shape, slice_size: int) -> TiledLayout:
    """
    `iy_xs_os_xsv2_osvV__ao32` (a leading g is slowest) where the width is odd; `slice_size` is V, 16 or 8.

    Inside of a row, two columns and 32 output channels make 64 cells. Paired columns put channel 32*p + V*q + r at
    64*p + 2*V*q + V*(x%2) + r; the last column, which has no partner, puts it at 64*p + V*q + r instead.
    """
    rank, width = len(shape), max(shape[-1], 1)
    dims = [AffineExpr.dimension(position) for position in range(rank)]
    o, x = dims[-4], dims[-1]
    last = (x + 1) // width
    cell = (o // 32) * 64 + (o % slice_size) + (x % 2) * slice_size
    size = slice_size
    while size < 32:  # the bits of q; the product of a bit with `last` is their sum floordiv 2
        bit = (o // size) % 2
        cell = cell + bit * (2 * size) + ((bit + last) // 2) * -size
        size *= 2
    coordinates = (*dims[:-4], *dims[-3:-1], x // 2, cell)
    return TiledLayout(rank, coordinates, tuple(32 if dim is o else 1 for dim in dims))
