"""Runs kernels on buffers that begin anywhere in a cache line."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
from reorder_batch import Reorder, text_for_this_processor
from varied_reorders import placed, source_and_expected
from xdsl.dialects.builtin import ModuleOp

from layout_ir.runtime.compilation import compile_library
from layout_ir.runtime.compiler import find_compiler


def check_alignments(reorders: tuple[Reorder, ...], module: ModuleOp, folder: Path, *flags: str) -> str:
    """Run a lowered module's kernels on destinations that begin at a line, and two places behind one; their C text."""
    text = text_for_this_processor(module)
    (folder / "kernels.c").write_text(text)
    # compilers take half a minute to improve on vectors that were taken apart
    flags = ("-O0", "-march=native", "-std=gnu11", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", *flags)
    compile_library(find_compiler(), folder / "kernels.c", folder / "kernels.so", (*flags, "-Wno-psabi"))
    library = ctypes.CDLL(str(folder / "kernels.so"))
    for number, case in enumerate(reorders):
        values, expected = source_and_expected(case, number)
        source = placed(values.size, values, number % 3)
        source[:] = values
        for misaligned in (0, 1, 64 // values.itemsize - 1):
            field = placed(expected.size + 256, values, misaligned)
            wanted = field.copy()
            wanted[128 : 128 + expected.size] = expected
            library[f"case_{number}"](*map(ctypes.c_void_p, (source.ctypes.data, field[128:].ctypes.data)))
            assert np.array_equal(field, wanted), f"{case}, {misaligned} elements behind a line"
    return text
