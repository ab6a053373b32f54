"""The properties of a processor that kernels are made for, and the environment variables that overrule them."""

from __future__ import annotations

import pytest

import layout_ir as li
from layout_ir.lowering.build import reorder_module
from layout_ir.runtime import compiler
from layout_ir.runtime.module import compile_functions
from layout_ir.runtime.processor import Processor, this_processor

FLAGS = "x86_64\nflags: avx2 avx512bw avx512vl"


@pytest.mark.parametrize(
    "text, forced, expected",
    [
        (f"{FLAGS}\nvendor_id\t: GenuineIntel", None, Processor(64, panels=True)),
        (f"{FLAGS}\nvendor_id\t: GenuineIntel", "0", Processor(64, panels=False)),
        (f"{FLAGS}\nvendor_id\t: AuthenticAMD", None, Processor(64, panels=False)),
        (f"{FLAGS}\nvendor_id\t: AuthenticAMD", "1", Processor(64, panels=True)),
        ("aarch64\nFeatures: asimd", None, Processor(16, panels=False)),
    ],
)
def test_properties(text: str, forced: str | None, expected: Processor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAYOUT_IR_VECTOR_BYTES", raising=False)
    monkeypatch.delenv("LAYOUT_IR_PANELS", raising=False)
    if forced is not None:
        monkeypatch.setenv("LAYOUT_IR_PANELS", forced)
    compiler._processor_vector_bytes.cache_clear()  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(compiler, "processor", lambda: text)
    try:
        assert this_processor() == expected
    finally:
        compiler._processor_vector_bytes.cache_clear()  # pyright: ignore[reportPrivateUsage]


def test_a_word_that_is_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOUT_IR_PANELS", "yes")
    with pytest.raises(li.LayoutError, match="LAYOUT_IR_PANELS: expected 0 or 1, got 'yes'"):
        this_processor()


@pytest.mark.parametrize("forced", ["0", "1"])
def test_kernels_follow_the_environment(forced: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOUT_IR_PANELS", forced)
    module = reorder_module(li.layout("onednn:ab"), li.layout("onednn:ba"), (3001, 3001), "f32")
    (kernel,) = compile_functions(module, ["reorder"], vector_bytes=64)
    assert ("panel[" in kernel.source) == (forced == "1")
