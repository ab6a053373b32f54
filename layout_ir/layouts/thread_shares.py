"""How evenly threads share the steps of a loop."""

EVEN = 0.85
"""Share of its time for which the mean thread has work, from which on a loop is shared evenly enough."""


def evenness(steps: int, threads: int, part: int = 1, longer: int = 0) -> float:
    """
    The share of its time for which the mean thread has work, from 0 to 1.

    Each takes as many of the parts of a loop as any other or one less, and all of them follow each other. `part`: steps
    of each part but the last, which has the rest, or, with `longer`, so many more than the others.
    """
    parts = -(-(steps - longer) // part)
    most = min(-(-parts // threads) * part + longer, steps)
    return steps / (threads * most)
