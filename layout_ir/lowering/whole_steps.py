"""Parts of a copy with unknown extents that fill whole steps of the outermost axis: every image, whatever its size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_group import Group
from layout_ir.layouts.panel_of_step import MOST_BYTES, group_of_steps
from layout_ir.lowering.group_panels import step_panel
from layout_ir.lowering.panel_guards import holds_shorter
from layout_ir.lowering.parts import Part
from layout_ir.lowering.schedule import Schedule, of_shorter_tiles


@dataclass(frozen=True)
class WholeSteps:
    """
    Parts that together fill steps, of a size that only a kernel which runs knows.

    Where steps are small, one of them is a panel. Whole blocks of channels and what is left of them are two parts, for
    which each image would be gone through twice.
    """

    group: Group
    """All boxes of the parts."""

    parts: tuple[Part, ...]
    """How boxes are moved where steps are not small."""

    together: Panel | None = None
    """Panels of one step each of several parts; None for one part, which has its own."""

    short: Panel | None = None
    """The same, filled by shorter tiles: for steps into which no tiles of others fit."""

    @property
    def usual(self) -> Panel | None:
        """The panels that the short ones do without."""
        return self.together or self.parts[0].panel


def whole_steps(parts: Sequence[Part], source_size: int, schedule: Schedule) -> Iterator[WholeSteps]:
    """All parts, those together that fill steps."""
    left = list(parts)
    while left:
        found = _filling(left) if left[0].panel is not None else None
        if found is None:
            taken = [0]
            yield _alone(left[0], source_size, schedule)
        else:
            group, taken = found
            yield _together(group, [left[i] for i in taken], source_size, schedule)
        left = [part for i, part in enumerate(left) if i not in taken]


def _filling(parts: Sequence[Part]) -> tuple[Group, list[int]] | None:
    """The parts that fill steps together with the first one, as a group, and their positions; None if none do."""
    if any(len(part.group.boxes) > 1 or part.group.main.is_fill for part in parts):
        return None
    return group_of_steps([part.group.main for part in parts])


def _alone(part: Part, source_size: int, schedule: Schedule) -> WholeSteps:
    # what is mostly pads takes as long by tiles that write parts of lines
    usual = None if part.group.main.is_padded else part.panel
    return WholeSteps(part.group, (part,), short=_short_panel(part.group, usual, source_size, schedule))


def _together(group: Group, parts: Sequence[Part], source_size: int, schedule: Schedule) -> WholeSteps:
    together = step_panel(group, source_size, schedule, schedule.processor.together_bytes)
    return WholeSteps(group, tuple(parts), together, _short_panel(group, together, source_size, schedule))


def _short_panel(group: Group, usual: Panel | None, source_size: int, schedule: Schedule) -> Panel | None:
    """The panel whose tiles are the next shorter ones: of parts of steps where these are larger."""
    if usual is None:
        return None
    for shorter in of_shorter_tiles(schedule):
        of_part = step_panel(group, source_size, schedule, MOST_BYTES, part=schedule.lanes, filling=shorter)
        panel = of_part or step_panel(group, source_size, schedule, MOST_BYTES, filling=shorter)
        if panel is None or holds_shorter(panel, usual):
            return panel
    return None
