"""What the lowering decides about every copy of a module, in words: the plan, the tiles, the loops."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from layout_ir.dialects.attributes import UndefAttr
from layout_ir.dialects.ops import CopyOp
from layout_ir.dialects.types import element_type_of, index_map_of
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.plan import Box, CopyPlan
from layout_ir.layouts.plan_rewrites import merge_pads
from layout_ir.layouts.shuffle_network import Network, Shuffle
from layout_ir.layouts.symbols import readable
from layout_ir.layouts.tile import Tile
from layout_ir.layouts.unknown_plan import plan_copy, storage_size
from layout_ir.lowering.destination_prefetching import destination_ahead
from layout_ir.lowering.filled_apart import parts_with_tiles
from layout_ir.lowering.loop_level import LoopLevel
from layout_ir.lowering.loop_order import loop_levels
from layout_ir.lowering.medium_copies import schedule_at_lines
from layout_ir.lowering.panel_requests import asked_region, asked_rows, ends_ahead
from layout_ir.lowering.parts import WRITES_PARTS, split
from layout_ir.lowering.resolve import ResolvePass
from layout_ir.lowering.schedule import Schedule, choose_schedule, streamed_stores
from layout_ir.lowering.small_copies import for_threads_that_pay
from layout_ir.lowering.staged_lines import StagedLines
from layout_ir.lowering.target import Target
from layout_ir.lowering.to_buffers import ToBuffersPass
from layout_ir.lowering.unknown_walks import UnknownWalk, unknown_walks
from layout_ir.lowering.vector_loops import inside_of_lines, moves_alike
from layout_ir.lowering.walk_loops import TiledWalk, with_walks

SCALAR_LOOPS = "  scalar loops: a tile would not be cheaper"


def explain_module(context: Context, module: ModuleOp, target: Target) -> str:
    """
    The plan of every copy that the module's functions make, with the schedule that `layout-to-loops` gives it.

    The module itself is left as it is. Raises `LayoutError` or xDSL's `DiagnosticException` where the lowering
    would.
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
                lines += [f"  {line}" for line in _copy(op, target)]
    return "\n".join(lines)


def _copy(op: CopyOp, target: Target) -> list[str]:
    source, destination = index_map_of(op.source.type), index_map_of(op.destination.type)
    width = element_type_of(op.source.type).bytes
    writes_pads = not isinstance(op.pad, UndefAttr)
    plan = plan_copy(source, destination, writes_pads)
    lines = [f"fill {plan.fill_first} elements with the pad value"] if plan.fill_first is not None else []
    if target.vector_bytes < 2 * width:
        lines += [f"{box}: scalar loops" for box in plan.boxes]
        return [readable(line, plan.unknown) for line in lines]
    size = storage_size(source, plan)
    cells, elements = destination.cell_count, source.size
    usual = for_threads_that_pay(choose_schedule(target, width, cells, elements), target, plan, size, width)
    at_lines = schedule_at_lines(target, plan, width, cells, elements, size, writes_pads)
    schedule = usual if at_lines is None else at_lines.schedule
    if plan.unknown is None:
        lines.append(str(schedule))
    else:  # a kernel looks at its sizes before it streams, or before it takes tiles at all
        schedule = replace(schedule, streams=False, prefetches=False, panels=False)
        otherwise = "shorter tiles or scalar loops where they are small"
        lines.append(f"{schedule}; streams and prefetches where sizes are large, {otherwise}")
    by_themselves: list[Box] = []
    elsewhere: list[str] = []
    for part in split(plan.boxes, size, schedule, writes_pads) if at_lines is None else at_lines.parts:
        if part.is_by_panels:
            lines += _panel(part.panel, schedule, part.fault)
            continue
        if part.at_line is None:
            by_themselves += part.group.boxes
        lines += _panel(part.at_line, schedule, part.fault)
        if at_lines is not None:
            continue
        elsewhere += _staged(part.staged, schedule) or _panel(part.panel, inside_of_lines(schedule), WRITES_PARTS)
    known = plan.unknown is None
    walks = with_walks(by_themselves, schedule, size, writes_pads) if known else by_themselves
    lines += _by_tiles(walks, schedule, size, writes_pads)
    lines += _unknown_walks(plan, usual, size, writes_pads)
    if at_lines is not None:
        elsewhere = _elsewhere(plan.boxes, usual, size, writes_pads)
    elif known and not moves_alike(by_themselves, schedule, size):
        elsewhere += _by_tiles(list(map(merge_pads, by_themselves)), inside_of_lines(schedule), size, writes_pads)
    if elsewhere:
        lines += ["if the destination does not begin at a cache line:", *(f"  {line}" for line in elsewhere)]
    return [readable(line, plan.unknown) for line in lines]


