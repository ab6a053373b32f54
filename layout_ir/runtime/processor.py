"""What this processor is good at, as far as kernels are made differently for it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from layout_ir.errors import LayoutError, nearest
from layout_ir.lowering.processor_families import (
    EMERALD_RAPIDS,
    GRANITE_RAPIDS,
    ICE_LAKE,
    MODELS,
    SAPPHIRE_RAPIDS,
    ZEN_3,
    ZEN_4,
)
from layout_ir.lowering.target import Target
from layout_ir.runtime import compiler

PANELS_VARIABLE = "LAYOUT_IR_PANELS"
"""Environment variable that says whether large copies put lines together before they write them: 0 or 1."""

PROCESSOR_VARIABLE = "LAYOUT_IR_PROCESSOR"
"""Environment variable that names the family of processors whose costs are counted with."""

INTEL_MODELS = {"143": SAPPHIRE_RAPIDS, "207": EMERALD_RAPIDS, "173": GRANITE_RAPIDS, "174": GRANITE_RAPIDS}
"""Intel's models, all of family 6, as /proc/cpuinfo and Linux's intel-family.h number them; 174 is Granite Rapids D."""

WAYS_OF_LAST_CACHE = {15: SAPPHIRE_RAPIDS, 20: EMERALD_RAPIDS}
"""Lines of a set of the last cache, of which each core has 1.875 MiB on Sapphire, 5 on Emerald, 4 on Granite Rapids."""

ZEN_4_MODELS = (range(0x10, 0x20), range(0x60, 0xB0))
"""AMD's models of family 25 that are Zen 4, as Linux's arch/x86/kernel/cpu/amd.c tells them from Zen 3."""

SHARE_BYTES = 200 << 10
"""
Bytes read and written from which on threads share a copy.

On Granite Rapids it takes 0.8 microseconds to wake a second thread. Of 81 copies of six pairs one thread makes those of
16 KB 11 times as fast as two do in the mean, of 32 KB 4.4 times, of 64 KB 1.9, of 128 KB 1.6 and of 192 KB 1.35 times,
none slower; of 256 KB 1.1 times, at worst 0.8. More threads take longer to wake.
"""


@dataclass(frozen=True)
class Processor:
    """The properties of a processor that the lowering takes into account."""

    vector_bytes: int
    """Width of the vectors that tiles go through; 0 for scalar loops."""

    register_bytes: int
    """Width of its vector registers."""

    panels: bool
    """
    Whether lines that are written in parts cost it so much that putting them together first pays.

    Measured: on Intel's servers since Ice Lake and on AMD's Zen 4 it makes large transpositions up to four times as
    fast, on Zen 5 no faster, as that merges such writes in its caches well.
    """

    model: str
    """The family whose costs are counted with, a key of `MODELS`."""

    def target(self, threads: int | None) -> Target:
        """What kernels are made for here; `threads` as in `load_kernel`."""
        own = Target(self.vector_bytes, panels=self.panels, processor=self.model, register_bytes=self.register_bytes)
        if threads is None:
            return own
        return replace(own, threads=True, team=compiler.team_of(threads), share_bytes=SHARE_BYTES)


def panels_are_forced() -> bool:
    """Whether the environment decides about panels."""
    return PANELS_VARIABLE in os.environ


def this_processor() -> Processor:
    """The processor that the process runs on; raises `LayoutError` where the environment asks for what there is not."""
    forced = os.environ.get(PANELS_VARIABLE)
    if forced not in (None, "0", "1"):
        raise LayoutError(f"{PANELS_VARIABLE}: expected 0 or 1, got '{forced}'")
    family = _family()
    panels = "GenuineIntel" in compiler.processor() or family in (ZEN_3, ZEN_4) if forced is None else forced == "1"
    model = os.environ.get(PROCESSOR_VARIABLE, family)
    if model not in MODELS:
        names = tuple(MODELS)
        raise LayoutError(
            f"{PROCESSOR_VARIABLE}: expected one of {', '.join(names)}, got '{model}'{nearest(model, names)}"
        )
    return Processor(compiler.vector_bytes(), compiler.register_bytes(), panels, model)


def _family() -> str:
    """
    The family that the processor belongs to, or is most like.

    Zen 3 and 4 are both of AMD's family 25 (19h), Zen 1 and 2 of family 23 (17h). Zen 4 has vectors of 64 bytes, and
    Intel's servers have arithmetic of f16 since Sapphire Rapids; hypervisors may hide either.
    """
    fields = dict(line.split(":", 1) for line in compiler.processor().splitlines() if ":" in line)
    properties = {name.strip(): value.strip() for name, value in fields.items()}
    flags = properties.get("flags", "").split()
    match properties.get("vendor_id"), properties.get("cpu family"):
        case "AuthenticAMD", "25" if "avx512bw" in flags or _is_zen_4(properties.get("model", "")):
            return ZEN_4
        case "AuthenticAMD", "23" | "25":
            return ZEN_3
        case "GenuineIntel", _:
            return _intel_family(properties.get("model", ""), "avx512_fp16" in flags)
        case _:
            return ICE_LAKE


def _is_zen_4(model: str) -> bool:
    return model.isdecimal() and any(int(model) in models for models in ZEN_4_MODELS)


def _intel_family(model: str, has_f16: bool) -> str:
    """
    The same for Intel's processors.

    A model with arithmetic of f16 that is not listed came later, or a hypervisor has made its number up: a Sapphire and
    a Granite Rapids that were measured say 167, which is Rocket Lake's, a processor without that arithmetic. Their last
    caches tell which they are.
    """
    if model in INTEL_MODELS:
        return INTEL_MODELS[model]
    return WAYS_OF_LAST_CACHE.get(compiler.ways_of_last_cache(), GRANITE_RAPIDS) if has_f16 else ICE_LAKE
