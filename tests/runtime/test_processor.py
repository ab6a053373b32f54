"""The properties of a processor that kernels are made for, and the environment variables that overrule them."""

from __future__ import annotations

import itertools

import pytest

import layout_ir as li
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.processor_families import (
    EMERALD_RAPIDS,
    GRANITE_RAPIDS,
    ICE_LAKE,
    SAPPHIRE_RAPIDS,
    ZEN_3,
    ZEN_4,
)
from layout_ir.runtime import compiler
from layout_ir.runtime.module import compile_functions
from layout_ir.runtime.processor import Processor, this_processor

FLAGS = "x86_64\nflags: avx2 avx512bw avx512vl"
INTEL = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: "
AMD = "vendor_id\t: AuthenticAMD\ncpu family\t: "


@pytest.mark.parametrize(
    "text, forced, expected",
    [
        (f"{FLAGS}\nvendor_id\t: GenuineIntel", None, Processor(64, 64, True, ICE_LAKE)),
        (f"{FLAGS}\nvendor_id\t: GenuineIntel", "0", Processor(64, 64, False, ICE_LAKE)),
        (f"{FLAGS} avx512_fp16\n{INTEL}143", None, Processor(64, 64, True, SAPPHIRE_RAPIDS)),
        (f"{FLAGS}\n{INTEL}207", None, Processor(64, 64, True, EMERALD_RAPIDS)),
        (f"{FLAGS}\n{INTEL}173", None, Processor(64, 64, True, GRANITE_RAPIDS)),
        (f"{FLAGS}\n{INTEL}174", None, Processor(64, 64, True, GRANITE_RAPIDS)),
        (f"{FLAGS} avx512_fp16\n{INTEL}167", None, Processor(64, 64, True, GRANITE_RAPIDS)),
        (f"{FLAGS}\n{INTEL}167", None, Processor(64, 64, True, ICE_LAKE)),  # Rocket Lake
        (f"{FLAGS}\n{INTEL}106", None, Processor(64, 64, True, ICE_LAKE)),
        (f"{FLAGS} avx512_fp16\n{AMD}26", None, Processor(64, 64, False, ICE_LAKE)),
        (f"{FLAGS}\n{AMD}25", None, Processor(64, 64, True, ZEN_4)),
        (f"{FLAGS}\n{AMD}25", "0", Processor(64, 64, False, ZEN_4)),
        (f"x86_64\nflags: avx2\n{AMD}25", None, Processor(64, 32, True, ZEN_3)),
        (f"x86_64\nflags: avx2\n{AMD}25\nmodel\t\t: 1", None, Processor(64, 32, True, ZEN_3)),
        (f"x86_64\nflags: avx2\n{AMD}25\nmodel\t\t: 17", None, Processor(64, 32, True, ZEN_4)),
        (f"x86_64\nflags: avx2\n{AMD}25\nmodel\t\t: 80", None, Processor(64, 32, True, ZEN_3)),  # of notebooks
        (f"x86_64\nflags: avx2\n{AMD}25\nmodel\t\t: 97", None, Processor(64, 32, True, ZEN_4)),  # of desktops
        (f"{FLAGS}\n{AMD}26", None, Processor(64, 64, False, ICE_LAKE)),  # Zen 5
        (f"{FLAGS}\n{AMD}26", "1", Processor(64, 64, True, ICE_LAKE)),
        (f"x86_64\nflags: avx2\n{AMD}23", None, Processor(64, 32, True, ZEN_3)),  # Zen 1 and 2
        ("x86_64\nflags: avx2\nvendor_id\t: GenuineIntel", None, Processor(64, 32, True, ICE_LAKE)),
        ("x86_64\nflags: sse2\nvendor_id\t: GenuineIntel", None, Processor(16, 16, True, ICE_LAKE)),
        ("aarch64\nFeatures: asimd", None, Processor(16, 16, False, ICE_LAKE)),
    ],
)
def test_properties(text: str, forced: str | None, expected: Processor, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LAYOUT_IR_VECTOR_BYTES", "LAYOUT_IR_PANELS", "LAYOUT_IR_PROCESSOR"):
        monkeypatch.delenv(name, raising=False)
    if forced is not None:
        monkeypatch.setenv("LAYOUT_IR_PANELS", forced)
    compiler.register_bytes.cache_clear()
    monkeypatch.setattr(compiler, "processor", lambda: text)
    monkeypatch.setattr(compiler, "ways_of_last_cache", lambda: 16)
    try:
        assert this_processor() == expected
    finally:
        compiler.register_bytes.cache_clear()


@pytest.mark.parametrize(
    "ways, has_f16, expected",
    [
        (15, True, SAPPHIRE_RAPIDS),
        (20, True, EMERALD_RAPIDS),
        (16, True, GRANITE_RAPIDS),
        (0, True, GRANITE_RAPIDS),  # unknown
        (15, False, ICE_LAKE),
    ],
)
def test_a_last_cache_tells_what_a_hypervisor_hides(
    ways: int, has_f16: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAYOUT_IR_PROCESSOR", raising=False)
    flags = f"{FLAGS} avx512_fp16" if has_f16 else FLAGS
    monkeypatch.setattr(compiler, "processor", lambda: f"{flags}\n{INTEL}167")
    monkeypatch.setattr(compiler, "ways_of_last_cache", lambda: ways)
    assert this_processor().model == expected


def test_a_word_that_is_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOUT_IR_PANELS", "yes")
    with pytest.raises(li.LayoutError, match="LAYOUT_IR_PANELS: expected 0 or 1, got 'yes'"):
        this_processor()


def test_a_family_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOUT_IR_PROCESSOR", "zen4")
    names = "ice-lake, sapphire-rapids, emerald-rapids, granite-rapids, zen-3, zen-4"
    message = f"LAYOUT_IR_PROCESSOR: expected one of {names}, got 'zen4'; did you mean zen-4"
    with pytest.raises(li.LayoutError, match=message):
        this_processor()


@pytest.mark.parametrize("family", [ICE_LAKE, EMERALD_RAPIDS, ZEN_4])
def test_kernels_are_made_for_a_family(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOUT_IR_PROCESSOR", family)
    module = reorder_module(li.layout("NHWC"), li.layout("NCHW"), (84, 64, 56, 56), "f32")
    (kernel,) = compile_functions(module, ["reorder"], vector_bytes=64)
    lines = kernel.source.splitlines()
    assert (", 0, 2);" in kernel.source) == (family in (EMERALD_RAPIDS, ZEN_4))  # into a second level cache
    is_asked_again = any("prefetch" in line and line == after for line, after in itertools.pairwise(lines))
    assert is_asked_again == (family == ZEN_4)


@pytest.mark.parametrize("forced", ["0", "1"])
def test_kernels_follow_the_environment(forced: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOUT_IR_PANELS", forced)
    module = reorder_module(li.layout("onednn:ab"), li.layout("onednn:ba"), (3001, 3001), "f32")
    (kernel,) = compile_functions(module, ["reorder"], vector_bytes=64)
    assert ("panel[" in kernel.source) == (forced == "1")
