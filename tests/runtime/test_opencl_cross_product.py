"""Any layout to any other on the device that works here, bit for bit as the numpy interpreter says."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import pytest
from layout_families import FAMILIES
from opencl_support import compiled, image_reorders, working_device
from reorder_batch import Reorder, faults

STEP = 1 if os.environ.get("LAYOUT_IR_TESTS") == "all" else 59
"""One in so many pairs; it shares no factor with the numbers of layouts, so that all of them take part."""

IMAGE_STEP = 1 if STEP == 1 else 7
BATCH = 40


def batches() -> Iterator[tuple[str, Sequence[Reorder], bool]]:
    """Name, reorders, and whether image layouts are images."""
    for family in FAMILIES:
        chosen = family.reorders[::STEP]
        for start in range(0, len(chosen), BATCH):
            yield family.name, chosen[start : start + BATCH], False
    images = list(image_reorders())[::IMAGE_STEP]
    for start in range(0, len(images), BATCH):
        yield "images", images[start : start + BATCH], True


CASES = list(batches())


@pytest.mark.parametrize("name, reorders, images", CASES, ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)])
def test_device(name: str, reorders: Sequence[Reorder], images: bool) -> None:
    working_device()
    found = faults(reorders, compiled(reorders, images=images))
    assert not found, "\n".join(found)
