"""Lines that tiles ask for together: nearly all that later ones read, hardly any twice, in their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest

from layout_ir import element_type, layout
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.shuffle_network import Load
from layout_ir.layouts.tile import Tile
from layout_ir.layouts.unknown_plan import plan_copy
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.loop_order import loop_levels
from layout_ir.lowering.processor_families import EMERALD_RAPIDS, SAPPHIRE_RAPIDS
from layout_ir.lowering.schedule import Schedule, choose_schedule
from layout_ir.lowering.share_of_requests import Share
from layout_ir.lowering.shared_requests import PIECE_LINES, share_of_next_pieces
from layout_ir.lowering.target import Target
from layout_ir.lowering.tile_choice import tile_of


@dataclass
class Walk:
    """The lines that tiles read and ask for, in the order of their loops, and what comes of it."""

    box: Box
    tile: Tile
    levels: Sequence[LoopLevel]
    share: Share
    lanes: int
    asked: list[int] = field(default_factory=list)
    read: set[int] = field(default_factory=set)
    in_time: int = 0
    """Lines that had been asked for when they were first read."""

    def take(self) -> Walk:
        """The same, when all tiles have been taken."""
        known: set[int] = set()
        for starts in self._starts(self.levels, {}):
            place = self.share.place(self.box.source_index()).eval(starts, [])
            self.asked += [(place + offset) // self.lanes for offset in self.share.offsets]
            first = self.box.source_index().eval(starts, [])
            for line in {(first + load.offset) // self.lanes for load in self.tile.network.loads} - self.read:
                self.in_time += line in known
                self.read.add(line)
            known.update(self.asked[-len(self.share.offsets) :])
        return self

    def _starts(self, levels: Sequence[LoopLevel], outer: dict[int, int]) -> Iterator[list[int]]:
        if not levels:
            extents = zip(self.box.axes, self.tile.extents, strict=True)
            yield [min(outer.get(i, 0), axis.extent - steps) for i, (axis, steps) in enumerate(extents)]
            return
        level, *inside = levels
        first = outer.get(level.axis, 0) if level.inside is not None else 0
        extent = self.box.axes[level.axis].extent
        end = min(first + level.inside, extent) if level.inside is not None else extent
        for start in range(first, end, level.step):
            yield from self._starts(inside, {**outer, level.axis: start})


def copied(pair: tuple[str, str], shape: tuple[int, ...], dtype: str, processor: str) -> tuple[Box, Tile, Schedule]:
    """The only box of a copy past the caches, and its tile."""
    maps = [layout(name).index_map(shape, dtype) for name in pair]
    (box,) = plan_copy(*maps).boxes
    size = maps[0].storage_size
    target = Target(64, stream_bytes=0, processor=processor)
    schedule = choose_schedule(target, element_type(dtype).bytes, size, box.cells)
    tile = tile_of(box, schedule, size)
    assert tile is not None
    return box, tile, schedule


@pytest.mark.parametrize(
    ("pair", "shape", "dtype"),
    [
        (("NHWC", "NCHW"), (2, 64, 56, 56), "f32"),
        (("NHWC", "NCHW"), (2, 128, 40, 40), "f32"),
        (("NHWC", "NCHW"), (2, 100, 56, 56), "f32"),  # rows that end inside of lines, and a last tile moved back
        (("NHWC", "NCHW"), (2, 120, 64, 64), "i8"),
        (("NCHW", "onednn:nChw16c"), (3, 64, 14, 14), "f32"),
        (("onednn:OIhw4i16o4i", "onednn:oihw"), (64, 128, 3, 3), "f32"),
    ],
)
def test_the_next_part_is_asked_for_line_by_line(pair: tuple[str, str], shape: tuple[int, ...], dtype: str) -> None:
    box, tile, schedule = copied(pair, shape, dtype, SAPPHIRE_RAPIDS)
    levels = loop_levels(box, tile, schedule)
    share = levels[-1].share
    assert share is not None
    walk = Walk(box, tile, levels, share, schedule.lanes).take()
    distance = share.ahead // schedule.lanes
    assert walk.in_time >= len(walk.read) - 2 * distance
    assert len(walk.asked) <= 1.25 * len(walk.read)
    follows = sum(0 <= later - line <= 1 for line, later in pairwise(walk.asked))
    assert follows >= 0.85 * len(walk.asked)


@pytest.mark.parametrize(
    ("pair", "shape", "dtype", "processor"),
    [
        (("NHWC", "NCHW"), (2, 64, 56, 56), "f32", EMERALD_RAPIDS),
        (("NCHW", "NHWC"), (2, 64, 56, 56), "f32", SAPPHIRE_RAPIDS),  # every row a sequence of its own
        (("onednn:nChw16c", "NCHW"), (2, 64, 56, 56), "f32", SAPPHIRE_RAPIDS),  # every tile a part of the only one
        (("NHWC", "NCHW"), (2, 32, 56, 56), "f32", SAPPHIRE_RAPIDS),  # less than a page with every step
    ],
)
def test_others_ask_along_their_rows(pair: tuple[str, str], shape: tuple[int, ...], dtype: str, processor: str) -> None:
    box, tile, schedule = copied(pair, shape, dtype, processor)
    assert all(level.share is None for level in loop_levels(box, tile, schedule))


def pieces(channels: int, pixels: int, width: int) -> Walk | None:
    """Panels of so many pixels of all channels of two images, which become pixels."""
    image = Axis("image", 2, channels * pixels, 0, 2)
    row = Axis("pixel", pixels, 1, 0, pixels)
    box = Box(
        (
            Axis("pixel", width, 1, channels, width),
            Axis("channel", channels, pixels, 1, channels),
            image,
            row,
        )
    )
    _, tile, schedule = copied(("NCHW", "NHWC"), (2, 64, 56, 56), "f32", SAPPHIRE_RAPIDS)
    tile = Tile((16, 16, 1, 1), _rows_apart(tile, pixels).network)
    walked = [LoopLevel(2, 1), LoopLevel(3, width)]
    levels = [LoopLevel(1, 16), LoopLevel(0, 16)]
    share = share_of_next_pieces(box, tile, levels, walked, schedule)
    return None if share is None else Walk(box, tile, [*walked, *levels], share, schedule.lanes)


def _rows_apart(tile: Tile, pixels: int) -> Tile:
    """A tile that reads 16 rows so far apart."""
    loads = [value for value in tile.network.values if isinstance(value, Load)]
    rows = tuple(replace(load, offset=number * pixels) for number, load in enumerate(loads))
    return replace(tile, network=replace(tile.network, values=rows, stores=()))


@pytest.mark.parametrize(("channels", "pixels", "width"), [(112, 3136, 32), (128, 4096, 16), (96, 1024, 64)])
def test_pieces_of_many_rows_are_asked_for_by_turns(channels: int, pixels: int, width: int) -> None:
    walk = pieces(channels, pixels, width)
    assert walk is not None
    walk.take()
    turns = PIECE_LINES * 16 // width
    assert walk.in_time >= (1 - 2 * turns * width / pixels) * len(walk.read)
    assert len(walk.asked) <= 1.1 * len(walk.read)
    for first in range(0, len(walk.asked), PIECE_LINES):
        piece = walk.asked[first : first + PIECE_LINES]
        assert piece == list(range(piece[0], piece[0] + PIECE_LINES))


@pytest.mark.parametrize(
    ("channels", "pixels", "width"),
    [
        (64, 3136, 32),  # no more rows than are followed
        (112, 3136, 128),  # each panel takes pieces itself
        (112, 400, 32),  # rows less than half a page apart
    ],
)
def test_other_panels_ask_for_no_pieces(channels: int, pixels: int, width: int) -> None:
    assert pieces(channels, pixels, width) is None
