"""Configuration of the FileCheck tests; `lit -j2 tests/filecheck` runs them."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import lit.formats

config: Any  # lit puts it there
config = globals()["config"]
_HERE = Path(__file__).parent

config.name = "layout_ir"
config.test_source_root = str(_HERE)
config.test_exec_root = os.environ.get("LIT_EXEC_ROOT") or tempfile.mkdtemp(prefix="layout_ir_lit_")
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.environment["PYTHONPATH"] = str(_HERE.parents[1])
config.environment["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
config.substitutions += [
    ("layout-opt", f"{sys.executable} -m layout_ir.tools.layout_opt"),
    ("layout-run", f"{sys.executable} -m layout_ir.tools.layout_run"),
]
