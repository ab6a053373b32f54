"""Medians of paired, interleaved runs: what disturbs the machine disturbs all contestants alike."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from benchmarks.contestants import OURS, Contestant

LEAST_SAMPLES = 3
SETTLING_SECONDS = 0.005
"""Pause before a sample with several threads: idle OpenMP threads of the one before spin for some milliseconds."""

SLOW_SECONDS = 0.1

SEED = 1
"""Of the orders of the contestants: the same in every run."""


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    rounds: int
    sample_seconds: float
    """Calls are repeated until a sample is about this long."""

    opponent_seconds: float
    """An opponent that has used this much, and has three samples, sits out the remaining rounds."""


FULL = Effort(rounds=11, sample_seconds=0.003, opponent_seconds=1.0)
QUICK = Effort(rounds=3, sample_seconds=0.0003, opponent_seconds=0.1)


@dataclass(frozen=True)
class Samples:
    """Seconds of one call in every round; a contestant that sat out rounds has fewer."""

    seconds: tuple[float, ...]
    calls: int
    """Calls in one sample."""

    @property
    def median(self) -> float:
        """Median seconds of one call."""
        return median(self.seconds)

    @property
    def spread(self) -> float:
        """Distance of the quartiles over the median."""
        low, _, high = quantiles(self.seconds, n=4, method="inclusive")
        return (high - low) / self.median

    def ratio_to(self, ours: Samples) -> float:
        """Median over the common rounds of this contestant's seconds over ours: above 1, we are faster."""
        return median(theirs / own for theirs, own in zip(self.seconds, ours.seconds, strict=False))


def measure(
    contestants: Sequence[Contestant], effort: Effort, threads: int, before: Callable[[], object] | None = None
) -> dict[str, Samples]:
    """
    Samples of all contestants, in a new order every round.

    Were one always behind the same other, it would pay for the lines that this one leaves in the caches to be written.
    `before`: what is done before every sample, which is one call then.
    """
    calls = {one.name: 1 if before else _calls(one, effort) for one in contestants}
    seconds: dict[str, list[float]] = {one.name: [] for one in contestants}
    spent = dict.fromkeys(seconds, 0.0)
    orders = random.Random(SEED)
    for _ in range(effort.rounds):
        for one in orders.sample(contestants, len(contestants)):
            tired = spent[one.name] > effort.opponent_seconds and len(seconds[one.name]) >= LEAST_SAMPLES
            if tired and one.name != OURS:
                continue
            if before:
                before()
            sample = _sample(one, calls[one.name], threads)
            seconds[one.name].append(sample / calls[one.name])
            spent[one.name] += sample
    return {name: Samples(tuple(values), calls[name]) for name, values in seconds.items()}


def _calls(contestant: Contestant, effort: Effort) -> int:
    once = contestant.seconds(1)
    if once < SLOW_SECONDS:
        once = contestant.seconds(1)  # the first call may have warmed up code and data
    return min(100_000, max(1, math.ceil(effort.sample_seconds / max(once, 1e-8))))


def _sample(contestant: Contestant, calls: int, threads: int) -> float:
    if threads > 1:
        time.sleep(SETTLING_SECONDS)
    if calls > 1:
        contestant.seconds(1)  # brings its own data and code into the cache
    return contestant.seconds(calls)
