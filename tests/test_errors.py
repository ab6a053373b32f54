"""The endings of error messages: where a name leaves the known ones, and which names are near."""

from __future__ import annotations

import pytest

from layout_ir.errors import departure, nearest

KNOWN = ("HTA_NCHW32", "HTA_D32", "ARGUMENT")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("HTA_N4", "expected 'CHW32' at position 5, got '4'"),
        ("HTA_", "expected 'NCHW32' or 'D32' at position 4, got the end"),
        ("ARGUMENTS", "expected the end at position 8, got 'S'"),
        ("", "expected 'HTA_NCHW32' or 'HTA_D32' or 'ARGUMENT' at position 0, got the end"),
        ("ARG" + "x" * 40, f"expected 'UMENT' at position 3, got '{'x' * 32}...'"),
    ],
)
def test_departure(name: str, message: str):
    assert departure(name, KNOWN) == message


@pytest.mark.parametrize(
    ("name", "message"),
    [("argumnet", "; did you mean ARGUMENT?"), ("zzz", ""), ("HTA_D3", "; did you mean HTA_D32 or HTA_NCHW32?")],
)
def test_nearest(name: str, message: str):
    assert nearest(name, KNOWN) == message
