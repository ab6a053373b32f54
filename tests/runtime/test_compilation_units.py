"""Long texts are compiled in several units at once, which together are the text."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import layout_ir as li
from layout_ir.backends.c_vocabulary import OUTLINED
from layout_ir.errors import LayoutError
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.target import Target
from layout_ir.runtime import compilation, compiler_flags
from layout_ir.runtime.compilation_units import LEAST_CHARACTERS, compilation_units
from layout_ir.runtime.compiler import find_compiler
from layout_ir.runtime.compiler_flags import SHUFFLE
from layout_ir.runtime.module import lower_to_c

SHAPE = (None, 64, None, None)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOUT_IR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LAYOUT_IR_VECTOR_BYTES", "64")


@pytest.fixture
def source() -> str:
    return li.compile_reorder("NCHW", "NHWC", shape=SHAPE, dtype="i8").source


def definitions(text: str) -> list[str]:
    """The names of the functions that a text defines."""
    return re.findall(r"^(?!static inline)(?:\w.*)?void (\w+)\([^;{]*\) \{$", text, re.MULTILINE)


@pytest.mark.parametrize("processors", [2, 3, 64])
def test_every_function_is_defined_in_one_unit(source: str, processors: int) -> None:
    units = compilation_units(source, processors)
    assert 1 < len(units) <= processors
    assert len(source) >= LEAST_CHARACTERS * len(units)
    assert sorted(name for unit in units for name in definitions(unit)) == sorted(definitions(source))
    assert not any(OUTLINED in unit for unit in units)
    assert all(unit.startswith(source.partition(OUTLINED)[0]) for unit in units)


def test_what_is_short_or_one_function_is_left_whole(source: str) -> None:
    assert compilation_units(source, 1) == [source]
    known = li.compile_reorder("NCHW", "NHWC", shape=(2, 64, 56, 56), dtype="f32").source
    short = li.compile_reorder("NCHW", "NHWC", shape=(None, 4, 8, 8), dtype="f32").source
    for text in (known, short, "void nothing(void) {\n}\n"):
        assert compilation_units(text, 8) == [text]


def test_public_functions_in_front_are_defined_once(source: str) -> None:
    shared, mark, rest = source.partition(f"\n{OUTLINED}")
    front = "void first(float *x) {\n  *x = 0;\n}\n"
    units = compilation_units(f"{shared}\n{front}{mark}{rest}", 2)
    assert len(units) == 2
    assert [unit.count(front) for unit in units] == [0, 1]
    assert sorted(name for unit in units for name in definitions(unit)) == sorted([*definitions(source), "first"])


def test_long_loops_of_known_sizes_are_two_units() -> None:
    module = reorder_module(li.layout("oihw"), li.layout("onednn:OIhw16i16o"), (1376, 1360, 3, 3), "f32")
    _, long = lower_to_c(module, Target(vector_bytes=64, panels=True))
    assert definitions(long) == ["reorder_0", "reorder_1", "reorder"]
    first, second = compilation_units(long, 2)
    assert {*definitions(first), *definitions(second)} == {"reorder_0", "reorder_1", "reorder"}
    assert 0.8 < len(first) / len(second) < 1.25


def compiled(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processors: int) -> list[str]:
    """The files that compilers are called with, one call after the other."""
    calls: list[str] = []
    run = compilation._run

    def logged(command: tuple[str, ...]) -> tuple[int, str]:
        calls.append(" ".join(Path(word).name for word in command if Path(word).suffix in (".c", ".o")))
        return run(command)

    monkeypatch.setattr(compilation, "_run", logged)
    monkeypatch.setattr(compilation, "processors", lambda: processors)
    text = tmp_path / "kernel.c"
    text.write_text(source)
    flags = compiler_flags.wanted_flags(source, threads=False)
    compilation.compile_library(find_compiler(), text, tmp_path / "kernel.so", flags)
    assert (tmp_path / "kernel.so").exists()
    return calls


def test_units_are_compiled_each_and_linked(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    *units, link = compiled(source, tmp_path, monkeypatch, 2)
    assert sorted(units) == ["kernel.0.c kernel.0.o", "kernel.1.c kernel.1.o"]
    assert link == "kernel.0.o kernel.1.o"


def test_one_processor_compiles_one_text(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled(source, tmp_path, monkeypatch, 1) == ["kernel.c"]


def outlined(name: str, body: str) -> str:
    """A long function that was outlined."""
    return f"\n{OUTLINED}void {name}(int x) {{\n  /* {'long ' * LEAST_CHARACTERS} */\n  {body}\n}}\n"


def test_functions_that_several_units_may_call_are_in_none_alone() -> None:
    parts = outlined("first", "called(x);") + outlined("second", "(void)x;")
    called = "static void called(int x) {\n  (void)x;\n}\n"
    whole = "\nvoid whole(int x) {\n  first(x);\n  second(x);\n}\n"
    assert [called in unit for unit in compilation_units(called + parts + whole, 2)] == [True, True]
    behind = f"static void called(int x);\n{parts}\n{called}{whole}"
    assert compilation_units(behind, 2) == [behind]


def test_what_fails_in_parts_is_compiled_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    behind = (
        outlined("first", "(void)x;")
        + "\n#define BEHIND 1\nvoid between(void) {\n}\n"
        + outlined("second", "x = BEHIND;")
    )
    assert len(compilation_units(behind, 2)) == 2
    assert compiled(behind, tmp_path, monkeypatch, 2)[-1] == "kernel.c"


def test_errors_are_those_of_the_whole_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = outlined("first", "x += BEHIND;") + "\n#define BEHIND 1\n" + outlined("second", "x += BEHIND;")
    with pytest.raises(LayoutError, match=r"(?s)kernel\.c.*BEHIND"):
        compiled(text, tmp_path, monkeypatch, 2)


@pytest.mark.parametrize("processors", [1, 4])
def test_the_kernel_is_the_same(monkeypatch: pytest.MonkeyPatch, processors: int) -> None:
    monkeypatch.setattr(compilation, "processors", lambda: processors)
    kernel = li.compile_reorder("NCHW", "NHWC", shape=SHAPE, dtype="i8")
    for batch, height, width in ((1, 3, 5), (2, 7, 7), (3, 33, 31), (1, 130, 67)):
        source = np.random.default_rng(0).integers(-128, 128, (batch, 64, height, width), np.int8)
        destination = np.empty((batch, height, width, 64), np.int8)
        kernel(source, destination, sizes=(batch, height, width))
        np.testing.assert_array_equal(destination, source.transpose(0, 2, 3, 1))


def test_long_tiles_are_compiled_apart_where_that_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six long tiles that take as long as others of half the length, and others that are in the last unit."""
    long = f"{SHUFFLE});\n" * compiler_flags.LONG_TILE_SHUFFLES
    tiles = "".join(outlined(f"long_{number}", long) for number in range(6))
    others = "".join(outlined(f"other_{number}", f"{SHUFFLE});") for number in range(3))
    whole = "\nvoid whole(int x) {\n  long_0(x);\n}\n"
    first, second = compilation_units(tiles + others + whole, 2)
    assert definitions(first) == [f"long_{number}" for number in range(6)]
    assert definitions(second) == [*(f"other_{number}" for number in range(3)), "whole"]
    flags = compiler_flags.wanted_flags(tiles + others + whole, threads=False)
    assert compiler_flags.flags_of_unit(first, flags) == compiler_flags.wanted_flags(tiles, threads=False)
    assert "-Og" in compiler_flags.flags_of_unit(first, flags)
    assert compiler_flags.flags_of_unit(second, flags) == flags == compiler_flags.flags_of_unit(whole, flags)
    for small in ("i8x32", "u8x64", "u16x16"):  # which would be half as fast
        assert compiler_flags.flags_of_unit(tiles.replace(SHUFFLE, f"({small}){SHUFFLE}"), flags) == flags
    sized = tiles.replace("(int x)", "(const int8_t *restrict source, int64_t n)")
    for registers in (64, 32):
        monkeypatch.setattr(compiler_flags, "register_bytes", lambda: registers)  # noqa: B023 - called in this turn
        of_bytes = compiler_flags.flags_of_unit(sized.replace(SHUFFLE, f"(i8x64){SHUFFLE}"), flags)
        assert ("-fexpensive-optimizations" in of_bytes) == (registers == 32)
        assert "-O1" in of_bytes
        assert of_bytes[-1] == flags[-1]
    # no unit is empty, however many there may be
    short = f"\n{OUTLINED}void short(int x) {{\n  {SHUFFLE});\n}}\n"
    for processors in range(2, 9):
        assert all(map(definitions, compilation_units(tiles + short + whole, processors)))
