"""
The index map of a tensor with unknown extents: one for all sizes, with stand-ins for what is not known.

It is right as long as the layout has one form for all sizes and cuts an unknown dim, if at all, by itself into blocks
of a known size. Both are checked, the first on the layout's own index maps for a few sizes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineDimExpr, AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.layouts import affine
from layout_ir.layouts.affine_text import affine_text
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.layout import Layout
from layout_ir.layouts.symbols import Symbol, Symbols, Undecodable, is_symbolic
from layout_ir.layouts.tiled import TiledLayout

DIVISIONS = (affine.FLOORDIV, affine.CEILDIV, affine.MOD)

SAMPLES = ((1, 1, 1), (2, 3, 5), (3, 1, 2), (7, 16, 4), (5, 17, 31), (32, 33, 8), (1, 9, 64), (100, 2, 48))
"""Sizes that the unknown dims take in turn where a layout's own index map is compared."""

Sizes = Sequence[int | None]
"""A shape; None for an extent that is not known."""


def symbolic_map(
    shape: Sizes,
    explicit: Callable[[Sequence[int]], Layout],
    static: Callable[[Sequence[int]], IndexMap],
    dim_names: Sequence[str],
) -> IndexMap:
    """
    The index map over `shape` of the layout that `explicit` gives for known sizes, and `static` as an index map.

    `dim_names`: what messages call the dims. Raises `LayoutError` where a size must be known.
    """
    unknown = [dim for dim, size in enumerate(shape) if size is None]
    extents = Symbols(tuple((Symbol(dim),) for dim in unknown))
    numbers = {dim: extents.stand_ins[Symbol(dim)] for dim in unknown}
    blocks = _blocks(explicit(_filled(shape, numbers)), unknown)
    # a size that a layout rounds up to its blocks counts by them: then it divides without a rest
    rounded = _filled(shape, {dim: numbers[dim] * blocks[dim] for dim in unknown})
    layout = explicit(rounded)
    if isinstance(layout, TiledLayout):
        _check_divisions(layout, extents, dim_names)
        _check_blocks(layout, blocks, dim_names)
    symbols = Symbols(tuple((Symbol(dim, blocks[dim]),) for dim in unknown))
    result = replace(layout.index_map(rounded), unknown=symbols)
    _check_samples(result, shape, static, dim_names)
    return result


def _blocks(layout: Layout, unknown: Sequence[int]) -> dict[int, int]:
    """What a layout rounds every unknown dim up to."""
    return {dim: layout.blocks[dim] if isinstance(layout, TiledLayout) else 1 for dim in unknown}


def _filled(shape: Sizes, sizes: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(sizes[dim] if size is None else size for dim, size in enumerate(shape))


def _refuse(dim: str, reason: str) -> LayoutError:
    return LayoutError(f"expected a size that is known for dim {dim}, got ?: {reason}")


def _check_divisions(layout: TiledLayout, extents: Symbols, names: Sequence[str]) -> None:
    """Every division is of digits of one dim, or of known dims only, by known numbers."""
    unknown = {symbol.dim for group in extents.groups for symbol in group}
    for node in (node for expr in layout.coordinates for node in expr.dfs()):
        if not (isinstance(node, AffineBinaryOpExpr) and node.kind in DIVISIONS):
            continue
        for constant in (inner for inner in node.dfs() if isinstance(inner, AffineConstantExpr)):
            for dim in _dims_of(constant.value, extents):
                raise _refuse(names[dim], f"the layout divides by or within it: {_text(node, names, extents)}")
        entangled = unknown & set(node.lhs.used_dims())
        if entangled and not _is_digit(node.lhs):
            dim = names[min(entangled)]
            raise _refuse(dim, f"the layout cuts it together with others: {_text(node, names, extents)}")


def _check_blocks(layout: TiledLayout, blocks: Mapping[int, int], names: Sequence[str]) -> None:
    """An unknown dim that is cut counts in the storage by its whole blocks, all of one size."""
    for dim, block in blocks.items():
        cuts = {cut for expr in layout.coordinates for cut in _outer_cuts(expr, dim)}
        if any(layout.round_up[dim] % cut and cut != block for cut in cuts):
            raise _refuse(names[dim], f"the layout counts it in blocks of {', '.join(map(str, sorted(cuts)))}")


def _outer_cuts(expr: AffineExpr, dim: int) -> set[int]:
    """By what the unbounded parts of a dim in an expression are divided: what is inside of a `mod` is bounded."""
    match expr:
        case AffineDimExpr(position=position) if position == dim:
            return {1}
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs) if kind is affine.FLOORDIV:
            return {cut * affine.constant_value(rhs) for cut in _outer_cuts(lhs, dim)}
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs) if kind is not affine.MOD:
            return _outer_cuts(lhs, dim) | _outer_cuts(rhs, dim)
        case _:
            return set()


