"""From which size on threads share a copy: to wake them takes longer than to make a small one."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.lowering.index_builder import IndexBuilder


@dataclass(frozen=True)
class WorthThreads:
    """
    From which size on threads share the loops of a copy of unknown size.

    With two threads on Emerald Rapids 48 copies of 64 channels in f16, of 25 KB to 2 MB, are at 0.84 of the speed of
    kernels for one size if threads are always woken, at worst at 0.46, and so at 0.90, at worst 0.68.
    """

    cells: int
    """Cells that it writes."""
    moved: int
    """Cells and elements that it writes and reads."""
    element_bytes: int
    share_bytes: int
    """Bytes read and written; an element that no tile moves counts as a line."""

    def are_few(self, builder: IndexBuilder, *, by_elements: bool) -> SSAValue:
        """Whether a call moves so little that one thread makes it: by loops over tiles, or over elements."""
        number, width = (self.cells, LINE_BYTES) if by_elements else (self.moved, self.element_bytes)
        least = builder.constant(-(-self.share_bytes // width))
        return builder.insert(arith.CmpiOp(builder.constant(number), least, "ult")).result
