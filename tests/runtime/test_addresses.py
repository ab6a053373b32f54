"""The address of an array is numpy's own, whichever way it is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from layout_ir.runtime.addresses import address_of


class Subclass(np.ndarray[Any, np.dtype[Any]]):
    """Arrays of other classes have the same memory."""


ARRAYS: dict[str, NDArray[Any]] = {
    **{kind: np.zeros(5, kind) for kind in ("i1", "f2", "f4", "c16", "?", "M8[s]", "V2", "S3", "U2")},
    "several dims": np.zeros((2, 3, 4), np.float32),
    "one number": np.zeros((), np.float64),
    "empty": np.zeros(0, np.float32),
    "part": np.zeros(16, np.int8)[3:],
    "subclass": np.zeros(4).view(Subclass),
}


@pytest.mark.parametrize("is_writable", [True, False])
@pytest.mark.parametrize("name", ARRAYS)
def test_addresses(name: str, is_writable: bool) -> None:
    array = ARRAYS[name].view()
    array.flags.writeable = is_writable
    assert address_of(array) == array.__array_interface__["data"][0]


def test_arrays_stay_free_to_be_resized() -> None:
    array = np.zeros(4)
    address_of(array)
    array.resize(1000)
    assert address_of(array) == array.__array_interface__["data"][0]
