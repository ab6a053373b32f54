"""
The search for a tile's shuffle network, over ways to read its rows and over how many of them are exchanged.

Tiles of one box, and of the boxes of one copy, are often alike but for where their rows go, and are asked for with one
limit after the other: what was found is remembered.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from layout_ir.layouts.network_builder import build_network, build_network_of_parts
from layout_ir.layouts.network_gather import Goal
from layout_ir.layouts.network_loads import Reach, Reading, Row, least_loads, readings, useful_reach, vectors_read
from layout_ir.layouts.network_offsets import Form, Formed, formed
from layout_ir.layouts.network_parts import Parts, parts_of
from layout_ir.layouts.network_rotation import rotate
from layout_ir.layouts.shuffle_network import Network

ROWS_GATHERED = 8
"""The most rows that are gathered when their number is no power of two."""

ENOUGH = 4
"""Vector instructions, for every vector of the destination, up to which no other loads are tried."""

LIKELY_SIZES = 16, 8, 32, 64, 4
"""
Sizes of the groups in which rows are exchanged when their number is no power of two, those first that mostly are best.

What costs more than what was found before is left early.
"""

TOLERATED_REPEATS = 1.25
"""Rows in all groups for each that there is, up to which a size is likely: the last group overlaps its neighbour."""

NETWORKS_REMEMBERED = 64
"""Those of a kernel: the offsets of a large tile are a megabyte."""


def find_network(
    rows: Sequence[Row],
    pads: Sequence[int],
    lanes: int,
    reach: Reach = Reach(),  # noqa: B008 - frozen value
    segment: int | None = None,
    limit: float = math.inf,
) -> Network | None:
    """
    The cheapest network found for a tile, or None where its rows are too many to gather and too few to exchange.

    `rows`: for every row its elements; the source offsets of a row are consecutive, or all None for a row of pads.
    `pads`: further destination offsets that get the pad value. `lanes`: elements of a full vector, a power of two.
    `reach`: what else of the source may be read. `segment`: elements of 16 bytes, within which shuffles are cheap;
    all lanes by default. `limit`: the cost from which on a network is of no use.
    """
    return find_formed(formed(rows, pads), lanes, reach, segment, limit)


def find_formed(
    tile: Formed, lanes: int, reach: Reach, segment: int | None = None, limit: float = math.inf
) -> Network | None:
    """The same for a tile whose offsets are in one form already; those of the network are the tile's own."""
    return _placed(_search_for(tile, lanes, reach, segment).below(limit), tile)


def find_of_parts(tile: Formed, lanes: int, reach: Reach, segment: int | None = None) -> Network | None:
    """
    The cheapest network that exchanges parts of a tile's rows, below no limit.

    None where these make no longer runs than whole rows do, or are too few. `reach` makes no difference.
    """
    return _placed(_search_for(tile, lanes, reach, segment).of_parts, tile)


def _search_for(tile: Formed, lanes: int, reach: Reach, segment: int | None) -> Search:
    """The search for a tile's networks, the same for all that one reach is as useful for as another."""
    return _search(tile.form, lanes, useful_reach(tile.form.rows, lanes, reach), segment or lanes)


def _placed(network: Network | None, tile: Formed) -> Network | None:
    """A network with the offsets of a tile in place of those in one form."""
    if network is None:
        return None
    stores = (replace(store, offset=tile.offset(store.offset)) for store in network.stores)
    return replace(network, stores=tuple(stores))