def _elsewhere(boxes: Sequence[Box], schedule: Schedule, source_size: int, writes_pads: bool) -> list[str]:
    """The lines of a copy in the caches to a destination that does not begin at a line."""
    alone = [box for part in split(boxes, source_size, schedule, writes_pads) for box in part.group.boxes]
    if moves_alike(alone, schedule, source_size):
        walks = with_walks(alone, schedule, source_size, writes_pads)
        return [str(schedule), *_by_tiles(walks, schedule, source_size, writes_pads)]
    boxes = list(map(merge_pads, alone))
    return [str(schedule), *_by_tiles(boxes, inside_of_lines(schedule), source_size, writes_pads)]


def _by_tiles(boxes: Sequence[TiledWalk | Box], schedule: Schedule, source_size: int, writes_pads: bool) -> list[str]:
    """The lines of boxes that tiles move by themselves."""
    lines: list[str] = []
    for box in boxes:
        if isinstance(box, TiledWalk):
            lines += _walk(box, schedule)
            continue
        for part, tile in parts_with_tiles(box, schedule, source_size, writes_pads):
            lines.append(str(part))
            lines += [SCALAR_LOOPS] if tile is None else _tile(part, tile, schedule, loop_levels(part, tile, schedule))
    return lines


def _walk(tiled: TiledWalk, schedule: Schedule) -> list[str]:
    """The lines of boxes inside of common loops: what each does there, and the loops."""
    lines: list[str] = []
    for position, box in enumerate(tiled.walk.boxes):
        lines.append(str(tiled.walk.inner(position)))
        tile, levels = tiled.tile(position), tiled.levels(position, schedule)
        lines += [SCALAR_LOOPS] if tile is None else _tile(box, tile, schedule, levels, tiled.walk.shared)
    loops = [f"{axis.name}, {axis.extent} times" for axis in tiled.axes]
    first = " (parallel)" if schedule.threads else ""
    together = f"  all {len(tiled.tiles)} {tiled.walk.side.value} the same lines"
    lines.append(f"{together}, inside of loops over {loops[0]}{first}")
    lines[-1] += "".join(f"; {loop}" for loop in loops[1:])
    return lines


def _unknown_walks(plan: CopyPlan, schedule: Schedule, source_size: int, writes_pads: bool) -> list[str]:
    """The lines of boxes that a kernel which runs may find large enough for common loops."""
    if plan.unknown is None:
        return []
    parts = list(split(plan.boxes, source_size, schedule, writes_pads, plan.unknown))
    found = unknown_walks(parts, schedule, source_size, plan.unknown)
    return [_unknown_walk(walk) for _, walks in found for walk in walks]


def _unknown_walk(walk: UnknownWalk) -> str:
    tiles = [" x ".join(f"{axis.name} {steps}" for axis, steps in one.taken) or "scalars" for one in walk.boxes]
    *outer, axis = walk.common.loops[0]
    loops = [*(f"{one.name} by 1" for one in outer), f"{axis.name} by {walk.common.steps}"]
    together = f"  all {len(tiles)} {walk.side.value} the same lines, inside of loops over {', '.join(loops)}"
    where = "is large and its lines are whole" if walk.is_large else "is not large"
    return f"{together}, where the destination {where}: tiles of {'; '.join(tiles)}"


def _staged(staged: StagedLines | None, schedule: Schedule) -> list[str]:
    """The lines of a box whose tiles write whole lines wherever the destination begins."""
    if staged is None:
        return []
    inside = replace(schedule, at_line=False)
    return [str(staged.box), *_tile(staged.box, staged.tile, inside, staged.levels), f"  {staged}"]


