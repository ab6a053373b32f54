"""What a kernel costs beyond its copy: the call itself, loading it from the cache, compiling it."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

PAIRS = (("nchw", "nhwc"), ("nchw", "onednn:nChw16c"), ("nhwc", "onednn:nChw16c"), ("nchw", "onednn:nChw8c"))
SHAPES = ((1, 3, 17, 19), (2, 35, 20, 20), (1, 64, 30, 30))
LARGE = (
    ("nchw", "nhwc", (84, 64, 56, 56)),
    ("nhwc", "nchw", (84, 100, 56, 56)),
    ("nhwc", "onednn:nChw16c", (84, 35, 56, 56)),
    ("oihw", "onednn:OIhw16i16o", (1376, 1360, 3, 3)),
    ("onednn:OIhw4i16o4i", "oihw", (1376, 1360, 3, 3)),
    ("onednn:abcd", "onednn:dcba", (81, 63, 61, 53)),
)
"""Tensors that leave the caches: their kernels have larger tiles, and panels."""
SIZED = (("NCHW", "NHWC"), ("NHWC", "NCHW"), ("NCHW", "onednn:nChw16c"), ("onednn:nChw16c", "NCHW"))
"""Pairs for which kernels of unknown batch, height and width are compiled, with 35 and 64 channels of every width."""
TINY = ((1, 1, 1, 1), (1, 3, 2, 2), (1, 16, 4, 4))
CALLS = 2000


def call_overhead() -> list[dict[str, Any]]:
    """
    Seconds of `kernel(source, destination)` from Python on tiny tensors, of a call that `kernel.ready` has checked
    before, of the bare function and of oneDNN's; medians.

    oneDNN's `execute` is called from C like our bare function, and left out where it is not installed.
    """
    import numpy as np

    from benchmarks import onednn
    from benchmarks.buffers import Buffers
    from benchmarks.contestants import kernel_contestant
    from benchmarks.harness import set_threads
    from layout_ir import compile_reorder

    set_threads(1)
    rows: list[dict[str, Any]] = []
    for shape in TINY:
        kernel = compile_reorder("nchw", "onednn:nChw16c", shape=shape, dtype="f32")
        sizes = [argument.size for argument in kernel.arguments]
        source, destination = (np.zeros(size, np.float32) for size in sizes)
        buffers = Buffers(source.view(np.uint8), destination.view(np.uint8))
        bare = kernel_contestant(kernel, 1, buffers)
        wrapped = median(_seconds(lambda: kernel(source, destination)) for _ in range(9))  # noqa: B023
        alone = median(bare.seconds(CALLS) for _ in range(9)) / CALLS
        call = kernel.ready(source, destination)
        ready = median(_seconds(call) for _ in range(9))
        row = {
            "shape": shape,
            "call_seconds": wrapped,
            "ready_seconds": ready,
            "bare_seconds": alone,
            "overhead": wrapped - alone,
        }
        if onednn.library() is not None:
            reorder = onednn.create_reorder(shape, "f32", "abcd", "aBcd16b", buffers)
            row["onednn_seconds"] = median(reorder.seconds(CALLS) for _ in range(9)) / CALLS
            reorder.destroy()
        rows.append(row)
    return rows


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - start) / CALLS


def compile_overhead() -> dict[str, Any]:
    """
    Medians over 24 kernels, in fresh processes that share an empty cache: first all cold, then all cached.

    Kernels for unknown sizes, which are many in one, are reported apart.
    """
    import os

    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.overhead"]
        environment = {**os.environ, "LAYOUT_IR_CACHE": folder}
        root = Path(__file__).parent.parent
        passes: list[dict[str, list[list[float]]]] = []
        for _ in range(2):
            run = subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, text=True)
            passes.append(json.loads(run.stdout))
    (cold, cached), (sized, cached_sized) = ([rows[kind] for rows in passes] for kind in ("known", "sized"))
    return {
        "cold_compile": median(row[0] for row in cold),
        "cold_compile_worst": max(row[0] for row in cold),
        "cached_compile": median(row[0] for row in cached),
        "cached_compile_sized": median(row[0] for row in cached_sized),
        "cached_load": median(row[1] for row in cached),
        "cold_compile_sized": median(row[0] for row in sized),
        "cold_compile_sized_worst": max(row[0] for row in sized),
    }


def child() -> dict[str, list[list[float]]]:
    """
    Seconds of `compile_reorder`, and for kernels of known sizes of `load_kernel` on their text as well.

    A library that the process has loaded already would load in no time: `load_kernel` gets a copy of the text that
    differs by a comment, which the first of two processes puts into the cache.
    """
    from layout_ir import compile_reorder
    from layout_ir.runtime.kernel import load_kernel

    compile_reorder("nchw", "nhwc", shape=(1, 2, 3, 4), dtype="f64")  # imports
    rows: list[list[float]] = []
    small = [(*pair, shape, "f32") for pair in PAIRS for shape in SHAPES]
    large = [(*case, dtype) for case in LARGE for dtype in ("f32", "i8")]
    for source, destination, shape, dtype in small + large:
        start = time.perf_counter()
        kernel = compile_reorder(source, destination, shape=shape, dtype=dtype)
        compiled = time.perf_counter()
        text = kernel.source + "/* again */\n"
        middle = time.perf_counter()
        load_kernel(text, kernel.name, kernel.arguments)
        rows.append([compiled - start, time.perf_counter() - middle])
    sized: list[list[float]] = []
    for (source, destination), channels, dtype in itertools.product(SIZED, (35, 64), ("f32", "f16", "i8")):
        start = time.perf_counter()
        compile_reorder(source, destination, shape=(None, channels, None, None), dtype=dtype)
        sized.append([time.perf_counter() - start])
    return {"known": rows, "sized": sized}


def report(calls: list[dict[str, Any]], compiles: dict[str, Any]) -> str:
    """Both as text."""
    lines = ["k(src, dst) from Python, f32 nchw -> nChw16c (goal: under 10 us beyond the copy)"]
    for row in calls:
        call, bare, over, ready = (
            1e6 * row[key] for key in ("call_seconds", "bare_seconds", "overhead", "ready_seconds")
        )
        other = f"; oneDNN's {1e6 * row['onednn_seconds']:.3f} us" if "onednn_seconds" in row else ""
        lines.append(
            f"  {'x'.join(map(str, row['shape'])):8} {over:5.2f} us ({call:.2f} - bare function {bare:.3f} us), "
            f"checked before {ready - bare:.2f} us{other}"
        )
    lines += [
        f"cached kernel, loaded from its text   {1e3 * compiles['cached_load']:8.2f} ms  (goal: under 2 ms)",
        f"cached kernel, compile_reorder        {1e3 * compiles['cached_compile']:8.2f} ms  (goal: under 2 ms)",
        f"the same for unknown sizes            {1e3 * compiles['cached_compile_sized']:8.2f} ms",
        f"cold compile_reorder, median          {1e3 * compiles['cold_compile']:8.0f} ms  (goal: under 1000 ms)",
        f"cold compile_reorder, worst           {1e3 * compiles['cold_compile_worst']:8.0f} ms",
        f"the same for unknown sizes, median    {1e3 * compiles['cold_compile_sized']:8.0f} ms",
        f"the same for unknown sizes, worst     {1e3 * compiles['cold_compile_sized_worst']:8.0f} ms",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(json.dumps(child()))
