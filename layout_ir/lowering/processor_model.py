"""What the lowering knows about families of processors beyond the width of their vectors, all of it measured."""

from __future__ import annotations

from dataclasses import dataclass

from layout_ir.layouts.panel_costs import DEFAULT_COSTS, PanelCosts

ICE_LAKE, ZEN_4 = "ice-lake", "zen-4"


@dataclass(frozen=True)
class ProcessorModel:
    """How large copies are made for one family of processors."""

    asks_second_level: bool = False
    """
    Whether lines of the source are asked for into a second level cache, and not into the first.

    A request for a first level cache takes a place there until the line has come from memory. Zen 4 has so few that
    loads wait for them, while its second level has many more, and looks ahead by itself as well: 1.2 times as fast in
    the mean of the benchmark, up to 2. On Ice Lake it is as fast or slightly slower.
    """

    reads_on: bool = False
    """
    Whether tiles of a large transposition go on along the source at once where that leads to lines of the destination
    nearby, and not in blocks along both directions.

    Measured for lines less than a page apart: on Zen 4 1.1 to 1.3 times as fast, further away 0.5 to 0.9 times.
    """

    panel_costs: PanelCosts = DEFAULT_COSTS
    """What the parts of a panel cost, by which one is chosen."""


MODELS = {
    ICE_LAKE: ProcessorModel(),
    ZEN_4: ProcessorModel(asks_second_level=True, reads_on=True),
}
"""The families by name."""
