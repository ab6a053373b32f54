"""
Unknown extents in index maps and plans: numbers that stand for them.

Everything that plans a copy computes with plain integers. A size that is only known when a kernel is called takes part
as a *stand-in*, a number so large, and so far from all others, that whatever is made of stand-ins by sums and products
can be read back: `64 * h * w - 16` has one spelling only. A plan over stand-ins is then a plan for all sizes, as long
as no decision of the planner hangs on them; `symbolic_map` sees to that.
"""

from __future__ import annotations

import itertools
import math
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

SPACING = 128
"""Bits between the powers of two next to which two products of stand-ins lie."""

FACTOR_LIMIT = 2**64
"""Numbers from here on are made of stand-ins; no factor in them reaches it."""


@dataclass(frozen=True)
class Symbol:
    """The unknown extent of one dim, counted in blocks; with blocks of 1 the extent itself."""

    dim: int
    """Position of the logical dim."""

    block: int = 1

    least: int = 1
    """Elements that a block holds to be counted: by 1 a last block that is not full counts too."""

    @staticmethod
    def full(dim: int, block: int) -> Symbol:
        """The full blocks of a dim."""
        return Symbol(dim, block, block)

    @property
    def is_full(self) -> bool:
        """Whether no block counts but those that are full."""
        return self.least == self.block

    def value(self, extent: int) -> int:
        """The number of blocks, once the extent is known."""
        return (extent + self.block - self.least) // self.block


class Undecodable(Exception):
    """A number that is no sum of products of stand-ins: somebody divided by one, or rounded it."""


Product = tuple[Symbol, ...]
"""Symbols that are multiplied, in the order of their dims; empty for 1."""

Polynomial = tuple[tuple[Product, int], ...]
"""Products with their factors, the largest first."""


@dataclass(frozen=True)
class Symbols:
    """
    The symbols that the numbers of one map, or of one plan, are made of.

    `groups`: one for every unknown dim, its symbols from large blocks to small ones, and of one size from small to
    large; those of one dim never multiply each other.
    The stand-ins of a group are so far apart that the difference of two is as positive as what it stands for.
    """

    groups: tuple[tuple[Symbol, ...], ...]

    @cached_property
    def stand_ins(self) -> dict[Symbol, int]:
        """The number of every symbol: one more than a power of two, so that no small number divides it."""
        numbers: dict[Symbol, int] = {}
        unit = SPACING
        for group in self.groups:
            for position, symbol in enumerate(group, 1):
                numbers[symbol] = 2 ** (unit * position) + 1
            unit *= len(group) + 1
        return numbers

    @cached_property
    def _products(self) -> list[tuple[int, Product]]:
        """All products of symbols of different dims with their numbers, the largest first."""
        choices = itertools.product(*([(), *((symbol,) for symbol in group)] for group in self.groups))
        products = [tuple(itertools.chain(*choice)) for choice in choices]
        return sorted(((self.number(product), product) for product in products), reverse=True)

    def number(self, product: Product) -> int:
        """The stand-in of a product."""
        return math.prod(map(self.stand_ins.__getitem__, product))

    def polynomial(self, number: int) -> Polynomial:
        """What a number is made of; raises `Undecodable` for one that is not made of these."""
        return _polynomial(self, number)

    def divides(self, divisor: int, number: int) -> bool:
        """Whether a number divides another for all extents: one that is made of stand-ins it may divide by chance."""
        return all(factor % divisor == 0 for _, factor in self.polynomial(number))

    def unit(self, number: int) -> int:
        """What a number is a multiple of for all extents."""
        return math.gcd(*(factor for _, factor in self.polynomial(number)))

    def has_several_dims(self, number: int) -> bool:
        """Whether a number is made of products of several extents."""
        return any(len(product) > 1 for product, _ in self.polynomial(number))

    def first_dim(self, number: int) -> int:
        """The first of the dims that a number is made of."""
        return min(symbol.dim for product, _ in self.polynomial(number) for symbol in product)

    def may_be_none(self, number: int) -> bool:
        """Whether a number is a difference of what stands for extents, such as the rows behind all full blocks."""
        return is_symbolic(number) and any(factor < 0 for _, factor in self.polynomial(number))

    def most(self, number: int) -> float:
        """The most that a number may be: of what is behind full blocks there is less than another one."""
        if not is_symbolic(number):
            return number
        match self.polynomial(number):
            case (((one,), factor), ((whole,), taken)) if one.dim == whole.dim and whole.is_full:
                if one.block == whole.block and factor == -taken:
                    return factor  # one block, which is not full
                count = whole.block // one.block
                if one.is_full and whole.block % one.block == 0 and count * factor == -taken:
                    return factor * (count - 1)
            case _:
                pass
        return math.inf

    def at_length(self, number: int, extent: int, length: int) -> int:
        """
        What a number is where an unknown extent, which is one product, has some length.

        Raises `Undecodable` where that does not follow: parts of the product may be anything, unless it is 1.
        """
        (product, unit), *others = self.polynomial(extent)
        if others or unit != 1:
            raise Undecodable(f"expected one product, got {_spelled(self.polynomial(extent))}")
        dims = {symbol.dim for symbol in product}
        result = 0
        for symbols, factor in self.polynomial(number):
            left = tuple(symbol for symbol in symbols if symbol not in product)
            known = len(symbols) - len(left)
            is_part = 0 < known < len(product) and length != 1
            if is_part or any(symbol.dim in dims for symbol in left):
                texts = (_spelled(self.polynomial(one)) for one in (extent, number))
                raise Undecodable("expected what a length of {} tells, got {}".format(*texts))
            result += self.number(left) * factor * (length if known == len(product) else 1)
        return result

    def value(self, number: int, extents: Mapping[int, int]) -> int:
        """What a number stands for, once the extents of the unknown dims (by position) are known."""
        return value_of(self.polynomial(number), extents) if is_symbolic(number) else number


