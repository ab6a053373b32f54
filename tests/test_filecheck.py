"""Runs the FileCheck tests below `tests/filecheck` and shows lit's own report where one fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FILECHECK = Path(__file__).parent / "filecheck"


def test_filecheck(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lit.main", "-v", "-j2", str(FILECHECK)]
    environment = {**os.environ, "LIT_EXEC_ROOT": str(tmp_path)}
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