def _panel(panel: Panel | None, schedule: Schedule, fault: str) -> list[str]:
    """The lines of boxes that are moved by panels: how each gets to scratch, what is written from there, and why."""
    if panel is None:
        return []
    lines: list[str] = []
    for position, tile in enumerate(panel.tiles):
        lines.append(str(panel.group.boxes[position]))
        moves = _tile_text(panel.scratch_box(position), tile) if tile else "scalar loops"
        lines.append(f"  {moves} to a panel")
    width = LINE_BYTES // schedule.lanes
    axes = panel.group.axes
    covered = [f"{axis.name} {steps}" for axis, steps in zip(axes, panel.steps, strict=True) if steps > 1]
    if panel.group.stretch > 1:
        covered.append(f"{panel.group.stretch} cells that {len(panel.group.boxes)} copies share")
    lines.append(f"  panel of {' x '.join(covered)}, {panel.size * width} bytes of scratch: tiles alone would {fault}")
    walk = panel.walk(schedule.threads)
    if walk:
        divided = panel.divided(schedule.threads)
        parallel = " (parallel)" if len(divided) == 1 else " (in one parallel loop)"
        if panel.is_cut(schedule.threads):
            divided, parallel = walk, " (in parallel parts)"
        loops = [f"{axes[i].name} by {panel.steps[i]}{parallel if i in divided[-1:] else ''}" for i in walk]
        lines.append("  loops over " + ", ".join(loops))
    region = asked_region(panel, walk, schedule)
    if region is not None:
        lines.append(f"  asks for the next {axes[region].name} of the source while one is moved")
    elif asked_rows(panel, walk, schedule) is not None:
        lines.append(f"  asks for the rows of the next {axes[walk[-1]].name} while it is written")
    streamed = f"  streams whole lines from there, in runs of {panel.run_length * width} bytes"
    if panel.carried is not None:
        along = " or ".join(axes[i].name for i in panel.carried_along(schedule.threads))
        streamed += f"; what is left of a line goes on to the next {along}"
    elif ahead := ends_ahead(panel, walk, schedule):
        streamed += f"; asks for the lines of their ends {ahead} elements ahead"
    return [*lines, streamed]


def _tile(box: Box, tile: Tile, schedule: Schedule, levels: Sequence[LoopLevel], common: int = 0) -> list[str]:
    """The lines of one tile: what it covers, what it costs, and the loops around it but for the first common ones."""
    lines = [f"  {_tile_text(box, tile)}"]
    if levels[common:]:
        lines.append("  loops over " + ", ".join(_level(box, level) for level in levels[common:]))
    if ahead := destination_ahead(box, tile, levels, schedule):
        lines.append(f"  asks for the destination {ahead} elements ahead of its stores")
    if schedule.streams:
        lines.append(_stores(streamed_stores(box, tile, schedule), tile))
    return lines


def _stores(streamed: Collection[int], tile: Tile) -> str:
    if not streamed:
        return "  ordinary stores: tiles end inside of lines"
    ordinary = len(tile.network.stores) - len(streamed)
    return "  streams whole lines" + (f", but for {ordinary} stores of parts of them" if ordinary else "")


def _tile_text(box: Box, tile: Tile) -> str:
    extents = " x ".join(
        f"{axis.name} {steps}" for axis, steps in zip(box.axes, tile.extents, strict=True) if steps > 1
    )
    lanes = max(store.lanes for store in tile.network.stores)
    moves = f"{_instructions(tile.network)} of up to {lanes} elements"
    return f"tile of {extents or 'one element'}: {moves}, {tile.cost:.2f} an element"


def _instructions(network: Network) -> str:
    loads = len(network.loads)
    shuffles = sum(isinstance(value, Shuffle) for value in network.values)
    return f"{loads} loads, {shuffles} shuffles, {len(network.stores)} stores"


def _level(box: Box, level: LoopLevel) -> str:
    inside = f" inside {level.inside}" if level.inside else ""
    behind = ", behind all rows of a tile where they are short" if level.rows_together else ""
    traits = [f"prefetching {level.prefetch} elements ahead{behind}"] if level.prefetch else []
    if level.rows is not None:
        traits.append(f"asking for the rows of the next {box.axes[level.rows.following[-1]].name}")
    if level.share is not None:
        traits.append(f"asking for {len(level.share.offsets)} lines in their order")
    if level.is_parallel:
        fewer = f" where there are fewer than {level.whole_from} trips around it" if level.whole_from else ""
        shorter = f", by as few as are whole lines, or 1 for {level.lines.enough} trips" if level.lines else ""
        most = f", in {level.even.count} parts at most," if level.even else ""
        at_lines = " and rows begin at lines" if level.meeting else ""
        traits.append(f"parallel{most}{fewer}{at_lines}{shorter}")
        traits += [f"the last part {level.longer} longer"] if level.longer else []
    return f"{box.axes[level.axis].name} by {level.step}{inside}" + (f" ({', '.join(traits)})" if traits else "")
