"""Index values made of unknown extents: what a stand-in in a plan becomes, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.dialects import affine, arith
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from layout_ir.layouts.symbols import Polynomial, Product, Symbol, Symbols


@dataclass(frozen=True)
class Unknown:
    """What the stand-ins in the plan of one copy are, and their values."""

    symbols: Symbols

    value: Callable[[int], SSAValue]
    """The value of a number that is made of stand-ins."""


class Quantities:
    """
    Values of polynomials over the unknown extents of one tensor.

    `insert` adds an operation behind those that it added before; `constant` makes an index constant; `extents` holds
    the extent of every unknown dim by its position, `products` what is known of products already.
    """

    def __init__(
        self,
        insert: Callable[[Operation], None],
        constant: Callable[[int], SSAValue],
        extents: Mapping[int, SSAValue],
        products: Mapping[Product, SSAValue] | None = None,
    ) -> None:
        self._insert = insert
        self._constant = constant
        self._extents = extents
        self._made: dict[Symbol | tuple[Product, int] | Polynomial, SSAValue] = {}
        for product, value in (products or {}).items():
            self._made[product, 1] = value

    def value(self, polynomial: Polynomial) -> SSAValue:
        """The value of a sum of products."""
        if polynomial not in self._made:
            self._made[polynomial] = self._sum(polynomial)
        return self._made[polynomial]

    def _sum(self, polynomial: Polynomial) -> SSAValue:
        added = [self._term(product, factor) for product, factor in polynomial if factor > 0]
        taken = [self._term(product, -factor) for product, factor in polynomial if factor < 0]
        result = added[0] if added else self._constant(0)
        for term in added[1:]:
            result = self._add(arith.AddiOp(result, term))
        for term in taken:
            result = self._add(arith.SubiOp(result, term))
        return result

    def _term(self, product: Product, factor: int) -> SSAValue:
        key = (product, factor)
        if key not in self._made:
            if not product:
                self._made[key] = self._constant(factor)
            elif factor != 1:
                unit = self._term(product, 1)
                self._made[key] = self._add(arith.MuliOp(unit, self._constant(factor)), f"{unit.name_hint}_x{factor}")
            elif len(product) == 1:
                self._made[key] = self._symbol(product[0])
            else:
                left, right = self._term(product[:-1], 1), self._symbol(product[-1])
                self._made[key] = self._add(arith.MuliOp(left, right), f"{left.name_hint}_{right.name_hint}")
        return self._made[key]

    def _symbol(self, symbol: Symbol) -> SSAValue:
        extent = self._extents[symbol.dim]
        if symbol.block == 1:
            return extent
        if symbol not in self._made:
            expr, name = _blocks(symbol)
            operation = affine.ApplyOp([extent], AffineMapAttr(AffineMap(1, 0, (expr,))))
            self._made[symbol] = self._add(operation, f"{extent.name_hint}_{name}")
        return self._made[symbol]

    def _add(self, operation: Operation, hint: str | None = None) -> SSAValue:
        self._insert(operation)
        (result,) = operation.results
        result.name_hint = hint
        return result


def _blocks(symbol: Symbol) -> tuple[AffineExpr, str]:
    """The number of a symbol's blocks in terms of its extent, and what it is called."""
    extent = AffineExpr.dimension(0)
    if symbol.is_full:
        return extent // symbol.block, "full"
    if symbol.least == 1:
        return extent.ceil_div(symbol.block), "blocks"
    return (extent + (symbol.block - symbol.least)) // symbol.block, f"blocks_of_{symbol.least}"
