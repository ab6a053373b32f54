"""What a thread takes of a loop at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from layout_ir.layouts.thread_shares import evenness
from layout_ir.lowering.loop_level import LoopLevel


@dataclass(frozen=True)
class Share:
    """What a thread takes of a loop at once."""

    length: int
    """Elements along the axis of the loop."""

    longer: int = 0
    """Elements that the last one has beyond that, where the rest is not as long as a tile."""

    def evenness(self, extent: int, threads: int) -> float:
        """How evenly so many threads share a loop over an extent."""
        return evenness(extent, threads, self.length, self.longer)

    def trips(self, extent: int) -> int:
        """How many of them an extent has."""
        return -(-(extent - self.longer) // self.length)


def with_shares(levels: Sequence[LoopLevel], parts: Mapping[int, Share]) -> list[LoopLevel]:
    """Loops of which threads share some as one around all; parts that are no single steps become loops inside."""
    steps = [position for position, part in parts.items() if part == Share(levels[position].step)]
    shared = [
        replace(levels[position], is_parallel=True)
        if position in steps
        else LoopLevel(levels[position].axis, part.length, longer=part.longer, is_last=False, is_parallel=True)
        for position, part in parts.items()
    ]
    own = [
        replace(level, inside=parts[position].length, longer=parts[position].longer) if position in parts else level
        for position, level in enumerate(levels)
        if position not in steps
    ]
    return [*shared, *own]
