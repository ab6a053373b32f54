"""
Plans of copies whose extents are not all known.

Where no side cuts an unknown dim, the planner needs no more than the stand-ins. Where one does, the range of the dim is
cut here into pieces that hold whole blocks of known sizes: with blocks of 16 and of 4, the elements up to the last
multiple of 16, then those up to the last multiple of 4, then the rest. In each piece both sides are linear, and only
the counts of blocks are unknown.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineExpr

from layout_ir.layouts import affine
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.plan import Box, CopyPlan
from layout_ir.layouts.planner import LETTERS, Problem, cells_nest, fuse, make_plan, plan_boxes
from layout_ir.layouts.refinement import nested_chain, split_points
from layout_ir.layouts.symbols import Rounding, Symbol, Symbols, is_symbolic


def plan_copy(source: IndexMap, destination: IndexMap, write_pads: bool = True) -> CopyPlan:
    """The plan of a copy, as `make_plan`, also between maps with unknown extents."""
    if source.unknown is None or destination.unknown is None:
        return make_plan(source, destination, write_pads)
    if all(symbol.block == 1 for side in (source, destination) for symbol in _counts(side).values()):
        return replace(make_plan(source, destination, write_pads), unknown=source.unknown)
    return _Cut(source, destination).plan(write_pads)


def source_size(source: IndexMap, plan: CopyPlan) -> int:
    """Elements of the source's storage, in terms of the plan's stand-ins; 0 where these do not tell."""
    return source.storage_size if plan.unknown == source.unknown else 0


def _counts(index_map: IndexMap) -> dict[int, Symbol]:
    """How every unknown dim counts in the storage of a map."""
    assert index_map.unknown is not None
    return {symbol.dim: symbol for group in index_map.unknown.groups for symbol in group}


@dataclass(frozen=True)
class Digit:
    """A piece of a dim: its steps, or the one step at which a part holds it."""

    count: int
    """How many steps, or which one."""
    weight: int
    """What a step adds to the dim."""
    limit: int
    """A known number that the count does not exceed; the count itself where there is none."""


@dataclass(frozen=True)
class Part:
    """A part of the range of a dim: the values `sum(weight * count)` of what is held, plus those of the digits."""

    held: tuple[Digit, ...]
    digits: tuple[Digit, ...]
    """New dims in place of the old one."""
    is_pad: bool = False
    """Whether no element is in it."""


class _Cut:
    """A copy between two maps of which one cuts an unknown dim."""

    def __init__(self, source: IndexMap, destination: IndexMap) -> None:
        self._maps = source, destination
        self._counted = tuple(map(_counts, self._maps))
        self._chains = {dim: self._chain(dim) for dim in self._counted[0]}
        self.symbols = Symbols(tuple(self._group(dim) for dim in self._chains))
        self._source, self._destination = (
            self._recoded(self._offset(index_map), index_map) for index_map in self._maps
        )

    def _chain(self, dim: int) -> tuple[int, ...]:
        """The block sizes at which a dim is cut, smallest first."""
        points = {counted[dim].block for counted in self._counted}
        for index_map in self._maps:
            points |= split_points(index_map.coordinates, dim)
        return nested_chain(points)

    def _group(self, dim: int) -> tuple[Symbol, ...]:
        down = {Symbol(dim, block, Rounding.DOWN) for block in self._chains[dim]}
        if (cells := self._cells_of(dim)) > 1:
            down.add(Symbol(dim, cells, Rounding.DOWN))
        up = {Symbol(dim), *(counted[dim] for counted in self._counted)}
        return tuple(sorted(down | up, key=lambda symbol: (-symbol.block, symbol.rounding is Rounding.UP)))

    def _cells_of(self, dim: int) -> int:
        """The multiple to which the destination rounds a dim up."""
        return self._counted[1][dim].block

    def _number(self, dim: int, block: int = 1, rounding: Rounding = Rounding.UP) -> int:
        return self.symbols.stand_ins[Symbol(dim, block, rounding)]

    # -- the maps' numbers in this plan's stand-ins --------------------------------------------------------------------

    def _offset(self, index_map: IndexMap) -> AffineExpr:
        expr: AffineExpr = AffineConstantExpr(index_map.offset)
        for coordinate, stride in zip(index_map.coordinates, index_map.strides, strict=True):
            expr = expr + coordinate * stride
        return expr

    def _recoded(self, expr: AffineExpr, index_map: IndexMap) -> AffineExpr:
        match expr:
            case AffineConstantExpr(value=value):
                return AffineConstantExpr(self._recoded_number(value, index_map))
            case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
                return AffineBinaryOpExpr(kind, self._recoded(lhs, index_map), self._recoded(rhs, index_map))
            case _:
                return expr

    def _recoded_number(self, number: int, index_map: IndexMap) -> int:
        assert index_map.unknown is not None
        if not is_symbolic(number):
            return number
        return sum(
            factor * math.prod(self.symbols.stand_ins[symbol] for symbol in product)
            for product, factor in index_map.unknown.polynomial(number)
        )

    # -- parts of the dims ---------------------------------------------------------------------------------------------

    def _parts(self, dim: int) -> list[Part]:
        """The parts of an unknown dim that hold its elements: by whole blocks of each size, the largest first."""
        parts: list[Part] = []
        held: tuple[Digit, ...] = ()
        for block in (*reversed(self._chains[dim]), 1):
            count = self._number(dim) if block == 1 else self._number(dim, block, Rounding.DOWN)
            limit = count
            if held:
                limit = held[-1].weight // block
                count -= sum(digit.count * digit.weight for digit in held) // block
            inside = (Digit(block, 1, block),) if block > 1 else ()
            parts.append(Part(held, (Digit(count, block, limit), *inside)))
            held = (*held, Digit(count, block, limit))
        return parts

    def _all_cells(self, dim: int) -> Part:
        """All cells of an unknown dim, pads included."""
        cells = self._cells_of(dim)
        count = self._number(dim, cells)
        return Part((), (Digit(count, cells, count), *((Digit(cells, 1, cells),) if cells > 1 else ())))

    def _last_block(self, dim: int) -> Part:
        """The cells of the block that the extent ends in, none where it ends with a block."""
        cells = self._cells_of(dim)
        full = self._number(dim, cells, Rounding.DOWN)
        count = self._number(dim, cells) - full
        return Part((Digit(full, cells, full),), (Digit(count, cells, 1), Digit(cells, 1, cells)), is_pad=True)

    # -- the plan ------------------------------------------------------------------------------------------------------

    def plan(self, write_pads: bool) -> CopyPlan:
        """The boxes of all combinations of parts; pads first, as the elements of the last blocks overwrite some."""
        destination = self._maps[1]
        padded = [dim for dim in self._chains if self._cells_of(dim) > 1]
        combinations = [
            dict(zip(self._chains, parts, strict=True)) for parts in itertools.product(*map(self._parts, self._chains))
        ]
        if write_pads and (padded or destination.pad_count):
            everything = {dim: self._all_cells(dim) for dim in self._chains}
            if self._covers_all_cells(everything) and all(
                cells_nest(self._problem(parts, with_pads=True, limited=True)) for parts in combinations
            ):
                fills = [everything | {dim: self._last_block(dim)} for dim in padded]
                problems = [self._problem(parts, with_pads=True) for parts in (*fills, *combinations)]
                return CopyPlan(self._boxes(problems), unknown=self.symbols)
        else:
            write_pads = False
        fill = self._recoded_number(destination.required_size, destination) if write_pads else None
        problems = [self._problem(parts, with_pads=False) for parts in combinations]
        return CopyPlan(self._boxes(problems), fill, self.symbols)

    def _boxes(self, problems: Sequence[Problem]) -> tuple[Box, ...]:
        return tuple(itertools.chain.from_iterable(map(plan_boxes, problems)))

    def _covers_all_cells(self, everything: dict[int, Part]) -> bool:
        """Whether the padded dims reach all cells of the destination, if they reach none twice."""
        count = self._recoded_number(self._maps[1].cell_count, self._maps[1])
        return math.prod(self._problem(everything, with_pads=True).padded) == count

    def _problem(self, parts: dict[int, Part], with_pads: bool, limited: bool = False) -> Problem:
        """
        The copy (or the fill) of one combination of parts.

        `limited`: with known limits in place of unknown counts, to see what is right for all of these.
        """
        dims = _NewDims([], [], [], [])
        held: list[Digit] = []
        values: list[AffineExpr] = []
        is_pad = any(part.is_pad for part in parts.values())
        for dim, (size, cells) in enumerate(zip(self._maps[0].shape, self._maps[1].padded_shape, strict=True)):
            name = LETTERS[dim] if dim < len(LETTERS) else f"dim{dim}"
            if dim in parts:
                values.append(dims.add_part(name, parts[dim], limited))
            else:
                values.append(dims.add(name, size, cells if with_pads else size, cells))
        for dim, part in parts.items():
            for digit in part.held:  # divided as dims, whose limits are known, before their values take their place
                values[dim] = values[dim] + AffineExpr.dimension(len(dims.names) + len(held)) * digit.weight
                held.append(digit)
        limits = [*dims.limits, *(digit.limit for digit in held)]
        steps = [*map(AffineExpr.dimension, range(len(dims.names))), *(AffineConstantExpr(d.count) for d in held)]
        source, destination = (
            affine.simplify(
                affine.substitute(affine.simplify(affine.substitute(offset, values), limits), steps), limits
            )
            for offset in (AffineConstantExpr(0) if is_pad else self._source, self._destination)
        )
        return fuse(Problem(tuple(dims.names), tuple(dims.shape), tuple(dims.padded), source, destination))


@dataclass
class _NewDims:
    """The dims of a problem while they are collected."""

    names: list[str]
    shape: list[int]
    padded: list[int]
    limits: list[int]

    def add(self, name: str, size: int, padded: int, limit: int) -> AffineExpr:
        """One more dim; its value."""
        self.names.append(name)
        self.shape.append(size)
        self.padded.append(padded)
        self.limits.append(limit)
        return AffineExpr.dimension(len(self.names) - 1)

    def add_part(self, name: str, part: Part, limited: bool) -> AffineExpr:
        """The digits of a part; the value of the dim that they replace, without what is held."""
        value: AffineExpr = AffineConstantExpr(0)
        for position, digit in enumerate(part.digits):
            label = f"{name}{len(part.digits) - 1 - position}" if len(part.digits) > 1 else name
            count = digit.limit if limited else digit.count
            step = self.add(label, 0 if part.is_pad and position == 0 else count, count, digit.limit)
            value = value + step * digit.weight
        return value
