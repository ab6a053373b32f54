"""Upstream MLIR accepts what the last pass leaves: `mlir-opt` verifies it, its own lowering computes the same."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import layout_ir as li

ROOT = Path(__file__).parents[1]
LAYOUT_OPT = Path(sys.executable).with_name("layout-opt")
TO_LLVM = (
    *("--lower-affine", "--convert-scf-to-cf", "--convert-vector-to-llvm", "--expand-strided-metadata"),
    *("--finalize-memref-to-llvm", "--convert-arith-to-llvm", "--convert-index-to-llvm", "--convert-cf-to-llvm"),
    *("--convert-func-to-llvm", "--reconcile-unrealized-casts"),
)
FILES_IN_C = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void fail_unless(int condition) { if (!condition) abort(); }

void read_source(char *allocated, ELEMENT *aligned, int64_t offset, int64_t size, int64_t stride) {
    FILE *file = fopen(getenv("SOURCE"), "rb");
    fail_unless(file != NULL);
    fail_unless(fread(aligned + offset, sizeof(ELEMENT), size, file) == (size_t)size);
    fclose(file);
}

void write_destination(char *allocated, ELEMENT *aligned, int64_t offset, int64_t size, int64_t stride) {
    FILE *file = fopen(getenv("DESTINATION"), "wb");
    fail_unless(file != NULL);
    fail_unless(fwrite(aligned + offset, sizeof(ELEMENT), size, file) == (size_t)size);
    fclose(file);
}
"""
"""What the module calls to get its data: a flat memref arrives as pointer, aligned pointer, offset, size, stride."""


def upstream(name: str) -> str:
    """The path of one of MLIR 19's tools. Without it the test is skipped, or fails in CI, which installs it."""
    path = shutil.which(f"{name}-19")
    if path is None:
        message = f"expected MLIR 19's {name}; on Debian: apt-get install mlir-19-tools"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return path


def output_of(*command: str | Path, text: str | None = None, **environment: str) -> str:
    result = subprocess.run(
        [*command], input=text, capture_output=True, text=True, env={**os.environ, **environment}, timeout=120
    )
    assert result.returncode == 0, result.stderr[:2000]
    return result.stdout


def lowered(path: Path) -> str:
    """The module of a file after the last pass."""
    return output_of(LAYOUT_OPT, path, "-p", "layout-lower")


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.mlir")), ids=lambda path: path.stem)
def test_upstream_verifies_the_lowered_examples(path: Path):
    text = lowered(path)
    assert "layout." not in text
    accepted = output_of(upstream("mlir-opt"), "-", text=text)
    assert "memref.store" in accepted or "vector" in accepted


def with_main(text: str) -> str:
    """A lowered module of one function (source, destination) with a `main` that reads and writes files."""
    match = re.search(r"func\.func @(\w+)\(%\w+: (memref<\w+>)[^,]*, %\w+: (memref<\w+>)", text)
    assert match, text[:500]
    function, source, destination = match.groups()
    end = text.rstrip().rfind("}")
    return f"""{text[:end]}
  func.func private @read_source({source})
  func.func private @write_destination({destination})
  func.func @main() {{
    %source = memref.alloc() : {source}
    %destination = memref.alloc() : {destination}
    func.call @read_source(%source) : ({source}) -> ()
    func.call @{function}(%source, %destination) : ({source}, {destination}) -> ()
    func.call @write_destination(%destination) : ({destination}) -> ()
    func.return
  }}
}}
"""


@pytest.mark.parametrize(
    "example, source, destination, shape",
    [
        ("stem", "NCHW", "openvino:b_fs_yx_fsv16", (1, 3, 224, 224)),
        ("onednn_weights", "OIHW", "onednn:OIhw16i16o", (24, 96, 3, 3)),
    ],
)
def test_upstream_lowering_computes_the_same(
    example: str, source: str, destination: str, shape: tuple[int, ...], tmp_path: Path
):
    mlir_opt, runner = upstream("mlir-opt"), upstream("mlir-cpu-runner")
    shim, library = tmp_path / "files.c", tmp_path / "files.so"
    shim.write_text(FILES_IN_C)
    output_of("cc", "-shared", "-fPIC", "-DELEMENT=float", shim, "-o", library)
    values = np.random.default_rng(0).random(shape, dtype=np.float32)
    values.tofile(tmp_path / "source")

    text = with_main(lowered(ROOT / "examples" / f"{example}.mlir"))
    llvm = output_of(mlir_opt, "-", *TO_LLVM, text=text)
    output_of(
        *(runner, "-", "-e", "main", "--entry-point-result=void", f"--shared-libs={library}"),
        text=llvm,
        SOURCE=str(tmp_path / "source"),
        DESTINATION=str(tmp_path / "destination"),
    )

    index_map = li.layout(destination).index_map(shape, "f32")
    expected = np.zeros(index_map.storage_size, np.float32)
    expected[index_map.offsets()] = values
    assert li.layout(source).index_map(shape, "f32").storage_size == values.size
    np.testing.assert_array_equal(np.fromfile(tmp_path / "destination", np.float32), expected)
