"""
Tiles: which part of a box goes through vector registers at once.

A good tile reads whole cache lines of the source and writes whole cache lines of the destination. So it takes, of the
axes that are contiguous in the source, as many elements as a line has, and as *rows* as much of the axes that are
contiguous in the destination as its lines need. Where the source has holes, as behind the last channels of a blocked
layout, a line has more of them than of elements sometimes; it is still read as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, auto
from functools import lru_cache

from xdsl.ir.affine import AffineConstantExpr

from layout_ir.layouts import affine
from layout_ir.layouts.fill_tile import fill_extents, fill_network
from layout_ir.layouts.network_loads import Reach
from layout_ir.layouts.network_search import find_formed, find_of_parts
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import WORTHWHILE, Tile, walked, walked_cells
from layout_ir.layouts.tile_costs import (
    PARTS_OF_LINES,
    PARTS_PAST_CACHES,
    TOLERATED_OVERLAP,
    Vectors,
    further_cost,
    price_of_overlap,
    true_cost,
)
from layout_ir.layouts.tile_elements import tile_elements
from layout_ir.layouts.tile_runs import (
    ELEMENT_LIMIT,
    Run,
    destination_rows,
    extents_of,
    fitting_run,
    half_runs,
    read_together,
    runs_over_holes,
    short_runs,
    source_runs,
    within_limit,
)

WORTH_SHORTENING = 1.5
"""How many times fewer instructions tiles of shortened runs take that are better than others."""

INSTRUCTION_LIMIT = 1600
"""Vector instructions of the largest tile."""

ENOUGH = 11
"""Vector instructions, for every vector of the destination, up to which no other runs are tried."""

ENOUGH_IN_REGISTERS = 5
"""The same for short runs where general shuffles are several instructions, which these may do without."""

FEW_INSTRUCTIONS = 6
"""Vector instructions up to which a tile is unrolled."""

UNROLLED_TILES = 4
"""Tiles that become one."""

STREAMED_AGAIN = 1.02
"""Share of cells that may be moved twice where that is traffic with the memory, and no cache takes it in."""


class Search(IntEnum):
    """How far a search for a tile goes, which for a small part of a copy is not worth much."""

    WHOLE = auto()
    """To the best one."""

    NO_LARGER = auto()
    """Not to tiles of more elements than the best of those before."""

    FIRST = auto()
    """To the first one."""


@dataclass(frozen=True)
class Choice:
    """A tile with the run and the rows that it is made of."""

    tile: Tile
    run: Run
    rows: Run
    cost: float
    """Vector instructions per cell of the box."""


@lru_cache(maxsize=1024)
def choose_tile(
    box: Box,
    lanes: int,
    source_size: int,
    segment: int | None = None,
    *,
    past_caches: bool = False,
    in_caches: bool = False,
    fits_runs: bool = True,
    keeps_to_lines: bool = False,
    search: Search = Search.WHOLE,
    register_lanes: int = 0,
    weighs_as_known: bool = False,
) -> Tile | None:
    """
    The cheapest tile of a linear box for vectors of `lanes` elements; None where scalar loops are as good.

    `source_size`: elements of the source's storage, within which a load may reach for more than it needs. `segment`:
    elements of the parts of a vector within which shuffles are cheap; all lanes by default. `past_caches`: whether
    vectors that are whole lines go to memory at once, so that no cache takes in what is written in parts or twice.
    `in_caches`: whether all data stay there. `fits_runs`: whether runs that just fit into a vector are tried as well.
    `keeps_to_lines`: whether loads that reach into lines without any of the tile's elements are worse than further
    instructions. `search`: how far to look. `register_lanes`: elements of a register, where general shuffles of two of
    them are several instructions.
    `weighs_as_known`: whether what tiles move twice weighs no more where extents are not known.
    """
    if not box.is_linear:
        return None
    if box.is_fill:
        extents = fill_extents(box, lanes)
        return None if extents is None else Tile(extents, fill_network(math.prod(extents), lanes, segment or lanes))
    box = _with_unit_stride(box)
    reach = replace(_reach(box, source_size), keeps_to_lines=keeps_to_lines)
    vectors = Vectors(lanes, segment, reach, past_caches, in_caches, register_lanes, weighs_as_known)
    runs = source_runs(box.axes, lanes)
    if fits_runs and not box.is_padded:
        fitting = fitting_run(box.axes, lanes)
        runs += [fitting] if fitting and fitting not in runs else []
    best = _best_choice(box, runs, vectors, search=search)
    is_regular = not any(axis.is_irregular for axis in box.axes)
    if (best is None or best.cost * lanes > ENOUGH) and is_regular:
        over_holes = [run for run in runs_over_holes(box.axes, lanes) if run not in runs]
        best = _best_choice(box, over_holes, vectors, best, search=search)
    enough = ENOUGH_IN_REGISTERS if register_lanes else ENOUGH
    if (best is None or best.cost * lanes > enough) and is_regular and not box.is_padded:
        short = [run for run in short_runs(box.axes, lanes) if run not in runs]
        best = _best_choice(box, short, vectors, best, search=search, reads_lines=True)
    if best is not None and walked(box, best.tile.extents) > TOLERATED_OVERLAP and in_caches:
        best = _best_choice(box, half_runs(runs, lanes), vectors, best, search=max(search, Search.NO_LARGER))
    if best is None or box.is_padded or (in_caches and best.cost * lanes > ENOUGH):
        most = math.inf if best is None else best.cost / WORTH_SHORTENING
        reads_lines = past_caches and register_lanes > 0  # of shorter runs, which are half a line or less
        shortened = _best_choice(box, runs, vectors, search=search, reads_lines=reads_lines, shortened_below=most)
        best = shortened or best
    # parts of lines past the caches make one tile worse than another, not worse than scalar loops, which write them too
    dear = PARTS_PAST_CACHES / PARTS_OF_LINES if past_caches else 1
    if best is None or best.cost > vectors.worthwhile * dear:
        return None
    return _unrolled(box, best, vectors)


def _with_unit_stride(box: Box) -> Box:
    """A box in which an axis of one element and pads, whose stride is never taken, makes a run where no other does."""
    single = [i for i, axis in enumerate(box.axes) if axis.valid == 1 and axis.destination_stride == 1]
    if not single or any(axis.source_stride == 1 for axis in box.axes):
        return box
    return box.with_axis(single[0], replace(box.axes[single[0]], source_stride=1))


def _reach(box: Box, source_size: int) -> Reach:
    """What of the source's storage is before and behind the box; nothing where only an unknown size would tell."""
    start = affine.constant_value(box.source_offset)
    lowest, highest = box.source_span
    before, behind = start + lowest, source_size - 1 - start - highest
    known = [0 if is_symbolic(count) else max(count, 0) for count in (before, behind)]
    return Reach(known[0], known[1])


