"""Adding a vendor touches one new file and one line of the registry: the diff in the README, applied to a copy."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

MODULE = """
func.func @pack(%x: tensor<1x3x6x2xf32>) -> tensor<1x3x6x2xf32, #layout.format<"toy:rows4">> {
  %y = layout.reorder %x : tensor<1x3x6x2xf32> to tensor<1x3x6x2xf32, #layout.format<"toy:rows4">>
  func.return %y : tensor<1x3x6x2xf32, #layout.format<"toy:rows4">>
}
"""


def block(language: str, start: str) -> str:
    """The text of the README's one block that starts like this."""
    (found,) = re.findall(rf"^```{language}\n({start}.*?)^```", README, re.DOTALL | re.MULTILINE)
    return str(found)


DIFF = block("diff", "diff --git")
SESSION = block("python", "# with the diff applied")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package to which the diff has been applied."""
    folder = tmp_path_factory.mktemp("vendor")
    shutil.copytree(ROOT / "layout_ir", folder / "layout_ir", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["git", "apply", "-"], input=DIFF, text=True, cwd=folder, check=True)
    return folder


def run(copy: Path, *arguments: str, text: str = "") -> str:
    """What a fresh Python prints that imports the copy."""
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    result = subprocess.run(
        [sys.executable, *arguments], input=text, cwd=copy, env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_diff_is_one_new_file_and_one_line():
    hunks = re.split(r"^diff --git .*\n", DIFF, flags=re.MULTILINE)[1:]
    new_file, registry = hunks
    assert new_file.startswith("new file")
    changed = [line for line in registry.splitlines() if re.match(r"[-+](?![-+])", line)]
    assert "layout_ir/formats/registry.py" in registry
    assert changed == ['+    "toy": "layout_ir.formats.toy",']


def test_the_copy_is_what_runs(copy: Path):
    printed = run(copy, "-c", "import layout_ir; print(layout_ir.__file__)")
    assert Path(printed.strip()).is_relative_to(copy)


def test_the_session_prints_what_is_shown(copy: Path):
    (copy / "session.txt").write_text(SESSION, encoding="utf-8")
    assert run(copy, "-m", "doctest", "session.txt") == ""


def test_the_new_format_parses_resolves_and_compiles_from_ir(copy: Path):
    (copy / "pack.mlir").write_text(MODULE, encoding="utf-8")
    resolved = run(copy, "-m", "layout_ir.tools.layout_opt", "pack.mlir", "-p", "layout-resolve")
    assert "(d0, d2 floordiv 4, d1, d3, d2 mod 4)" in resolved
    assert "void pack(" in run(copy, "-m", "layout_ir.tools.layout_opt", "pack.mlir", "-t", "c")


def test_the_new_names_are_listed_and_obey_the_laws(copy: Path):
    code = """
import layout_ir as li
for name in li.formats("toy"):
    index_map = li.layout(name).index_map((5, 17, 3, 2))
    assert index_map.is_injective()
    assert index_map.inverse() is not None
    print(name)
"""
    assert run(copy, "-", text=code).split() == ["toy:rows2", "toy:rows4"]
