"""What a search for schedules found, and the file of the cache that keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl.utils.arg_spec import parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError, PassFailedException

from layout_ir._version import __version__
from layout_ir.lowering.pipeline import LowerPass
from layout_ir.lowering.target import Target
from layout_ir.runtime.cache import cache_folder, keep_text, kernel_key

FORMAT = 1
"""Changes when a file of this form would be misread, or the same options come to mean another schedule."""


@dataclass(frozen=True)
class Trial:
    """One schedule that was measured."""

    target: Target
    seconds: float
    """Median of a call."""

    speed: float
    """The cost model's seconds, measured in turns with these, over these."""

    @property
    def pipeline(self) -> str:
        """The pass that makes loops with this schedule, as `layout-opt -p` takes it."""
        return pipeline_of(self.target)


@dataclass(frozen=True)
class Record:
    """The schedule that won, and all that were measured, the cost model's first."""

    winner: Target
    trials: tuple[Trial, ...]

    @property
    def is_model(self) -> bool:
        """Whether nothing was clearly faster than what the cost model chose."""
        return self.winner == self.trials[0].target

    @property
    def gain(self) -> float:
        """How many times as fast as the cost model's the winner is."""
        return next(trial.speed for trial in self.trials if trial.target == self.winner)


def pipeline_of(target: Target) -> str:
    """A target as the text of a pass with its options."""
    return str(LowerPass.of(target).spec())


def record_file(source: str, name: str, threads: bool, sizes: Mapping[str, int]) -> Path:
    """
    Where the record of a function is kept.

    `source`: the C text that the cost model's schedule leads to. It stands for the function and for all that the model
    knows; with it go compiler and processor, as for a kernel, and the sizes that the function was measured with.
    """
    measured_with = [f"{size}={sizes[size]}" for size in sorted(sizes)]
    key = kernel_key(source, threads, "schedule", str(FORMAT), __version__, name, *measured_with)
    return cache_folder() / f"{key}.json"


def remember(file: Path, record: Record) -> None:
    """Keep a record; raises `LayoutError` where that fails."""
    trials = [[trial.pipeline, trial.seconds, trial.speed] for trial in record.trials]
    content = {"format": FORMAT, "winner": pipeline_of(record.winner), "trials": trials}
    keep_text(file, json.dumps(content, indent=1) + "\n")


def recall(file: Path, model: Target) -> Record | None:
    """The record in a file; None where there is none that is whole and begins with the cost model's schedule."""
    try:
        content: Any = json.loads(file.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            return None
        trials = tuple(
            Trial(_target(pipeline), _positive(seconds), _positive(speed))
            for pipeline, seconds, speed in content["trials"]
        )
        record = Record(_target(content["winner"]), trials)
    except (OSError, ValueError, TypeError, LookupError, ArgSpecParseError, PassFailedException):
        return None
    is_whole = bool(trials) and trials[0].target == model and record.winner in [trial.target for trial in trials]
    return record if is_whole else None


def _target(pipeline: str) -> Target:
    (spec,) = parse_pipeline(pipeline)
    if spec.name != LowerPass.name:
        raise ValueError(f"expected {LowerPass.name}, got {spec.name}")
    return LowerPass.from_spec(spec).target


def _positive(number: float) -> float:
    if not number > 0:
        raise ValueError(f"expected a positive number, got {number}")
    return float(number)
