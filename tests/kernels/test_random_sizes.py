"""
Random pairs of layouts, random dims of which are unknown: for random sizes the bits that the interpreter gives.

`LAYOUT_IR_TESTS=all` tries a hundred times as many.
"""

from __future__ import annotations

import os
import random
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from fenced_memory import FencedMemory
from random_pairs import random_reorder
from reorder_batch import Reorder
from sized_runs import FILL, check_run, noise
from varied_reorders import all_streamed, small_panels, steps_up_to
from xdsl.dialects.builtin import ModuleOp

from layout_ir.errors import LayoutError
from layout_ir.interpreter.module import interpret
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.processor_families import MODELS
from layout_ir.runtime.module import compile_functions, lower_to_c
from layout_ir.runtime.processor import PROCESSOR_VARIABLE
from layout_ir.runtime.sized_kernel import SizedKernel

BATCH = 8
STARTS = range(0, (400 if os.environ.get("LAYOUT_IR_TESTS") == "all" else 4) * BATCH, BATCH)

SIZES = (0, 1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 32, 33, 48, 64, 65, 97)
CALLS = 5
CELLS = 100_000
"""Elements of the largest storage."""


@dataclass(frozen=True)
class Case:
    """A reorder some dims of which are unknown."""

    seed: int
    reorder: Reorder
    module: ModuleOp
    unknown: tuple[bool, ...]

    def sizes(self, chance: random.Random) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """A shape, and what is unknown of it."""
        while True:
            shape = tuple(
                chance.choice(SIZES) if unknown else size
                for size, unknown in zip(self.reorder.shape, self.unknown, strict=True)
            )
            if self._fits(shape):
                return shape, tuple(size for size, unknown in zip(shape, self.unknown, strict=True) if unknown)

    def _fits(self, shape: tuple[int, ...]) -> bool:
        """Whether both storages are small, and there are some: a layout may refuse a size."""
        try:
            maps = [
                layout.index_map(shape, self.reorder.dtype)
                for layout in (self.reorder.source, self.reorder.destination)
            ]
        except LayoutError:
            return False
        return max(index_map.storage_size for index_map in maps) <= CELLS

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.reorder}, unknown {self.unknown}"


def random_case(seed: int) -> Case | None:
    """The same for the same seed; None where a layout needs to know a size."""
    chance = random.Random(seed)
    reorder = random_reorder(seed)
    unknown = [chance.random() < 0.5 for _ in reorder.shape]
    unknown[chance.randrange(len(unknown))] = True
    shape = tuple(None if is_unknown else size for size, is_unknown in zip(reorder.shape, unknown, strict=True))
    try:
        module = reorder_module(reorder.source, reorder.destination, shape, reorder.dtype, "copy", reorder.pad)
        lower_to_c(module)
    except LayoutError:
        return None
    return Case(seed, reorder, module, tuple(unknown))


def call(case: Case, kernel: SizedKernel, chance: random.Random, fenced: FencedMemory) -> None:
    """Run a kernel for some sizes, and compare what it writes."""
    shape, given = case.sizes(chance)
    values = noise(case.reorder.source, shape, case.reorder.dtype)
    (expected,) = interpret(case.module, "copy", [values], fill=FILL, sizes=given)
    check_run(kernel, given, values, expected, fenced, at_end=chance.random() < 0.5, what=(str(case), shape))


@pytest.mark.usefixtures("quickest_compiler")
@pytest.mark.parametrize("start", STARTS)
def test_random_sizes_of_random_pairs(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(start)
    cases = [case for case in map(random_case, range(start, start + BATCH)) if case is not None]
    assert len(cases) > BATCH // 2
    fenced = FencedMemory(8 * CELLS)
    for case in cases:
        monkeypatch.setenv(PROCESSOR_VARIABLE, chance.choice(list(MODELS)))
        with ExitStack() as ways:
            if chance.random() < 0.6:
                ways.enter_context(all_streamed())
                ways.enter_context(small_panels(carry=chance.random() < 0.5))
                if chance.random() < 0.5:
                    ways.enter_context(steps_up_to(1 << 16, 1 << 16, parts=chance.random() < 0.5))
            vector_bytes, threads = chance.choice((16, 32, 64, 64, 64)), chance.choice((None, None, 2))
            (kernel,) = compile_functions(
                case.module, ["copy"], vector_bytes=vector_bytes, threads=threads, panels=True
            )
        assert isinstance(kernel, SizedKernel)
        for _ in range(CALLS):
            call(case, kernel, chance, fenced)
