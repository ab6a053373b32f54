"""Tiles that leave their lines in places of the rows they belong to, from where whole lines go to the destination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from xdsl.dialects import vector
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from layout_ir.layouts import affine
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.shuffle_network import Store
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.level_loops import level_loops
from layout_ir.lowering.line_runs import LineRuns, elements_behind_line
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.request_model import PAGE_LINES
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.staged_lines import StagedLines
from layout_ir.lowering.tile_loops import TileEmitter, tile_place

Starts = dict[int, SSAValue]
"""Where the present tile starts along some axes."""


def emit_staged(builder: LoopBuilder, staged: StagedLines, buffers: Buffers, schedule: Schedule) -> None:
    """The loops over the tiles of a box, and behind those along rows the ends of these."""
    behind = elements_behind_line(builder, buffers.destination)
    with level_loops(builder, staged.box, staged.levels[: staged.first_level], {}) as starts:
        places = _places(builder, staged, buffers)
        emitter = _Emitter(builder, staged, buffers, places, behind, replace(schedule, streams=False))
        for levels, emit in ((staged.levels[staged.first_level :], emitter.tile), (staged.row_levels, emitter.ends)):
            with level_loops(builder, staged.box, levels, starts) as inside:
                emit(inside)


def _places(builder: LoopBuilder, staged: StagedLines, buffers: Buffers) -> SSAValue:
    """The places of all rows; none of them reaches over the end of a page."""
    alignment = min(staged.place_length // staged.lanes, PAGE_LINES) * LINE_BYTES
    return builder.scratch(buffers.destination.type, staged.size, alignment, "rows")


@dataclass(frozen=True)
class _Emitter:
    """Emits tiles and the ends of rows."""

    builder: LoopBuilder
    staged: StagedLines
    buffers: Buffers
    places: SSAValue
    """The buffer with the places of all rows."""
    behind: SSAValue
    """How many elements behind a line of the destination every row begins."""
    schedule: Schedule

    def tile(self, starts: Starts) -> None:
        """What the last tile of the same rows has completed goes to the destination, then comes a tile."""
        staged = self.staged
        place, target = self._place(starts), tile_place(self.builder, staged.box.destination_index(), starts, "to")
        along = self.builder.place([(starts[i], staged.box.axes[i].destination_stride) for i in staged.chain], 0)
        before = self._moved(target, -staged.length)

        def at_first() -> None:
            self._where(along, "eq", staged.length, lambda: self._first_lines(place, before), lambda: None)

        self._where(along, "uge", 2 * staged.length, lambda: self._lines(place, before), at_first)
        tiles = TileEmitter(self.builder, replace(self.buffers, destination=self.places), self.schedule)
        source = tile_place(self.builder, staged.box.source_index(), starts, "from")
        ahead = tiles.ahead(staged.box, staged.tile, staged.levels, destination=0)
        tiles.straight_line(staged.box, self._tile_to_places, (source, self._sum(place, self.behind)), ahead)

    def ends(self, starts: Starts) -> None:
        """The last lines of rows, what is behind them, and what is less than a tile."""
        staged = self.staged
        place = self._place(starts)
        row = tile_place(self.builder, staged.box.destination_index(), starts, "row")
        last = self._moved(row, staged.row_length - staged.length)
        self._lines(place, last)
        end = self._less(self._moved(last, staged.length), self.behind)
        for number, run in enumerate(staged.runs):
            self._runs.part(self._moved(place, number * staged.place_length), self._moved(end, run), self.behind)
        if staged.last is not None:
            starts = {**starts, staged.chain[0]: self.builder.constant(staged.last)}
            TileEmitter(self.builder, self.buffers, self.schedule).emit(staged.box, staged.tile, starts, [])

    def _lines(self, place: SSAValue, target: SSAValue, first: int = 0) -> None:
        """Complete lines of all rows, from the `first` one on; then what is behind them moves to the front."""
        staged = self.staged
        start = self._less(target, self.behind)
        for number, run in enumerate(staged.runs):
            front = self._moved(place, number * staged.place_length)
            for offset in range(first * staged.lanes, staged.length, staged.lanes):
                self._runs.stream(self._moved(front, offset), self._moved(start, run + offset))
            rest = self._runs.line(self._moved(front, staged.length))
            self.builder.insert(vector.StoreOp(rest, self.places, [front]))

    def _first_lines(self, place: SSAValue, target: SSAValue) -> None:
        """The same at the beginning of all rows, which is part of a line."""
        staged = self.staged
        count = self.builder.index(AffineExpr.constant(staged.lanes) - AffineExpr.dimension(0), [self.behind])
        front = self._sum(place, self.behind)
        for number, run in enumerate(staged.runs):
            self._runs.part(self._moved(front, number * staged.place_length), self._moved(target, run), count)
        self._lines(place, target, first=1)

    @property
    def _tile_to_places(self) -> Tile:
        """The tile, which leaves its lines in places."""
        staged = self.staged

        def moved(store: Store) -> Store:
            number, run = next((n, run) for n, run in enumerate(staged.runs) if 0 <= store.offset - run < staged.length)
            return replace(store, offset=number * staged.place_length + store.offset - run)

        network = staged.tile.network
        return replace(staged.tile, network=replace(network, stores=tuple(map(moved, network.stores))))

    def _place(self, starts: Starts) -> SSAValue:
        """The first of the places of a tile's rows."""
        staged = self.staged
        tile = len(staged.runs) * staged.place_length
        place: AffineExpr = AffineExpr.constant(0)
        for number, (i, stride) in enumerate(staged.place_strides.items()):
            steps, count = staged.tile.extents[i], staged.rows_at_a_time(i)
            last = 0 if staged.box.axes[i].extent % steps == 0 else steps - 1  # which is moved back
            step = (AffineExpr.dimension(number) + last) // steps
            place = place + (step if count == staged.trips(i) else step % count) * (tile * stride)
        indices = [starts[i] for i in staged.place_strides]
        return self.builder.index(affine.simplify(place, [1 << 62] * len(indices)), indices)

    @property
    def _runs(self) -> LineRuns:
        return LineRuns(self.builder, self.places, self.buffers.destination)

    def _where(
        self, value: SSAValue, predicate: str, limit: int, then: Callable[[], None], otherwise: Callable[[], None]
    ) -> None:
        condition = self.builder.compare(value, predicate, self.builder.constant(limit))
        self.builder.choose(condition, then, otherwise)

    def _moved(self, place: SSAValue, by: int) -> SSAValue:
        return self.builder.place([(place, 1)], by)

    def _sum(self, place: SSAValue, by: SSAValue) -> SSAValue:
        return self.builder.place([(place, 1), (by, 1)], 0)

    def _less(self, place: SSAValue, by: SSAValue) -> SSAValue:
        return self.builder.place([(place, 1), (by, -1)], 0)
