"""
Start-up time: `layout-opt` on a file with one reorder against `xdsl-opt` on an empty module.

The two commands run in turn, so that what disturbs the machine disturbs both; the medians and their ratio are printed.
The ratio is what the project promises: at most 1.3. Run `python benchmarks/startup.py [RUNS]`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

RUNS = 15
PROMISED_RATIO = 1.3
BINARIES = Path(sys.executable).parent
ONE_OP = """\
func.func @pack(%x: tensor<1x3x224x224xf32, #layout.format<"NCHW">>) {
  %y = layout.reorder %x
    : tensor<1x3x224x224xf32, #layout.format<"NCHW">>
    to tensor<1x3x224x224xf32, #layout.format<"openvino:b_fs_yx_fsv16">>
  func.return
}
"""


def seconds(command: list[str]) -> float:
    """Wall-clock time of one run; raises `CalledProcessError` if it fails."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def measure(commands: dict[str, list[str]], runs: int) -> dict[str, float]:
    """Median seconds of every command over `runs` interleaved runs, after one run each that is not counted."""
    for command in commands.values():
        seconds(command)  # writes the byte code and warms the file cache
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            times[name].append(seconds(command))
    return {name: median(values) for name, values in times.items()}


def main() -> None:
    """Print both medians and their ratio."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    with tempfile.TemporaryDirectory() as folder:
        empty, one_op = Path(folder, "empty.mlir"), Path(folder, "one_op.mlir")
        empty.write_text("builtin.module {}\n")
        one_op.write_text(ONE_OP)
        commands = {
            "xdsl-opt, empty module": [str(BINARIES / "xdsl-opt"), str(empty)],
            "layout-opt, one reorder": [str(BINARIES / "layout-opt"), str(one_op)],
        }
        medians = measure(commands, runs)
    print(f"start-up, median of {runs} interleaved runs")
    for name, value in medians.items():
        print(f"  {name:24} {value * 1000:6.0f} ms")
    theirs, ours = medians.values()
    print(f"  {'ratio':24} {ours / theirs:6.2f}    (promised: at most {PROMISED_RATIO})")


if __name__ == "__main__":
    main()
