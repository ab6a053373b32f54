"""Kernels on oclgrind's simulator: right, without data races, and within their buffers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from opencl_support import program, require

from layout_ir.errors import LayoutError
from layout_ir.runtime.opencl_devices import pyopencl

SUPPORT = Path(__file__).parents[1] / "support"
STEP = 1 if os.environ.get("LAYOUT_IR_TESTS") == "all" else 23


def run(tmp_path: Path, *command: str, vector_bytes: int = 0) -> tuple[subprocess.CompletedProcess[str], str]:
    """A Python program under oclgrind, and what oclgrind found."""
    oclgrind = program("oclgrind")
    try:
        pyopencl()
    except LayoutError as error:
        require(False, str(error))
    log = tmp_path / "oclgrind.log"
    paths = os.pathsep.join([str(SUPPORT), str(SUPPORT.parents[1])])
    environment = {**os.environ, "LAYOUT_IR_CACHE": str(tmp_path / "cache"), "PYTHONPATH": paths}
    environment["LAYOUT_IR_VECTOR_BYTES"] = str(vector_bytes)
    environment.pop("LAYOUT_IR_OPENCL_DEVICE", None)
    result = subprocess.run(
        [oclgrind, "--data-races", "--log", str(log), sys.executable, *command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    return result, log.read_text() if log.exists() else ""


@pytest.mark.parametrize("vector_bytes", [0, 16, 64])
def test_every_family_is_right_and_clean(tmp_path: Path, vector_bytes: int) -> None:
    program = str(SUPPORT / "run_under_oclgrind.py")
    result, found = run(tmp_path, program, str(STEP + vector_bytes // 8), vector_bytes=vector_bytes)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "images: " in result.stdout
    assert not found.strip(), found[:4000]


BROKEN = """
import numpy as np
from layout_ir.runtime.opencl_devices import choose_device
from layout_ir.runtime.opencl_program import build
import pyopencl as cl
device = choose_device()
context = cl.Context([device])
queue = cl.CommandQueue(context)
program = build(context, device, "__kernel void f(__global int *p) {{ p[{index}] = get_global_id(0); }}")
program.f(queue, (4,), None, cl.Buffer(context, cl.mem_flags.READ_WRITE, 16))
queue.finish()
"""


@pytest.mark.parametrize("index, what", [("get_global_id(0) + 1", "Invalid write"), ("0", "data race")])
def test_oclgrind_finds_what_it_looks_for(tmp_path: Path, index: str, what: str) -> None:
    _, found = run(tmp_path, "-c", BROKEN.format(index=index))
    assert what in found
