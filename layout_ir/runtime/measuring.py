"""Which of several calls is the fastest: medians of samples that are taken in turns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter

Call = Callable[[], object]
"""What is measured."""

Measure = Callable[[Sequence[Call]], list[float]]
"""Seconds of every call."""

SAMPLE_SECONDS = 0.002
"""A call is repeated until a sample takes about so long."""

MOST_ROUNDS = 11
LEAST_ROUNDS = 3
ENOUGH_SECONDS = 3.0
"""After so long no further round begins."""

TOO_SLOW = 1.5
"""A call whose best sample takes so many times as long as the fastest has lost after two rounds."""


def seconds_in_turns(calls: Sequence[Call], clock: Callable[[], float] = perf_counter) -> list[float]:
    """
    Median seconds of every call.

    What disturbs the machine for a while disturbs all of them alike, as they are sampled one after the other again and
    again; the first place goes round.
    """
    repeats = [_repeats(call, clock) for call in calls]
    samples: list[list[float]] = [[] for _ in calls]
    running = list(range(len(calls)))
    end = clock() + ENOUGH_SECONDS
    for number in range(MOST_ROUNDS):
        if number >= LEAST_ROUNDS and clock() > end:
            break
        first = number % len(running)
        for i in (*running[first:], *running[:first]):
            samples[i].append(_sample(calls[i], repeats[i], clock))
        if number > 0:
            fastest = min(map(min, samples))
            running = [i for i in running if min(samples[i]) <= TOO_SLOW * fastest]
    return [median(sample) for sample in samples]


def _repeats(call: Call, clock: Callable[[], float]) -> int:
    call()  # brings code and data where they will be
    once = _sample(call, 1, clock)
    return max(1, math.ceil(SAMPLE_SECONDS / max(once, 1e-7)))


def _sample(call: Call, repeats: int, clock: Callable[[], float]) -> float:
    if repeats > 1:
        call()  # so that what the others left in the caches does not count
    start = clock()
    for _ in range(repeats):
        call()
    return (clock() - start) / repeats
