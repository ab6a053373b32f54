"""Kernels whose bits matter and whose speed does not."""

from __future__ import annotations

import pytest

from layout_ir.runtime import compiler_flags, processor


@pytest.fixture
def quick_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels take a third of the time to compile, and are no less right."""
    flags = ["-O1" if flag == "-O3" else flag for flag in compiler_flags.BASE_FLAGS]
    monkeypatch.setattr(compiler_flags, "BASE_FLAGS", tuple(flags))
    monkeypatch.setattr(compiler_flags, "TILE_FLAGS", ("-O1",))
    monkeypatch.setattr(compiler_flags, "LONG_TILE_FLAGS", ("-O1",))
    monkeypatch.setattr(compiler_flags, "LONG_BYTE_TILE_FLAGS", ("-O1",))


@pytest.fixture
def quickest_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels that are compiled as they are written, in a third of the time again."""
    monkeypatch.setattr(compiler_flags, "BASE_FLAGS", ("-O0", *compiler_flags.BASE_FLAGS[1:]))
    monkeypatch.setattr(compiler_flags, "TILE_FLAGS", ("-O0",))
    monkeypatch.setattr(compiler_flags, "LONG_TILE_FLAGS", ("-O0",))
    monkeypatch.setattr(compiler_flags, "LONG_BYTE_TILE_FLAGS", ("-O0",))


@pytest.fixture(autouse=True)
def some_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads share copies from a size on that kernels of unknown sizes are called with less and with more than."""
    monkeypatch.setattr(processor, "SHARE_BYTES", 4 << 10)


@pytest.fixture
def all_shared(some_shared: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads share copies of any size, also those that one of them would have made before."""
    monkeypatch.setattr(processor, "SHARE_BYTES", 0)
