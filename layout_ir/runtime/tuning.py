"""
A search that measures schedules: kernels of one function, made in several ways, run in turns on buffers of its sizes.

The cost model's own choice takes part and wins unless another is clearly faster. What was found is kept in the cache
of kernels, so that it is measured once; every schedule writes the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from layout_ir.dialects.known_sizes import with_sizes
from layout_ir.errors import LayoutError
from layout_ir.interpreter.functions import arguments, find_function, results
from layout_ir.lowering.target import Target
from layout_ir.runtime.candidates import (
    Candidate,
    compile_candidates,
    distinct,
    isolated,
    ways_to_prefetch,
    ways_to_store,
)
from layout_ir.runtime.kernel import Kernel
from layout_ir.runtime.measuring import Measure, seconds_in_turns
from layout_ir.runtime.module import compile_for, compile_where_possible
from layout_ir.runtime.processor import panels_are_forced, this_processor
from layout_ir.runtime.signature import Signature
from layout_ir.runtime.sized_kernel import SizedKernel
from layout_ir.runtime.storage import traffic
from layout_ir.runtime.tuning_record import Record, Trial, recall, record_file, remember

if TYPE_CHECKING:
    import numpy.typing as npt
    from xdsl.dialects.builtin import ModuleOp

CLEARLY_FASTER = 1.03
"""How many times as fast as the cost model's choice another has to be."""

REFINED = 2
"""How many of the best ways to store are tried with everything that they can prefetch."""

MOST_BYTES = 4 << 30
"""Size of the largest buffers that are allocated for measuring, all together."""

PAGE_BYTES = 4096


@dataclass(frozen=True)
class Tuned:
    """The schedule of one function, measured now or before."""

    module: ModuleOp
    """The function, with those that it calls."""

    name: str
    record: Record
    threads: int | None
    is_recalled: bool
    """Whether it was found in the cache."""

    bytes_moved: int
    """What one call reads and writes."""

    def kernel(self) -> Kernel:
        """The kernel with that schedule."""
        return compile_for(self.module, [self.name], self.record.winner, self.threads)[0]

    def __str__(self) -> str:
        trials = self.record.trials
        found = "measured before" if self.is_recalled else "measured"
        if len(trials) < 2:
            return f"{self.name}: there is only one schedule"
        chosen = "the cost model's is chosen"
        if not self.record.is_model:
            chosen = f"one {self.record.gain:.2f} times as fast as the cost model's"
        return f"{self.name}: {len(trials)} schedules {found}: {chosen}"

    def report(self) -> str:
        """Every schedule that was measured, the fastest first, as the pass that makes it."""
        lines = [str(self)]
        for trial in sorted(self.record.trials, key=lambda trial: -trial.speed):
            marks = [" (the cost model's)"] if trial == self.record.trials[0] else []
            marks += [" (chosen)"] if trial.target == self.record.winner else []
            rate = self.bytes_moved / trial.seconds / 1e9
            lines.append(f"  {rate:7.2f} GB/s  {trial.pipeline}{''.join(marks)}")
        return "\n".join(lines)


def tune(
    module: ModuleOp,
    name: str,
    *,
    threads: int | None = None,
    sizes: Mapping[str, int] | None = None,
    measure: Measure = seconds_in_turns,
) -> Tuned:
    """
    The fastest schedule of a public function on this processor, from the cache or measured now.

    `threads` as in `load_kernel`. `sizes`: of unknown extents, by name. Raises `LayoutError` where the function cannot
    be compiled, where sizes are missing, and for buffers that are too large to allocate for this.
    """
    find_function(module, name)
    alone = isolated(module, name)
    sizes = _sizes_of(alone, name, sizes or {})
    wanted = this_processor().target(threads)
    model, (kernel,) = compile_where_possible(alone, [name], wanted, threads)
    file = record_file(kernel.source, name, threads is not None, sizes)
    record = recall(file, model)
    is_recalled = record is not None
    if isinstance(kernel, SizedKernel):
        kernel = kernel.at(sizes)
    if record is None:
        record = _Search(alone, name, threads, sizes, _buffers(kernel), measure).record(model)
        remember(file, record)
    function = find_function(with_sizes(alone, name, sizes) if sizes else alone, name)
    moved = sum(traffic(kernel, [*arguments(function), *results(function)]))
    return Tuned(alone, name, record, threads, is_recalled, moved)


def _sizes_of(module: ModuleOp, name: str, given: Mapping[str, int]) -> dict[str, int]:
    """Those of the given sizes that a function takes; raises `LayoutError` where one is missing."""
    names = Signature(find_function(module, name)).size_names
    if missing := [size for size in names if size not in given]:
        raise LayoutError(
            f"{name}: expected sizes for {', '.join(names)}, as schedules are measured on buffers of the real sizes, "
            f"got none for {', '.join(missing)}"
        )
    return {size: given[size] for size in names}


def _buffers(kernel: Kernel) -> list[npt.NDArray[Any]]:
    """Buffers for all arguments, every page of which has been written."""
    import numpy as np

    sizes = [argument.size * argument.element.bytes for argument in kernel.arguments]
    if sum(sizes) > MOST_BYTES:
        raise LayoutError(
            f"{kernel.name}: expected buffers of at most {MOST_BYTES} bytes to measure schedules on, got {sum(sizes)}; "
            "tune a smaller shape, or compile without"
        )
    buffers: list[npt.NDArray[Any]] = []
    for argument, size in zip(kernel.arguments, sizes, strict=True):
        whole = np.empty(size + PAGE_BYTES, np.uint8)
        whole.fill(1)
        skipped = -whole.ctypes.data % PAGE_BYTES
        buffers.append(whole[skipped : skipped + size].view(argument.element.numpy))
    return buffers


@dataclass(frozen=True)
class _Search:
    """Measures schedules of one function: first ways to store, then for the best of them ways to prefetch."""

    module: ModuleOp
    name: str
    threads: int | None
    sizes: Mapping[str, int]
    buffers: Sequence[npt.NDArray[Any]]
    measure: Measure

    def record(self, model: Target) -> Record:
        """What the search finds."""
        first = distinct(self.module, [model, *ways_to_store(model, other_panels=not panels_are_forced())])
        trials = self._measured(first)
        by_speed = sorted(trials, key=lambda trial: -trial.speed)
        refined = [target for trial in by_speed[:REFINED] for target in ways_to_prefetch(trial.target)]
        both = distinct(self.module, refined, first)
        trials += self._measured([first[0], *both[len(first) :]])[1:]
        best = max(trials, key=lambda trial: trial.speed)
        if best.speed >= CLEARLY_FASTER and best.target != model:
            finalist = next(candidate for candidate in both if candidate.target == best.target)
            if self._measured([first[0], finalist])[1].speed >= CLEARLY_FASTER:
                return Record(best.target, tuple(trials))
        return Record(model, tuple(trials))

    def _measured(self, candidates: Sequence[Candidate]) -> list[Trial]:
        """A trial for every candidate; the first is the cost model's."""
        if len(candidates) < 2:
            return [Trial(candidate.target, 1.0, 1.0) for candidate in candidates]
        kernels = compile_candidates(self.module, self.name, candidates, self.threads)
        seconds = self.measure([kernel.ready(*self.buffers) for kernel in self._at_sizes(kernels)])
        return [
            Trial(candidate.target, time, seconds[0] / time)
            for candidate, time in zip(candidates, seconds, strict=True)
        ]

    def _at_sizes(self, kernels: Sequence[Kernel]) -> Iterator[Kernel]:
        for kernel in kernels:
            yield kernel.at(self.sizes) if isinstance(kernel, SizedKernel) else kernel
