"""Makes this project's package `benchmarks` importable, before another of that name that may be installed."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
