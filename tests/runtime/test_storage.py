"""New storages are zero or filled, of the layout's size, and start at a cache line."""

from __future__ import annotations

import numpy as np
import pytest

import layout_ir as li
from layout_ir.runtime.storage import new_storage


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 35, 7, 9), (0, 3, 4, 4), (1, 64, 56, 56)])
@pytest.mark.parametrize("fill", [0, 0xA5])
@pytest.mark.parametrize("dtype", ["i8", "f16", "f64"])
def test_new_storages(shape: tuple[int, ...], fill: int, dtype: str):
    index_map = li.layout("onednn:nChw16c").index_map(shape, dtype)
    kind = np.dtype({"i8": np.int8, "f16": np.float16, "f64": np.float64}[dtype])
    storage = new_storage(index_map, kind, fill)
    assert storage.size == 0 or storage.ctypes.data % 64 == 0
    assert (storage.dtype, storage.size) == (kind, index_map.storage_size)
    assert storage.flags.c_contiguous
    assert storage.flags.writeable
    assert (storage.view(np.uint8) == fill).all()
