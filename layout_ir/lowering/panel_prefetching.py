"""What the tiles of a panel ask for of the source ahead of time: a region, the next part of one, or lines of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_source import is_read_on, source_rows
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.shuffle_network import is_copy
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.tile import Tile
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.panel_requests import asked_region, asked_rows, is_asked_before, line_behind, sequence_ahead
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.share_of_requests import Share
from layout_ir.lowering.shared_requests import share_of_next_part, share_of_next_pieces
from layout_ir.lowering.source_prefetching import MANY_ROWS, asks_near, read_forward, rows_together

PREFETCHED_TILES = 2
"""How many tiles ahead along a row of the source is asked for, where a panel takes a long part of it."""

LONG_ROW_BYTES = 1024
"""Length of such a part, and a quarter of it for tiles of many rows: of a shorter one, the next panel is asked for."""

LINES_IN_ORDER, LEAST_ROWS_IN_ORDER = 128, 32
"""
Lines that tiles ask for ahead in the order of all loops, and how many rows they read at least to do so.

On Emerald Rapids two tiles of 64 rows are better than one or four, four of 32 better than two; of 16 rows neither four
nor eight are better in the mean than what lies behind them.
"""

SHORT_ROWS_AHEAD = 160 << 10
"""
Size of the largest step that is asked for one step ahead, at least, where parts of it take short rows.

