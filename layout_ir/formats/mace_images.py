"""MACE's image types: row, column and lane of the RGBA pixel that holds an element."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir.affine import AffineExpr

from layout_ir.layouts.tiled import IMAGE_LANES, TiledLayout

Pixel = tuple[AffineExpr, AffineExpr, AffineExpr]
"""Row, column and lane."""


def _ceil4(size: int) -> int:
    return -(-size // IMAGE_LANES)


def _split(expr: AffineExpr) -> tuple[AffineExpr, AffineExpr]:
    return expr // IMAGE_LANES, expr % IMAGE_LANES


def _image(rank: int, pixel: Callable[..., Pixel]) -> Callable[[tuple[int, ...]], TiledLayout]:
    """A formula over `rank` dims; `pixel` gets the shape and then every dim."""

    def formula(shape: tuple[int, ...]) -> TiledLayout:
        dims = [AffineExpr.dimension(i) for i in range(rank)]
        return TiledLayout(rank, pixel(shape, *dims), is_image=True)

    return formula


def _in_out_channel(shape: tuple[int, ...], n: AffineExpr, h: AffineExpr, w: AffineExpr, c: AffineExpr) -> Pixel:
    _, height, width, _ = shape
    block, lane = _split(c)
    return n * height + h, block * width + w, lane


def _in_out_channel_matrix(shape: tuple[int, ...], n: AffineExpr, c: AffineExpr) -> Pixel:
    block, lane = _split(c)
    return n, block, lane


def _in_out_height(shape: tuple[int, ...], n: AffineExpr, h: AffineExpr, w: AffineExpr, c: AffineExpr) -> Pixel:
    _, height, width, _ = shape
    block, lane = _split(h)
    return n * _ceil4(height) + block, c * width + w, lane


def _in_out_height_plane(shape: tuple[int, ...], n: AffineExpr, h: AffineExpr, w: AffineExpr) -> Pixel:
    block, lane = _split(h)
    return n * _ceil4(shape[1]) + block, w, lane


def _in_out_width(shape: tuple[int, ...], n: AffineExpr, h: AffineExpr, w: AffineExpr, c: AffineExpr) -> Pixel:
    _, height, width, _ = shape
    block, lane = _split(w)
    return n * height + h, c * _ceil4(width) + block, lane


def _in_out_width_plane(shape: tuple[int, ...], n: AffineExpr, h: AffineExpr, w: AffineExpr) -> Pixel:
    block, lane = _split(w)
    return n * shape[1] + h, block, lane


def _conv2d_filter(shape: tuple[int, ...], o: AffineExpr, i: AffineExpr, h: AffineExpr, w: AffineExpr) -> Pixel:
    _, _, height, width = shape
    block, lane = _split(o)
    return block * (height * width) + h * width + w, i, lane


def _depthwise_filter(shape: tuple[int, ...], m: AffineExpr, i: AffineExpr, h: AffineExpr, w: AffineExpr) -> Pixel:
    block, lane = _split(i)
    return block, h * shape[3] + w, lane  # m is 0


def _weight_height(shape: tuple[int, ...], o: AffineExpr, i: AffineExpr, h: AffineExpr, w: AffineExpr) -> Pixel:
    _, inputs, _, width = shape
    block, lane = _split(o)
    return block, (h * width + w) * inputs + i, lane


def _weight_width(shape: tuple[int, ...], o: AffineExpr, i: AffineExpr, h: AffineExpr, w: AffineExpr) -> Pixel:
    _, inputs, _, width = shape
    block, lane = _split(i)
    return o, (h * width + w) * _ceil4(inputs) + block, lane


def _winograd_filter(shape: tuple[int, ...], t: AffineExpr, o: AffineExpr, i: AffineExpr) -> Pixel:
    """Of the transformed filter G g G^T, t counting row-major in the tile; the transform itself is no layout."""
    block, lane = _split(i)
    return t * shape[1] + o, block, lane


def _argument(shape: tuple[int, ...], w: AffineExpr) -> Pixel:
    block, lane = _split(w)
    return AffineExpr.constant(0), block, lane


IMAGES = {
    "IN_OUT_CHANNEL": {"NHWC": _image(4, _in_out_channel), "NC": _image(2, _in_out_channel_matrix)},
    "IN_OUT_HEIGHT": {"NHWC": _image(4, _in_out_height), "NHW": _image(3, _in_out_height_plane)},
    "IN_OUT_WIDTH": {"NHWC": _image(4, _in_out_width), "NHW": _image(3, _in_out_width_plane)},
    "CONV2D_FILTER": {"OIHW": _image(4, _conv2d_filter)},
    "DW_CONV2D_FILTER": {"MIHW": _image(4, _depthwise_filter)},
    "ARGUMENT": {"W": _image(1, _argument)},
    "WEIGHT_HEIGHT": {"OIHW": _image(4, _weight_height)},
    "WEIGHT_WIDTH": {"OIHW": _image(4, _weight_width)},
    "WINOGRAD_FILTER": {"TOI": _image(3, _winograd_filter)},
}
"""Name to the formulas by logical dims."""
