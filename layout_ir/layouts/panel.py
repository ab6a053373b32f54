"""
Panels: parts of a copy that are put together in a small buffer, and from there written in whole cache lines.

A line that is written in parts is first read and later written once more. Where tiles end inside of lines, a panel of
tiles is moved to a *scratch* buffer that stays in the cache. Every contiguous *run* of the panel's place in the
destination then goes there line by line, and only its two ends are parts of lines.

Where the next panel continues the runs, even the ends become whole lines: what is left of a line is *carried* to the
place in front of the next panel's run. So runs may be short, and the rows of the source long.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir.affine import AffineConstantExpr

from layout_ir.layouts.panel_group import Group, start_of
from layout_ir.layouts.plan import Axis, Box
from layout_ir.layouts.symbols import is_multiple, is_symbolic
from layout_ir.layouts.thread_shares import EVEN, evenness
from layout_ir.layouts.tile import Tile

SHARED_TRIPS = 8
"""Trips of a loop from which on threads share it rather than another."""

WORTH_ONE_LOOP = 1.1
"""How much more evenly threads share one loop over all panels, to be worth the order of panels that is lost."""


@dataclass(frozen=True)
class Panel:
    """How a group of boxes is cut into panels."""

    group: Group

    steps: tuple[int, ...]
    """Steps of every shared axis in a panel; the last panel of an axis may have fewer."""

    pitches: tuple[int, ...]
    """Elements of scratch from one step to the next."""

    run: tuple[int, ...]
    """The shared axes that continue the runs, innermost first: all whole but the last."""

    size: int
    """Elements of the scratch buffer."""

    lead: int = 0
    """Elements in front of every run in scratch: what the panel before left of a line, which this one completes."""

    tiles: tuple[Tile | None, ...] = ()
    """How each box is moved to scratch; None for scalar loops."""

    region: int | None = None
    """
    The axis of which the next step is asked for as a whole, if only a kernel that runs knows how large one is.

    Of a step that is too large for a cache, panels that take parts of it ask for the next part.
    """

    kept_step: int | None = None
    """
    The axis of which a second level cache keeps one step of the source while panels take pieces of it. A kernel that
    runs looks whether one is small enough; None where that is known, and for other panels.
    """

    @property
    def carried(self) -> int | None:
        """The shared axis along which parts of lines are carried from one panel to the next; None where none are."""
        return self.run[-1] if self.lead else None

    @property
    def run_length(self) -> int:
        """Elements of a run in a whole panel."""
        return math.prod((self.steps[i] for i in self.run), start=self.group.stretch)

    def written_length(self, threads: int) -> int:
        """Elements that panels write without an end: those of a run, or of all runs between which lines are carried."""
        length = self.run_length
        for i in self.carried_along(threads):
            length = length // self.steps[i] * self.group.axes[i].extent
        return length

    def carried_along(self, threads: int) -> tuple[int, ...]:
        """
        The axes of the innermost loops along which parts of lines are carried, innermost first.

        Where all steps of the carried axis end, those of the next step of another axis may begin. But threads begin
        anywhere along the axes that they share.
        """
        if self.carried is None:
            return ()
        along = [self.carried]
        axes, outwards = self.group.axes, self.group.run_axes
        outwards = outwards[outwards.index(self.carried) + 1 :]
        own = self.walk(threads)[len(self.divided(threads)) : -1]
        for i, outer in zip(reversed(own), outwards, strict=False):
            if i != outer or self.steps[i] != 1 or not axes[i].is_full:
                break
            along.append(i)
        return tuple(along)

    @property
    def least(self) -> tuple[int, ...]:
        """Steps of every shared axis that the tiles need; an unknown extent has to be as long."""
        least = [1] * self.group.shared
        for position, tile in enumerate(self.tiles):
            for (outer, *inner), steps in zip(self.joined(position), tile.extents if tile else (), strict=False):
                if outer < self.group.shared:
                    least[outer] = max(least[outer], -(-steps // math.prod(self.steps[i] for i in inner)))
        return tuple(least)

    def is_even(self, i: int) -> bool:
        """Whether all panels have the same steps of a shared axis."""
        return is_multiple(self.group.axes[i].extent, self.steps[i])

    @property
    def rows(self) -> tuple[int, ...]:
        """The shared axes that lead from one run of a panel to another."""
        return tuple(i for i, steps in enumerate(self.steps) if steps > 1 and i not in self.run)

    @property
    def walked(self) -> tuple[int, ...]:
        """
        The axes of the loops over panels, outermost first.

        The next panel completes the lines that this one leaves. Where there are none, it continues the rows of the
        source: their pages are open, and what is written makes no reads wait.
        """
        axes = self.group.axes
        cut = [i for i, axis in enumerate(axes) if axis.extent > self.steps[i]]
        return tuple(sorted(cut, key=lambda i: (i == self.carried, -axes[i].source_stride)))

    def walk(self, threads: int) -> tuple[int, ...]:
        """The same; where threads are to share the panels, with the axes outermost that they share."""
        divided = self.divided(threads)
        return (*divided, *(i for i in self.walked if i not in divided))

    def divided(self, threads: int) -> tuple[int, ...]:
        """The axes of the panels that so many threads share: one that they share evenly, or else all in one loop."""
        apart = tuple(i for i in self.walked if i != self.carried)
        if not threads or len(apart) < 2:
            return apart if threads else ()
        if any(is_symbolic(self.group.axes[i].extent) for i in apart):
            return apart
        trips = {i: self._trips((i,)) for i in apart}
        even = (i for i in apart if trips[i] >= SHARED_TRIPS and evenness(trips[i], threads) >= EVEN)
        alone = next(even, max(apart, key=trips.__getitem__))
        together = evenness(self._trips(apart), threads)
        return apart if together > WORTH_ONE_LOOP * evenness(trips[alone], threads) else (alone,)

    def is_cut(self, threads: int) -> bool:
        """Whether lines are carried between all panels, so that each of so many threads moves a part in order."""
        return threads > 0 and self.carried is not None and self.walked == (self.carried,)

    def evenness(self, threads: int) -> float:
        """How evenly so many threads share the panels, from 0 to 1; 1 where that is not known."""
        divided = self.divided(threads)
        if not threads or any(is_symbolic(self.group.axes[i].extent) for i in divided):
            return 1
        return evenness(self._trips(divided), threads)

    def _trips(self, axes: Sequence[int]) -> int:
        return math.prod(-(-self.group.axes[i].extent // self.steps[i]) for i in axes)

    def scratch_box(self, position: int) -> Box:
        """One box as a copy from the source to the scratch of a whole panel, the axes joined as `joined` tells."""
        box, inside = self.group.boxes[position], self.inside(position)
        axes = [
            replace(
                inside[members[-1]],
                name="_".join(inside[i].name for i in members),
                extent=math.prod(inside[i].extent for i in members),
                valid=math.prod(inside[i].valid for i in members),
            )
            for members in self.joined(position)
        ]
        offset = AffineConstantExpr(self.lead + start_of(box) - self.group.offset)
        return Box(tuple(axes), box.source_offset, offset)

    def joined(self, position: int) -> tuple[tuple[int, ...], ...]:
        """Axes of a box that become one in scratch, outermost first: they follow each other there and in the source."""
        axes = self.inside(position)
        chains: list[list[int]] = []
        for i in sorted(range(len(axes)), key=lambda i: -axes[i].source_stride):
            chain = next((chain for chain in chains if self._follows(axes, chain[-1], i)), None)
            if chain is None:
                chains.append([i])
            else:
                chain.append(i)
        return tuple(tuple(chain) for chain in sorted(chains, key=min))

    def _follows(self, axes: Sequence[Axis], outer: int, inner: int) -> bool:
        """Whether a step of one axis in scratch begins where another one ends, on both sides."""
        is_whole = inner >= self.group.shared or self.steps[inner] == self.group.axes[inner].extent
        whole = axes[inner].extent
        return (
            is_whole
            and axes[outer].is_full
            and axes[inner].is_full
            and axes[outer].source_stride == whole * axes[inner].source_stride
            and axes[outer].destination_stride == whole * axes[inner].destination_stride
        )

    def inside(self, position: int) -> tuple[Axis, ...]:
        """The axes of a box in the scratch of a whole panel."""
        box = self.group.boxes[position]
        shared = [
            replace(axis, extent=steps, valid=min(axis.valid, steps), destination_stride=pitch)
            for axis, steps, pitch in zip(box.axes, self.steps, self.pitches, strict=False)
        ]
        return (*shared, *box.axes[self.group.shared :])
