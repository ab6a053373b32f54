"""layout-run: data in and out, and one clear message for every mistake."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layout_ir.tools.layout_run import main

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.mlir"))
BLOCKED = "#layout.tiled<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYOUT_IR_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))
    monkeypatch.chdir(tmp_path)


def pack(element: str = "f32", pad: str = "", source: str = "", destination: str = BLOCKED, name: str = "pack") -> str:
    left = f"tensor<2x5x{element}{source and ', ' + source}>"
    right = f"tensor<2x5x{element}, {destination}>"
    return (
        f"func.func @{name}(%x: {left}) -> {right} {{\n  %y = layout.reorder %x {pad} : {left} to {right}\n"
        f"  func.return %y : {right}\n}}\n"
    )


CASES = {
    "pads": pack(),
    "another pad": pack(pad="pad = 2.5 : f32"),
    "unwritten pads": pack(pad="pad = undef"),
    "gaps": pack(destination="strided<[8, 1], offset: 3>"),
    "from blocks": pack(source=BLOCKED, destination='#layout.format<"CN">'),
    "half floats": pack("bf16"),
    "bytes": pack("ui8", "pad = 200 : ui8"),
    "booleans": pack("i1"),
    "buffers": f"""func.func @copy(%x: memref<2x5xf64>, %y: memref<2x5xf64, {BLOCKED}>) {{
        layout.copy %x, %y : memref<2x5xf64> to memref<2x5xf64, {BLOCKED}>
        func.return
    }}""",
    "two functions and a call": pack(name="inner")
    + f"""func.func @outer(%x: tensor<2x5xf32>) -> (tensor<2x5xf32, {BLOCKED}>, tensor<2x5xf32>) {{
        %y = func.call @inner(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32, {BLOCKED}>
        %z = layout.reorder %y : tensor<2x5xf32, {BLOCKED}> to tensor<2x5xf32>
        func.return %y, %z : tensor<2x5xf32, {BLOCKED}>, tensor<2x5xf32>
    }}""",
    "what goes in comes out": f"""func.func @same(%x: tensor<2x5xf32, {BLOCKED}>) -> tensor<2x5xf32, {BLOCKED}> {{
        func.return %x : tensor<2x5xf32, {BLOCKED}>
    }}""",
}


@pytest.mark.parametrize("name", CASES)
def test_made_data(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.mlir").write_text(CASES[name])
    assert main(["a.mlir", "--repeat", "1"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == CASES[name].count("func.func")
    assert all("GB/s; equals the interpreter" in line and "made data (seed 0)" in line for line in out.splitlines())
    assert err == ""


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(path), "--repeat", "1"]) == 0
    assert "equals the interpreter" in capsys.readouterr().out


X = np.arange(10, dtype=np.float32).reshape(2, 5)
PACKED = np.zeros((2, 2, 4), np.float32)
PACKED[0], PACKED[1, :, 0] = X[:, :4], X[:, 4]


@pytest.mark.parametrize("given", ["x.npy", "flat.npy", "named.npz", "unnamed.npz"])
def test_input_and_output(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.mlir").write_text(pack())
    np.save("x.npy", X)
    np.save("flat.npy", np.asfortranarray(X.ravel()))
    np.savez("named.npz", x=X)
    np.savez("unnamed.npz", X)
    assert main(["a.mlir", "--input", given, "--output", "y.npy", "--repeat", "0"]) == 0
    y = np.load("y.npy")
    assert y.dtype == np.float32
    assert (y == PACKED).all()
    assert capsys.readouterr().out == (
        f"pack: 2x5 f32: row-major -> tiled<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>, {given}: "
        "40 B read + 64 B written; equals the interpreter\n"
    )


@pytest.mark.parametrize(
    "layout, shape",
    [("", (10,)), ("", (1, 2, 5)), ("", (2, 1, 5, 1)), ('#layout.format<"CN">', (5, 2)), (BLOCKED, (2, 2, 4))],
)
def test_shapes_of_input_files(layout: str, shape: tuple[int, ...]) -> None:
    Path("a.mlir").write_text(pack(source=layout, destination="strided<[5, 1]>"))
    np.save("x.npy", np.zeros(shape, np.float32))
    assert main(["a.mlir", "--input", "x.npy", "--repeat", "0"]) == 0


def test_a_result_without_elements_is_an_output() -> None:
    Path("a.mlir").write_text(pack().replace("2x5", "0x5"))
    assert main(["a.mlir", "--output", "y.npy"]) == 0
    assert np.load("y.npy").shape == (0, 0, 0)


def test_several_inputs_and_outputs() -> None:
    Path("a.mlir").write_text(
        "func.func @swap(%a: tensor<2x5xf32>, %b: tensor<3xi8>) -> (tensor<3xi8>, tensor<2x5xf32>) {\n"
        "func.return %b, %a : tensor<3xi8>, tensor<2x5xf32> }"
    )
    b = np.array([1, 2, 3], np.int8)
    np.savez("by_name.npz", b=b, a=X)
    np.save("a.npy", X)
    np.save("b.npy", b)
    assert main(["a.mlir", "--input", "by_name.npz", "--output", "y.npz"]) == 0
    assert main(["a.mlir", "--input", "a.npy", "--input", "b.npy", "--output", "y0.npy", "--output", "y1.npy"]) == 0
    with np.load("y.npz") as archive:
        assert (archive["result0"] == b).all()
        assert (archive["result1"] == X).all()
    assert (np.load("y0.npy") == b).all()
    assert (np.load("y1.npy") == X).all()


def test_a_buffer_that_is_written_may_be_given() -> None:
    Path("a.mlir").write_text(CASES["buffers"])
    np.save("x.npy", X.astype(np.float64))
    np.save("y.npy", np.full(16, 7.0))
    assert main(["a.mlir", "--input", "x.npy", "--output", "out.npy"]) == 0
    assert main(["a.mlir", "--input", "x.npy", "--input", "y.npy", "--output", "out.npz"]) == 0
    assert (np.load("out.npy") == PACKED).all()
    assert (np.load("out.npz")["y"] == PACKED).all()


def test_made_data_depends_on_the_seed_only() -> None:
    Path("a.mlir").write_text(pack())
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert main(["a.mlir", "--seed", seed, "--output", f"{name}.npy", "--repeat", "0"]) == 0
    a, b, c = (Path(f"{name}.npy").read_bytes() for name in "abc")
    assert a == b
    assert a != c


def test_options(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.mlir").write_text(pack() + pack(name="other"))
    assert main(["a.mlir", "--function", "other", "--no-check", "--print-c", "--threads", "2", "--repeat", "3"]) == 0
    out = capsys.readouterr().out
    assert "void other(const float *restrict" in out
    assert out.splitlines()[-1].startswith("other: 2x5 f32: row-major -> ")
    assert "(median of 3)" in out
    assert out.endswith("; not checked\n")


def test_tune(capsys: pytest.CaptureFixture[str]) -> None:
    turned = 'tensor<40x48xf32, #layout.format<"CN">>'
    Path("a.mlir").write_text(
        f"func.func @turn(%x: tensor<40x48xf32>) -> {turned} {{\n"
        f"  %y = layout.reorder %x : tensor<40x48xf32> to {turned}\n  func.return %y : {turned}\n}}\n"
    )
    assert main(["a.mlir", "--tune", "--repeat", "1"]) == 0
    first, result = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"turn: (\d+ schedules measured: .* cost model's.*|there is only one schedule)", first)
    assert result.endswith("equals the interpreter")
    assert main(["a.mlir", "--tune", "--explain", "--print-c", "--repeat", "0"]) == 0
    out = capsys.readouterr().out
    assert "void turn(" in out
    assert "turn: memref<40x48xf32" in out
    if "only one" not in first:
        assert re.search(r"^turn: \d+ schedules measured before: ", out, re.MULTILINE)
        (chosen,) = (line for line in out.splitlines() if line.endswith("(chosen)"))
        assert re.match(r" +[\d.]+ GB/s  layout-lower\{vector_bytes=\d+", chosen)


ERRORS: dict[str, tuple[str, list[str], str]] = {
    "missing file": ("", ["b.mlir"], "cannot read b.mlir: No such file"),
    "a folder": ("", ["."], "cannot read .: Is a directory"),
    "not text": ("", ["x.npy"], "cannot read x.npy: expected text in UTF-8"),
    "unparsable": ("func.func @f(", ["a.mlir"], "a.mlir:1:1"),
    "unknown operation": ("module { nothing.at_all }", ["a.mlir"], "nothing.at_all"),
    "unknown format": (pack(destination='#layout.format<"NCH">'), ["a.mlir"], "expected a shape of rank 3"),
    "misspelt format": (pack(destination='#layout.format<"onednn:nChw16">'), ["a.mlir"], "did you mean nChw16c"),
    "not verified": (pack(destination="strided<[1, 1]>"), ["a.mlir"], "expected a destination with a place of its own"),
    "size that no argument has": (pack(), ["a.mlir", "--sizes", "n=3"], "--sizes: expected sizes for unknown extents"),
    "size of no dim": (
        pack().replace("2x5", "?x5"),
        ["a.mlir", "--sizes", "n=3"],
        "--sizes: expected sizes among d0, got 'n'",
    ),
    "no such function": (pack(), ["a.mlir", "--function", "pak"], "no function 'pak', expected one of: pack; did you"),
    "private function": (
        pack().replace("@pack", "private @pack"),
        ["a.mlir", "--function", "pack"],
        "pack: expected a public function",
    ),
    "no function": ("module {}", ["a.mlir"], "a.mlir: expected a public function with a body, got none"),
    "no layouts": (
        "func.func @f(%i: index) -> index { func.return %i : index }",
        ["a.mlir"],
        "i: expected a tensor or a memref, got index",
    ),
    "nothing written": (
        "func.func @f(%x: memref<4xf32>) { func.return }",
        ["a.mlir"],
        "f: expected a function that writes to a buffer or returns a tensor, got neither",
    ),
    "no C name": (pack(name="int"), ["a.mlir"], "expected a function name that is not reserved, got 'int'"),
    "no element of a byte": (pack("i4"), ["a.mlir"], "expected an element type of whole bytes, got i4"),
    "several functions": (
        pack() + pack(name="other"),
        ["a.mlir", "--input", "x.npy"],
        "expected --function with --input and --output, as there are several: pack, other",
    ),
    "target": (pack(), ["a.mlir", "--target", "cc"], "unknown target 'cc', expected c"),
    "schedules of a device": (
        pack(),
        ["a.mlir", "--tune", "--target", "opencl"],
        "expected --tune with --target c alone, got it with --target opencl",
    ),
    "schedules for unknown sizes": (
        pack().replace("2x5", "?x5"),
        ["a.mlir", "--tune"],
        "pack: expected sizes for d0, as schedules are measured on buffers of the real sizes, got none for d0",
    ),
    "missing input": (pack(), ["a.mlir", "--input", "no.npy"], "cannot read no.npy: No such file"),
    "input that is no array": (pack(), ["a.mlir", "--input", "a.mlir"], "cannot read a.mlir: expected a .npy or .npz"),
    "empty input": (pack(), ["a.mlir", "--input", "empty.npy"], "cannot read empty.npy: expected a .npy or .npz"),
    "objects": (pack(), ["a.mlir", "--input", "objects.npy"], "cannot read objects.npy: expected a .npy or .npz"),
    "too many inputs": (
        pack(),
        ["a.mlir", "--input", "x.npy", "--input", "x.npy"],
        "expected 1 input arrays (x), got 2",
    ),
    "shape": (
        pack(),
        ["a.mlir", "--input", "long.npy"],
        "pack: long.npy for x: expected 10 elements, shaped [2, 5] or flat, got [11]",
    ),
    "logical shape": (
        pack(source='#layout.format<"CN">'),
        ["a.mlir", "--input", "x.npy"],
        "pack: x.npy for x: expected the storage, shaped [5, 2] or flat, got an array of the logical shape [2, 5]",
    ),
    "as many elements in another shape": (
        pack(),
        ["a.mlir", "--input", "turned.npy"],
        "pack: turned.npy for x: expected an array shaped [2, 5] or flat, got [5, 2]",
    ),
    "a storage that nothing can hold": (
        pack(destination="strided<[1, 1]>").replace("2x5", "2305843009213693952x1"),
        ["a.mlir"],
        "expected a storage of less than 2^63 bytes, got 9223372036854775808",
    ),
    "dtype": (
        pack(),
        ["a.mlir", "--input", "double.npy"],
        "pack: double.npy for x: expected elements of float32 (f32), got float64",
    ),
    "bf16": (
        pack("bf16"),
        ["a.mlir", "--input", "x.npy"],
        "expected elements of uint16 or bfloat16 (bf16), got float32",
    ),
    "output suffix": (pack(), ["a.mlir", "--output", "y.txt"], "cannot write y.txt: expected a name that ends in .npy"),
    "output folder": (pack(), ["a.mlir", "--output", "no/y.npy"], "cannot write no/y.npy: expected an existing folder"),
    "output is a folder": (pack(), ["a.mlir", "--output", "d.npy"], "cannot write d.npy: expected a file name in a"),
    "too many outputs": (
        pack(),
        ["a.mlir", "--output", "y.npy", "--output", "z.npy"],
        "expected 1 output files (result) or one .npz for all, got 2",
    ),
    "not interpretable": (
        "func.func @f(%x: memref<1xi8>) {\n%c = arith.constant 0 : index\n%v = arith.constant 1 : i8\n"
        "memref.store %v, %x[%c] : memref<1xi8>\nfunc.return }",
        ["a.mlir"],
        "f: cannot be checked (--no-check runs it all the same): expected operations of layout and func",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text, args, message = ERRORS[name]
    Path("a.mlir").write_text(text)
    np.save("x.npy", X)
    np.save("long.npy", np.zeros(11, np.float32))
    np.save("turned.npy", X.reshape(5, 2))
    np.save("double.npy", X.astype(np.float64))
    np.save("objects.npy", np.array([None]), allow_pickle=True)
    Path("empty.npy").touch()
    Path("d.npy").mkdir()
    before = sorted(os.listdir())
    assert main(args) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("layout-run: ")
    assert message in err
    assert sorted(os.listdir()) == before


def test_a_message_shows_the_operation_at_fault_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.mlir").write_text(pack(name="right") + pack(name="wrong", destination="strided<[1, 1]>"))
    assert main(["a.mlir"]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("layout-run: layout.reorder: expected a destination with a place of its own")
    assert second.startswith('  %y = "layout.reorder"(%x)')


def test_missing_compiler(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.mlir").write_text(pack())
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    assert main(["a.mlir"]) == 1
    assert "found none; install one" in capsys.readouterr().err


def test_an_output_that_cannot_be_finished_leaves_the_old_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.mlir").write_text(pack())
    Path("y.npy").write_text("precious")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    assert main(["a.mlir", "--output", "y.npy"]) == 1
    assert "cannot write y.npy: No space left on device" in capsys.readouterr().err
    assert Path("y.npy").read_text() == "precious"
    assert sorted(os.listdir()) == ["a.mlir", "y.npy"]


def test_as_a_program_it_reads_the_standard_input() -> None:
    program = Path(sys.executable).with_name("layout-run")
    command: list[Any] = [program] if program.exists() else [sys.executable, "-m", "layout_ir.tools.layout_run"]
    result = subprocess.run([*command, "-"], input=pack(), capture_output=True, text=True, check=True)
    assert "equals the interpreter" in result.stdout
    failed = subprocess.run([*command, "none.mlir"], capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stderr) == (1, "layout-run: cannot read none.mlir: No such file or directory\n")
