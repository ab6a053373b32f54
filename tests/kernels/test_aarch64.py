"""The same C text on another architecture: cross-compiled for aarch64 and run under qemu."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from random_pairs import random_reorder
from reorder_batch import Reorder
from self_checking_program import self_check
from varied_reorders import STREAMED, VARIED, VECTOR_VARIANTS, WITHOUT_BYTES, Variant

RANDOM = tuple(random_reorder(seed) for seed in range(1000, 1040))


def needed(program: str) -> str:
    """The path of a tool of Debian's. Without it the test is skipped, or fails in CI, which installs it."""
    path = shutil.which(program)
    if path is None:
        message = (
            f"expected {program} on PATH, found none; on Debian: "
            "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
        )
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.mark.parametrize(
    "reorders, variants",
    [
        ((*VARIED, *RANDOM), (Variant(0), Variant(16))),
        (WITHOUT_BYTES, VECTOR_VARIANTS[1:2]),
        (STREAMED, VECTOR_VARIANTS[3:]),
    ],
    ids=["native vectors", "wider vectors", "streaming"],
)
def test_aarch64(reorders: tuple[Reorder, ...], variants: tuple[Variant, ...], tmp_path: Path) -> None:
    compiler, emulator = needed("aarch64-linux-gnu-gcc"), needed("qemu-aarch64")
    flags = ("-O1", "-std=gnu11", "-static", "-Wall", "-Wextra", "-Werror", "-Wno-psabi")
    self_check((compiler, *flags), (emulator,), reorders, variants, tmp_path, guard=256)
