"""Kernels that another process has asked for are found without anything being planned or compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import layout_ir as li
from layout_ir import api
from layout_ir.layouts.index_map import IndexMap
from layout_ir.lowering import build
from layout_ir.runtime import kept_kernels, module
from layout_ir.runtime import kernel as kernel_module
from layout_ir.runtime.kept_kernels import Request
from layout_ir.runtime.sized_kernel import SizedKernel

REQUEST = Request(li.layout("NCHW"), li.layout("onednn:nChw16c"), (2, 5, 3, 4), li.element_type("f32"), None, 0)
UNKNOWN = replace(REQUEST, shape=(None, 5, None, 4))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAYOUT_IR_CACHE", str(tmp_path))
    forget()
    return tmp_path


def forget() -> None:
    """What this process has asked for so far, as if it were another one."""
    api._compiled.cache_clear()  # pyright: ignore[reportPrivateUsage]


def asked_for(request: Request) -> li.Kernel:
    return li.compile_reorder(
        request.source,
        request.destination,
        shape=request.shape,
        dtype=request.element,
        threads=request.threads,
        pad=request.pad,
    )


def plan_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("expected a kernel that was kept")

    monkeypatch.setattr(build, "reorder_module", refuse)


@pytest.mark.parametrize("threads", [None, 2])
def test_a_kernel_is_found_as_it_was(threads: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    request = replace(REQUEST, threads=threads)
    first = asked_for(request)
    forget()
    plan_nothing(monkeypatch)
    again = asked_for(request)
    assert again is not first
    assert (again.name, again.arguments, again.source) == (first.name, first.arguments, first.source)
    values = np.arange(first.arguments[0].size, dtype=np.float32)
    results = [kernel(values, np.ones(first.arguments[1].size, np.float32)) for kernel in (first, again)]
    assert np.array_equal(*results)


def test_a_kernel_for_all_sizes_is_found_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    first = asked_for(UNKNOWN)
    forget()
    plan_nothing(monkeypatch)
    again = asked_for(UNKNOWN)
    assert isinstance(first, SizedKernel)
    assert isinstance(again, SizedKernel)
    assert again.size_names == first.size_names == ("n", "h")
    assert repr(again) == repr(first)
    for sizes in ((2, 3), (0, 3), (17, 1)):
        kernels = first.at(sizes), again.at(sizes)
        assert kernels[0].arguments == kernels[1].arguments
        values = np.arange(kernels[0].arguments[0].size, dtype=np.float32)
        results = [kernel(values, np.ones(kernel.arguments[1].size, np.float32)) for kernel in kernels]
        assert np.array_equal(*results)
    with pytest.raises(li.LayoutError, match="source: expected a buffer of at least 120 elements, got 60"):
        again(np.zeros(60, np.float32), np.zeros(500, np.float32), sizes=(2, 3))


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, source=li.layout("NHWC", dims="NCHW")),
        replace(REQUEST, destination=li.layout("onednn:nChw8c")),
        replace(REQUEST, source=li.StridedLayout((60, 12, 4, 1))),
        replace(REQUEST, shape=(2, 5, 4, 3)),
        replace(REQUEST, shape=(2, 5, 3, None)),
        replace(REQUEST, element=li.element_type("i32")),
        replace(REQUEST, threads=2),
        replace(REQUEST, threads=3),
        replace(REQUEST, pad=None),
        replace(REQUEST, pad=-0.0),
        replace(REQUEST, pad=1),
        replace(REQUEST, pad=2**60 + 1),
    ],
    ids=str,
)
def test_nothing_else_is_found(other: Request) -> None:
    kernel = asked_for(REQUEST)
    found = REQUEST.find()
    assert found is not None
    assert found.source == kernel.source
    assert other.find() is None


@pytest.mark.parametrize("variable, value", [("LAYOUT_IR_VECTOR_BYTES", "0"), ("LAYOUT_IR_PROCESSOR", "zen-4")])
def test_other_settings_are_another_request(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked_for(REQUEST)
    monkeypatch.setenv(variable, value)
    assert REQUEST.find() is None


def test_another_package_or_compiler_keeps_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked_for(REQUEST)
    with monkeypatch.context() as patch:
        patch.setattr(kept_kernels, "package_state", lambda: "a file was changed")
        assert REQUEST.find() is None
    compiler = tmp_path / "cc"
    compiler.write_text('#!/bin/sh\nexec gcc "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    assert REQUEST.find() is None


@pytest.mark.parametrize(
    "ending, text",
    [
        (".so", None),
        (".c", None),
        *((".json", text) for text in (None, "", "{", "[]", "{}", '{"library": 3}', "[" * 10**5)),
    ],
)
def test_what_is_damaged_is_made_again(
    ending: str, text: str | None, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for(REQUEST)
    forget()
    monkeypatch.setattr(kernel_module, "_loaded", {})
    (path,) = own_cache.glob(f"*{ending}")
    path.unlink()
    if text is not None:
        path.write_text(text)
    if ending != ".so":  # which the system's loader remembers
        assert REQUEST.find() is None
    kernel = asked_for(REQUEST)
    assert REQUEST.find() is not None
    values = np.arange(kernel.arguments[0].size, dtype=np.float32)
    expected = li.reorder(values.reshape(2, 5, 3, 4), "NCHW", "onednn:nChw16c")
    assert np.array_equal(kernel(values, np.ones(kernel.arguments[1].size, np.float32)), expected.reshape(-1))


class Own(li.Layout):
    """A layout of somebody else's."""

    @property
    def rank(self) -> int:
        return 4

    def index_map(self, shape: Sequence[int], dtype: object = "f32") -> IndexMap:
        return li.layout("NHWC").index_map(shape, dtype)

    def __str__(self) -> str:
        return "own"


