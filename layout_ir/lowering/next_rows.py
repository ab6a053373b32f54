"""The rows of the source that tiles ask for ahead of time where rows end soon: those that the next tiles take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.layouts.panel_group import contiguous, is_regular
from layout_ir.layouts.plan import Box
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.lowering.schedule import Schedule

MOST_BYTES = 128 << 10
"""What is asked for ahead at most: of all that is taken meanwhile, it has to stay in a second level cache."""


@dataclass(frozen=True)
class NextRows:
    """The rows that the tiles of the next step of a loop take."""

    following: tuple[int, ...]
    """The axes of the loops around these tiles, outermost first."""

    along: tuple[int, ...]
    """The axes along a row, innermost first."""

    shared: int
    """The axis across the rows of which each tile asks for a part of its own steps."""

    among: int
    """The axis along which tiles that have these steps follow each other."""

    others: tuple[int, ...]
    """The other axes that lead from row to row."""

    are_alone: bool
    """Whether there are gaps behind the rows."""

    def behind(self, count: int) -> NextRows:
        """The same rows of a box that has so many axes in front."""
        following, along, others = (
            tuple(axis + count for axis in axes) for axes in (self.following, self.along, self.others)
        )
        return NextRows(following, along, self.shared + count, self.among + count, others, self.are_alone)


def next_rows(
    box: Box, walked: Sequence[int], schedule: Schedule, along_source: int, along_destination: int
) -> NextRows | None:
    """
    The rows that tiles ask for ahead; None where they are no rows of their own, and where they are too many.

    `walked`: the axes of all loops, outermost first.
    """
    axes = box.axes
    following = tuple(dict.fromkeys(i for i in walked if i not in (along_source, along_destination)))
    inside = [i for i, axis in enumerate(axes) if i not in following and axis.valid > 1]
    if not following or not is_regular(box) or any(is_symbolic(axes[i].extent) for i in inside):
        return None
    chain = contiguous(axes, [axis.source_stride for axis in axes])
    along = list(takewhile(inside.__contains__, chain))
    across = [i for i in inside if i not in along]
    if along_source not in along or not across or (along_destination in along and along_destination != along_source):
        return None
    if math.prod(axes[i].valid for i in inside) * (LINE_BYTES // schedule.lanes) > MOST_BYTES:
        return None
    shared = along_destination if along_destination in across else max(across, key=lambda i: axes[i].valid)
    return NextRows(
        following, tuple(along), shared, along_source, tuple(i for i in across if i != shared), along == chain
    )
