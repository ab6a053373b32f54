"""The tables: one line a case, then geometric means and worst cases against every opponent, and the goals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

from benchmarks.contestants import MEMCPY, NUMPY, ONEDNN, OPPONENTS, OURS, PYTORCH
from benchmarks.runner import Result

_CACHES = {
    "evicted": "tensors out of cache are dropped from all caches before every call",
    "kept": "tensors out of cache stay in the caches as far as these hold them",
}

QUIET_LOAD = 0.5
"""A thread that waits for a core holds up all others of its team: above this load average, the report warns."""


@dataclass(frozen=True)
class Goal:
    """What must hold over a group of results."""

    title: str
    opponent: str
    belongs: Callable[[Result], bool]
    mean: float | None
    """Least geometric mean of the ratios; None where the group is only reported."""

    worst: float | None
    """Least ratio of any case."""


@dataclass(frozen=True)
class Summary:
    """How a group of results did."""

    goal: Goal
    count: int
    mean: float
    worst: float
    worst_case: str

    @property
    def is_met(self) -> bool:
        """Whether mean and worst case reach what was promised."""
        return self.mean >= (self.goal.mean or 0) and self.worst >= (self.goal.worst or 0)


def out_of_cache(result: Result) -> bool:
    """Whether the tensor is not in the caches before a call."""
    return result.run.size == "out"


def at_the_limit(result: Result) -> bool:
    """Whether the tensor is between both: larger than near caches, and not dropped from far ones."""
    return result.run.size == "16m"


def in_cache(result: Result) -> bool:
    """Whether the tensor fits into the caches."""
    return not out_of_cache(result) and not at_the_limit(result)


def is_generic(result: Result) -> bool:
    """Whether oneDNN fell back to its generic implementation."""
    return result.implementation.startswith(("simple", "ref"))


def _and(left: Callable[[Result], bool], right: Callable[[Result], bool]) -> Callable[[Result], bool]:
    return lambda result: left(result) and right(result)


def _is_jit(result: Result) -> bool:
    return not is_generic(result)


GOALS = (
    Goal("oneDNN, JIT, out of cache", ONEDNN, _and(out_of_cache, _is_jit), 2.0, 1.0),
    Goal("oneDNN, simple:any, out of cache", ONEDNN, _and(out_of_cache, is_generic), None, 1.0),
    Goal("oneDNN, all, in cache", ONEDNN, in_cache, 1.3, 1.0),
    Goal("oneDNN, JIT, in cache", ONEDNN, _and(in_cache, _is_jit), None, 1.0),
    Goal("oneDNN, simple:any, in cache", ONEDNN, _and(in_cache, is_generic), None, 1.0),
    Goal("oneDNN, all, between", ONEDNN, at_the_limit, None, 1.0),
    Goal("memcpy, out of cache", MEMCPY, out_of_cache, 0.80, 0.55),
    Goal("memcpy, between", MEMCPY, at_the_limit, None, None),
    Goal("memcpy, in cache", MEMCPY, in_cache, None, None),
    Goal("PyTorch, out of cache", PYTORCH, out_of_cache, 2.0, 1.0),
    Goal("PyTorch, between", PYTORCH, at_the_limit, None, 1.0),
    Goal("PyTorch, in cache", PYTORCH, in_cache, 2.0, 1.0),
    Goal("numpy, out of cache", NUMPY, out_of_cache, 2.0, 1.0),
    Goal("numpy, between", NUMPY, at_the_limit, None, 1.0),
    Goal("numpy, in cache", NUMPY, in_cache, 2.0, 1.0),
)
"""Ratios are our speed over the opponent's."""


def summaries(results: Sequence[Result]) -> list[Summary]:
    """One summary for every goal that has a case."""
    found: list[Summary] = []
    for goal in GOALS:
        pairs = [(result.ratio(goal.opponent), result.run.name) for result in results if goal.belongs(result)]
        ratios = [(ratio, name) for ratio, name in pairs if ratio is not None]
        if ratios:
            mean = exp(sum(log(ratio) for ratio, _ in ratios) / len(ratios))
            worst, name = min(ratios)
            found.append(Summary(goal, len(ratios), mean, worst, name))
    return found


HEADER = f"{'case':58} {'type':4} {'size':4} {'GB/s':>7} {'+-':>4} " + " ".join(f"{o:>8}" for o in OPPONENTS)


