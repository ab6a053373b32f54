"""Runs the FileCheck tests below `tests/filecheck` and shows lit's own report where one fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FILECHECK = Path(__file__).parent / "filecheck"


def test_filecheck(tmp_path: Path) -> None:
    # lit has no __main__, and `-m lit.main` only defines functions: it would succeed without a test
    command = [sys.executable, "-c", "from lit.main import main; main()", "-v", "-j2", str(FILECHECK)]
    environment = {**os.environ, "LIT_EXEC_ROOT": str(tmp_path)}
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Passed" in result.stdout, result.stdout + result.stderr
