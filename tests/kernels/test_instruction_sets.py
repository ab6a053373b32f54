"""One C text for every processor: compiled for each level of x86-64 and run where the processor has it."""

from __future__ import annotations

import ctypes
import itertools
import platform
from pathlib import Path

import numpy as np
import pytest
from varied_reorders import (
    STREAMED,
    VARIED,
    VECTOR_VARIANTS,
    WITHOUT_BYTES,
    Variant,
    c_text,
    placed,
    source_and_expected,
)

from layout_ir.runtime.compilation import compile_library
from layout_ir.runtime.compiler import find_compiler, processor

NEEDED = {
    "x86-64": set[str](),
    "x86-64-v3": {"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}
"""Levels of x86-64, and what a processor needs for each (psABI, "Micro-Architecture Levels")."""

REGISTER_BYTES = {"x86-64": 16, "x86-64-v3": 32, "x86-64-v4": 64}

GUARD = 96
"""Elements in front of and behind a destination that nobody may write."""


@pytest.mark.parametrize("level", NEEDED)  # one after the other, for which one worker makes a text once
@pytest.mark.parametrize("variant", VECTOR_VARIANTS, ids=str)
def test_every_level_of_x86_64(level: str, variant: Variant, tmp_path: Path) -> None:
    if platform.machine() != "x86_64":
        pytest.skip(f"expected an x86-64 processor, got {platform.machine()}")
    if missing := NEEDED[level] - set(processor().split()):
        pytest.skip(f"expected a processor of level {level}, this one has no {', '.join(sorted(missing))}")
    fits = min(variant.vector_bytes, variant.register_bytes) <= REGISTER_BYTES[level]
    reorders = STREAMED if variant.streams else VARIED if fits else WITHOUT_BYTES
    text = c_text(reorders, variant)
    assert ("LAYOUT_STREAM" in text.partition("void case_0")[2]) == variant.streams
    (tmp_path / "kernels.c").write_text(text)
    optimization = "-O1" if fits else "-Og"  # GCC takes ten times as long to take vectors apart
    flags = (
        optimization,
        "-std=gnu11",
        "-fPIC",
        "-shared",
        f"-march={level}",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-psabi",
    )
    compile_library(find_compiler(), tmp_path / "kernels.c", tmp_path / "kernels.so", flags)
    library = ctypes.CDLL(str(tmp_path / "kernels.so"))
    for number, case in enumerate(reorders):
        values, expected = source_and_expected(case, number)
        for source_shift, destination_shift in itertools.product((0, 1), repeat=2):
            source = placed(values.size, values, source_shift)
            source[:] = values
            field = placed(expected.size + 2 * GUARD, values, destination_shift)
            guarded = field.copy()
            guarded[GUARD : GUARD + expected.size] = expected
            library[f"case_{number}"](*map(ctypes.c_void_p, (source.ctypes.data, field[GUARD:].ctypes.data)))
            place = f"{case}, source {source_shift} and destination {destination_shift} elements behind a line"
            assert np.array_equal(field, guarded), place
            assert np.array_equal(source, values), place
