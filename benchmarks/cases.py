"""
The cases as data: which reorder, of which shape at which size, and what oneDNN calls the same two layouts.

A case is written once and run at several sizes: its shape grows along the dims that a real network would grow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layout_ir.layouts.layout import Layout

KIB, MIB = 1024, 1024 * 1024

SIZES = {"out": 64 * MIB, "16m": 16 * MIB, "1m": MIB, "256k": 256 * KIB}
"""
Bytes of the logical tensor: out of cache, between both, and twice in cache. Exact shapes are the nearest that make
sense.
"""

QUICK_SIZES = {"out": 2 * MIB, "16m": MIB, "1m": 256 * KIB, "256k": 64 * KIB}
"""The same with `--quick`, which shows that everything runs; its times mean nothing."""

WIDTHS = {"f32": 4, "f16": 2, "i8": 1}
"""Element types and their bytes."""

PITCHED = "pitched"
"""A dense row-major tensor's layout, except that every row is followed by a gap of `GAP` elements."""

GAP = 64

Shape = Callable[[int, int], tuple[int, ...]]
"""(wanted bytes, bytes of an element) -> extents of the logical dims."""


@dataclass(frozen=True)
class Case:
    """A reorder that is measured."""

    source: str
    """Text of the source's layout as `layout_ir.layout` takes it, or `PITCHED`."""

    destination: str
    """The same of the destination."""

    shape: Shape

    note: str = ""
    """What tells the case from others of the same two layouts."""

    dims: str | None = None
    """Order of the logical dims of both layouts."""

    c0: int | None = None
    """Channels in one block, of the side that is Ascend's."""

    tags: tuple[str, str] | None = None
    """oneDNN's names of the two layouts, in the order of the logical dims, where the texts are not oneDNN's own."""

    dtypes: tuple[str, ...] = tuple(WIDTHS)

    @property
    def name(self) -> str:
        """`nchw -> nhwc, C = 3`: unique in the table."""
        names = [text.removeprefix("onednn:") for text in (self.source, self.destination)]
        notes = ", ".join(([f"C0 = {self.c0}"] if self.c0 else []) + ([self.note] if self.note else []))
        return " -> ".join(names) + (f", {notes}" if notes else "")


@dataclass(frozen=True)
class Run:
    """A case at one size and element type."""

    case: Case
    dtype: str
    size: str
    """Key of `SIZES`."""

    shape: tuple[int, ...]

    @property
    def name(self) -> str:
        """`nchw -> nhwc, C = 3 f32 out`: what `--case` is matched with."""
        return f"{self.case.name} {self.dtype} {self.size}"

    def layouts(self) -> tuple[Layout, Layout]:
        """Source and destination as layouts."""
        return self._layout(self.case.source), self._layout(self.case.destination)

    def _layout(self, text: str) -> Layout:
        import layout_ir

        if text == PITCHED:
            return layout_ir.layout("strided", strides=pitched_strides(self.shape))
        c0 = self.case.c0 if text.startswith("ascend:") and "C0" in text else None
        dims = None if text.startswith("onednn:") else self.case.dims
        return layout_ir.layout(text, dims=dims, c0=c0)


def runs(dtypes: Sequence[str], sizes: dict[str, int]) -> Iterator[Run]:
    """Every case at every size and element type, sizes outermost."""
    for size, case, dtype in product(sizes, CASES, dtypes):
        if dtype in case.dtypes:
            yield Run(case, dtype, size, case.shape(sizes[size], WIDTHS[dtype]))


