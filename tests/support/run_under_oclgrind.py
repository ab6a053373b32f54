"""
Runs one in `step` reorders of every layout family on the simulator of oclgrind; started by `oclgrind python FILE step`.

What oclgrind itself finds (accesses out of bounds, data races) it writes to its log; wrong results are printed here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from layout_families import FAMILIES
from opencl_support import compiled, image_reorders
from reorder_batch import Reorder, faults


def check(name: str, reorders: Sequence[Reorder], images: bool) -> int:
    """Run and compare; the number of reorders that went wrong."""
    kernels = compiled(reorders, images=images)
    assert "oclgrind" in kernels[0].device.platform.name.lower(), "expected to be started by oclgrind"
    wrong = faults(reorders, kernels)
    print("\n".join([f"{name}: {len(reorders)} reorders, {len(wrong)} wrong", *wrong]), flush=True)
    return len(wrong)


def main(step: int) -> int:
    """The exit status."""
    wrong = sum(check(family.name, family.reorders[::step], False) for family in FAMILIES)
    wrong += check("images", list(image_reorders())[:: max(step // 8, 1)], True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
