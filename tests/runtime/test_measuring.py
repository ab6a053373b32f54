"""Measuring in turns, by a clock that only the measured calls move."""

from __future__ import annotations

import itertools

import pytest

from layout_ir.runtime import measuring
from layout_ir.runtime.measuring import seconds_in_turns


class Machine:
    """Calls that take a known time."""

    def __init__(self) -> None:
        self.time = 0.0
        self.ran: list[str] = []

    def clock(self) -> float:
        return self.time

    def call(self, name: str, *seconds: float):
        """A call that takes so long, then so long, ..., and then the last again and again."""
        durations = itertools.chain(seconds, itertools.repeat(seconds[-1]))

        def run() -> None:
            self.ran.append(name)
            self.time += next(durations)

        return run

    def measured(self, *calls: measuring.Call) -> list[float]:
        return seconds_in_turns(calls, self.clock)


def test_medians() -> None:
    machine = Machine()
    slow_at_first = machine.call("b", 9, 0.01, 9, 0.01, 0.01, 9, 0.01)
    seconds = machine.measured(machine.call("a", 0.012), slow_at_first, machine.call("c", 0.009))
    assert seconds == pytest.approx([0.012, 0.01, 0.009])


def test_short_calls_are_repeated_and_warmed_up() -> None:
    machine = Machine()
    assert machine.measured(machine.call("a", 1e-5)) == pytest.approx([1e-5])
    assert len(machine.ran) == 2 + measuring.MOST_ROUNDS * (1 + measuring.SAMPLE_SECONDS / 1e-5)


def test_the_first_place_goes_round() -> None:
    machine = Machine()
    machine.measured(*(machine.call(name, 0.01) for name in "abc"))
    rounds = ["".join(machine.ran[i : i + 3]) for i in range(6, len(machine.ran), 3)]
    assert rounds[:4] == ["abc", "bca", "cab", "abc"]
    assert len(rounds) == measuring.MOST_ROUNDS


def test_what_is_far_behind_sits_out() -> None:
    machine = Machine()
    fast, slow = machine.measured(machine.call("a", 0.01), machine.call("b", 0.02))
    assert (fast, slow) == pytest.approx((0.01, 0.02))
    assert machine.ran.count("b") == 4  # to warm up, to see how long it takes, and two rounds
    assert machine.ran.count("a") == 2 + measuring.MOST_ROUNDS


def test_long_calls_get_few_rounds() -> None:
    machine = Machine()
    machine.measured(machine.call("a", 5.0), machine.call("b", 6.0))
    assert len(machine.ran) == 4 + 2 * measuring.LEAST_ROUNDS
