"""
Plans of copies whose extents are not all known.

Where no side cuts an unknown dim, the planner needs no more than the stand-ins. Where one does, the range of the dim is
cut here into pieces that hold whole blocks of known sizes: with blocks of 16 and of 4, the elements up to the last
multiple of 16, then those up to the last multiple of 4, then the rest. In each piece both sides are linear, and only
the counts of blocks are unknown.

Blocks of 32 and of 48 do not nest: they meet at every multiple of 96, and within one of these each multiple of 16 lies
elsewhere in both. So the full blocks of 16 behind the last multiple of 96 are pieces of their own, of which each is
there or not. The rest then begins where the counts of full blocks of 32 and of 48 say.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineDimExpr, AffineExpr

from layout_ir.layouts import affine
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.plan import Box, CopyPlan
from layout_ir.layouts.planner import LETTERS, Problem, cells_nest, fuse, make_plan, plan_boxes
from layout_ir.layouts.refinement import split_points
from layout_ir.layouts.symbols import Symbol, Symbols, is_symbolic
from layout_ir.layouts.unknown_parts import Digit, Held, NewDims, Part, meeting_points

MOST_PARTS = 32
"""Parts of a copy up to which each block that a map places by itself is one; of more, elements are placed alone."""


def plan_copy(source: IndexMap, destination: IndexMap, write_pads: bool = True) -> CopyPlan:
    """The plan of a copy, as `make_plan`, also between maps with unknown extents."""
    if source.unknown is None or destination.unknown is None:
        return make_plan(source, destination, write_pads)
    if all(symbol.block == 1 for side in (source, destination) for symbol in _counts(side).values()):
        return replace(make_plan(source, destination, write_pads), unknown=source.unknown)
    return _Cut(source, destination).plan(write_pads)


def storage_size(index_map: IndexMap, plan: CopyPlan) -> int:
    """Elements of the storage of either side, in terms of the plan's stand-ins; 0 where these do not tell."""
    return index_map.storage_size if plan.unknown == index_map.unknown else 0


def _counts(index_map: IndexMap) -> dict[int, Symbol]:
    """How every unknown dim counts in the storage of a map."""
    assert index_map.unknown is not None
    return {symbol.dim: symbol for group in index_map.unknown.groups for symbol in group}


