"""`layout-opt` as a user meets it: its messages, its files, and what it costs to start."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ONE_OP = """\
%0 = "test.op"() : () -> tensor<2x3x8x8xf32>
%1 = layout.reorder %0 : tensor<2x3x8x8xf32> to tensor<2x3x8x8xf32, #layout.format<"NHWC">>
"""
OPEN = "func.func private @f(tensor<4xf32, #layout.any>)\n"


def layout_opt(*args: str, text: str = ONE_OP) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "layout_ir.tools.layout_opt", *args]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    "args, text, message",
    [
        (["-p", "layout-resolv"], ONE_OP, "unknown pass 'layout-resolv', .*; did you mean layout-resolve?"),
        (["-p", "layout-resolve{"], ONE_OP, "layout-resolve{"),
        (["-p", "layout-to-buffers{result=allocate}"], ONE_OP, r'\["result"\] not found in expected arguments'),
        (["-p", "layout-to-buffers{results=3}"], ONE_OP, "Incompatible types"),
        (["-p", "layout-to-buffers{results=allocat}"], OPEN, "got 'allocat'; did you mean allocate?"),
        (
            ["-p", "layout-to-loops{vector-bytes=100}"],
            ONE_OP,
            "expected vector-bytes to be one of 0, 16, 32, 64, got 100",
        ),
        (["-p", "layout-resolve"], OPEN, "expected a layout that says where every element lies"),
        (["-t", "mlirr"], ONE_OP, "unknown target 'mlirr', .*; did you mean mlir"),
        (["-t", "c{"], ONE_OP, "c{"),
        (["-t", "c{heading=true}"], ONE_OP, r'c\{heading=true\}: .*\["heading"\] not found in expected .*\["header"\]'),
        (["-t", "c{header=maybe}"], ONE_OP, "c{header=maybe}: Incompatible types"),
        ([], "%0 = layout.reorder", "stdin:1:20"),
        ([], ONE_OP.replace("NHWC", "NHWH"), "expected every dim once"),
        ([], ONE_OP.replace("2x3x8x8xf32, #", "2x3x8x9xf32, #"), "layout.reorder: expected source and destination"),
        ([], '"layout.nothing"() : () -> ()', "layout.nothing"),
        (["missing.mlir"], "", "missing.mlir"),
        ([__file__], "", r"Unrecognized file extension 'py', expected one of \.mlir"),
        (["-o", "/nowhere/at/all.mlir"], ONE_OP, "/nowhere/at/all.mlir"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_message_and_no_traceback(args: list[str], text: str, message: str) -> None:
    result = layout_opt(*args, text=text)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("layout-opt: ")
    assert re.search(message, result.stderr)
    assert "Traceback" not in result.stderr


def test_a_file_that_is_no_text_is_one_message(tmp_path: Path) -> None:
    path = tmp_path / "a.mlir"
    path.write_bytes(b"\xff\xfe\x00")
    result = layout_opt(str(path))
    assert result.returncode == 1
    assert result.stderr.startswith(f"layout-opt: {path}: expected text in UTF-8: ")
    assert "Traceback" not in result.stderr


def test_output_goes_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "out.mlir"
    result = layout_opt("-o", str(path), "-p", "layout-resolve")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert path.read_text() == layout_opt("-p", "layout-resolve").stdout


def test_an_error_leaves_the_output_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "out.mlir"
    good_then_bad = ONE_OP + "// -----\n" + OPEN
    args = ["-o", str(path), "-p", "layout-resolve", "--split-input-file"]
    assert layout_opt(*args, text=good_then_bad).returncode == 1
    assert not path.exists()
    path.write_text("precious")
    assert layout_opt(*args, text=good_then_bad).returncode == 1
    assert path.read_text() == "precious"


def test_diagnostics_are_output_when_asked_for() -> None:
    result = layout_opt(
        "-p", "layout-resolve", "--split-input-file", "--verify-diagnostics", text=OPEN + "// -----\n" + OPEN
    )
    assert result.returncode == 0
    assert result.stdout.count("layout-resolve: expected a layout that says") >= 2
    result = layout_opt("--parsing-diagnostics", text="%0 = layout.reorder")
    assert result.returncode == 0
    assert "operand expected" in result.stdout


def test_a_reader_that_stops_early_is_no_error_message() -> None:
    command = f"{sys.executable} -m layout_ir.tools.layout_opt | head -c 1"
    text = '"test.op"() : () -> ()\n' * 20000
    result = subprocess.run(command, shell=True, input=text, capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in result.stderr


def test_version_names_both_projects() -> None:
    assert re.fullmatch(r"layout-opt \S+, built on xDSL \S+\n", layout_opt("--version").stdout)


def test_plain_xdsl_opt_knows_the_dialect_and_the_passes() -> None:
    command = [sys.executable, "-m", "xdsl.tools.xdsl_opt", "-p", "layout-resolve"]
    result = subprocess.run(command, input=ONE_OP, capture_output=True, text=True, check=False, timeout=60)
    assert result.stdout == layout_opt("-p", "layout-resolve").stdout
    assert "#layout.tiled" in result.stdout


def test_a_checkout_that_is_not_installed_works_too() -> None:
    program = (
        "import importlib.metadata as m; real = m.entry_points\n"
        "m.entry_points = lambda **k: [e for e in real(**k) if e.name != 'layout_ir']\n"
        "from layout_ir.tools.layout_opt import main; raise SystemExit(main(['-p', 'layout-resolve']))"
    )
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, input=ONE_OP, capture_output=True, text=True, check=False, timeout=60)
    assert "#layout.tiled" in result.stdout


HEAVY = ("numpy", "subprocess", "xdsl.interpreters", "xdsl.dialects.arith", "layout_ir.lowering", "layout_ir.backends")


def test_starting_imports_nothing_that_one_operation_does_not_need() -> None:
    program = (
        "import sys; from layout_ir.tools.layout_opt import main; main([])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, input=ONE_OP, capture_output=True, text=True, check=False, timeout=60)
    assert result.stderr == "[]\n"
