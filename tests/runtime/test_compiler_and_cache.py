"""Finding the compiler, its failures, and the cache of what it made."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import layout_ir as li
from layout_ir.errors import LayoutError
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.target import Target
from layout_ir.runtime import cache, compilation, compiler, compiler_flags
from layout_ir.runtime.compiler_flags import wanted_flags
from layout_ir.runtime.module import lower_to_c

SOURCE = "void nothing(void) {}\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("LAYOUT_IR_CACHE", str(folder))
    return folder


SCALAR_FLAGS = (*compiler_flags.BASE_FLAGS, compiler_flags.ORDER_FLAG)


def fake_compiler(folder: Path, refused: str = "", log: str = "/dev/null") -> Path:
    """A C compiler that logs its calls and refuses one flag."""
    path = folder / "fake-cc"
    path.write_text(
        f"""#!/bin/sh
echo called >> '{log}'
for word in "$@"; do
  if [ "$word" = "{refused}" ]; then echo "error: unsupported option '$word'" >&2; exit 1; fi
done
exec gcc "$@"
"""
    )
    path.chmod(0o755)
    return path


def test_cc_is_preferred_and_may_have_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", f"{fake_compiler(tmp_path)} -DANSWER=42")
    assert compiler.find_compiler().command == (str(tmp_path / "fake-cc"), "-DANSWER=42")
    assert cache.cached_library("int answer = ANSWER;\n").exists()


def test_missing_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LayoutError, match=r"expected a C compiler \(cc, gcc or clang\).*found none; install one"):
        compiler.find_compiler()
    monkeypatch.setenv("CC", "no-such-compiler -m64")
    with pytest.raises(LayoutError, match="environment variable CC to name a C compiler, got 'no-such-compiler -m64'"):
        compiler.find_compiler()


def test_failure_shows_command_and_reason(own_cache: Path) -> None:
    with pytest.raises(LayoutError, match=r"(?s)the C compiler failed \(exit status 1\): .*-O3.*kernel\.c.*error:"):
        cache.cached_library("this is not C\n")
    assert list(own_cache.iterdir()) == []  # nothing half made stays


@pytest.mark.parametrize(
    "refused, threads, expected",
    [
        ("-march=native", False, SCALAR_FLAGS),
        ("-march=native", True, (*SCALAR_FLAGS, "-fopenmp")),
        ("-fopenmp", True, (*SCALAR_FLAGS, "-march=native")),
        (compiler_flags.ORDER_FLAG, False, (*compiler_flags.BASE_FLAGS, "-march=native")),
        ("", False, (*SCALAR_FLAGS, "-march=native")),
    ],
)
def test_flags_that_a_compiler_refuses_are_left_out(
    refused: str, threads: bool, expected: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", str(fake_compiler(tmp_path, refused)))
    source = tmp_path / "x.c"
    source.write_text(SOURCE)
    flags = wanted_flags(SOURCE, threads)
    taken = compilation.compile_library(compiler.find_compiler(), source, tmp_path / "x.so", flags)
    assert taken == expected


@pytest.mark.parametrize(
    "refused",
    ["", compiler_flags.STACK_FLAG, "-march=native", compiler_flags.LOOPS_FLAG, compiler_flags.REGISTERS_FLAG],
)
def test_a_flag_for_one_vendor_is_left_out_if_it_is_refused(
    refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler_flags, "processor", lambda: "AuthenticAMD")
    monkeypatch.setenv("CC", str(fake_compiler(tmp_path, refused)))
    source = tmp_path / "x.c"
    source.write_text("void f(int *restrict x,\n    int64_t n) { x[n] = 0; }\n".replace("int64_t", "long"))
    flags = wanted_flags("void f(int *restrict x,\n    int64_t n) { x[n] = 0; }\n", threads=True)
    of_sizes = {compiler_flags.STACK_FLAG, compiler_flags.LOOPS_FLAG, compiler_flags.REGISTERS_FLAG}
    assert of_sizes <= set(flags)
    taken = compilation.compile_library(compiler.find_compiler(), source, tmp_path / "x.so", flags)
    assert set(flags) - set(taken) <= {refused, compiler_flags.STACK_FLAG}
    assert (refused in flags) == (refused in set(flags) - set(taken))
    assert not of_sizes & set(wanted_flags(SOURCE, threads=False))
    monkeypatch.setattr(compiler_flags, "processor", lambda: "GenuineIntel")
    assert compiler_flags.STACK_FLAG not in wanted_flags("f(int *restrict x,\n    int64_t n)", threads=False)


def shuffles(number: int) -> str:
    """Straight-line code with so many shuffles."""
    return "a = __builtin_shufflevector(a, b, 0, 1);\n" * number


def test_a_compiler_leaves_the_order_of_shuffles_alone() -> None:
    none, few = (f"void f(void) {{\n{shuffles(number)}}}\n" for number in (0, 1))
    assert {"-O3", compiler_flags.ORDER_FLAG} < set(wanted_flags(none, threads=False))
    tile_flags = compiler_flags.TILE_FLAGS
    assert wanted_flags(none + few, threads=False)[: len(tile_flags)] == tile_flags


def test_texts_in_which_vectors_are_only_copied_are_compiled_as_tiles() -> None:
    """They name shuffles for compilers that have none, which makes no tile of these lines."""
    named = '#error "expected __builtin_shufflevector"\nvoid f(void) {\n}\n'
    assert wanted_flags(named, threads=False)[: len(compiler_flags.TILE_FLAGS)] == compiler_flags.TILE_FLAGS
    assert "-Og" in wanted_flags(named + f"void g(void) {{\n{shuffles(200)}}}\n", threads=False)


def test_a_compiler_does_little_where_all_tiles_are_long() -> None:
    none, few, many = (f"void f(void) {{\n{shuffles(number)}}}\n" for number in (0, 1, 200))
    assert "-Og" in wanted_flags(none + many * 2, threads=False)
    assert wanted_flags(few + many, threads=False) == wanted_flags(few, threads=False)


@pytest.mark.parametrize("number", [1, 200])
@pytest.mark.parametrize("refused", [*compiler_flags.LEFT_OUT, "-fmove-loop-invariants"])
def test_a_compiler_may_not_know_what_can_be_left_out(
    refused: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", str(fake_compiler(tmp_path, refused)))
    source = tmp_path / "x.c"
    source.write_text(f"void f(void) {{}}\n/*\n{shuffles(number)}*/\n")
    wanted = wanted_flags(source.read_text(), threads=False)
    taken = compilation.compile_library(compiler.find_compiler(), source, tmp_path / "x.so", wanted)
    assert taken == tuple(flag for flag in wanted if flag != refused)
    assert (refused in wanted) == ((refused in compiler_flags.LEFT_OUT) == (number == 1))


def test_great_many_addresses_are_reckoned_as_they_are_written() -> None:
    many, most = (f"void f(void) {{\n{shuffles(number)}}}\n" for number in (200, 1200))
    assert "-fno-ivopts" not in wanted_flags(many * 9, threads=False)
    assert "-fno-ivopts" in wanted_flags(many + most, threads=False)


@pytest.mark.parametrize("chosen, team", [("", None), ("3", 3), ("5,2", 5), (" 4 ", 4), ("0", None), ("many", None)])
def test_a_team_is_as_large_as_openmp_makes_it(chosen: str, team: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", chosen)
    assert compiler.team_of(0) == (team or compiler.processors())
    assert compiler.team_of(7) == 7


@pytest.mark.parametrize("shape", [(2, 64, 12, 16), (None, 64, 12, 16), (None, 64, None, None)])
def test_distances_of_unknown_sizes_are_reckoned_as_they_are_written(shape: tuple[int | None, ...]) -> None:
    module = reorder_module(li.layout("NCHW"), li.layout("NHWC"), shape, "f32")
    _, source = lower_to_c(module, Target(64))
    assert ("-fno-ivopts" in wanted_flags(source, threads=False)) == (None in shape)


def test_a_hit_does_not_call_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "calls"
    monkeypatch.setenv("CC", str(fake_compiler(tmp_path, log=str(log))))
    first = cache.cached_library(SOURCE)
    assert cache.cached_library(SOURCE) == first
    assert log.read_text().count("called") == 1
    assert first.with_suffix(".c").read_text() == SOURCE
    cache.cached_library(SOURCE, refresh=True)
    assert log.read_text().count("called") == 2


def test_key_has_source_flags_and_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", str(fake_compiler(tmp_path)))
    libraries = [
        cache.cached_library(SOURCE),
        cache.cached_library(SOURCE + "\n"),
        cache.cached_library(SOURCE, threads=True),
    ]
    later = time.time() + 10
    os.utime(tmp_path / "fake-cc", (later, later))  # as a new version of the compiler would
    libraries.append(cache.cached_library(SOURCE))
    monkeypatch.setattr(cache, "processor", lambda: "another processor")
    libraries.append(cache.cached_library(SOURCE))
    assert len(set(libraries)) == 5


@pytest.mark.parametrize(
    "environment, expected",
    [
        ({"LAYOUT_IR_CACHE": "{tmp}/own"}, "{tmp}/own"),
        ({"LAYOUT_IR_CACHE": "", "XDG_CACHE_HOME": "{tmp}/xdg"}, "{tmp}/xdg/layout_ir"),
        ({"LAYOUT_IR_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "{tmp}/home"}, "{tmp}/home/.cache/layout_ir"),
        ({"LAYOUT_IR_CACHE": "", "XDG_CACHE_HOME": "relative", "HOME": "{tmp}/home"}, "{tmp}/home/.cache/layout_ir"),
    ],
)
def test_folder(environment: dict[str, str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value.format(tmp=tmp_path))
    assert cache.cache_folder() == Path(expected.format(tmp=tmp_path))


def test_unwritable_folder_falls_back_to_a_temporary_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("LAYOUT_IR_CACHE", str(tmp_path / "file" / "cache"))
    library = cache.cached_library(SOURCE)
    assert library.exists()
    assert tmp_path not in library.parents
    assert cache.cached_library(SOURCE) == library


def test_two_processes_compile_at_once(own_cache: Path) -> None:
    program = (
        "import ctypes; from layout_ir.runtime.cache import cached_library\n"
        "for i in range(3):\n"
        "    path = cached_library(f'int answer(void) {{ return {i}; }}')\n"
        "    assert ctypes.CDLL(str(path)).answer() == i\n"
    )
    processes = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    assert sorted(path.suffix for path in own_cache.iterdir()) == [".c"] * 3 + [".so"] * 3
