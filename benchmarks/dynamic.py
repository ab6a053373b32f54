"""
`python -m benchmarks.dynamic`: kernels for unknown extents against those for known ones, interleaved.

A ratio of 1 means that not knowing the sizes costs nothing; over 1, that the kernel for all sizes is the faster one.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
from collections.abc import Sequence
from functools import partial

import numpy as np

import layout_ir as li
from benchmarks.buffers import SENTINEL, allocate
from benchmarks.contestants import Contestant, looped
from benchmarks.harness import evict, set_threads
from benchmarks.measure import Effort, Samples, measure
from layout_ir.layouts.element_type import element_type
from layout_ir.runtime.sized_kernel import SizedKernel

PAIRS = (
    ("NCHW", "NHWC"),
    ("NHWC", "NCHW"),
    ("NCHW", "onednn:nChw16c"),
    ("onednn:nChw16c", "NCHW"),
    ("NHWC", "onednn:nChw16c"),
    ("NCHW", "ascend:NC1HWC0"),
)

IMAGES = ((128, 128), (56, 56), (113, 111), (75, 75), (37, 37), (28, 28), (14, 14), (7, 7))
"""
Heights and widths: whole lines, whole lines of f32, odd ones, those of which a block of channels is about as large as a
first level cache, and images of which caches hold several.
"""

SIZES = {"small": 32 << 10, "in": 1 << 20, "between": 8 << 20, "out": 64 << 20}
"""Bytes of a tensor that is no work for threads, of one in the caches, in those far away alone, and out of them."""

EFFORT = Effort(rounds=15, sample_seconds=0.003, opponent_seconds=math.inf)


def image(text: str) -> tuple[int, int]:
    """Height and width that are written as `28x28`; raises `ValueError` for anything else."""
    height, width = (int(extent) for extent in text.split("x"))
    if min(height, width) < 1:
        raise ValueError(text)
    return height, width


def compare(
    source: str, destination: str, shape: tuple[int, int, int, int], dtype: str, threads: int, *, is_evicted: bool
) -> tuple[Samples, Samples]:
    """
    Seconds of the kernel for known extents, and of the one for all, whose results are compared.

    `is_evicted`: whether both buffers are dropped from the caches before every call, if the processor can be told to.
    """
    n, _, h, w = shape
    element = element_type(dtype)
    counts = [li.layout(name).index_map(shape, dtype).storage_size for name in (source, destination)]
    # both kernels write the same buffer: how its pages lie in the caches is worth more than what is measured
    buffers = allocate(*(count * element.bytes for count in counts))
    buffers.source[:] = np.arange(len(buffers.source), dtype=np.uint32).astype(np.uint8)
    values, result = (side.view(element.numpy) for side in (buffers.source, buffers.destination))
    team = threads if threads > 1 else None
    known = li.compile_reorder(source, destination, shape=shape, dtype=dtype, threads=team)
    unknown = li.compile_reorder(source, destination, shape=(None, shape[1], None, None), dtype=dtype, threads=team)
    assert isinstance(unknown, SizedKernel)
    at = unknown.at((n, h, w))
    contestants = [
        Contestant("known", looped(lambda: known(values, result))),
        Contestant("unknown", looped(lambda: at(values, result))),
    ]
    written: list[bytes] = []
    for one in contestants:
        buffers.destination.fill(SENTINEL)
        one.seconds(1)
        written.append(buffers.destination.tobytes())
    assert written[0] == written[1], (source, destination, shape, dtype)
    before = partial(evict, buffers) if is_evicted and evict(buffers) else None
    samples = measure(contestants, EFFORT, threads, before)
    return samples["known"], samples["unknown"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser("python -m benchmarks.dynamic", description=__doc__)
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--size", choices=SIZES, action="append", help="default: in, out")
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--image", type=image, action="append", help="height and width, as 28x28; eight by default")
    parser.add_argument("--batch", type=int, help="images in place of a --size, wherever they lie; default: by size")
    parser.add_argument("--pair", nargs=2, action="append", metavar=("FROM", "TO"), help="layouts; six by default")
    options = parser.parse_args(arguments)
    for name in ("channels", "threads", "batch"):
        if getattr(options, name) is not None and getattr(options, name) < 1:
            parser.error(f"expected --{name} of at least 1, got {getattr(options, name)}")
    channels: int = options.channels
    set_threads(options.threads)
    ratios: list[float] = []
    for size in ("in",) if options.batch else options.size or ("in", "out"):
        for (source, destination), (h, w) in itertools.product(options.pair or PAIRS, options.image or IMAGES):
            batch = options.batch or max(1, SIZES[size] // (channels * h * w * element_type(options.dtype).bytes))
            shape = batch, channels, h, w
            samples = compare(source, destination, shape, options.dtype, options.threads, is_evicted=size == "out")
            ratios.append(samples[0].ratio_to(samples[1]))
            known, unknown = (one.median for one in samples)
            name = f"{source} -> {destination}, {batch}x{channels}x{h}x{w} {options.dtype}"
            print(
                f"{name:56} known {known * 1e6:8.1f} us  unknown {unknown * 1e6:8.1f} us  {ratios[-1]:.2f}", flush=True
            )
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"geometric mean {mean:.2f}, worst {min(ratios):.2f}")


if __name__ == "__main__":
    main()