class _Cut:
    """A copy between two maps of which one cuts an unknown dim."""

    def __init__(self, source: IndexMap, destination: IndexMap) -> None:
        self._maps = source, destination
        self._counted = tuple(map(_counts, self._maps))
        self._points = {dim: self._split_points(dim) for dim in self._counted[0]}
        self._chains = {dim: meeting_points(points) for dim, points in self._points.items()}
        self._taken_apart = self._dims_taken_apart()
        self.symbols = Symbols(tuple(self._group(dim) for dim in self._chains))
        self._source, self._destination = (
            self._recoded(self._offset(index_map), index_map) for index_map in self._maps
        )

    def _split_points(self, dim: int) -> set[int]:
        """The block sizes at which a dim is cut."""
        points = {counted[dim].block for counted in self._counted}
        for index_map in self._maps:
            points |= split_points(index_map.coordinates, dim)
        return points - {1}

    def _group(self, dim: int) -> tuple[Symbol, ...]:
        blocks = {*self._points[dim], *self._chains[dim], self._cells_of(dim)}
        symbols = {Symbol(dim), *(counted[dim] for counted in self._counted)}
        symbols |= {Symbol.full(dim, block) for block in blocks}
        for block, upper in itertools.pairwise((1, *self._chains[dim])):
            if dim in self._taken_apart:
                symbols |= {Symbol(dim, upper, end) for end in self._ends(dim, block, upper)}
        return tuple(sorted(symbols, key=lambda symbol: (-symbol.block, -symbol.least)))

    def _ends(self, dim: int, block: int, upper: int) -> range:
        """
        Where blocks end that each map places by themselves, up to the next larger size at which both meet.

        The last of them is left out, as behind the last full block of the larger size it is never full.
        """
        is_crossed = any(block < point < upper for point in self._points[dim])
        return range(block, upper if is_crossed else block, block)

    def _dims_taken_apart(self) -> set[int]:
        """The dims of which such blocks are parts, as long as these are few together; those with few of them first."""
        usual = {dim: len(chain) + 1 for dim, chain in self._chains.items()}
        apart = {
            dim: 1 + sum(len(self._ends(dim, *sizes)) or 1 for sizes in itertools.pairwise((1, *chain)))
            for dim, chain in self._chains.items()
        }
        taken: set[int] = set()
        parts = math.prod(usual.values())
        for dim in sorted(apart, key=apart.__getitem__):
            if apart[dim] > usual[dim] and parts // usual[dim] * apart[dim] <= MOST_PARTS:
                parts = parts // usual[dim] * apart[dim]
                taken.add(dim)
        return taken

    def _cells_of(self, dim: int) -> int:
        """The multiple to which the destination rounds a dim up."""
        return self._counted[1][dim].block

    def _number(self, dim: int, block: int = 1, least: int = 1) -> int:
        return self.symbols.stand_ins[Symbol(dim, block, least)]

    def _full(self, dim: int, block: int) -> int:
        return self.symbols.stand_ins[Symbol.full(dim, block)]

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
            count = self._full(dim, block)
            limit = count
            if held:
                limit = held[-1].weight // block
                count -= sum(digit.count * digit.weight for digit in held) // block
            inside = (Digit(block, 1, block),) if block > 1 else ()
            upper = held[-1].weight if held else block
            ends = self._ends(dim, block, upper) if dim in self._taken_apart else ()
            for end in ends:
                there = self._number(dim, upper, end) - self._full(dim, upper)
                parts.append(Part(held, (Digit(there, block, 1), *inside), end - block))
            if not ends:
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
        full = self._full(dim, cells)
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
        return tuple(box for problem in problems for box in plan_boxes(problem, self.symbols))

    def _covers_all_cells(self, everything: dict[int, Part]) -> bool:
        """Whether the padded dims reach all cells of the destination, if they reach none twice."""
        count = self._recoded_number(self._maps[1].cell_count, self._maps[1])
        return math.prod(self._problem(everything, with_pads=True).padded) == count

    def _problem(self, parts: dict[int, Part], with_pads: bool, limited: bool = False) -> Problem:
        """
        The copy (or the fill) of one combination of parts.

        `limited`: with known limits in place of unknown counts, to see what is right for all of these.
        """
        dims = NewDims([], [], [], [])
        held: list[Held] = []
        values: list[AffineExpr] = []
        is_pad = any(part.is_pad for part in parts.values())
        for dim, (size, cells) in enumerate(zip(self._maps[0].shape, self._maps[1].padded_shape, strict=True)):
            name = LETTERS[dim] if dim < len(LETTERS) else f"dim{dim}"
            if dim in parts:
                values.append(dims.add_part(name, parts[dim], limited))
            else:
                values.append(dims.add(name, size, cells if with_pads else size, cells))
        for dim, part in parts.items():
            values[dim] = values[dim] + part.start
            upper: int | None = None
            for digit in part.held:  # divided as dims, whose limits are known, before their values take their place
                values[dim] = values[dim] + AffineExpr.dimension(len(dims.names) + len(held)) * digit.weight
                held.append(Held(dim, digit, upper))
                upper = digit.weight
        limits = [*dims.limits, *(each.digit.limit for each in held)]
        source, destination = (
            affine.simplify(
                self._with_counts(affine.simplify(affine.substitute(offset, values), limits), len(dims.names), held),
                limits,
            )
            for offset in (AffineConstantExpr(0) if is_pad else self._source, self._destination)
        )
        return fuse(Problem(tuple(dims.names), tuple(dims.shape), tuple(dims.padded), source, destination))

    def _with_counts(self, expr: AffineExpr, first: int, held: Sequence[Held]) -> AffineExpr:
        """An expression with the counts of what is held, and their quotients, in place of the dims from `first` on."""
        if isinstance(expr, AffineDimExpr):
            return expr if expr.position < first else AffineConstantExpr(held[expr.position - first].digit.count)
        if not isinstance(expr, AffineBinaryOpExpr):
            return expr
        lhs, rhs = (self._with_counts(side, first, held) for side in (expr.lhs, expr.rhs))
        if expr.kind not in (affine.FLOORDIV, affine.MOD) or max(expr.lhs.used_dims(), default=0) < first:
            return AffineBinaryOpExpr(expr.kind, lhs, rhs)
        divisor = affine.constant_value(rhs)
        quotient = AffineConstantExpr(self._quotient(expr.lhs, divisor, first, held))
        return quotient if expr.kind is affine.FLOORDIV else lhs - quotient * divisor

    def _quotient(self, expr: AffineExpr, divisor: int, first: int, held: Sequence[Held]) -> int:
        """How often a count, or a quotient of one, holds a divisor."""
        if isinstance(expr, AffineBinaryOpExpr) and expr.kind is affine.FLOORDIV:
            return self._quotient(expr.lhs, affine.constant_value(expr.rhs) * divisor, first, held)
        if isinstance(expr, AffineBinaryOpExpr) and expr.kind is affine.MOD:
            modulus = affine.constant_value(expr.rhs)
            whole = self._quotient(expr.lhs, modulus, first, held) * (modulus // divisor)
            return self._quotient(expr.lhs, divisor, first, held) - whole
        assert isinstance(expr, AffineDimExpr), "expected all blocks to divide what is held, or to be divided by it"
        each = held[expr.position - first]
        block = each.digit.weight * divisor
        behind = self._full(each.dim, each.upper) * (each.upper // block) if each.upper else 0
        return self._full(each.dim, block) - behind