def within_storage(box: Box, inside: Box, source_size: int) -> tuple[Box, int]:
    """A part of a box and a size of its source, with as much before and behind as there is everywhere."""
    (lowest, highest), (low, high) = box.source_span, inside.source_span
    before = affine.constant_value(inside.source_offset) + lowest - low
    size = source_size + (lowest - low) - (highest - high)
    return replace(inside, source_offset=AffineConstantExpr(before)), size


def _best_choice(
    box: Box,
    runs: Sequence[Run],
    vectors: Vectors,
    best: Choice | None = None,
    *,
    search: Search = Search.WHOLE,
    reads_lines: bool = False,
    shortened_below: float | None = None,
) -> Choice | None:
    """
    The cheapest of the tiles that some runs lead to, as far as a search goes, and of one found before.

    `reads_lines`: whether rows have to go on until a tile reads whole lines, which runs alone do not.
    `shortened_below`: only tiles that are too large unless their runs are shortened, if they cost less than this.
    """
    limit = WORTHWHILE if shortened_below is None else min(shortened_below, WORTHWHILE)
    for run, rows, is_half in _runs_and_rows(box, runs, vectors, are_shortened=shortened_below is not None):
        if is_half and best is not None and not box.is_padded:
            continue  # none of 656 copies without pads went by such a tile, which took a tenth of the search
        extents = extents_of(box.axes, run, rows)
        if reads_lines and read_together(box.axes, extents) < vectors.lanes:
            continue
        if best is not None and search is Search.FIRST:
            return best
        is_larger = best is not None and math.prod([*run.values(), *rows.values()]) > best.tile.elements
        if is_larger and search is Search.NO_LARGER:
            continue
        most = best.cost / price_of_overlap(box, extents, vectors) if best else limit
        if vectors.register_lanes:  # where costs count more than the instructions of a network
            most = min(most, WORTHWHILE)
        tile = _tile(box.axes, run, rows, vectors, most)
        cost = true_cost(box, tile, vectors) if tile else math.inf
        if tile is not None and (cost < best.cost if best else cost <= limit or shortened_below is None):
            best = Choice(tile, run, rows, cost)
    return best


