"""
Any layout to any other, by three routes that share no code: numpy interpreter, compiled kernel, interpreted loops.

Scalar kernels are tried for every pair. Vector kernels cost more to make, so that a part of the pairs must do;
`LAYOUT_IR_TESTS=all` takes all of them at every width, which is a matter of minutes.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from layout_families import DTYPES, FAMILIES, Choice, Family, layout_of
from reorder_batch import GUARD, Reorder, faults, interpreted, kernels, lowered
from xdsl.dialects.scf import ParallelOp

from layout_ir.errors import LayoutError
from layout_ir.runtime.compiler_flags import THREADS_FLAG

ALL = os.environ.get("LAYOUT_IR_TESTS") == "all"
BATCH = 210
"""Reorders in one C file."""

VECTOR_STEPS = {16: 1, 32: 1, 64: 1} if ALL else {16: 8, 32: 16, 64: 16}
"""Width in bytes to how many pairs one is taken of, at random."""

LARGEST_INTERPRETED = 400
"""Elements of the largest reorder whose loops are interpreted."""

BY_NAME = {family.name: family for family in FAMILIES}


def batches(family: Family, step: int = 1) -> Iterator[Sequence[Reorder]]:
    """One in `step` reorders of a family, cut into batches."""
    chosen = family.reorders
    if step > 1:
        chosen = random.Random(f"{family.name} {step}").sample(chosen, -(-len(chosen) // step))
    for start in range(0, len(chosen), BATCH):
        yield chosen[start : start + BATCH]


def numbered(step: int) -> list[tuple[str, int]]:
    """Name of a family and number of a batch, largest families first so that two workers finish together."""
    counts = {family.name: -(-(len(family.choices) ** 2) // step) for family in FAMILIES}
    return [(name, number) for name, count in counts.items() for number in range(-(-count // BATCH))]


def check(reorders: Sequence[Reorder], folder: Path, vector_bytes: int) -> None:
    module = lowered(reorders, vector_bytes)
    found = faults(reorders, kernels(module, folder))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name, number", numbered(1))
def test_scalar_kernels(name: str, number: int, tmp_path: Path) -> None:
    check(list(batches(BY_NAME[name]))[number], tmp_path, 0)


@pytest.mark.parametrize(
    "vector_bytes, name, number", [(width, *batch) for width, step in VECTOR_STEPS.items() for batch in numbered(step)]
)
def test_vector_kernels(vector_bytes: int, name: str, number: int, tmp_path: Path) -> None:
    check(list(batches(BY_NAME[name], VECTOR_STEPS[vector_bytes]))[number], tmp_path, vector_bytes)


@pytest.mark.parametrize("vector_bytes", [0, 32])
def test_threads(vector_bytes: int, tmp_path: Path) -> None:
    reorders = [case for family in FAMILIES for case in family.reorders[:: 7 if ALL else 37]]
    module = lowered(reorders, vector_bytes, threads=True)
    assert sum(isinstance(op, ParallelOp) for op in module.walk()) > len(reorders) // 2
    found = faults(reorders, kernels(module, tmp_path, THREADS_FLAG))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("vector_bytes", [0, 16, 64])
def test_interpreted_loops(vector_bytes: int) -> None:
    small = [case for family in FAMILIES for case in family.reorders if is_small(case)]
    step = max(len(small) // (200 if ALL else 25), 1)
    chosen = small[vector_bytes % step :: step]
    assert len({case.shape for case in chosen}) > 5
    found = faults(chosen, interpreted(lowered(chosen, vector_bytes)))
    assert not found, "\n".join(found)


def is_small(case: Reorder) -> bool:
    maps = [layout.index_map(case.shape, case.dtype) for layout in (case.source, case.destination)]
    return 8 < max(index_map.storage_size for index_map in maps) <= LARGEST_INTERPRETED


@pytest.mark.parametrize("name", [family.name for family in FAMILIES if len(family.choices) > 20])
def test_each_layout_meets_every_shape_and_element_type(name: str) -> None:
    family = BY_NAME[name]
    count = len(family.choices)
    met: list[set[object]] = [set() for _ in range(2 * count)]
    for number, case in enumerate(family.reorders):
        for side in (number // count, count + number % count):
            met[side] |= {case.dtype, case.shape}
    for side, seen in enumerate(met):
        choice = family.choices[side % count]
        assert len(seen) >= len(possible(choice, family)) - 1, (choice, possible(choice, family) - seen)


def possible(choice: Choice, family: Family) -> set[object]:
    """The shapes and the element types that a layout takes."""
    result: set[object] = set()
    for shape, dtype in itertools.product(family.shapes, DTYPES):
        try:
            layout_of(choice, shape).index_map(shape, dtype)
        except LayoutError:
            continue
        result |= {shape, dtype}
    return result


FAULTS: dict[str, tuple[Callable[[np.ndarray, np.ndarray], object], str]] = {
    "nothing is written": (lambda source, destination: None, "16 of 16 cells are wrong, first at 0"),
    "one cell is wrong": (
        lambda source, destination: np.put(destination, 5, 0x1234),
        "1 of 16 cells are wrong, first at 5",
    ),
    "a pad is not written": (lambda source, destination: np.put(destination, 15, 0xA5A5), "first at 15: expected 0x0"),
    "a cell behind the end": (lambda source, destination: np.put(around(destination), -1, 1), "first at 95"),
    "a cell in front": (lambda source, destination: np.put(around(destination), 0, 1), f"first at {-GUARD}"),
    "the source is written": (lambda source, destination: np.put(source, 3, 1), "the source was changed"),
}


def around(destination: np.ndarray) -> np.ndarray:
    """The destination with the elements in front of it and behind it that have to keep their sentinels."""
    memory, width = destination.base, destination.itemsize
    assert isinstance(memory, np.ndarray)
    start = destination.ctypes.data - memory.ctypes.data - GUARD * width
    return memory[start : start + (destination.size + 2 * GUARD) * width].view(destination.dtype)


@pytest.mark.parametrize("name", FAULTS)
def test_the_check_catches(name: str) -> None:
    fault, message = FAULTS[name]
    plain, blocked = layout_of("(d0, d1) -> (d0, d1)", ()), layout_of("onednn:aB4b", ())
    case = Reorder(plain, blocked, (2, 5), "i16")

    def run(source: np.ndarray, destination: np.ndarray) -> None:
        if name != "nothing is written":
            (right,) = interpreted(lowered([case]))
            right(source, destination)
        fault(source, destination)

    (found,) = faults([case], [run])
    assert message in found
