"""The main job on real input: `make demo` runs every step below with `layout-run` and says how it went."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAYOUT_RUN = Path(sys.executable).with_name("layout-run")


@dataclass(frozen=True)
class Step:
    """One reorder: a module, the data it runs on, and a line that says what it does."""

    module: str
    data: str
    says: str


STEPS = (
    Step("stem.mlir", "photo.npz", "photograph, NCHW -> OpenVINO's b_fs_yx_fsv16: 3 channels padded to 16"),
    Step(
        "ascend_activations.mlir", "photo.npz", "photograph, NCHW -> Ascend's NC1HWC0: the same cells by another name"
    ),
    Step("mace_image.mlir", "photo.npz", "photograph, NCHW -> MACE's channel-major image: one RGBA pixel each, A = 0"),
    Step("onednn_weights.mlir", "neck_filter.npy", "3x3 filters, OIHW -> oneDNN's OIhw16i16o: 24 outputs padded to 32"),
    Step("ascend_weights.mlir", "neck_filter.npy", "3x3 filters, OIHW -> Ascend's FRACTAL_Z: 16 x 16 fractals"),
)


def run(step: Step) -> bool:
    """Run one step and show the tool's own report; whether it compiled, ran and equalled the interpreter."""
    arguments = [f"examples/{step.module}", "--input", f"examples/data/{step.data}"]
    print(f"\n{step.says}\n$ layout-run {' '.join(arguments)}", flush=True)
    return subprocess.run([LAYOUT_RUN, *arguments], cwd=ROOT).returncode == 0


def main() -> int:
    """Run all steps; 0 if every one succeeded."""
    print(
        f"{len(STEPS)} IR files, each with one reorder, become C kernels that run on a photograph and on the filters\n"
        "of a text detector; every result is compared bit for bit with the numpy interpreter."
    )
    succeeded = sum(run(step) for step in STEPS)
    print(f"\n{succeeded} of {len(STEPS)} kernels compiled, ran and equal the interpreter.")
    print(
        "See one stage by stage: .venv/bin/layout-opt examples/stem.mlir -p layout-resolve   (or -t c for the C text)"
    )
    return 0 if succeeded == len(STEPS) else 1


if __name__ == "__main__":
    raise SystemExit(main())
