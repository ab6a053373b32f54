"""How a C text becomes a library: how the compiler is called, and what it says when it fails."""

from __future__ import annotations

from pathlib import Path

from layout_ir.errors import LayoutError
from layout_ir.runtime.compilation_units import compilation_units
from layout_ir.runtime.compiler import Compiler, processors
from layout_ir.runtime.compiler_flags import (
    LEFT_OUT,
    LONG_TILE_FLAGS,
    LOOPS_FLAG,
    NATIVE_FLAG,
    ORDER_FLAG,
    REGISTERS_FLAG,
    STACK_FLAG,
    THREADS_FLAG,
    flags_of_unit,
)

_SHOWN_LINES = 20


def compile_library(compiler: Compiler, source: Path, library: Path, flags: tuple[str, ...]) -> tuple[str, ...]:
    """
    Compile the C file `source` to the shared library `library`; returns those of the flags that the compiler took.

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
    units = compilation_units(source.read_text(encoding="utf-8"), processors())
    if len(units) == 1:
        return False
    from concurrent.futures import ThreadPoolExecutor

    sources = [library.with_suffix(f".{number}.c") for number in range(len(units))]
    objects = [path.with_suffix(".o") for path in sources]
    for path, unit in zip(sources, units, strict=True):
        path.write_text(unit, encoding="utf-8")

    def is_compiled(unit: str, path: Path, compiled: Path) -> bool:
        command = (*compiler.command, *flags_of_unit(unit, flags), "-c", str(path), "-o", str(compiled))
        return _run(command)[0] == 0

    with ThreadPoolExecutor(len(units)) as threads:
        if not all(threads.map(is_compiled, units, sources, objects)):
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
        **{flag: (flag,) for flag in (*LEFT_OUT, *LONG_TILE_FLAGS[1:], LOOPS_FLAG, REGISTERS_FLAG)},
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
