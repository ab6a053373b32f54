"""
`python -m benchmarks`: every case against memcpy, oneDNN, PyTorch and numpy, checked in the same run.

Ratios are our speed over the opponent's, medians of paired and interleaved runs; GB/s counts bytes read and written,
pads included. The exit status is 1 if a result is wrong or a kernel cannot be made; speed never fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import machine, overhead, report
from benchmarks.buffers import Buffers, allocate
from benchmarks.cases import QUICK_SIZES, SIZES, WIDTHS, Run, runs
from benchmarks.contestants import NUMPY, ONEDNN, PYTORCH
from benchmarks.harness import evict
from benchmarks.measure import FULL, QUICK
from benchmarks.runner import Conditions, Result, run_case, storage_bytes
from layout_ir.layouts.cache_line import LINE_BYTES


def parser() -> argparse.ArgumentParser:
    """The options."""
    result = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").split("\n\n")[0])
    result.add_argument("--case", metavar="REGEX", default="", help="only cases whose name (see --list) it finds")
    result.add_argument("--dtype", action="append", choices=list(WIDTHS), help="only this element type (repeatable)")
    result.add_argument("--size", action="append", choices=list(SIZES), help="only this size (repeatable)")
    result.add_argument("--threads", type=int, metavar="N", help="only this number of threads (default: 1, then all)")
    result.add_argument(
        "--offset",
        type=offset,
        default=0,
        metavar="BYTES",
        help="how far behind a cache line both buffers begin: 0 by default, large ones of numpy and malloc mostly 16",
    )
    result.add_argument(
        "--without",
        action="append",
        default=[],
        choices=[ONEDNN, PYTORCH, NUMPY],
        help="only compare results with this opponent, not speeds: numpy takes long beside many threads (repeatable)",
    )
    result.add_argument(
        "--keep-caches",
        action="store_true",
        help="leave in the caches what fits of tensors that are out of cache; by default nothing is left before a call",
    )
    result.add_argument("--quick", action="store_true", help="few rounds, small sizes: shows that all runs, no more")
    result.add_argument("--json", metavar="FILE", type=Path, help="write everything that was measured")
    result.add_argument("--overhead", action="store_true", help="only the cost of calls, cached loads and compiles")
    result.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    return result


def offset(text: str) -> int:
    """The value of `--offset`: less than a line, and whole elements of every type."""
    widest = max(WIDTHS.values())
    if not text.isdecimal() or int(text) >= LINE_BYTES or int(text) % widest:
        raise argparse.ArgumentTypeError(f"expected a multiple of {widest} below {LINE_BYTES}, got {text!r}")
    return int(text)


def sizes_of(quick: bool) -> dict[str, int]:
    """Bytes of the logical tensor at every size."""
    return QUICK_SIZES if quick else SIZES


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; returns the exit status."""
    options = parser().parse_args(arguments)
    sizes = sizes_of(options.quick)
    wanted = {size: sizes[size] for size in options.size or SIZES}
    chosen = [run for run in runs(options.dtype or list(WIDTHS), wanted) if re.search(options.case, run.name)]
    if options.list:
        print("\n".join(f"{run.name}  {'x'.join(map(str, run.shape))}" for run in chosen))
        return 0
    if options.overhead:
        calls, compiles = overhead.call_overhead(), overhead.compile_overhead()
        print(overhead.report(calls, compiles))
        _write(options.json, {"calls": calls, "compiles": compiles})
        return 0
    if not chosen:
        print(f"no case's name has '{options.case}' in it; --list shows them", file=sys.stderr)
        return 2
    cores = len(os.sched_getaffinity(0))
    threads = [options.threads] if options.threads else sorted({1, cores})
    arena = _arena(chosen, sizes["out"], options.offset)
    evicts = not options.keep_caches and evict(arena)
    conditions = Conditions(QUICK if options.quick else FULL, frozenset(options.without), evicts)
    facts = machine.describe(arena, threads, conditions)
    groups = _measure(chosen, threads, conditions, arena, facts)
    _write(options.json, report.as_json(facts, groups))
    return 1 if any(result.error for results in groups.values() for result in results) else 0


def _arena(chosen: Sequence[Run], least: int, behind_line: int) -> Buffers:
    """Buffers for all runs; large enough for memcpy out of cache, which is measured even where no case is."""
    needed = [storage_bytes(run) for run in chosen]
    return allocate(max(least, *(left for left, _ in needed)), max(least, *(right for _, right in needed)), behind_line)


def _measure(
    chosen: Sequence[Run], threads: Sequence[int], conditions: Conditions, arena: Buffers, facts: machine.Facts
) -> dict[int, list[Result]]:
    print(report.heading(facts))
    for name in ("oneDNN", "PyTorch"):
        if facts[name] == "not installed":
            print(f"{name} is not installed and takes no part; pip install 'layout-ir[bench]' brings oneDNN")
    groups: dict[int, list[Result]] = {}
    for count in threads:
        print(f"\n{count} thread(s); ratios are our speed over the opponent's\n{report.HEADER}")
        groups[count] = []
        for run in chosen:
            groups[count].append(run_case(run, count, conditions, arena))
            print(report.line(groups[count][-1]), flush=True)
        print(f"\n{count} thread(s)\n{report.summary_table(groups[count])}")
    return groups


def _write(path: Path | None, content: object) -> None:
    if path is not None:
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
