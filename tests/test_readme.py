"""The README is true: its targets, tools and files exist, and what it shows is what its commands and examples print."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from opencl_support import working_device

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIGURES = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
BLOCKS: list[str] = re.findall(r"^```[a-z]*\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
TRANSCRIPTS = [block for block in BLOCKS if block.startswith("$ ")]
SPEED = re.compile(r"[\d.]+ [num]?s \(median of \d+\), [\d.]+ GB/s")


def test_make_targets_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"^make ([a-z-]+)", "\n".join(BLOCKS), re.MULTILINE))
    assert {"demo", "test"} <= named
    assert named <= targets


def test_tools_exist():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    named = {block.split()[1] for block in TRANSCRIPTS}
    assert {"layout-opt", "layout-run"} <= named
    assert named <= set(scripts)


@pytest.mark.parametrize("text, least", [(README, 10), (FIGURES, 0)], ids=["README", "benchmarks"])
def test_files_exist(text: str, least: int):
    names = re.findall(r"(?<![\w/])(?:examples|benchmarks|tests|layout_ir)/[\w./-]*\w", text)
    assert len(names) > least
    assert [name for name in names if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda block: block.splitlines()[0])
def test_commands_print_what_is_shown(transcript: str):
    command, shown = transcript.removeprefix("$ ").split("\n", 1)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        command, shell=True, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PATH": path}
    )
    assert result.returncode == 0, result.stderr
    assert SPEED.sub("SPEED", result.stdout).strip() == SPEED.sub("SPEED", shown).strip()


def test_python_examples_print_what_is_shown():
    check_examples("")


def test_python_examples_on_a_device_print_what_is_shown():
    working_device()
    check_examples("# on an OpenCL device\n")


def check_examples(head: str) -> None:
    examples = "\n".join(block.removeprefix(head) for block in BLOCKS if block.startswith(f"{head}>>> "))
    test = doctest.DocTestParser().get_doctest(examples, {}, "README.md", "README.md", 0)
    report: list[str] = []
    results = doctest.DocTestRunner().run(test, out=report.append)
    assert results.attempted > 5
    assert results.failed == 0, "".join(report)
