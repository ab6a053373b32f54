"""
Vendors' notations: one file a vendor, each turning a name into a layout, and the registry that finds them.

The package can be called: `layout_ir.formats("openvino")` lists names, and is a package all the same.
"""

from __future__ import annotations

import sys
from types import ModuleType


class _CallablePackage(ModuleType):
    """A package named like the function that users call; Python sets the package on its parent once it is imported."""

    def __call__(self, system: str | None = None) -> list[str]:
        """The known names of one system, or of all; see `registry.formats`."""
        from layout_ir.formats.registry import formats

        return formats(system)


sys.modules[__name__].__class__ = _CallablePackage
