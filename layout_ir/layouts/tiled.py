"""
TiledLayout: the canonical explicit form of a layout.

A list of quasi-affine storage coordinates over the logical dims, outermost first; the storage is dense and row-major
over them. It does not know the shape. Extents follow from it by one rule, applied from the inside out: a dim runs over
its size rounded up to `round_up`; `e mod n` has n values, `e floordiv n` as many as the blocks of n that cover e.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lcm

from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineDimExpr, AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.layouts import affine
from layout_ir.layouts.affine_text import affine_text
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.layout import Layout, checked_shape

IMAGE_LANES = 4
"""Channels of an RGBA pixel."""


@dataclass(frozen=True)
class TiledLayout(Layout):
    """Storage coordinates as expressions over `d0, d1, ...`, as in `(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)`."""

    num_dims: int

    coordinates: tuple[AffineExpr, ...]
    """Outermost first; of an image exactly row, column and lane."""

    round_up: tuple[int, ...] = ()
    """What each dim is rounded up to although it is not split; 1 (or an empty tuple) where it is not."""

    is_image: bool = False

    def __post_init__(self) -> None:
        if not self.round_up:
            object.__setattr__(self, "round_up", (1,) * self.num_dims)
        if len(self.round_up) != self.num_dims or min(self.round_up, default=1) < 1:
            raise LayoutError(
                f"tiled layout: expected round_up to be {self.num_dims} positive numbers, got {list(self.round_up)}"
            )
        used = max((d for expr in self.coordinates for d in expr.used_dims()), default=-1)
        if used >= self.num_dims:
            raise LayoutError(f"tiled layout: expected dims d0 to d{self.num_dims - 1}, got d{used}")
        if self.is_image and len(self.coordinates) != 3:
            raise LayoutError(f"image layout: expected 3 axes (row, column, lane), got {len(self.coordinates)}")

    @property
    def rank(self) -> int:
        return self.num_dims

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """What each dim is rounded up to: the least common multiple of its block sizes and its `round_up`."""
        blocks = list(self.round_up)
        for expr in self.coordinates:
            for dim, block in _split_points(expr):
                blocks[dim] = lcm(blocks[dim], block)
        return tuple(blocks)

    def index_map(self, shape: Sequence[int], dtype: object = "f32") -> IndexMap:
        sizes = checked_shape(shape, self.num_dims, "tiled layout")
        rounded = tuple(-(-size // unit) * unit for size, unit in zip(sizes, self.round_up, strict=True))
        empty = 0 in sizes
        extents = tuple(0 if empty else _last_value(expr, rounded) + 1 for expr in self.coordinates)
        if self.is_image and extents[2] > IMAGE_LANES:
            raise LayoutError(f"image layout: expected at most {IMAGE_LANES} lanes, got {extents[2]} for {list(sizes)}")
        if self.is_image and not empty:
            extents = (*extents[:2], IMAGE_LANES)
        padded = tuple(-(-size // block) * block for size, block in zip(sizes, self.blocks, strict=True))
        return IndexMap(
            shape=sizes,
            coordinates=self.coordinates,
            extents=extents,
            is_image=self.is_image,
            padded_shape=padded,
        )

    def __str__(self) -> str:
        dims = ", ".join(f"d{i}" for i in range(self.num_dims))
        coordinates = ", ".join(affine_text(expr) for expr in self.coordinates)
        tail = f", round_up = [{', '.join(map(str, self.round_up))}]" if any(n != 1 for n in self.round_up) else ""
        return f"({dims}) -> ({coordinates}){tail}{', image' if self.is_image else ''}"


def _last_value(expr: AffineExpr, sizes: Sequence[int]) -> int:
    """The largest value that `expr` has room for when every block counts as full."""
    match expr:
        case AffineConstantExpr(value=value):
            return value
        case AffineDimExpr(position=position):
            return sizes[position] - 1
        case AffineBinaryOpExpr(kind=affine.ADD, lhs=lhs, rhs=rhs):
            return _last_value(lhs, sizes) + _last_value(rhs, sizes)
        case AffineBinaryOpExpr(kind=affine.MUL, lhs=lhs, rhs=rhs):
            factor = affine.constant_value(rhs)
            return factor * (_last_value(lhs, sizes) if factor > 0 else affine.bounds(lhs, sizes)[0])
        case AffineBinaryOpExpr(kind=affine.FLOORDIV, lhs=lhs, rhs=rhs):
            return _last_value(lhs, sizes) // affine.constant_value(rhs)
        case AffineBinaryOpExpr(kind=affine.MOD, rhs=rhs):
            return affine.constant_value(rhs) - 1
        case _:
            raise LayoutError(f"tiled layout: expected floordiv, mod, + and * by constants, got {expr}")


def _split_points(expr: AffineExpr) -> list[tuple[int, int]]:
    """The block sizes at which an expression splits a bare dim, as pairs (dim, size)."""
    points: list[tuple[int, int]] = []
    for node in expr.dfs():
        if not (isinstance(node, AffineBinaryOpExpr) and node.kind in (affine.FLOORDIV, affine.MOD)):
            continue
        number, inner = affine.constant_value(node.rhs), node.lhs
        # (d floordiv a) mod b splits d at a*b
        if isinstance(inner, AffineBinaryOpExpr) and inner.kind is affine.FLOORDIV:
            number, inner = number * affine.constant_value(inner.rhs), inner.lhs
        if isinstance(inner, AffineDimExpr):
            points.append((inner.position, number))
    return points
