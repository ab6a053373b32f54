"""One case from shape to result: fill, compile, check, measure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from benchmarks import contestants as who
from benchmarks.buffers import SENTINEL, Buffers
from benchmarks.cases import WIDTHS, Run
from benchmarks.check import fill_source, find_error
from benchmarks.contestants import Contestant
from benchmarks.digits import strided_copy
from benchmarks.harness import evict, set_threads
from benchmarks.measure import Effort, Samples, measure

if TYPE_CHECKING:
    from benchmarks.onednn import Reorder
    from layout_ir.layouts.index_map import IndexMap


@dataclass(frozen=True)
class Result:
    """What came out of one run."""

    run: Run
    threads: int
    bytes_read: int
    bytes_written: int
    """Pads included."""

    bytes_of_pads: int
    samples: dict[str, Samples]
    implementation: str
    """oneDNN's, empty where it did not take part."""

    checked: str
    """What the result was compared with."""

    disagreeing: tuple[str, ...] = ()
    """Opponents whose result is another one; they do not take part."""

    error: str = ""
    """Why there are no samples."""

    def rate(self, name: str) -> float:
        """GB/s, counting bytes read and written."""
        return (self.bytes_read + self.bytes_written) / self.samples[name].median / 1e9

    def ratio(self, opponent: str) -> float | None:
        """Our speed over an opponent's, None where it did not take part; against memcpy by bytes a second."""
        if opponent not in self.samples or self.error:
            return None
        ratio = self.samples[opponent].ratio_to(self.samples[who.OURS])
        if opponent == who.MEMCPY:
            ratio *= (self.bytes_read + self.bytes_written) / (2 * min(self.bytes_read, self.bytes_written))
        return ratio


@dataclass(frozen=True)
class Conditions:
    """How all runs are measured."""

    effort: Effort
    unmeasured: Collection[str] = ()
    """The opponents whose results are compared with ours, but not their speed."""

    evicts: bool = True
    """
    Whether tensors that are out of cache are dropped from all caches before every call.

    Some last level caches hold all of them. They would not be out of cache then, and what an opponent left there of the
    destination would be written to memory during our call.
    """


def storage_bytes(run: Run) -> tuple[int, int]:
    """Bytes of the two buffers that a run needs."""
    left, right = _maps(run)
    return left.storage_size * WIDTHS[run.dtype], right.storage_size * WIDTHS[run.dtype]


def _maps(run: Run) -> tuple[IndexMap, IndexMap]:
    source, destination = run.layouts()
    return source.index_map(run.shape, run.dtype), destination.index_map(run.shape, run.dtype)


def run_case(run: Run, threads: int, conditions: Conditions, arena: Buffers) -> Result:
    """Measure one run; a `LayoutError` or a wrong result becomes the result's `error`."""
    from layout_ir import LayoutError, compile_reorder

    set_threads(threads)
    if (torch := who.pytorch()) is not None:
        torch.set_num_threads(threads)
    maps, width = _maps(run), WIDTHS[run.dtype]
    buffers = arena.part(*(index_map.storage_size * width for index_map in maps))
    fill_source(buffers.source, maps[0], run.dtype, width)
    try:
        source, destination = run.layouts()
        kernel = compile_reorder(
            source, destination, shape=run.shape, dtype=run.dtype, threads=threads if threads > 1 else None
        )
    except LayoutError as error:
        return _result(run, threads, maps, error=str(error))
    ours = who.kernel_contestant(kernel, threads, buffers)
    size = min(maps[0].size, maps[1].cell_count) * width
    memcpy = who.memcpy_contestant(size, threads, buffers)
    opponents, reorder = _opponents(run, maps, buffers)
    try:
        agreeing, checked, error = _check(ours, opponents, maps, width, buffers)
        if error:
            return _result(run, threads, maps, error=error)
        measured = [one for one in agreeing if one.name not in conditions.unmeasured]
        before = partial(evict, buffers) if conditions.evicts and run.size == "out" else None
        samples = measure([ours, memcpy, *measured], conditions.effort, threads, before)
    finally:
        if reorder is not None:
            reorder.destroy()
    disagreeing = tuple(one.name for one in opponents if one not in agreeing)
    implementation = next((one.note for one in measured if one.name == who.ONEDNN), "")
    return _result(run, threads, maps, samples, implementation, checked, disagreeing)


def _result(
    run: Run,
    threads: int,
    maps: tuple[IndexMap, IndexMap],
    samples: dict[str, Samples] | None = None,
    implementation: str = "",
    checked: str = "",
    disagreeing: tuple[str, ...] = (),
    error: str = "",
) -> Result:
    source, destination = maps
    width = WIDTHS[run.dtype]
    read, written, pads = (n * width for n in (source.size, destination.cell_count, destination.pad_count))
    return Result(run, threads, read, written, pads, samples or {}, implementation, checked, disagreeing, error)


def _opponents(run: Run, maps: tuple[IndexMap, IndexMap], buffers: Buffers) -> tuple[list[Contestant], Reorder | None]:
    found: list[Contestant] = []
    pair = who.onednn_contestant(run, buffers)
    if pair is not None:
        found.append(pair[0])
    copy = strided_copy(*maps)
    if copy is not None:
        pytorch = who.pytorch_contestant(copy, run.dtype, buffers)
        found += [] if pytorch is None else [pytorch]
        found.append(who.numpy_contestant(copy, run.dtype, buffers))
    return found, None if pair is None else pair[1]


def _check(
    ours: Contestant,
    opponents: Sequence[Contestant],
    maps: tuple[IndexMap, IndexMap],
    width: int,
    buffers: Buffers,
) -> tuple[list[Contestant], str, str]:
    """
    The opponents that agree with us bit for bit, what our result was compared with, and what is wrong with it.

    Where somebody agrees on all bytes, the index maps are asked about samples; otherwise about every element and pad.
    """
    import numpy as np

    def result_of(one: Contestant) -> None:
        buffers.destination.fill(SENTINEL)
        one.seconds(1)

    result_of(ours)
    result = buffers.destination.copy()
    agreeing: list[Contestant] = []
    for one in opponents:
        result_of(one)
        if np.array_equal(result, buffers.destination):
            agreeing.append(one)
    error = find_error(buffers.source, result, maps, width, sampled=bool(agreeing))
    names = [one.name for one in agreeing]
    return agreeing, ", ".join([*names, "sampled indices"] if names else ["all indices"]), error or ""
