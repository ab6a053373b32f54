"""
Compile time: modules of 10, 100 and 1,000 different reorders through the whole pipeline, from text to C.

Linear means that the time of one reorder stays level; it is the processor's, which other programs do not disturb.
Run `python benchmarks/pipeline_scaling.py [COUNT ...]`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from layout_ir.tools.layout_opt import LayoutOptMain

COUNTS = (10, 100, 1000)
DESTINATIONS = (
    "openvino:b_fs_yx_fsv16",
    "onednn:nChw8c",
    "ascend:NC1HWC0",
    "cudnn:NC/4HW4",
    "NHWC",
    "openvino:bs_fs_yx_bsv16_fsv16",
)


def module_text(count: int) -> str:
    """A module of `count` functions, each with one reorder; shapes and destinations vary."""
    return "\n".join(function_text(index) for index in range(count))


def function_text(index: int) -> str:
    """One function with one reorder, whose shape is a block multiple, a block and a half, or smaller than a block."""
    shape = f"{1 + index % 3}x{(3, 32, 24, 17)[index % 4]}x{7 + index % 50}x{8 + index % 9}xf32"
    source = f'tensor<{shape}, #layout.format<"NCHW">>'
    destination = f'tensor<{shape}, #layout.format<"{DESTINATIONS[index % len(DESTINATIONS)]}">>'
    return (
        f"func.func @reorder{index}(%x: {source}) -> {destination} {{\n"
        f"  %y = layout.reorder %x : {source} to {destination}\n"
        f"  func.return %y : {destination}\n"
        f"}}"
    )


def compile_to_c(text: str) -> str:
    """The C text of a module: parse, verify, lower and print, as `layout-opt -t c` does."""
    with tempfile.TemporaryDirectory() as folder:
        module, code = Path(folder, "module.mlir"), Path(folder, "module.c")
        module.write_text(text)
        LayoutOptMain(args=[str(module), "-t", "c", "-o", str(code)]).run()
        return code.read_text()


def main() -> None:
    """Print seconds of the processor and milliseconds per reorder for every count."""
    counts = [int(argument) for argument in sys.argv[1:]] or COUNTS
    compile_to_c(module_text(len(DESTINATIONS)))  # imports
    print(f"{'reorders':>8} {'seconds':>9} {'ms each':>9} {'lines of C':>11}")
    for count in counts:
        text = module_text(count)
        start = time.process_time()
        code = compile_to_c(text)
        elapsed = time.process_time() - start
        print(f"{count:8} {elapsed:9.2f} {elapsed / count * 1000:9.2f} {code.count(chr(10)):11}", flush=True)


if __name__ == "__main__":
    main()
