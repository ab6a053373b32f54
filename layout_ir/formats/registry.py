"""The registry of systems: finds the file that knows a name, and imports it only when one of its names is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Protocol, cast

from layout_ir.errors import LayoutError, nearest
from layout_ir.formats.era import Era
from layout_ir.formats.format import Format, FormatOptions

SYSTEMS = {
    "ascend": "layout_ir.formats.ascend",
    "cudnn": "layout_ir.formats.cudnn",
    "mace": "layout_ir.formats.mace",
    "onednn": "layout_ir.formats.onednn",
    "openvino": "layout_ir.formats.openvino",
}
"""System name to the module that parses its names; adding a vendor adds one line."""

ALIASES = {"cldnn": "openvino", "dnnl": "onednn", "mkldnn": "onednn"}
"""Former names of systems."""

_PLANAR = "layout_ir.formats.planar"


class VendorModule(Protocol):
    """What a vendor's file offers; one whose names came and went also has `era(name) -> Era | None`."""

    def parse(self, name: str, options: FormatOptions) -> Format:
        """The format of a name (without its system); raises `LayoutError` with position and what was expected."""
        ...

    def names(self) -> Sequence[str]:
        """The names that the vendor's own releases list."""
        ...


def vendor(system: str) -> VendorModule:
    """The module of a system, imported on first use; raises `LayoutError` for an unknown system."""
    key = ALIASES.get(system.lower(), system.lower())
    if key not in SYSTEMS:
        known = [*SYSTEMS, *ALIASES]
        raise LayoutError(
            f"unknown system '{system}', expected one of {', '.join(SYSTEMS)} at position 0{nearest(system, known)}"
        )
    return cast(VendorModule, import_module(SYSTEMS[key]))


def parse_format(text: str, options: FormatOptions | None = None) -> Format:
    """
    The format that a text names: `system:NAME`, or a plain dim string.

    Raises `LayoutError` for a name that the system does not know, with the nearest names.
    """
    return _parse_format(text, options or FormatOptions())


@lru_cache(maxsize=4096)
def _parse_format(text: str, options: FormatOptions) -> Format:
    system, colon, name = text.partition(":")
    if colon:
        return vendor(system).parse(name, options)
    try:
        return cast(VendorModule, import_module(_PLANAR)).parse(text, options)
    except LayoutError as error:
        homes = systems_that_know(text)
        if not homes:
            raise
        raise LayoutError(f"{error}; did you mean {' or '.join(f'{home}:{text}' for home in homes)}?") from None


def systems_that_know(name: str) -> list[str]:
    """The systems in which a name without its system is listed."""
    return [system for system in SYSTEMS if name in vendor(system).names()]


def era(name: str) -> Era | None:
    """
    In which of its vendor's releases `system:NAME` means what it means here.

    None for names of which the vendor's file records no releases. Raises `LayoutError` for an unknown system.
    """
    system, colon, bare = name.partition(":")
    find = cast("Callable[[str], Era | None] | None", getattr(vendor(system), "era", None)) if colon else None
    return find(bare) if find else None


def formats(system: str | None = None) -> list[str]:
    """
    The known names of one system, or of all: `["openvino:b_fs_yx_fsv16", ...]`.

    Most notations are grammars, so more names parse than are listed.
    """
    if system is not None:
        key = ALIASES.get(system.lower(), system.lower())
        return [f"{key}:{name}" for name in vendor(key).names()]
    planar = cast(VendorModule, import_module(_PLANAR))
    return [*planar.names(), *(name for key in SYSTEMS for name in formats(key))]
