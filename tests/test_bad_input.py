"""A user's mistakes, from end to end: one clear message, exit code 1, no traceback, no half-written file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import layout_ir as li
from layout_ir.tools import layout_opt, layout_run

OPT, RUN = layout_opt.main, layout_run.main
PRECIOUS = b"an older result"


def reorder(destination: str, shape: str = "1x3x8x8", element: str = "f32", name: str = "pack") -> str:
    """A function that reorders from row-major to a layout."""
    plain, packed = f"tensor<{shape}x{element}>", f"tensor<{shape}x{element}, {destination}>"
    return (
        f"func.func @{name}(%x: {plain}) -> {packed} {{\n"
        f"  %y = layout.reorder %x : {plain} to {packed}\n  func.return %y : {packed}\n}}\n"
    )


def named(name: str, options: str = "") -> str:
    return f'#layout.format<"{name}"{options}>'


# what is wrong: the text, what the message says
TEXTS: dict[str, tuple[str, str]] = {
    "rank": (reorder(named("openvino:b_fs_zyx_fsv16")), "expected a shape of rank 5 (b, f, z, y, x), got rank 4"),
    "rank of a grouped name": (reorder(named("onednn:gOIhw16i16o")), "expected a shape of rank 5"),
    "unknown name": (reorder(named("openvino:b_fs_yx_fsv61x")), "did you mean b_fs_yx_fsv16"),
    "unknown tag": (reorder(named("onednn:nChw16")), "did you mean nChw16c"),
    "unknown Ascend name": (reorder(named("ascend:FRACTAL_ZX")), "did you mean FRACTAL_Z"),
    "unknown MACE name": (reorder(named("mace:IN_OUT_CHANEL")), "did you mean IN_OUT_CHANNEL"),
    "unknown cuDNN name": (reorder(named("cudnn:NCHW_VECT_C_4")), "did you mean NCHW_VECT_C4"),
    "unknown system": (reorder(named("onedn:nChw16c")), "unknown system 'onedn', expected one of"),
    "two numbers of NC/xHWx": (reorder(named("cudnn:NC/32HW16")), "expected the same number as in front, 32,"),
    "dims": (reorder(named("ascend:NC1HWC0", ', dims = "NCHX"')), "expected dims to be an order of NCHW, got 'NCHX'"),
    "dims too short": (reorder(named("NCHW", ', dims = "NCH"')), "expected dims to be an order of NCHW, got 'NCH'"),
    "no such option": (reorder(named("NCHW", ", c0 = 16")), "expected dims, got the option 'c0'"),
    "no C0": (
        reorder(named("ascend:NC1HWC0"), element="ui2"),
        "for which the host rule gives a C0, got u2 of 2; give the option c0",
    ),
    "groups": (reorder(named("ascend:FRACTAL_Z", ", groups = 0")), "expected groups to be positive, got 0"),
    "too large": (
        reorder(named("onednn:nChw16c"), "1099511627776x8x1048576x8"),
        "expected a storage of less than 2^63",
    ),
    "too large by its pads": (
        reorder(
            "#layout.tiled<(d0) -> (d0 floordiv 4611686018427387904, d0 mod 4611686018427387904)>",
            "4611686018427387905",
        ),
        "expected a storage of less than 2^63 elements",
    ),
    "negative": (reorder(named("NCHW"), "1x-3x8x8"), "Expected shape type"),
    "dynamic": (
        reorder(
            "#layout.tiled<(d0, d1, d2, d3) -> (d0, (d1 * 8 + d2) floordiv 4, d3, (d1 * 8 + d2) mod 4)>", "1x?x8x8"
        ),
        "expected a size that is known for dim d1",
    ),
    "overlap": (reorder("strided<[4, 2, 1, 1]>"), "expected a destination with a place of its own for every element"),
    "broadcast": (
        reorder("strided<[0, 64, 8, 0]>"),
        "expected a destination with a place of its own for every element",
    ),
    "overlapping tiles": (
        reorder("#layout.tiled<(d0, d1, d2, d3) -> (d0, d1 mod 2, d2, d3)>"),
        "expected a destination with a place of its own for every element",
    ),
    "open": (reorder("#layout.any"), "expected a layout that says where every element lies"),
    "a name for C": (
        reorder(named("NHWC"), name="double"),
        "expected a function name that is not reserved, got 'double'",
    ),
    "two sizes": (reorder(named("NHWC")).replace("-> tensor<1x3", "-> tensor<1x4"), "1x4x8x8"),
}


@dataclass(frozen=True)
class Result:
    """What a call of a tool left behind."""

    returncode: int
    stdout: str
    stderr: str


Call = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, in which results of an earlier run lie."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAYOUT_IR_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))
    for name in ("out.npy", "out.c"):
        (tmp_path / name).write_bytes(PRECIOUS)
    return tmp_path


@pytest.fixture
def call(folder: Path, capfd: pytest.CaptureFixture[str]) -> Call:
    """`call(tool, args...)` in this process, where every exception that gets out of the tool fails the test."""

    def run(tool: Callable[[Sequence[str]], int], *args: str) -> Result:
        status = tool(args)
        return Result(status, *capfd.readouterr())

    return run


def check_refused(result: Result, message: str, folder: Path) -> None:
    assert result.returncode == 1, result.stderr
    assert result.stdout == ""
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stderr.count("expected") <= 3, result.stderr
    assert all(path.read_bytes() == PRECIOUS for path in folder.glob("out.*"))
    assert {path.name for path in folder.iterdir()} <= {"a.mlir", "x.npy", "out.npy", "out.c", "cache"}


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name: str, folder: Path, call: Call) -> None:
    text, message = TEXTS[name]
    (folder / "a.mlir").write_text(text)
    check_refused(call(OPT, "a.mlir", "-t", "c", "-o", "out.c"), message, folder)


@pytest.mark.parametrize("name", ["rank", "unknown name", "no C0", "too large", "dynamic", "overlap", "a name for C"])
def test_texts_that_are_to_be_run(name: str, folder: Path, call: Call) -> None:
    text, message = TEXTS[name]
    (folder / "a.mlir").write_text(text)
    check_refused(call(RUN, "a.mlir", "--output", "out.npy"), message, folder)


@pytest.mark.parametrize(
    "array, message",
    [
        (np.zeros((1, 3, 8, 9), np.float32), "expected 192 elements, shaped [1, 3, 8, 8] or flat, got [1, 3, 8, 9]"),
        (np.zeros((1, 3, 8, 8)), "expected elements of float32 (f32), got float64"),
        (np.zeros((1, 3, 8, 8), np.complex64), "expected elements of float32 (f32), got complex64"),
        (np.zeros(0, np.float32), "expected 192 elements, shaped [1, 3, 8, 8] or flat, got [0]"),
    ],
    ids=["shape", "dtype", "no dtype of ours", "nothing"],
)
def test_arrays(array: np.ndarray, message: str, folder: Path, call: Call) -> None:
    (folder / "a.mlir").write_text(reorder(named("NHWC")))
    np.save(folder / "x.npy", array)
    check_refused(call(RUN, "a.mlir", "--input", "x.npy", "--output", "out.npy"), message, folder)


def test_an_output_that_cannot_be_written(folder: Path, call: Call) -> None:
    (folder / "a.mlir").write_text(reorder(named("NHWC")))
    check_refused(call(RUN, "a.mlir", "--output", "no/such/y.npy"), "cannot write no/such/y.npy", folder)
    check_refused(call(OPT, "a.mlir", "-o", "no/such/y.mlir"), "no/such/y.mlir", folder)


def test_without_a_compiler(folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.mlir").write_text(reorder(named("NHWC")))
    args = ("a.mlir", "--output", "out.npy")
    with monkeypatch.context() as patch:
        patch.delenv("CC", raising=False)
        patch.setenv("PATH", str(folder / "nothing"))
        check_refused(call(RUN, *args), "expected a C compiler (cc, gcc or clang) on PATH", folder)
    monkeypatch.setenv("CC", "/nonexistent")
    message = "expected the environment variable CC to name a C compiler, got '/nonexistent'"
    check_refused(call(RUN, *args), message, folder)
    assert call(OPT, "a.mlir", "-t", "c").returncode == 0  # text needs no compiler


def test_a_compiler_that_fails(folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.mlir").write_text(reorder(named("NHWC")))
    monkeypatch.setenv("CC", "false")
    monkeypatch.setenv("LAYOUT_IR_CACHE", str(folder / "cache"))
    result = call(RUN, "a.mlir", "--output", "out.npy")
    check_refused(result, "the C compiler failed (exit status 1): ", folder)


@pytest.mark.parametrize(
    "tool, args",
    [("layout_opt", ["-t", "c", "-o", "out.c"]), ("layout_run", ["--output", "out.npy"])],
)
def test_as_programs(tool: str, args: list[str], folder: Path) -> None:
    text, message = TEXTS["unknown name"]
    (folder / "a.mlir").write_text(text)
    command = [sys.executable, "-m", f"layout_ir.tools.{tool}", "a.mlir", *args]
    environment = {**os.environ, "PYTHONPATH": str(Path(li.__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)
    check_refused(Result(done.returncode, done.stdout, done.stderr), message, folder)


INJECTIONS = [
    "f(void) { return; } int evil",
    "f; #include </etc/passwd>",
    "f*/ int evil; /*",
    "f\\n#define x y",
    'f\\"',
    "f??/",
    "füße",
    " ",
    "",
    "9lives",
    "f-g",
    "f.g",
]


@pytest.mark.parametrize("name", INJECTIONS)
def test_names_never_become_c_text(name: str, folder: Path, call: Call) -> None:
    (folder / "a.mlir").write_text(reorder(named("NHWC")).replace("@pack", f'@"{name}"'))
    message = "c: expected a function name of ASCII letters, digits and '_', not a digit first, got "
    check_refused(call(OPT, "a.mlir", "-t", "c", "-o", "out.c"), message, folder)
    check_refused(call(RUN, "a.mlir", "--output", "out.npy"), message, folder)


@pytest.mark.parametrize("name", ["int", "x.y", "$", "_", "x$y", "restrict", "main", "for-", "size_t", "uint8_t"])
def test_names_of_values_are_only_hints(name: str, folder: Path, call: Call) -> None:
    (folder / "a.mlir").write_text(reorder(named("NHWC"), element="ui8").replace("%x", f"%{name}"))
    result = call(OPT, "a.mlir", "-t", "c")
    assert result.returncode == 0, result.stderr
    assert compiles(result.stdout, folder), result.stdout


def compiles(source: str, folder: Path) -> bool:
    (folder / "t.c").write_text(source)
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-c", "t.c", "-o", "t.o"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: li.layout("onednn:nChw16c").index_map((1, 3, 8)), "expected a shape of rank 4"),
        (lambda: li.layout("openvino:b_fs_yx_fsv61x"), "did you mean b_fs_yx_fsv16"),
        (lambda: li.layout("ascend:NC1HWC0", dims="NCHX"), "expected dims to be an order of NCHW"),
        (lambda: li.layout("ascend:NC1HWC0").index_map((1, 3, 8, 8), "u1"), "ascend:NC1HWC0: expected an element of"),
        (lambda: li.layout("onednn:nChw16c").index_map((1 << 40, 8, 1 << 20, 8)), r"less than 2\^63 elements"),
        (lambda: li.layout("NCHW").index_map((1, -3, 8, 8)), "expected sizes that are known and not negative"),
        (lambda: li.reorder(np.zeros((2, 3)), "NC", "CN", shape=(3, 3)), "expected 9 elements"),
        (lambda: li.reorder(np.zeros((2, 3), complex), "NC", "CN"), "unknown element type 'complex128'"),
        (lambda: li.formats("onedn"), "unknown system 'onedn'"),
    ],
)
def test_the_api_says_the_same(make: Callable[[], object], message: str) -> None:
    with pytest.raises(li.LayoutError, match=message):
        make()