def pitched_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides in elements of a row-major tensor whose rows are followed by gaps."""
    strides = [1]
    for position, extent in enumerate(reversed(shape[1:])):
        strides.append(strides[-1] * extent + (GAP if position == 0 else 0))
    return tuple(reversed(strides))


# -- shapes ------------------------------------------------------------------------------------------------------------


def image(channels: int) -> Shape:
    """N,C,H,W: one image in cache; a batch of 56 x 56 (few channels: 224 x 224) out of cache."""

    def extents(wanted: int, width: int) -> tuple[int, ...]:
        side = 224 if channels < 16 else 56
        pixels = wanted // (width * channels)
        if pixels < 4 * side * side:
            side = max(2, math.isqrt(pixels))
            return (1, channels, side, side)
        return (math.ceil(pixels / (side * side)), channels, side, side)

    return extents


def batch(multiple: int, channels: int, side: int = 7) -> Shape:
    """N,C,H,W with a batch that grows, a multiple of a batch block."""
    return lambda wanted, width: (rounded(wanted / (width * channels * side * side), multiple), channels, side, side)


def weights(multiple: int, order: str = "OIHW") -> Shape:
    """3 x 3 convolution weights, the output channels a multiple of `multiple`; `order` says where H and W stand."""

    def extents(wanted: int, width: int) -> tuple[int, ...]:
        channels = wanted / (width * 9)
        outputs = rounded(math.sqrt(channels), multiple)
        inputs = rounded(channels / outputs, min(multiple, 32))
        return (3, 3, inputs, outputs) if order == "HWIO" else (outputs, inputs, 3, 3)

    return extents


def power_matrix(wanted: int, width: int) -> tuple[int, int]:
    """4096 x 4096 of f32, 8192 x 8192 of i8; in cache as square as powers of two can be."""
    elements = wanted // width
    rows = 1 << (elements.bit_length() - 1) // 2
    return rows, elements // rows


def odd_matrix(rows: int, columns: int) -> Shape:
    """`rows` x `columns` of f32 (more rows of smaller elements); the same proportions in cache."""

    def extents(wanted: int, width: int) -> tuple[int, int]:
        if wanted > 16 * MIB:  # 5000 x 3001 of f32, which is 57 MiB, is near enough to 64
            return rows * math.ceil(wanted / (rows * columns * width) - 0.2), columns
        scale = math.sqrt(wanted / (rows * columns * width))
        return max(1, int(rows * scale)), int(columns * scale) | 1

    return extents


def growing(*inner: int) -> Shape:
    """A first dim that grows over inner dims that do not, or that shrink where one index of the first is too much."""

    def extents(wanted: int, width: int) -> tuple[int, ...]:
        sizes = list(inner)
        while width * math.prod(sizes) * 4 > wanted:
            largest = sizes.index(max(sizes))
            sizes[largest] //= 2
        return (max(2, math.ceil(wanted / (width * math.prod(sizes)))), *sizes)

    return extents


def rounded(value: float, multiple: int) -> int:
    """The next multiple of `multiple`."""
    return math.ceil(value / multiple) * multiple


# -- the table ---------------------------------------------------------------------------------------------------------


def both_ways(source: str, destination: str, shape: Shape, note: str = "") -> list[Case]:
    """A reorder and the way back."""
    return [Case(source, destination, shape, note), Case(destination, source, shape, note)]


def _activations() -> Iterator[Case]:
    for channels in (3, 4, 32, 64, 100):
        yield from both_ways("onednn:nchw", "onednn:nhwc", image(channels), f"C = {channels}")
    for channels in (64, 35):
        note = f"C = {channels}"
        for block in (8, 16, 32):
            yield from both_ways("onednn:nchw", f"onednn:nChw{block}c", image(channels), note)
        yield from both_ways("onednn:nhwc", "onednn:nChw16c", image(channels), note)
        yield from both_ways("onednn:nChw8c", "onednn:nChw16c", image(channels), note)
    for channels, note in ((64, "C = 64"), (35, "C = 35")):
        yield Case("bfyx", "openvino:bs_fs_yx_bsv16_fsv16", batch(16, channels), note, tags=("abcd", "ABcd16a16b"))
    tags = {16: ("abcd", "aBcd16b"), 32: ("abcd", "aBcd32b")}
    for channels, c0 in product((64, 35), (16, 32)):
        note, tag = f"C = {channels}", tags[c0]
        yield Case("NCHW", "ascend:NC1HWC0", image(channels), note, c0=c0, tags=tag)
        yield Case("ascend:NC1HWC0", "NCHW", image(channels), note, c0=c0, tags=(tag[1], tag[0]))
    for channels, side in ((256, 14), (128, 28)):  # rows of a few lines
        for other in ("nhwc", "nChw16c"):
            note = f"C = {channels}, {side} x {side}"
            yield from both_ways("onednn:nchw", f"onednn:{other}", batch(1, channels, side), note)
    yield Case("NHWC", "mace:IN_OUT_CHANNEL", nhwc(64), "C = 64", dims="NHWC", tags=("abcd", "abDc4d"))
    yield Case("NHWC", "mace:IN_OUT_CHANNEL", nhwc(35), "C = 35", dims="NHWC", tags=("abcd", "abDc4d"))


def nhwc(channels: int) -> Shape:
    """`image` with the logical dims N,H,W,C."""

    def extents(wanted: int, width: int) -> tuple[int, ...]:
        n, c, h, w = image(channels)(wanted, width)
        return n, h, w, c

    return extents


def _weights() -> Iterator[Case]:
    for block in ("16i16o", "4i16o4i", "8i16o2i"):
        yield from both_ways("onednn:oihw", f"onednn:OIhw{block}", weights(16))
    yield from both_ways("onednn:Acdb48a", "onednn:Acdb32a", weights(96), "O % 96 = 0")
    yield from both_ways("onednn:Acdb48a", "onednn:Acdb32a", weights(100), "O % 100 = 0")
    osa = "openvino:os_is_yx_osa4_isa8_osv8_isv4"
    yield Case("oiyx", osa, weights(32), tags=("abcd", "ABcd4a8b8a4b"))
    yield Case("NCHW", "ascend:FRACTAL_Z", weights(32), tags=("abcd", "BcdA16a16b"), dtypes=("f32", "f16"))
    yield Case("NCHW", "ascend:FRACTAL_Z", weights(32), "C0 = 32", tags=("abcd", "BcdA16a32b"), dtypes=("i8",))
    hwcn = Case("HWCN", "ascend:FRACTAL_Z", weights(32, "HWIO"), dims="HWCN", tags=("abcd", "CabD16d16c"))
    yield _limited(hwcn, "f32", "f16")
    yield _limited(hwcn, "i8", tags=("abcd", "CabD16d32c"), note="C0 = 32")


def _limited(case: Case, *dtypes: str, tags: tuple[str, str] | None = None, note: str = "") -> Case:
    from dataclasses import replace

    return replace(case, dtypes=dtypes, tags=tags or case.tags, note=note)


def _matrices() -> Iterator[Case]:
    for shape, note in ((power_matrix, "powers of two"), (odd_matrix(1000, 3000), "1000 x 3000")):
        for c0, dtypes in ((16, ("f32", "f16")), (32, ("i8",))):
            block = f"BA16a{c0}b"
            there = Case("NC", "ascend:FRACTAL_NZ", shape, f"{note}, N0 = {c0}", tags=("ab", block), dtypes=dtypes)
            back = Case("ascend:FRACTAL_NZ", "NC", shape, f"{note}, N0 = {c0}", tags=(block, "ab"), dtypes=dtypes)
            yield from (there, back)
    yield Case("onednn:ab", "onednn:ba", power_matrix, "powers of two")
    yield Case("onednn:ab", "onednn:ba", odd_matrix(5000, 3001), "5000 x 3001")


def _permutations() -> Iterator[Case]:
    yield Case("onednn:abc", "onednn:acb", growing(200, 300))
    yield Case("onednn:abc", "onednn:bac", growing(64, 96))
    yield Case("onednn:abc", "onednn:cba", growing(200, 300))
    yield Case("onednn:abcd", "onednn:dcba", growing(40, 60, 80))
    yield Case("onednn:abcd", "onednn:acbd", growing(128, 12, 64), "attention heads of 64")
    yield Case("onednn:abcd", "onednn:cdab", growing(48, 32, 50))
    yield Case("onednn:abcde", "onednn:edcba", growing(20, 24, 28, 32))
    yield Case("onednn:abcde", "onednn:acdeb", growing(32, 8, 28, 28))
    yield Case("onednn:abcdef", "onednn:fedcba", growing(8, 10, 12, 14, 16))
    yield Case("onednn:abcdef", "onednn:acebdf", growing(8, 10, 12, 14, 16))


def _strided() -> Iterator[Case]:
    yield Case(PITCHED, "onednn:nchw", image(64), "row gap 64")
    yield Case("onednn:nchw", PITCHED, image(64), "row gap 64")
    yield Case(PITCHED, "onednn:nhwc", image(64), "row gap 64")


CASES = (*_activations(), *_weights(), *_matrices(), *_permutations(), *_strided())
"""All cases."""
