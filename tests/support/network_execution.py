"""Shuffle networks executed in numpy, with an eye on every access."""

from __future__ import annotations

import numpy as np

from layout_ir.layouts.shuffle_network import Load, Network, Shuffle, Splat


def execute_network(
    network: Network, source: np.ndarray, readable: set[int], pad: int, lanes: int, origin: int = 0
) -> dict[int, int]:
    """
    What a network writes: destination offset to element. `origin`: where in the source the tile starts.

    Fails where it reads beyond `readable`, uses a vector that is no power of two of at most `lanes`, a value that is
    made later, a lane that does not exist, or writes two things to one place.
    """
    values: list[np.ndarray] = []
    for value in network.values:
        match value:
            case Load(offset=offset, lanes=count):
                assert set(range(offset, offset + count)) <= readable, f"{value} reads what is not the tile's"
                values.append(source[origin + offset : origin + offset + count])
            case Splat(lanes=count):
                values.append(np.full(count, pad))
            case Shuffle(left=left, right=right, mask=mask):
                assert left < len(values) > right, f"{value} comes before what it reads"
                assert len(values[left]) == len(values[right]), f"{value} reads vectors of two widths"
                both = np.concatenate([values[left], values[right]])
                assert 0 <= min(mask) <= max(mask) < len(both), f"{value} has no such lane"
                values.append(both[list(mask)])
        width = len(values[-1])
        assert width <= lanes, f"{value} has more than {lanes} lanes"
        assert width & (width - 1) == 0, f"{value} has {width} lanes, no power of two"
    written: dict[int, int] = {}
    for store in network.stores:
        assert store.lanes == len(values[store.value]), f"{store} writes a part of a vector"
        for place, element in enumerate(values[store.value][: store.lanes].tolist(), start=store.offset):
            assert written.setdefault(place, element) == element, f"{store} disagrees with an earlier one"
    return written
