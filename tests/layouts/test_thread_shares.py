"""How evenly threads share a loop."""

from __future__ import annotations

import pytest

from layout_ir.layouts.thread_shares import evenness


@pytest.mark.parametrize(
    "steps, threads, part, share",
    [
        (16, 16, 1, 1),
        (9, 16, 1, 9 / 16),
        (34, 16, 1, 34 / 48),
        (33, 2, 1, 33 / 34),
        (335, 16, 10, 335 / 480),  # three parts of ten for some
        (335, 16, 7, 335 / 336),
        (5, 4, 8, 5 / 20),  # one part, and it is shorter
        (100, 1, 7, 1),
    ],
)
def test_the_mean_thread_has_work_for_its_share_of_the_time(steps: int, threads: int, part: int, share: float) -> None:
    assert evenness(steps, threads, part) == pytest.approx(share)  # pyright: ignore[reportUnknownMemberType]


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_it_is_what_the_thread_with_most_parts_takes(threads: int) -> None:
    for steps in range(1, 70):
        for part in (1, 3, 8):
            parts = [min(part, steps - first) for first in range(0, steps, part)]
            each = -(-len(parts) // threads)
            most = max(sum(parts[first : first + each]) for first in range(0, len(parts), each))
            assert evenness(steps, threads, part) == pytest.approx(  # pyright: ignore[reportUnknownMemberType]
                steps / (threads * most)
            )