def _runs_and_rows(
    box: Box, runs: Sequence[Run], vectors: Vectors, *, are_shortened: bool
) -> Iterator[tuple[Run, Run, bool]]:
    """
    What tiles may be made of: runs, or (`are_shortened`) only those that tiles need shortened, each with rows.

    And whether these make half lines only.
    """
    lanes = vectors.lanes
    tried: list[tuple[Run, Run]] = []
    for whole_run in runs:
        of_line = {i: steps for i, steps in whole_run.items() if steps > 1 or not box.axes[i].is_full}
        for target, split_odd, is_most in (
            (lanes, False, False),
            (lanes, False, True),
            (lanes, True, False),
            (8 * lanes, False, False),
            (lanes // 2, True, False),
            (4 * lanes, False, False),
            (2 * lanes, False, False),
        ):
            if (is_most and vectors.in_caches) or (are_shortened and target not in (lanes, 8 * lanes)):
                continue  # of 200 other rows for shortened runs one made the best tile
            rows = destination_rows(box.axes, of_line, max(target, 1), split_odd, is_most)
            run = within_limit(box.axes, of_line, rows) if are_shortened else of_line
            if (run, rows) in tried or (are_shortened and run == of_line):
                continue
            if target == 4 * lanes and walked(box, extents_of(box.axes, run, rows)) > STREAMED_AGAIN:
                continue  # rows as long are of no use but to end where an axis does
            is_half = target < lanes
            if not is_half:  # which may be left out, and the same rows may come again for another target
                tried.append((run, rows))
            yield run, rows, is_half


def _unrolled(box: Box, choice: Choice, vectors: Vectors) -> Tile:
    """A tile of few instructions made longer along the innermost loop, which would cost more than it moves."""
    tile, run, rows = choice.tile, choice.run, choice.rows
    loops = [i for i, axis in enumerate(box.axes) if axis.extent > tile.extents[i] and axis.is_full]
    if not loops or tile.network.cost > FEW_INSTRUCTIONS:
        return tile
    innermost = loops[-1]
    again = STREAMED_AGAIN if vectors.past_caches else math.inf
    most = min(box.axes[innermost].extent // tile.extents[innermost], UNROLLED_TILES)
    for count in sorted(range(2, most + 1), key=lambda count: (count & (count - 1) != 0, -count)):
        longer = _tile(box.axes, run, {**rows, innermost: rows.get(innermost, 1) * count}, vectors)
        if longer is None or longer.cost > tile.cost:
            continue
        if walked_cells(box, longer) <= max(walked_cells(box, tile), again):
            return longer
    return tile


def _tile(axes: Sequence[Axis], run: Run, rows: Run, vectors: Vectors, limit: float = math.inf) -> Tile | None:
    """The tile of a run and rows; None where there is none, or none below a limit of instructions for a cell."""
    extents = extents_of(axes, run, rows)
    for steps, axis in zip(extents, axes, strict=True):
        if not axis.is_full and steps not in (1, axis.extent):
            return None
    if math.prod(extents) > ELEMENT_LIMIT:
        return None
    elements = tile_elements(axes, run, rows, extents)
    limit = min(INSTRUCTION_LIMIT, limit * math.prod(extents))
    found = (
        find_formed(elements, vectors.lanes, vectors.reach, vectors.segment, limit),
        find_of_parts(elements, vectors.lanes, vectors.reach, vectors.segment),
    )
    networks = [network for network in found if network is not None and network.cost < limit]
    if len(networks) > 1:
        networks.sort(key=lambda network: network.cost + further_cost(network, vectors))
    return Tile(tuple(extents), networks[0]) if networks else None
