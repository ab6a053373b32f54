"""The project's promises about itself: one-way dependencies, lazy imports, small documented files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "layout_ir"
MODULES = sorted(PACKAGE.rglob("*.py"))
SOURCES = sorted(
    path for folder in ("layout_ir", "tests", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.py")
)
LEVELS = {
    "layouts": 0,
    "formats": 1,
    "dialects": 2,
    "lowering": 3,
    "interpreter": 3,
    "backends": 4,
    "runtime": 5,
    "api": 6,
    "explanation": 6,
    "universe": 6,
    "tools": 7,
}
"""A folder, or file beside the folders, imports from its own level or below."""

COMMON = {"errors", "_version"}
"""What every folder may import."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports_of(path: Path) -> set[str]:
    """The modules that a file imports anywhere, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}: relative import"
            module = str(node.module)
            names.add(module)
            names.update(f"{module}.{alias.name}" for alias in node.names)
    return names


def loaded_by(statement: str) -> set[str]:
    """The modules in a fresh Python after `statement`."""
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


# -- dependencies ------------------------------------------------------------------------------------------------------


def test_every_folder_has_a_level():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= set(LEVELS)


@pytest.mark.parametrize("path", [path for path in MODULES if path.parent != PACKAGE], ids=name_of)
def test_dependencies_run_one_way(path: Path):
    level = LEVELS[path.relative_to(PACKAGE).parts[0]]
    for name in imports_of(path):
        package, *parts = name.split(".")
        if package == "layout_ir" and parts and parts[0] not in COMMON:
            assert parts[0] in LEVELS, f"{name_of(path)} imports {name}, which stands above it"
            assert LEVELS[parts[0]] <= level, f"{name_of(path)} imports {name}, which stands above it"


@pytest.mark.parametrize("path", sorted((PACKAGE / "layouts").glob("*.py")), ids=name_of)
def test_layouts_know_affine_maps_and_no_other_part_of_the_ir(path: Path):
    assert not [name for name in imports_of(path) if name.startswith("xdsl") and not name.startswith("xdsl.ir.affine")]


def test_the_interpreter_shares_no_code_with_the_plan():
    reference = PACKAGE / "interpreter" / "reference.py"
    assert not [name for name in imports_of(reference) if re.search(r"plan|refine|lowering", name)]


# -- lazy imports ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", ["layout_ir", "layout_ir.universe", "layout_ir.tools.layout_opt"])
def test_start_up_imports_nothing_heavy(module: str):
    loaded = loaded_by(f"import {module}")
    assert not loaded & {"numpy", "xdsl.interpreters", "difflib"}


def test_importing_the_package_does_not_import_xdsl():
    assert "xdsl" not in loaded_by("import layout_ir")


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_files_are_short_and_documented(path: Path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 400
    assert not text.strip() or ast.get_docstring(ast.parse(text)), "expected a docstring that says what the file is for"


TEXTS = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", ROOT / "Makefile", ROOT / ".ci" / "run"]


@pytest.mark.parametrize("path", [*SOURCES, *TEXTS], ids=name_of)
def test_nothing_depends_on_where_it_was_written(path: Path):
    places = re.findall(r"(?<![\w.}])/(?:home|root|work|Users)/\S+", path.read_text(encoding="utf-8"))
    assert not places


# -- packaging ---------------------------------------------------------------------------------------------------------


def test_base_dependencies_are_xdsl_and_numpy():
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert sorted(re.split(r"[=<>]", dependency)[0] for dependency in dependencies) == ["numpy", "xdsl"]
