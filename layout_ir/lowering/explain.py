"""What the lowering decides about every copy of a module, in words: the plan, the tiles, the loops."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from layout_ir.dialects.attributes import UndefAttr
from layout_ir.dialects.ops import CopyOp
from layout_ir.dialects.types import element_type_of, index_map_of
from layout_ir.layouts.plan import Box
from layout_ir.layouts.planner import make_plan
from layout_ir.layouts.shuffle_network import Load, Network, Shuffle
from layout_ir.layouts.tiling import Tile, choose_tile
from layout_ir.lowering.resolve import ResolvePass
from layout_ir.lowering.schedule import LoopLevel, Schedule, choose_schedule, loop_levels, writes_whole_lines
from layout_ir.lowering.tile_loops import parts_without_loose_pads
from layout_ir.lowering.to_buffers import ToBuffersPass


def explain_module(context: Context, module: ModuleOp, *, vector_bytes: int, threads: bool = False) -> str:
    """
    The plan of every copy that the module's functions make, with the schedule that `layout-to-loops` gives it.

    The module itself is left as it is. The options are those of `layout-to-loops`. Raises `LayoutError` or xDSL's
    `DiagnosticException` where the lowering would.
    """
    lowered = module.clone()
    for stage in (ResolvePass(), ToBuffersPass()):
        stage.apply(context, lowered)
    lines: list[str] = []
    for function in lowered.walk():
        if not isinstance(function, FuncOp):
            continue
        for op in function.walk():
            if isinstance(op, CopyOp):
                lines += [f"{function.sym_name.data}: {op.source.type} to {op.destination.type}"]
                lines += [f"  {line}" for line in _copy(op, vector_bytes, threads)]
    return "\n".join(lines)


def _copy(op: CopyOp, vector_bytes: int, threads: bool) -> list[str]:
    source, destination = index_map_of(op.source.type), index_map_of(op.destination.type)
    width = element_type_of(op.source.type).bytes
    plan = make_plan(source, destination, not isinstance(op.pad, UndefAttr))
    lines = [f"fill {plan.fill_first} elements with the pad value"] if plan.fill_first is not None else []
    if vector_bytes < 2 * width:
        return [*lines, *(f"{box}: scalar loops" for box in plan.boxes)]
    schedule = choose_schedule(vector_bytes, width, destination.cell_count, source.size, threads)
    lines.append(str(schedule))
    for box in plan.boxes:
        for part in parts_without_loose_pads(box, schedule.lanes, source.storage_size):
            tile = choose_tile(part, schedule.lanes, source.storage_size)
            lines.append(str(part))
            lines += ["  scalar loops: a tile would not be cheaper"] if tile is None else _tile(part, tile, schedule)
    return lines


def _tile(box: Box, tile: Tile, schedule: Schedule) -> list[str]:
    """The lines of one tile: what it covers, what it costs, and the loops around it."""
    extents = " x ".join(
        f"{axis.name} {steps}" for axis, steps in zip(box.axes, tile.extents, strict=True) if steps > 1
    )
    lines = [f"  tile of {extents or 'one element'}: {_instructions(tile.network)}, {tile.cost:.2f} an element"]
    levels = loop_levels(box, tile, schedule)
    if levels:
        lines.append("  loops over " + ", ".join(_level(box, level) for level in levels))
    if schedule.streams:
        whole = writes_whole_lines(box, tile, schedule.lanes)
        lines.append("  streams whole lines" if whole else "  ordinary stores: tiles end inside of lines")
    return lines


def _instructions(network: Network) -> str:
    loads = sum(isinstance(value, Load) for value in network.values)
    shuffles = sum(isinstance(value, Shuffle) for value in network.values)
    return f"{loads} loads, {shuffles} shuffles, {len(network.stores)} stores"


def _level(box: Box, level: LoopLevel) -> str:
    inside = f" inside {level.inside}" if level.inside else ""
    traits = [f"prefetching {level.prefetch} elements ahead"] if level.prefetch else []
    traits += ["parallel"] if level.is_parallel else []
    return f"{box.axes[level.axis].name} by {level.step}{inside}" + (f" ({', '.join(traits)})" if traits else "")
