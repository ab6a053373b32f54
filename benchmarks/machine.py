"""What the numbers were measured on: processor, caches, memory, versions."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.buffers import ALIGNMENT, Buffers, huge_bytes, huge_pages
from benchmarks.contestants import MEMCPY, memcpy_contestant
from benchmarks.harness import evict, set_threads
from benchmarks.measure import Effort, measure

if TYPE_CHECKING:
    from benchmarks.runner import Conditions


Facts = dict[str, str | int | float | dict[str, float]]
"""By name; the rates of memcpy by the number of threads."""


def describe(arena: Buffers, threads: Sequence[int], conditions: Conditions) -> Facts:
    """The machine and the buffers, for the report's first lines and the JSON."""
    return {
        "processor": _processor(),
        "load": round(os.getloadavg()[0], 2),
        "cores": len(os.sched_getaffinity(0)),
        "caches": _caches(),
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "compiler": _compiler(),
        "numpy": _version("numpy") or "none",
        "PyTorch": _version("torch") or "not installed",
        "oneDNN": _onednn(),
        "alignment": ALIGNMENT,
        "offset": arena.addresses[1] % ALIGNMENT,
        "huge_pages": huge_pages(),
        "huge_bytes": huge_bytes(),
        "out_of_cache": "evicted" if conditions.evicts else "kept",
        "memcpy": {str(count): round(memcpy_rate(arena, count, conditions), 2) for count in threads},
    }


def memcpy_rate(arena: Buffers, threads: int, conditions: Conditions) -> float:
    """GB/s, read and written, of copying all that fits in both buffers."""
    set_threads(threads)
    size = min(len(arena.source), len(arena.destination))
    contestant = memcpy_contestant(size, threads, arena)
    effort = Effort(rounds=7, sample_seconds=0, opponent_seconds=math.inf)
    samples = measure([contestant], effort, threads, partial(evict, arena) if conditions.evicts else None)
    return 2 * size / samples[MEMCPY].median / 1e9


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    values: dict[str, str] = {}
    for line in lines:
        key, colon, value = line.partition(":")
        if colon:
            values.setdefault(key.strip(), value.strip())
    name = values.get("model name", platform.machine())
    return f"{name}, family {values.get('cpu family', '?')}, model {values.get('model', '?')}"


def _caches() -> str:
    found: list[str] = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        if kind != "Instruction":
            found.append(f"L{level} {size}")
    return ", ".join(found) or "unknown"


def _compiler() -> str:
    import subprocess

    from layout_ir.runtime.compiler import find_compiler

    result = subprocess.run([*find_compiler().command, "--version"], capture_output=True, text=True, check=False)
    return result.stdout.partition("\n")[0]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _onednn() -> str:
    from benchmarks import onednn

    return onednn.version() or "not installed"
