"""MACE's linear buffers: blocked layouts, of OpenCL buffers (blocks of 4) and of the Hexagon accelerator (of 32)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from layout_ir.layouts.blocked import blocked_layout
from layout_ir.layouts.tiled import TiledLayout


def _buffer(
    dims: str, outer: str, block: str = "", size: int = 1, round_up: Mapping[str, int] | None = None
) -> dict[str, Callable[[tuple[int, ...]], TiledLayout]]:
    """Storage order `outer` over the logical `dims`, then `size` neighbours of the dim `block`."""
    blocks = [(dims.index(block), size)] if block else []
    padding = {dims.index(dim): unit for dim, unit in (round_up or {}).items()}
    layout = blocked_layout(len(dims), [dims.index(dim) for dim in outer], blocks, padding)
    return {dims: lambda shape: layout}


BUFFERS = {
    "BUFFER_CONV2D_FILTER": _buffer("OIHW", "HWOI", "O", 4, round_up={"I": 4}),
    "BUFFER_DW_CONV2D_FILTER": _buffer("MIHW", "MIHW", "I", 4),
    "BUFFER_ARGUMENT": _buffer("W", "W", round_up={"W": 4}),
    "HTA_NCHW32": _buffer("NHWC", "NCHW", round_up={"W": 32}),
    "HTA_D32": _buffer("NHWC", "NHCW", "C", 32),
}
"""Name to the formulas by logical dims."""
