"""The C compiler of the machine, and the processor that it compiles for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from layout_ir.errors import LayoutError

CANDIDATES = ("cc", "gcc", "clang")
"""Names that are looked for on PATH when the environment variable CC is not set."""


@dataclass(frozen=True)
class Compiler:
    """A C compiler that exists."""

    command: tuple[str, ...]
    """The program's absolute path and what else CC asks for, e.g. `("/usr/bin/ccache", "gcc")`."""

    identity: str
    """Changes when the compiler is replaced; made without running it, which would cost more than loading a kernel."""


def find_compiler() -> Compiler:
    """The compiler that CC names, or the first of cc, gcc, clang on PATH; raises `LayoutError` if there is none."""
    import os
    import shlex
    import shutil

    if wanted := os.environ.get("CC", "").strip():
        words = shlex.split(wanted)
        path = shutil.which(words[0])
        if path is None:
            raise LayoutError(f"expected the environment variable CC to name a C compiler, got '{wanted}'")
        return Compiler((path, *words[1:]), _identity(path))
    for name in CANDIDATES:
        if path := shutil.which(name):
            return Compiler((path,), _identity(path))
    raise LayoutError(
        "expected a C compiler (cc, gcc or clang) on PATH or named by the environment variable CC, found none; "
        "install one, e.g. by 'apt install gcc' (Debian, Ubuntu), 'dnf install gcc' (Fedora) or "
        "'xcode-select --install' (macOS)"
    )


def _identity(path: str) -> str:
    program = Path(path).resolve()
    status = program.stat()
    return f"{program} {status.st_size} {status.st_mtime_ns}"


@cache
def processor() -> str:
    """What -march=native depends on: the machine's architecture, its processor's model and features."""
    import platform

    properties = "vendor_id", "cpu family", "model", "flags", "Features", "CPU part", "CPU implementer"
    lines = [platform.machine()]
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as info:
            for line in info:
                if line.startswith(properties):
                    lines.append(line.strip())
                elif not line.strip():
                    break  # the other processors are the same
    except OSError:
        lines.append(platform.processor())
    return "\n".join(lines)


@cache
def ways_of_last_cache() -> int:
    """Lines that a set of the third level cache has places for; 0 where the system does not tell."""
    try:
        with open("/sys/devices/system/cpu/cpu0/cache/index3/ways_of_associativity", encoding="utf-8") as ways:
            return int(ways.read())
    except (OSError, ValueError):
        return 0


VECTOR_VARIABLE = "LAYOUT_IR_VECTOR_BYTES"
"""Environment variable that forces the width of the vectors that kernels use: 16, 32 or 64, or 0 for scalar loops."""


def vector_bytes() -> int:
    """
    Width of the vectors that kernels use in bytes: a line of the cache from registers of half of one on.

    Raises `LayoutError` where the environment asks for a width that there is not.
    """
    forced = os.environ.get(VECTOR_VARIABLE)
    if forced is not None:
        if forced not in ("0", "16", "32", "64"):
            raise LayoutError(f"{VECTOR_VARIABLE}: expected 0, 16, 32 or 64, got '{forced}'")
        return int(forced)
    return 64 if register_bytes() > 16 else 16  # lines of two registers, not of four


@cache
def register_bytes() -> int:
    """Width of this processor's vector registers, as far as one instruction permutes any of their elements."""
    words = set(processor().split())
    if {"avx512bw", "avx512vl"} <= words:
        return 64
    return 32 if "avx2" in words else 16


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def team_of(threads: int) -> int:
    """How many threads a kernel will have: so many, or what OpenMP chooses, as far as one can know without it."""
    if threads > 0:
        return threads
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    return processors()