@dataclass
class Search:
    """The search for the cheapest network of one tile, which remembers what it found below the last limit."""

    form: Form
    lanes: int
    reach: Reach
    segment: int
    last: tuple[float, Network | None] = field(default=(0, None), init=False)
    """The limit of the last search, and what it found; one value, as several threads may search."""

    def below(self, limit: float) -> Network | None:
        """The cheapest network below a limit, the same whatever was asked for before."""
        searched, found = self.last
        if not self._is_known(limit, searched, found):
            found = self._cheapest(limit)
            self.last = limit, found
        return found if found is not None and found.cost < limit else None

    def _is_known(self, limit: float, searched: float, found: Network | None) -> bool:
        """Whether another search with a limit would end as the last one did."""
        if limit > searched:
            # with a higher limit a search may end early, with a network that is good enough but not below the last one
            return found is not None and searched > self._good_enough
        # and this one may have ended early, before it came to one below a lower limit
        return found is None or found.cost < limit or found.cost > self._good_enough

    def _goal(self) -> Goal:
        """A goal for one use: it remembers more than a search that is over should."""
        return Goal(self.form.wanted, self.lanes, self.segment.bit_length() - 1)

    @property
    def _good_enough(self) -> float:
        """The cost up to which a network is not compared with those of other loads."""
        return ENOUGH * len(self.form.wanted) / self.lanes

    @cached_property
    def _rotated(self) -> Network | None:
        return rotate(_few_that_copy(self.form.rows) or self.form.rows, self._goal())

    def _cheapest(self, limit: float) -> Network | None:
        best: Network | None = None
        goal = self._goal()
        known: dict[int, list[Reading]] = {}
        if self._rotated is not None and self._rotated.cost < limit:
            best, limit = self._rotated, self._rotated.cost
        for rows, size in _groups(self.form.rows, self.lanes):
            is_exchanged = size == len(rows)
            if goal.least_cost_of_loads(least_loads(rows, is_exchanged)) >= limit:
                continue
            for read, blends in self._readings(rows, is_exchanged, known):
                if best is not None and best.cost <= self._good_enough:
                    return best
                if goal.least_cost_of_loads(vectors_read(read, self.lanes)) >= limit:
                    continue
                network = build_network(read, blends, size, goal, limit)
                if network is not None:
                    best, limit = network, network.cost
        return best

    def _readings(self, rows: Sequence[Row], is_exchanged: bool, known: dict[int, list[Reading]]) -> Iterable[Reading]:
        """
        The ways to read rows, which are exchanged all together or in smaller groups; best first.

        `known`: those for smaller groups, the same for all sizes, by the number of rows.
        """
        if is_exchanged:
            return readings(rows, self.lanes, self.reach, is_exchanged=True)
        if len(rows) not in known:
            known[len(rows)] = list(readings(rows, self.lanes, self.reach, is_exchanged=False))
        return known[len(rows)]

    @cached_property
    def of_parts(self) -> Network | None:
        """The cheapest network of parts; None where these make no longer runs than rows do, or are too few."""
        parts = parts_of(self.form.rows, min(self.segment, self.lanes))
        if parts is None:
            return None
        best: Network | None = None
        goal = self._goal()
        for size in _part_group_sizes(parts, self.lanes):
            network = build_network_of_parts(parts, size, goal, best.cost if best else math.inf)
            best = network or best
        return best


_search = lru_cache(maxsize=NETWORKS_REMEMBERED)(Search)


def _groups(rows: Sequence[Row], lanes: int) -> Iterator[tuple[Sequence[Row], int]]:
    """Rows with the sizes of the groups in which they may be exchanged: a few without pads first, then with these."""
    few = _few_that_copy(rows)
    yield from ((few or rows, size) for size in _group_sizes(few or rows, lanes))
    if few and len(rows) & (len(rows) - 1) == 0:
        yield from ((rows, size) for size in _group_sizes(rows, lanes) if size > 1)


def _part_group_sizes(parts: Parts, lanes: int) -> list[int]:
    """The numbers of parts that may be exchanged: those that make whole vectors, or halves of them."""
    return [size for size in (lanes, lanes // 2) if 1 << len(parts.bits) < size <= len(parts.order)]


def _few_that_copy(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows that are no pads, where these are few enough to be gathered; none where there are no others."""
    copies = [row for row in rows if row[0][0] is not None]
    return copies if len(copies) <= ROWS_GATHERED // 2 and len(copies) < len(rows) else ()


def _group_sizes(rows: Sequence[Row], lanes: int) -> list[int]:
    """Powers of two by which rows may be exchanged; by 1 they are just gathered."""
    count = len(rows)
    if count & (count - 1) == 0:
        if count > lanes and any(source is None for source, _ in rows[-1]):
            return [lanes]  # pads are rows that need no vectors
        return ([count] if count <= lanes else []) + ([1] if 1 < count <= ROWS_GATHERED else [])
    if count <= ROWS_GATHERED:
        return [1]
    sizes = [size for size in LIKELY_SIZES if size <= min(count, lanes)]
    sizes.sort(key=lambda size: max(-(-count // size) * size, TOLERATED_REPEATS * count))
    takes_few = count <= 2 * ROWS_GATHERED and all(2 * len(row) >= lanes and _stays_whole(row) for row in rows)
    return [1, *sizes] if takes_few else sizes


def _stays_whole(row: Row) -> bool:
    """Whether the elements of a row follow each other in the destination too, so that a vector takes few rows."""
    return all(then == before + 1 for (_, before), (_, then) in itertools.pairwise(row))
