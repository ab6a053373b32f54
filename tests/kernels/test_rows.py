"""Kernels that copy rows with gaps between them: only the rows are written, at every alignment, by any threads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reorder_batch import Reorder, kernels, lowered
from varied_reorders import placed, source_and_expected

import layout_ir as li
from layout_ir.backends.c import emit_c
from layout_ir.lowering.processor_families import MODELS


def _rows(shape: tuple[int, ...], pitch: int, dtype: str, offset: int = 0) -> Reorder:
    """Dense rows to rows with a pitch, planes of them one behind the other."""
    strides = [1, pitch]
    for extent in reversed(shape[1:-1]):
        strides.append(strides[-1] * extent)
    destination = li.layout("strided", strides=tuple(reversed(strides[: len(shape)])), offset=offset)
    return Reorder(li.layout("onednn:" + "abcd"[: len(shape)]), destination, shape, dtype, 0)


REORDERS = (
    _rows((9, 56), 120, "f32"),
    _rows((2, 3, 7, 56), 120, "f32"),
    _rows((40, 56), 57, "f32"),
    _rows((40, 57), 64, "f32", offset=5),
    _rows((35, 112), 120, "f16"),
    _rows((3, 19, 70), 73, "f16", offset=3),
    _rows((70, 200), 264, "i8"),
    _rows((70, 56), 120, "i8"),
    _rows((131, 65), 67, "i8", offset=1),
    _rows((12, 9), 13, "f64"),
)


@pytest.mark.parametrize("processor", list(MODELS))
@pytest.mark.parametrize("threads", [False, True], ids=["one thread", "threads"])
def test_every_alignment(threads: bool, processor: str, tmp_path: Path) -> None:
    module = lowered(REORDERS, 64, threads, panels=True, stream_bytes=0, processor=processor)
    text = emit_c(module)
    assert "LAYOUT_STREAM(" in text
    assert ", 1);" in text, "no line is asked for before it is written in parts"
    runs = kernels(module, tmp_path, "-std=gnu11", "-Wno-psabi", "-fopenmp" if threads else "-Wno-unknown-pragmas")
    for number, case in enumerate(REORDERS):
        values, expected = source_and_expected(case, number)
        source = placed(values.size, values, number % 3)
        source[:] = values
        written = np.zeros(expected.size, dtype=bool)
        written[case.destination.index_map(case.shape, case.dtype).offsets()] = True
        for misaligned in (0, 1, 64 // values.itemsize - 1):
            field = placed(expected.size + 256, values, misaligned)
            wanted = field.copy()
            wanted[128 : 128 + expected.size][written] = expected[written]
            runs[number](source, field[128:])
            assert np.array_equal(field, wanted), f"{case}, {misaligned} elements behind a line"