Where rows are of unknown length, the next part is not where it is asked for. On Granite Rapids 256 and 512 channels of
14 x 14 from NCHW to NHWC in i8, steps of 49 and 98 KB, are 1.15 times as fast by what is a step ahead, 2048, of 392 KB,
0.93 times. Of rows of two lines the next two come too late: 64 to 192 channels of 14 x 14 from NHWC to NCHW in f32,
steps of 50 to 150 KB, are 1.06 to 1.23 times as fast so, 256, of 200 KB, 0.75 times, but longer rows 0.85 to 1 times.
"""

SHORT_ROW_LINES = 2
"""Length of short rows, in lines, where it is known."""


@dataclass(frozen=True)
class PanelPrefetching:
    """Chooses what the tiles of one box of a panel ask for."""

    panel: Panel
    walk: tuple[int, ...]
    """The axes from one panel to the next, outermost loop first."""

    position: int
    """Which of the boxes of the panel's group it is."""

    schedule: Schedule

    def level(self, box: Box, tile: Tile, levels: Sequence[LoopLevel]) -> LoopLevel:
        """How the source is asked for: a region ahead where panels take regions, or a part of one that is large."""
        if self._copies_short_rows(tile):
            return LoopLevel(0, 1)
        if (share := self._share(box, tile, levels)) is not None:
            return LoopLevel(0, 1, share=share)
        is_asked_for = is_asked_before(self.panel, self.walk, len(tile.network.loads), self.schedule)
        if self.panel.region is not None:
            level = self._step_ahead(self.panel.region)
            return replace(level, is_far=True, is_asked_for=is_asked_for)
        region = asked_region(self.panel, self.walk, self.schedule)
        if region is None and self._asks_in_order(tile):
            return LoopLevel(0, 1, tiles=LINES_IN_ORDER // len(tile.network.loads), is_far=True)
        if region is None:
            ahead = self._ahead(box, tile, levels)
            if 0 < ahead <= PREFETCHED_TILES * self.schedule.lanes and asks_near(box, tile, self.schedule):
                return LoopLevel(0, 1, prefetch=self.schedule.lanes, is_far=True, is_asked_for=is_asked_for)
            together = rows_together(box, tile, self.panel.group.boxes[self.position]) if ahead else 0
            return LoopLevel(0, 1, prefetch=ahead, rows_together=together, is_asked_for=is_asked_for)
        stride = self.panel.group.boxes[self.position].axes[region].source_stride
        return LoopLevel(0, 1, prefetch=self.panel.steps[region] * stride, is_far=True)

    def _copies_short_rows(self, tile: Tile) -> bool:
        """
        Whether registers of half a line copy rows that are shorter than a line, and the next panel's are asked for.

        On Zen 4 without its vectors of 64 bytes rows of 56 bytes, 120 bytes apart, are copied 1.3 times as fast if
        their tiles ask for nothing else, 18 other copies of rows of 12 to 60 elements 1.01 times (0.86 to 1.15).
        """
        if not self.schedule.register_lanes or self.schedule.preferences.prefetch_tiles:
            return False
        length = source_rows(self.panel).length
        is_short = not is_symbolic(length) and length < self.schedule.lanes
        return is_short and is_copy(tile.network) and asked_rows(self.panel, self.walk, self.schedule) is not None

    def _share(self, box: Box, tile: Tile, levels: Sequence[LoopLevel]) -> Share | None:
        """What a tile asks for of the lines that all tiles ask for together, in their order; None where they do not."""
        if not self.schedule.processor.asks_by_shares or self.schedule.preferences.prefetch_tiles:
            return None
        share = share_of_next_part(box, tile, levels, self.schedule)
        if share is not None or not self.walk:
            return share
        walked = len(self.walk)
        return share_of_next_pieces(box, tile, levels[walked:], levels[:walked], self.schedule)

    def _asks_in_order(self, tile: Tile) -> bool:
        """Whether tiles ask for what comes next in the order of all loops: behind their rows lies what comes later."""
        if not self.schedule.processor.asks_in_order or self.schedule.preferences.prefetch_tiles:
            return False
        has_rows = LEAST_ROWS_IN_ORDER <= len(tile.network.loads) <= LINES_IN_ORDER
        return has_rows and self._is_read_upwards and not is_read_on(self.panel, self.walk)

    @property
    def _is_read_upwards(self) -> bool:
        """
        Whether no axis of a panel's source goes backwards, and its shape is known, or it takes pieces of a kept step.

        Where the last of these begins is reckoned from sizes; behind the end lines are asked for, and never read.
        """
        axes = self.panel.group.boxes[self.position].axes
        is_known = not any(is_symbolic(axis.extent) or is_symbolic(axis.source_stride) for axis in axes)
        return (is_known or self.panel.kept_step is not None) and all(axis.source_stride >= 0 for axis in axes)

    def _step_ahead(self, region: int) -> LoopLevel:
        """
        How far from a step of a region, and from a part of it, the next one lies in the source.

        Of panels that cut several axes, the next along the outermost: short rows end before the next along the others.
        """
        level = LoopLevel(0, 1, steps_apart=self.panel.group.main.axes[region].source_stride)
        most, outermost = self.schedule.processor.step_ahead_bytes, next((i for i in self.walk if i != region), None)
        if most is None or outermost is None:
            return level
        axis = self.panel.group.boxes[self.position].axes[outermost]
        if self._takes_short_rows(axis):
            most = max(most, SHORT_ROWS_AHEAD)
        apart, width = self.panel.steps[outermost] * axis.source_stride, LINE_BYTES // self.schedule.lanes
        return replace(level, parts_apart=apart, step_at_most=most // width)

    def _takes_short_rows(self, outermost: Axis) -> bool:
        """Whether parts of a step take short rows, or rows of unknown length."""
        if is_symbolic(outermost.extent) or is_symbolic(outermost.source_stride):
            return True
        length = source_rows(self.panel).length
        return not is_symbolic(length) and length <= SHORT_ROW_LINES * self.schedule.lanes

    def _ahead(self, box: Box, tile: Tile, levels: Sequence[LoopLevel]) -> int:
        """How far ahead the source is asked for: along what is read forward, and where the next panel lies."""
        if not self.schedule.preferences.prefetch_tiles:
            next_panel_begins = sequence_ahead(self.panel, self.walk, self.schedule)
            if ahead := max(next_panel_begins, read_forward(box, tile, levels, self.schedule)):
                return ahead
        row = max((axis.extent for axis in box.axes if axis.source_stride == 1), default=1)
        row_bytes = row * LINE_BYTES // self.schedule.lanes
        is_long = row_bytes >= (LONG_ROW_BYTES if len(tile.network.loads) < MANY_ROWS else LONG_ROW_BYTES // 4)
        count = self.schedule.preferences.prefetch_tiles
        behind = 0 if count else line_behind(self.schedule)
        if is_long or self.panel.carried is not None:
            return (count or PREFETCHED_TILES) * self.schedule.lanes + behind
        if not self.walk:
            return 0
        innermost = self.walk[-1]
        stride = self.panel.group.boxes[self.position].axes[innermost].source_stride
        return self.panel.steps[innermost] * stride * (count or 1) + (behind if stride == 1 else 0)