def line(result: Result) -> str:
    """A case's line: our GB/s, its spread, our speed over every opponent's, oneDNN's implementation, pads."""
    run = result.run
    start = f"{run.case.name:58} {run.dtype:4} {run.size:4}"
    if result.error:
        return f"{start} FAILED: {result.error}"
    ratios = " ".join(_cell(result.ratio(opponent)) for opponent in OPPONENTS)
    pads = 100 * result.bytes_of_pads / result.bytes_written
    notes = [result.implementation, f"{pads:.0f} % pads" if result.bytes_of_pads else ""]
    notes += [f"{name} moves otherwise" for name in result.disagreeing]
    rest = "; ".join(note for note in notes if note)
    return f"{start} {result.rate(OURS):7.2f} {100 * result.samples[OURS].spread:3.0f}% {ratios}  {rest}".rstrip()


def _cell(ratio: float | None) -> str:
    if ratio is None:
        return f"{'-':>8}"
    return f"{ratio:8.3f}" if ratio < 1 else f"{ratio:8.2f}"


def summary_table(results: Sequence[Result]) -> str:
    """Geometric mean and worst case of every group, with what was promised."""
    lines = [f"{'our speed over':34} {'cases':>5} {'mean':>7} {'goal':>5} {'worst':>7} {'goal':>5}       worst case"]
    for one in summaries(results):
        goal = one.goal
        mark = "" if goal.mean is None and goal.worst is None else ("ok" if one.is_met else "MISSED")
        lines.append(
            f"{goal.title:34} {one.count:5} {one.mean:7.2f} {_goal(goal.mean)} {one.worst:7.2f} {_goal(goal.worst)} "
            f"{mark:6} {one.worst_case}"
        )
    failed = sum(1 for result in results if result.error)
    lines += [f"{failed} cases FAILED"] if failed else []
    return "\n".join(lines)


def _goal(value: float | None) -> str:
    return f"{'':5}" if value is None else f"{value:5.2f}"


def heading(machine: Mapping[str, Any]) -> str:
    """The machine in a few lines."""
    busy = machine["load"] > QUIET_LOAD
    warning = "; the machine is busy: times with several threads mean little" if busy else ""
    start = f"aligned to {machine['alignment']} bytes"
    if machine["offset"]:
        start = f"{machine['offset']} bytes behind multiples of {machine['alignment']}"
    rates = ", ".join(f"{rate} GB/s with {count} thread(s)" for count, rate in machine["memcpy"].items())
    return (
        f"{machine['processor']}; {machine['cores']} cores; {machine['caches']}; "
        f"load {machine['load']}{warning}\n"
        f"{machine['system']}; {machine['compiler']}\n"
        f"oneDNN {machine['oneDNN']}; PyTorch {machine['PyTorch']}; numpy {machine['numpy']}\n"
        f"memcpy {rates}, bytes read and written\n"
        f"{_CACHES[machine['out_of_cache']]}\n"
        f"buffers {start}, {machine['huge_bytes'] >> 20} MiB on huge pages "
        f"(system setting: {machine['huge_pages']})"
    )


def as_json(machine: Mapping[str, Any], groups: Mapping[int, Sequence[Result]]) -> dict[str, Any]:
    """Everything that was measured; seconds are of one call, ratios our speed over the opponent's."""
    return {
        "machine": machine,
        "summaries": [
            {
                "threads": threads,
                "group": one.goal.title,
                "cases": one.count,
                "geometric_mean": one.mean,
                "worst": one.worst,
                "worst_case": one.worst_case,
                "goal": {"geometric_mean": one.goal.mean, "worst": one.goal.worst},
                "met": one.is_met,
            }
            for threads, results in groups.items()
            for one in summaries(results)
        ],
        "results": [_result_json(result) for results in groups.values() for result in results],
    }


def _result_json(result: Result) -> dict[str, Any]:
    return {
        "name": result.run.name,
        "case": result.run.case.name,
        "dtype": result.run.dtype,
        "size": result.run.size,
        "shape": result.run.shape,
        "threads": result.threads,
        "bytes_read": result.bytes_read,
        "bytes_written": result.bytes_written,
        "bytes_of_pads": result.bytes_of_pads,
        "onednn_implementation": result.implementation,
        "checked_against": result.checked,
        "disagreeing": result.disagreeing,
        "error": result.error,
        "contestants": {
            name: {
                "seconds": samples.median,
                "gigabytes_per_second": result.rate(name) if name != MEMCPY else _memcpy_rate(result),
                "spread": samples.spread,
                "samples": samples.seconds,
                "calls_per_sample": samples.calls,
                "ratio": 1.0 if name == OURS else result.ratio(name),
            }
            for name, samples in result.samples.items()
        },
    }


def _memcpy_rate(result: Result) -> float:
    return 2 * min(result.bytes_read, result.bytes_written) / result.samples[MEMCPY].median / 1e9
