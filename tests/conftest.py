"""
How tests run in less time.

Fewer garbage collections, which take a sixth of the time of lowering: its many small values live long. And no processor
that waits at the end for another one's longest test.
"""

from __future__ import annotations

import gc

import pytest

LONGEST = "test_filecheck.py"
"""A test of a minute and a half, where the next one takes a third of that."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest test; all others keep their order."""
    items.sort(key=lambda item: item.path.name != LONGEST)


def pytest_collection_finish() -> None:
    """Leave out what was imported and collected, and look at the rest rarely."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
