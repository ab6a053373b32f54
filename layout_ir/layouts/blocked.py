"""Blocked layouts from their outer order and inner blocks, the form in which most vendors' notations describe them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir.affine import AffineExpr

from layout_ir.layouts.tiled import TiledLayout


def digit(dim: int, divisor: int = 1, modulus: int | None = None) -> AffineExpr:
    """`(d floordiv divisor) mod modulus`, leaving out what does nothing."""
    expr = AffineExpr.dimension(dim)
    if divisor != 1:
        expr = expr // divisor
    return expr if modulus is None else expr % modulus


def blocked_layout(
    num_dims: int,
    outer: Sequence[int],
    blocks: Sequence[tuple[int, int]] = (),
    round_up: Mapping[int, int] | None = None,
) -> TiledLayout:
    """
    The layout that stores the dims in the order `outer`, each counted in whole blocks, and inside of them `blocks`.

    `outer`: the dims, slowest first. `blocks`: pairs (dim, size), slowest first; of a dim that is blocked more than
    once the last block is the least significant. `round_up`: dims that are padded without being split.
    """
    divisor = [1] * num_dims
    inner: list[AffineExpr] = []
    for dim, size in reversed(blocks):
        inner.append(digit(dim, divisor[dim], size))
        divisor[dim] *= size
    coordinates = [digit(dim, divisor[dim]) for dim in outer] + inner[::-1]
    padding = tuple((round_up or {}).get(dim, 1) for dim in range(num_dims))
    return TiledLayout(num_dims, tuple(coordinates), padding)