def test_layouts_of_others_are_not_kept() -> None:
    request = replace(REQUEST, destination=Own())
    request.keep(asked_for(REQUEST))
    assert request.find() is None


def test_a_kernel_that_cannot_be_kept_is_one_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, text: str) -> None:
        raise li.LayoutError(f"cannot write to the kernel cache {path.parent}: No space left on device")

    monkeypatch.setattr(kept_kernels.libraries, "keep_text", refuse)
    assert asked_for(REQUEST).name == "reorder"
    assert REQUEST.find() is None


class Rounded(float):
    """A number whose text is that of others too."""

    def __repr__(self) -> str:
        return f"{self:.1f}"


def test_pads_are_what_they_are_not_what_they_look_like() -> None:
    asked_for(replace(REQUEST, pad=Rounded(0.121)))
    assert replace(REQUEST, pad=0.121).find() is not None
    assert replace(REQUEST, pad=Rounded(0.124)).find() is None


def test_what_a_changed_package_made_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_kernels, "state_of_package", lambda: "a file was changed after it was imported")
    asked_for(REQUEST)
    assert REQUEST.find() is None


def test_loops_for_a_compiler_that_failed_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_for = module.compile_for

    def fail_with_vectors(*arguments: Any) -> list[li.Kernel]:
        if arguments[2].vector_bytes:
            raise li.LayoutError("the C compiler was killed")
        return compile_for(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(module, "compile_for", fail_with_vectors)
        scalar = asked_for(REQUEST)
    forget()
    assert REQUEST.find() is None
    assert asked_for(REQUEST).source != scalar.source


def test_without_a_compiler_what_is_wrong_with_the_request_is_said_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(li.LayoutError, match="expected a C compiler"):
        asked_for(REQUEST)
    with pytest.raises(li.LayoutError, match="rank"):
        asked_for(replace(REQUEST, shape=(2, 5, 3)))


def test_threads_are_checked() -> None:
    asked_for(replace(REQUEST, threads=2))
    forget()
    with pytest.raises(li.LayoutError, match="expected a number of threads that is not negative, got -1"):
        asked_for(replace(REQUEST, threads=-1))
