"""What this processor is good at, as far as kernels are made differently for it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from layout_ir.errors import LayoutError
from layout_ir.runtime import compiler

PANELS_VARIABLE = "LAYOUT_IR_PANELS"
"""Environment variable that says whether large copies put lines together before they write them: 0 or 1."""


@dataclass(frozen=True)
class Processor:
    """The properties of a processor that the lowering takes into account."""

    vector_bytes: int
    """Width of its vector registers; 0 for scalar loops."""

    panels: bool
    """
    Whether lines that are written in parts cost it so much that putting them together first pays.

    Measured: on Intel's servers since Ice Lake it makes large transpositions two to four times as fast, on AMD's Zen 5
    no faster, as that merges such writes in its caches well.
    """


def panels_are_forced() -> bool:
    """Whether the environment decides about panels."""
    return PANELS_VARIABLE in os.environ


def this_processor() -> Processor:
    """The processor that the process runs on; raises `LayoutError` where the environment asks for what there is not."""
    forced = os.environ.get(PANELS_VARIABLE)
    if forced not in (None, "0", "1"):
        raise LayoutError(f"{PANELS_VARIABLE}: expected 0 or 1, got '{forced}'")
    panels = "GenuineIntel" in compiler.processor() if forced is None else forced == "1"
    return Processor(compiler.vector_bytes(), panels)
