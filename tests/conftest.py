"""Fewer garbage collections, which take a sixth of the time of lowering: its many small values live long."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Leave out what was imported and collected, and look at the rest rarely."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
