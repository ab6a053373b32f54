"""The sizes with which `layout-run` calls functions that leave some open: given, read off arrays, or made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from layout_ir.errors import LayoutError, nearest

if TYPE_CHECKING:
    from xdsl.dialects.func import FuncOp

    from layout_ir.runtime.sized_kernel import SizedKernel
    from layout_ir.tools.layout_run_files import Given

MADE_UP = {"n": 4, "b": 4, "c": 64, "f": 64, "i": 64, "o": 64}
"""Sizes where none are given, by the name of the dim."""

OTHERS = 32
"""The same for all other dims."""


def parse_sizes(text: str) -> dict[str, int]:
    """`n=8,h=56` as sizes by name; raises `ValueError` with a message for anything else."""
    sizes: dict[str, int] = {}
    for part in text.split(","):
        name, equals, number = (piece.strip() for piece in part.partition("="))
        if not (name and equals and number.isdecimal()):
            raise ValueError(f"expected sizes such as n=8,h=56, got '{part}' in '{text}'")
        if name in sizes:
            raise ValueError(f"expected every size once, got '{name}' again")
        sizes[name] = int(number)
    return sizes


def check_names(given: Mapping[str, int], kernels: Sequence[object]) -> None:
    """Raise `LayoutError` for a size that no function asks for."""
    from layout_ir.runtime.sized_kernel import SizedKernel

    known = dict.fromkeys(name for kernel in kernels if isinstance(kernel, SizedKernel) for name in kernel.size_names)
    for name in given:
        if name not in known:
            expected = f"among {', '.join(known)}" if known else "for unknown extents (?) only, of which there are none"
            raise LayoutError(f"--sizes: expected sizes {expected}, got '{name}'{nearest(name, known)}")


def choose_sizes(
    function: FuncOp, kernel: SizedKernel, given: Mapping[str, int], inputs: Mapping[str, Given | None]
) -> dict[str, int]:
    """The sizes of one function: those given, else those of its arrays, else made up where there are no arrays."""
    from layout_ir.dialects.sizes import FunctionSizes
    from layout_ir.interpreter.inferred_sizes import sizes_of_arrays

    sizes = {name: given[name] for name in kernel.size_names if name in given}
    if len(sizes) == len(kernel.size_names):
        return sizes
    arrays = [inputs.get(argument.name) for argument in kernel.arguments]
    if any(array is not None for array in arrays):
        count = len(function.body.block.args)
        shaped = [None if array is None else array.array for array in arrays[:count]]
        return sizes_of_arrays(function, FunctionSizes(function), shaped, sizes)
    return {name: sizes.get(name, MADE_UP.get(name, OTHERS)) for name in kernel.size_names}