def _is_digit(expr: AffineExpr) -> bool:
    if isinstance(expr, AffineBinaryOpExpr):
        return expr.kind in (affine.FLOORDIV, affine.MOD) and _is_digit(expr.lhs)
    return isinstance(expr, AffineDimExpr)


def _dims_of(number: int, symbols: Symbols) -> list[int]:
    """The dims whose extents a number is made of; all unknown ones for a number that cannot be read."""
    if not is_symbolic(number):
        return []
    try:
        return [symbol.dim for product, _ in symbols.polynomial(number) for symbol in product]
    except Undecodable:
        return [symbol.dim for group in symbols.groups for symbol in group]


def _text(expr: AffineExpr, names: Sequence[str], symbols: Symbols) -> str:
    """An expression for a message, `H` for the extent of `h`."""
    text = affine_text(expr, lambda dim: names[dim])
    for number in {node.value for node in expr.dfs() if isinstance(node, AffineConstantExpr)}:
        if dims := sorted(set(_dims_of(number, symbols))):
            text = text.replace(str(number), "*".join(names[dim].upper() for dim in dims))
    return text


# -- the layout's own index maps for a few sizes -----------------------------------------------------------------------


def _check_samples(
    result: IndexMap, shape: Sizes, static: Callable[[Sequence[int]], IndexMap], names: Sequence[str]
) -> None:
    """Raise `LayoutError` unless `result` is what the layout means for some sizes, those that it takes."""
    assert result.unknown is not None
    unknown = [dim for dim, size in enumerate(shape) if size is None]
    error: LayoutError | None = None
    seen = 0
    for sample in SAMPLES:
        sizes = dict(zip(unknown, itertools.cycle(sample), strict=False))
        try:
            expected = static(_filled(shape, sizes))
        except LayoutError as refused:  # not every layout takes every size
            error = refused
            continue
        seen += 1
        try:
            agrees = _agrees(result, result.unknown, expected, sizes)
        except Undecodable:
            agrees = False
        if not agrees:
            raise _refuse(
                ", ".join(names[dim] for dim in unknown),
                f"the layout has no one form for all sizes; it differs at {list(expected.shape)}",
            )
    if not seen and error is not None:
        raise error


def _agrees(result: IndexMap, symbols: Symbols, expected: IndexMap, sizes: Mapping[int, int]) -> bool:
    """Whether a map with stand-ins is `expected` for some sizes, judged by its extents and a few elements."""

    def known(number: int) -> int:
        return symbols.value(number, sizes)

    if result.is_image != expected.is_image or expected.extents != tuple(map(known, result.extents)):
        return False
    if expected.size == 0:
        return True
    if expected.required_size != known(result.required_size) or expected.storage_size != known(result.storage_size):
        return False
    last = [size - 1 for size in expected.shape]
    for index in (last, [size // 2 for size in last], [size * 2 // 3 for size in last], [size % 3 for size in last]):
        offset = known(result.offset) + sum(
            evaluated(coordinate, index, known) * known(stride)
            for coordinate, stride in zip(result.coordinates, result.strides, strict=True)
        )
        if offset != expected(*index):
            return False
    return True


def evaluated(expr: AffineExpr, index: Sequence[int], known: Callable[[int], int]) -> int:
    """The value of an expression at an index, `known` giving what its numbers stand for."""
    match expr:
        case AffineConstantExpr(value=value):
            return known(value)
        case AffineDimExpr(position=position):
            return index[position]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            left, right = evaluated(lhs, index, known), evaluated(rhs, index, known)
            match kind:
                case affine.ADD:
                    return left + right
                case affine.MUL:
                    return left * right
                case affine.FLOORDIV:
                    return left // right
                case affine.CEILDIV:
                    return -(-left // right)
                case _:
                    return left % right
        case _:
            raise AssertionError(f"not an expression over dims: {expr}")
