"""How a C text becomes a library: how the compiler is called, and what it says when it fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from layout_ir.errors import LayoutError
from layout_ir.runtime.compilation_units import compilation_units
from layout_ir.runtime.compiler import Compiler, processors
from layout_ir.runtime.compiler_flags import (
    LEFT_OUT,
    LONG_TILE_FLAGS,
    NATIVE_FLAG,
    ORDER_FLAG,
    STACK_FLAG,
    THREADS_FLAG,
)

_SHOWN_LINES = 20


FlagsOf = Callable[[str], Sequence[str]]
"""The flags that a C text is wanted to be compiled with."""


def compile_library(compiler: Compiler, source: Path, library: Path, flags_of: FlagsOf) -> tuple[str, ...]:
    """
    Compile the C file `source` to the shared library `library`; returns the flags that were taken for all of it.

    A long text is compiled in several units at once, each with its own flags, whose files are put beside the library;
    or as a whole where that fails. A compiler without OpenMP, or one that does not know the processor, is called again
    without those flags. Raises `LayoutError` with the command and the compiler's own words when it fails.
    """
    text = source.read_text(encoding="utf-8")
    refused: set[str] = set()

    def taken(unit: str) -> tuple[str, ...]:
        return tuple(flag for flag in flags_of(unit) if flag not in refused)

    while not _compile_at_once(compiler, text, library, taken):
        flags = taken(text)
        status, failure = _run((*compiler.command, *flags, str(source), "-o", str(library)))
        if status == 0:
            return flags
        more = _refused(failure, flags)
        if not more:
            raise LayoutError(failure)
        refused.update(more)
    return taken(text)


def _compile_at_once(compiler: Compiler, source: str, library: Path, flags_of: FlagsOf) -> bool:
    """Compile a text that is worth it in several units at once; whether that was done."""
    units = compilation_units(source, processors())
    if len(units) == 1:
        return False
    from concurrent.futures import ThreadPoolExecutor

    sources = [library.with_suffix(f".{number}.c") for number in range(len(units))]
    objects = [path.with_suffix(".o") for path in sources]
    for path, unit in zip(sources, units, strict=True):
        path.write_text(unit, encoding="utf-8")

    def made(unit: str, *arguments: str) -> bool:
        return _run((*compiler.command, *flags_of(unit), *arguments))[0] == 0

    def is_compiled(unit: str, path: Path, compiled: Path) -> bool:
        return made(unit, "-c", str(path), "-o", str(compiled))

    with ThreadPoolExecutor(len(units)) as team:
        if not all(team.map(is_compiled, units, sources, objects)):
            return False
    return made(source, *map(str, objects), "-o", str(library))


def _refused(message: str, flags: tuple[str, ...]) -> list[str]:
    """The flags that a compiler does not know, by what it says."""
    words = message.partition("\n")[2]
    signs = {
        ORDER_FLAG: ("loop-interchange",),
        STACK_FLAG: ("mtune-ctrl",),
        NATIVE_FLAG: ("march", "native"),
        THREADS_FLAG: ("openmp", "omp"),
        **{flag: (f"'{flag}'",) for flag in (*LEFT_OUT, *LONG_TILE_FLAGS[1:])},
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
