"""The C compiler of the machine: where it is, how it is called, and what it says when it fails."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from layout_ir.errors import LayoutError

CANDIDATES = ("cc", "gcc", "clang")
"""Names that are looked for on PATH when the environment variable CC is not set."""

BASE_FLAGS = ("-O3", "-std=gnu11", "-fPIC", "-shared")
"""Flags of kernels without shuffles."""

SHUFFLE = "__builtin_shufflevector"

TILE_FLAGS = ("-O1", "-fexpensive-optimizations", "-fpeel-loops")
"""
Instead of -O3 where vectors are shuffled: they stand in an order that keeps few of them at a time.

With -O3 GCC puts them into an order of its own. That takes it 1.3 (a known size) to 1.6 times as long, and what it
makes is no faster: on Emerald Rapids 0.997 times in the mean of 232 kernels, 0.99 in that of 150 calls with sizes.
With -O1 alone tiles of few shuffles are 0.97 times as fast. The loops that are to be unrolled are scalar ones beside
the tiles, which would be half as fast.
"""

ORDER_FLAG = "-fno-loop-interchange"
"""
With which GCC leaves scalar loops in the order that was chosen for them.

It would look at strides alone, and neither at lines that are written in many parts nor at pages: 1.09 times as fast in
the mean of 50 copies of one to three channels of blocks on Emerald Rapids, up to 3.9.
"""

GREAT_MANY_SHUFFLES = 1000
"""Shuffles of a function from which on GCC takes too long to choose how it reckons their hundreds of addresses."""

TAKES_SIZES = re.compile(r"restrict \w+,\s+int64_t ")
"""
In a function that is called with sizes, for which GCC should not choose that either.

It would keep a pointer for each row that a tile reads or writes, far more than there are registers.
"""

STACK_FLAG = "-mtune-ctrl=^inter_unit_moves_from_vec"
"""
With which GCC leaves on the stack what it has no register for, instead of in registers of vectors, on AMD's processors.

Kernels that are called with sizes have a number for each row of a tile, and fetch them all for every tile. With data in
the caches, Zen 4 runs those that read planes 1.05 to 1.2 times as fast so.
"""

LOOPS_FLAG = "-falign-loops=32"
"""
With which the loops of such kernels begin where processors fetch instructions.

On Zen 4 four channels of bytes, from blocks of 16 to planes, are taken 1.4 times as fast so, because of where GCC would
put that loop otherwise; 72 others are 1.006 times as fast in the mean.
"""

NATIVE_FLAG = "-march=native"
THREADS_FLAG = "-fopenmp"

_SHOWN_LINES = 20


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


def wanted_flags(source: str, threads: bool) -> tuple[str, ...]:
    """Flags that a C text is compiled with where the compiler takes them."""
    most = max(function.count(SHUFFLE) for function in source.split("\n}\n"))
    base = [*TILE_FLAGS, *BASE_FLAGS[1:]] if most else [*BASE_FLAGS, ORDER_FLAG]
    takes_sizes = TAKES_SIZES.search(source) is not None
    if most >= GREAT_MANY_SHUFFLES or takes_sizes:
        base.append("-fno-ivopts")
    if takes_sizes:
        base.append(LOOPS_FLAG)
    if takes_sizes and "AuthenticAMD" in processor():
        base.append(STACK_FLAG)
    return (*base, NATIVE_FLAG, *((THREADS_FLAG,) if threads else ()))


def compile_library(compiler: Compiler, source: Path, library: Path, flags: tuple[str, ...]) -> tuple[str, ...]:
    """
    Compile the C file `source` to the shared library `library`; returns the flags that the compiler took.

    A long text is compiled in several units at once, whose files are put beside the library, or as a whole where that
    fails. A compiler without OpenMP, or one that does not know the processor, is called again without those flags.
    Raises `LayoutError` with the command and the compiler's own words when it fails.
    """
    wanted = flags
    while not _compile_at_once(compiler, source, library, wanted):
        status, failure = _run((*compiler.command, *wanted, str(source), "-o", str(library)))
        if status == 0:
            return wanted
        refused = _refused(failure, wanted)
        if not refused:
            raise LayoutError(failure)
        wanted = tuple(flag for flag in wanted if flag not in refused)
    return wanted


def _compile_at_once(compiler: Compiler, source: Path, library: Path, flags: tuple[str, ...]) -> bool:
    """Compile a text that is worth it in several units at once; whether that was done."""
    from layout_ir.runtime.compilation_units import compilation_units

    units = compilation_units(source.read_text(encoding="utf-8"), processors())
    if len(units) == 1:
        return False
    from concurrent.futures import ThreadPoolExecutor

    sources = [library.with_suffix(f".{number}.c") for number in range(len(units))]
    objects = [path.with_suffix(".o") for path in sources]
    for path, unit in zip(sources, units, strict=True):
        path.write_text(unit, encoding="utf-8")

    def is_compiled(path: Path, compiled: Path) -> bool:
        return _run((*compiler.command, *flags, "-c", str(path), "-o", str(compiled)))[0] == 0

    with ThreadPoolExecutor(len(units)) as threads:
        if not all(threads.map(is_compiled, sources, objects)):
            return False
    return _run((*compiler.command, *flags, *map(str, objects), "-o", str(library)))[0] == 0


def _refused(message: str, flags: tuple[str, ...]) -> list[str]:
    """The flags that a compiler does not know, by what it says."""
    words = message.partition("\n")[2]
    signs = {
        ORDER_FLAG: ("loop-interchange",),
        STACK_FLAG: ("mtune-ctrl",),
        NATIVE_FLAG: ("march", "native"),
        THREADS_FLAG: ("openmp", "omp"),
    }
    return [flag for flag, named in signs.items() if flag in flags and any(sign in words for sign in named)]


def _run(command: tuple[str, ...]) -> tuple[int, str]:
    """Exit status of a command, and a message that shows what was run and what it said."""
    import shlex
    import subprocess

    try:
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise LayoutError(f"cannot run the C compiler: {shlex.join(command)}: {error.strerror}") from None
    lines = (result.stderr or result.stdout).strip().splitlines()
    if len(lines) > _SHOWN_LINES:
        lines = [*lines[:_SHOWN_LINES], f"... and {len(lines) - _SHOWN_LINES} more lines"]
    header = f"the C compiler failed (exit status {result.returncode}): {shlex.join(command)}"
    return result.returncode, "\n".join([header, *lines])
