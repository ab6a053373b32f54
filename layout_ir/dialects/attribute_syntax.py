"""Pieces of the attributes' syntax: lists of sizes, and affine maps with the checks that a storage needs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineExpr, AffineMap, AffineSymExpr
from xdsl.parser import AttrParser

from layout_ir.errors import LayoutError
from layout_ir.layouts import affine
from layout_ir.layouts.affine_text import affine_text


def parse_integers(parser: AttrParser) -> Sequence[int]:
    """`[8, 1]`: integers that are not negative."""
    return parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False, allow_negative=False)
    )


def parse_map(parser: AttrParser) -> AffineMap:
    """
    `(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)`; the dims may have any names.

    Raises a parse error over the whole map where it is none of a storage's coordinates.
    """
    start = parser.pos
    try:
        result = parser.parse_affine_map()
        check_map(result)
    except LayoutError as error:
        parser.raise_error(str(error), start, parser.pos)
    except NotImplementedError:  # how xDSL reports a product or a quotient of two dims
        parser.raise_error("tiled layout: expected floordiv, mod and * by constants only", start, parser.pos)
    except ZeroDivisionError:
        parser.raise_error("tiled layout: expected divisors of at least 1, got 0", start, parser.pos)
    return result


def check_map(coordinates: AffineMap) -> None:
    """Raise `LayoutError` unless every result is quasi-affine over dims, with positive divisors."""
    if coordinates.num_symbols:
        raise LayoutError(f"tiled layout: expected dims only, got {coordinates.num_symbols} symbols")
    for expr in coordinates.results:
        for node in expr.dfs():
            _check_node(node)


def _check_node(node: AffineExpr) -> None:
    if isinstance(node, AffineSymExpr):
        raise LayoutError(f"tiled layout: expected dims only, got the symbol {node}")
    if not isinstance(node, AffineBinaryOpExpr) or node.kind is affine.ADD:
        return
    if not isinstance(node.rhs, AffineConstantExpr):
        raise LayoutError(f"tiled layout: expected floordiv, mod and * by constants only, got {affine_text(node)}")
    if node.kind is not affine.MUL and node.rhs.value < 1:
        raise LayoutError(f"tiled layout: expected divisors of at least 1, got {affine_text(node)}")