def value_of(polynomial: Polynomial, extents: Mapping[int, int]) -> int:
    """What a sum of products is, once the extents of the unknown dims (by position) are known."""
    return sum(
        factor * math.prod(symbol.value(extents[symbol.dim]) for symbol in product) for product, factor in polynomial
    )


@lru_cache(maxsize=65536)
def _polynomial(symbols: Symbols, number: int) -> Polynomial:
    terms: list[tuple[Product, int]] = []
    for unit, product in symbols._products:  # pyright: ignore[reportPrivateUsage]
        factor = (2 * number + unit) // (2 * unit)
        if factor:
            if abs(factor) >= FACTOR_LIMIT:
                raise Undecodable(f"expected a sum of products of {symbols}, got {number:#x}")
            terms.append((product, factor))
            number -= factor * unit
    return tuple(terms)


def is_symbolic(number: int) -> bool:
    """Whether a number of a plan is made of stand-ins; no other one is as large."""
    return abs(number) >= FACTOR_LIMIT


def is_multiple(number: int, divisor: int) -> bool:
    """Whether a number of a plan is a multiple of another for every size: one made of stand-ins may be so by chance."""
    return divisor in (1, number) or (not is_symbolic(number) and number % divisor == 0)


def is_stand_in(size: int) -> bool:
    """Whether a size is a stand-in, or a block size times one: what an unknown extent is, and no true one by chance."""
    if size < FACTOR_LIMIT:
        return False
    factor = size % FACTOR_LIMIT
    shift = size.bit_length() - factor.bit_length()
    return factor > 0 and shift % SPACING == 0 and size == (factor << shift) + factor


def readable(text: str, symbols: Symbols | None) -> str:
    """A text with what its numbers stand for in place of stand-ins: the extent of dim a is A."""
    if symbols is None:
        return text

    def spelled(match: re.Match[str]) -> str:
        number = int(match[0])
        return _spelled(symbols.polynomial(number)) if is_symbolic(number) else match[0]

    return re.sub(r"\d{20,}", spelled, text)


def _spelled(polynomial: Polynomial) -> str:
    terms: list[str] = []
    for product, factor in polynomial:
        factors = [str(factor)] if factor != 1 or not product else []
        terms.append("*".join([*factors, *map(_symbol_text, product)]))
    return terms[0] if len(terms) == 1 else f"({' + '.join(terms)})"


def _symbol_text(symbol: Symbol) -> str:
    name = string.ascii_uppercase[symbol.dim % 26]
    if symbol.block == 1:
        return name
    if symbol.is_full:
        return f"({name} floordiv {symbol.block})"
    if symbol.least == 1:
        return f"({name} ceildiv {symbol.block})"
    return f"(({name} + {symbol.block - symbol.least}) floordiv {symbol.block})"
