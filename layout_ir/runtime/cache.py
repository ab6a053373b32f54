"""
The cache of compiled kernels: a shared library is compiled once for its source, compiler, flags and processor.

A file appears in the cache under its final name only when it is complete, so that processes that compile the same
kernel at once never see each other's halves.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from layout_ir.errors import LayoutError
from layout_ir.runtime.compiler import find_compiler, processor
from layout_ir.runtime.compiler_flags import LONG_TILE_FLAGS, LONG_TILE_SHUFFLES, wanted_flags


def cache_folder() -> Path:
    """
    Where kernels are kept: $LAYOUT_IR_CACHE, else `layout_ir` in $XDG_CACHE_HOME or ~/.cache.

    Where that cannot be written, a temporary folder that lives as long as the process.
    """
    wanted = os.environ.get("LAYOUT_IR_CACHE")
    if wanted:
        folder = Path(wanted)
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        folder = Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~")) / ".cache"
        folder = folder / "layout_ir"
    return folder if _is_writable(folder) else _temporary_folder()


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


@cache
def _temporary_folder() -> Path:
    import atexit
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="layout_ir-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def cached_library(source: str, *, threads: bool = False, refresh: bool = False) -> Path:
    """
    The shared library of a C text, compiled now if the cache does not have it, or in any case with `refresh`.

    `threads`: compile with OpenMP where the compiler has it. Raises `LayoutError` if there is no compiler or if it
    fails.
    """
    library = cache_folder() / f"{kernel_key(source, threads)}.so"
    if refresh or not (library.exists() and library.with_suffix(".c").exists()):
        _compile_into(library, source, wanted_flags(source, threads))
    return library


def kernel_key(source: str, threads: bool, *others: str) -> str:
    """What a C text, compiled here and now, is known by in the cache, and what was found out about it by `others`."""
    from hashlib import sha256

    compiler = find_compiler()
    flags = *wanted_flags(source, threads), *LONG_TILE_FLAGS, str(LONG_TILE_SHUFFLES)  # units may have others
    parts = (source, *compiler.command, compiler.identity, *flags, processor(), *others)
    return sha256("\0".join(parts).encode()).hexdigest()[:40]


def keep_text(path: Path, text: str) -> None:
    """Write a file of the cache, which other processes see complete or not at all; raises `LayoutError` if it fails."""
    from tempfile import TemporaryDirectory

    try:
        with TemporaryDirectory(dir=path.parent, prefix=".writing-") as folder:
            written = Path(folder) / path.name
            written.write_text(text, encoding="utf-8")
            os.replace(written, path)
    except OSError as error:
        raise LayoutError(f"cannot write to the kernel cache {path.parent}: {error.strerror}") from None


def _compile_into(library: Path, source: str, flags: tuple[str, ...]) -> None:
    from tempfile import TemporaryDirectory

    from layout_ir.runtime.compilation import compile_library

    try:
        with TemporaryDirectory(dir=library.parent, prefix=".compiling-") as folder:
            text, built = Path(folder) / "kernel.c", Path(folder) / "kernel.so"
            text.write_text(source, encoding="utf-8")
            compile_library(find_compiler(), text, built, flags)
            os.replace(text, library.with_suffix(".c"))
            os.replace(built, library)
    except OSError as error:
        raise LayoutError(f"cannot write to the kernel cache {library.parent}: {error.strerror}") from None
