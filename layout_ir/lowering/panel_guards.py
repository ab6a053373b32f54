"""
When a copy with unknown extents goes by panels: conditions that a kernel looks at when it is called.

Panels pay where the destination is large, where tiles would write its lines in parts, and where runs are long. And an
unknown extent has to hold the tiles that fill a panel.
"""

from __future__ import annotations

import math

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from layout_ir.layouts import panel_choice, panel_steps
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.symbols import Symbols, is_symbolic
from layout_ir.layouts.tiling import walked_cells
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.line_runs import bytes_behind_line
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.tile_choice import tile_of
from layout_ir.lowering.whole_units import line_products, rest_of_division


def panel_conditions(builder: LoopBuilder, panel: Panel, buffers: Buffers, schedule: Schedule) -> list[SSAValue]:
    """What has to hold for panels of unknown extents."""
    assert builder.unknown is not None
    width = panel_steps.LINE_BYTES // schedule.lanes
    cells = sum(box.cells for box in panel.group.boxes)
    lengths = [(cells, schedule.stream_bytes // width), *_least_extents(panel, width)]
    conditions = [
        builder.compare(builder.constant(length), "uge", builder.constant(least))
        for length, least in lengths
        if is_symbolic(length)
    ]
    products = _line_products(panel, buffers.source_size, schedule, builder.unknown.symbols)
    if products is not None:
        total = bytes_behind_line(builder, buffers.destination)
        for product in products:
            total = builder.insert(arith.AddiOp(total, rest_of_division(builder, product, schedule.lanes))).results[0]
        conditions.append(builder.compare(total, "ne", builder.constant(0)))
    return conditions


def _least_extents(panel: Panel, width: int) -> list[tuple[int, int]]:
    """The extents of the shared axes, and how long each must be for tiles, and for the runs."""
    least = list(panel.least)
    if panel.run:
        *inner, last = panel.run
        length = width * math.prod((panel.steps[i] for i in inner), start=panel.group.stretch)
        least[last] = max(least[last], -(-panel_choice.LEAST_RUN_BYTES // length))
    return [(axis.extent, steps) for axis, steps in zip(panel.group.axes, least, strict=True) if steps > 1]


def _line_products(panel: Panel, source_size: int, schedule: Schedule, symbols: Symbols) -> list[int] | None:
    """
    Numbers of which one is no multiple of a line where tiles write lines in parts, and panels pay.

    None where tiles always do, or write so many lines twice that panels pay in any case.
    """
    products: dict[int, None] = {}
    for box in panel.group.boxes:
        tile = tile_of(box, schedule, source_size)
        if tile is None or walked_cells(box, tile) > schedule.processor.written_again:
            return None
        numbers = line_products(box, tile, schedule.lanes, symbols)
        if numbers is None:
            return None
        products |= dict.fromkeys(numbers)
    return list(products)
