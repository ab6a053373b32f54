"""Arrays in and out of `layout-run`: .npy and .npz files, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from layout_ir.errors import LayoutError

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

SUFFIXES = (".npy", ".npz")


def read_arrays(path: Path) -> dict[str, Array]:
    """
    The arrays of a file: those of a .npz by their names, that of a .npy under an empty name.

    Raises `LayoutError` for a file that is missing or holds no arrays.
    """
    import zipfile

    import numpy as np

    try:
        content: Any = np.load(path, allow_pickle=False)
        if isinstance(content, np.ndarray):
            return {"": content}
        with content:
            return {name: content[name] for name in content.files}
    except OSError as error:
        raise LayoutError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        reason = "" if "pickle" in str(error) else f": {error}"  # numpy's advice is to trust the file
        raise LayoutError(f"cannot read {path}: expected a .npy or .npz file of numbers{reason}") from None


@dataclass(frozen=True, eq=False)
class Given:
    """An array that a user gave."""

    origin: str
    """The file, and the name inside of it."""

    name: str
    """The name inside of the file, empty in a .npy."""

    array: Array


def assign_inputs(paths: Sequence[Path], needed: Sequence[str], accepted: Sequence[str]) -> dict[str, Given]:
    """
    The array for every argument.

    `needed`: the arguments that are only read; `accepted`: all arguments, any of which may be given initial content.
    An array of a .npz whose name is an argument's goes there; all others are taken in order. Raises `LayoutError`
    unless there are as many arrays as arguments.
    """
    arrays = [
        Given(f"{path}[{name}]" if name else str(path), name, array)
        for path in paths
        for name, array in read_arrays(path).items()
    ]
    names = accepted if len(arrays) == len(accepted) else needed
    if len(arrays) != len(names):
        raise LayoutError(f"expected {len(names)} input arrays ({', '.join(names) or 'none'}), got {len(arrays)}")
    by_name = {given.name: given for given in arrays if given.name in names}
    others = iter([given for given in arrays if given not in by_name.values()])
    return {name: by_name[name] if name in by_name else next(others) for name in names}


def check_outputs(paths: Sequence[Path], names: Sequence[str]) -> None:
    """Raise `LayoutError` before any work is done unless the outputs can be written to `paths`."""
    for path in paths:
        if path.suffix not in SUFFIXES:
            raise LayoutError(f"cannot write {path}: expected a name that ends in {' or '.join(SUFFIXES)}")
        if not path.parent.is_dir():
            raise LayoutError(f"cannot write {path}: expected an existing folder, got '{path.parent}'")
        if path.is_dir() or not os.access(path.parent, os.W_OK):
            raise LayoutError(f"cannot write {path}: expected a file name in a folder that can be written")
    if paths and not _is_archive(paths) and len(paths) != len(names):
        raise LayoutError(
            f"expected {len(names)} output files ({', '.join(names)}) or one .npz for all, got {len(paths)}"
        )


def _is_archive(paths: Sequence[Path]) -> bool:
    return len(paths) == 1 and paths[0].suffix == ".npz"


def write_outputs(paths: Sequence[Path], outputs: Mapping[str, Array]) -> None:
    """
    Write one array a file, or all to one .npz under their names.

    Files appear under their final names only when all of them are complete. Raises `LayoutError` where one cannot be
    written.
    """
    if not paths:
        return
    if _is_archive(paths):
        contents: list[Mapping[str, Array]] = [outputs]
    else:
        contents = [{name: array} for name, array in outputs.items()]
    with ExitStack() as leftovers:
        finished: list[tuple[str, Path]] = []
        for path, arrays in zip(paths, contents, strict=True):
            try:
                finished.append((_write_temporary(path, arrays, leftovers), path))
            except OSError as error:
                raise LayoutError(f"cannot write {path}: {error.strerror}") from None
        for temporary, path in finished:
            try:
                os.replace(temporary, path)
            except OSError as error:
                raise LayoutError(f"cannot write {path}: {error.strerror}") from None


def _write_temporary(path: Path, arrays: Mapping[str, Array], leftovers: ExitStack) -> str:
    import tempfile
    from contextlib import suppress

    import numpy as np

    def remove() -> None:
        with suppress(FileNotFoundError):  # it has its final name by then
            os.unlink(name)

    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=".tmp")
    leftovers.callback(remove)
    with os.fdopen(handle, "wb") as file:
        os.chmod(name, 0o666 & ~_umask())
        if path.suffix == ".npz":
            np.savez(file, **arrays)  # pyright: ignore[reportArgumentType]
        else:
            (array,) = arrays.values()
            np.save(file, array)
    return name


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
