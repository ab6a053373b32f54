"""
The two buffers that all contestants of a case share, on huge pages where the system has them.

They are allocated once for the largest case, so that no contestant pays for page faults.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]

ALIGNMENT = 2 * 1024 * 1024
SENTINEL = 0xA5
"""What destinations hold before a checked run, so that an unwritten byte shows."""


@dataclass(frozen=True)
class Buffers:
    """Storage of a source and a destination, as bytes."""

    source: Bytes
    destination: Bytes

    def part(self, source_bytes: int, destination_bytes: int) -> Buffers:
        """The beginning of both."""
        return Buffers(self.source[:source_bytes], self.destination[:destination_bytes])

    @property
    def addresses(self) -> tuple[int, int]:
        """Where the two begin."""
        return address(self.source), address(self.destination)


def allocate(source_bytes: int, destination_bytes: int, offset: int = 0) -> Buffers:
    """Two buffers that begin `offset` bytes behind their alignment, every page of which has been written."""
    return Buffers(*(_aligned(size + offset)[offset:] for size in (source_bytes, destination_bytes)))


def _aligned(size: int) -> Bytes:
    import numpy as np

    # private, since shared memory, Python's default, takes no transparent huge pages
    memory = mmap.mmap(-1, size + 2 * ALIGNMENT, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    whole = np.frombuffer(memory, np.uint8)
    skipped = -address(whole) % ALIGNMENT
    result = whole[skipped : skipped + size]
    result.fill(SENTINEL)
    return result


def address(array: npt.NDArray[Any]) -> int:
    """Where an array's data begins."""
    return int(array.__array_interface__["data"][0])


def huge_pages() -> str:
    """The system's setting for huge pages: `always`, `madvise`, `never` or `unknown`."""
    try:
        text = Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text()
    except OSError:
        return "unknown"
    return text.partition("[")[2].partition("]")[0]


def huge_bytes() -> int:
    """Bytes of this process that are on huge pages now."""
    try:
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("AnonHugePages"))
