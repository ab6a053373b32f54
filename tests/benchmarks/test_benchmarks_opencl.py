"""The benchmark of devices runs and checks what it measures. Times are not looked at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from opencl_support import working_device

ROOT = Path(__file__).parents[2]


def run(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.opencl", "--quick", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_one_case_is_right_on_the_device():
    device = working_device()
    result = run("--case", "^nchw -> nChw8c, C = 35 f16", "--dtype", "f16")
    assert result.returncode == 0, result.stdout + result.stderr
    assert device.name.strip() in result.stdout
    assert "WRONG" not in result.stdout
    assert "geometric mean of 1 cases" in result.stdout


@pytest.mark.parametrize(
    "options, message",
    [(["--case", "no such case"], "no case's name has 'no such case' in it"), (["--device", "no such"], "'no such'")],
)
def test_mistakes_are_messages(options: list[str], message: str):
    working_device()
    result = run(*options)
    assert result.returncode == 2
    assert message in result.stderr
