"""Reorders of every kind that kernels have a path of their own for, and their C texts for vectors of any width."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from reorder_batch import SENTINEL, Reorder, lowered, pad_bits

import layout_ir as li
from layout_ir.backends.c import emit_c
from layout_ir.interpreter.reference import allocated_size, reorder_reference
from layout_ir.layouts import panel_choice, panel_of_step, panel_steps
from layout_ir.layouts.element_type import element_type
from layout_ir.layouts.panel import Panel
from layout_ir.layouts.panel_costs import PanelCosts, overhead
from layout_ir.lowering import group_panels, lengths_of_parts, whole_steps
from layout_ir.lowering.processor_families import GRANITE_RAPIDS, ICE_LAKE, MODELS, ZEN_3, ZEN_4


@dataclass(frozen=True)
class Variant:
    """One way to lower reorders."""

    vector_bytes: int
    streams: bool = False
    """Whether small destinations bypass the caches too, as only large ones do otherwise."""
    threads: bool = False
    panels: bool = False
    """Whether lines that tiles would write in parts are put together first, in small panels; needs `streams`."""
    processor: str = ICE_LAKE
    """The family of processors that it is made for."""
    register_bytes: int = 64
    """Width of the registers: of less, a vector takes several."""

    def __str__(self) -> str:
        words = [f"vectors of {self.vector_bytes} bytes" if self.vector_bytes else "scalar loops"]
        words += ["streaming"] * self.streams + ["threads"] * self.threads + ["panels"] * self.panels
        words += [f"registers of {self.register_bytes}"] * (self.register_bytes < self.vector_bytes)
        return ", ".join(words + ([self.processor] if self.processor != ICE_LAKE else []))


PANELS = Variant(64, streams=True, panels=True)
ZEN_4_PANELS = Variant(64, streams=True, panels=True, processor=ZEN_4)
GRANITE_RAPIDS_PANELS = Variant(64, streams=True, panels=True, processor=GRANITE_RAPIDS)
ZEN_3_PANELS = Variant(64, streams=True, panels=True, processor=ZEN_3, register_bytes=32)
VECTOR_VARIANTS = (
    Variant(16),
    Variant(32),
    Variant(64),
    Variant(64, streams=True),
    PANELS,
    GRANITE_RAPIDS_PANELS,
    ZEN_4_PANELS,
    ZEN_3_PANELS,
    replace(ZEN_3_PANELS, panels=False),
    replace(ZEN_3_PANELS, register_bytes=16),
    Variant(64, processor=ZEN_4, register_bytes=32),
)


def reorder(
    source: str, destination: str, shape: tuple[int, ...], dtype: str, pad: float | None = 0, dims: str | None = None
) -> Reorder:
    """The reorder between two layouts of these names; `dims` are those of a name of MACE."""
    left, right = (li.layout(text, dims=dims if text.startswith("mace:") else None) for text in (source, destination))
    return Reorder(left, right, shape, dtype, pad)


def _pitched(shape: tuple[int, ...], dtype: str) -> Reorder:
    """A box inside of a larger matrix, transposed into a box of another one."""
    rows, columns = shape
    source = li.StridedLayout((columns + 13, 1), offset=3)
    return Reorder(source, li.StridedLayout((1, rows + 5), offset=7), shape, dtype)


VARIED = (
    # transposes: whole tiles, tails in both directions, fewer elements than a tile
    reorder("onednn:ab", "onednn:ba", (64, 128), "f32"),
    reorder("onednn:ab", "onednn:ba", (67, 53), "f32"),
    reorder("onednn:ab", "onednn:ba", (128, 96), "f16"),
    reorder("onednn:ab", "onednn:ba", (35, 71), "f16"),
    reorder("onednn:ab", "onednn:ba", (64, 128), "i8"),
    reorder("onednn:ab", "onednn:ba", (33, 37), "i8"),
    reorder("onednn:ab", "onednn:ba", (19, 37), "f64"),
    reorder("onednn:abcd", "onednn:dcba", (2, 3, 5, 17), "bf16"),
    # interleaves
    reorder("NCHW", "NHWC", (2, 3, 17, 23), "f32"),
    reorder("NHWC", "NCHW", (1, 3, 32, 33), "i8"),
    reorder("NCHW", "NHWC", (2, 4, 16, 16), "f16"),
    reorder("NHWC", "NCHW", (2, 36, 5, 7), "u8"),
    # blocks, with pads and tails
    reorder("NCHW", "onednn:nChw16c", (2, 35, 9, 13), "f32"),
    reorder("NCHW", "onednn:nChw16c", (1, 64, 8, 8), "f16"),
    reorder("onednn:nChw16c", "NHWC", (2, 35, 5, 7), "f32"),
    reorder("NHWC", "onednn:aBcd8b", (1, 29, 5, 9), "i16", -7),
    reorder("onednn:aBcd8b", "onednn:nChw16c", (2, 40, 3, 11), "f32", None),
    reorder("OIHW", "onednn:OIhw4i16o4i", (33, 18, 3, 3), "i8", 5),
    reorder("onednn:OIhw16i16o", "OIHW", (35, 17, 3, 1), "f32"),
    reorder("onednn:ab", "ascend:FRACTAL_NZ", (50, 70), "f16", 1.5),
    reorder("openvino:bfyx", "openvino:bs_fs_yx_bsv16_fsv16", (17, 33, 3, 4), "i8"),
    reorder("NHWC", "mace:IN_OUT_CHANNEL", (1, 7, 9, 10), "f32", dims="NHWC"),
    # blocks of a source that end in the middle of blocks of the destination
    reorder("onednn:nChw4c", "openvino:bs_fs_yx_bsv16_fsv16", (19, 8, 3, 5), "f32", 7),
    # blocks that do not nest
    reorder("onednn:Acdb48a", "onednn:Acdb32a", (96, 16, 3, 3), "f32"),
    reorder("onednn:Acdb32a", "onednn:Acdb48a", (100, 5, 3, 1), "i8"),
    # rows of the destination that go backwards
    reorder("NCHW", "openvino:os_iyx_osv16_rotate_180", (32, 3, 5, 1), "i16"),
    reorder("NHWC", "openvino:os_iyx_osv16_rotate_180", (33, 2, 4, 17), "f32", None),
    # gaps between rows
    _pitched((45, 83), "f32"),
)


WITHOUT_BYTES = tuple(case for case in VARIED if element_type(case.dtype).bytes > 1)
"""For vectors wider than registers, whose bytes a compiler would take a long time to pick one by one."""

STREAMED = tuple(case for case in VARIED if case.dtype == "f32")
"""Enough to see stores past the caches."""


@cache
def c_text(reorders: tuple[Reorder, ...], variant: Variant) -> str:
    """The C text with the functions `case_0`, `case_1`, ..."""
    stream_bytes = 0 if variant.streams else None
    with small_panels():
        module = lowered(
            reorders,
            variant.vector_bytes,
            variant.threads,
            panels=variant.panels,
            stream_bytes=stream_bytes,
            processor=variant.processor,
            registers=variant.register_bytes,
        )
    return emit_c(module)


@contextmanager
def all_streamed() -> Generator[None]:
    """Destinations of any size go past the caches, whatever the processor."""
    with pytest.MonkeyPatch.context() as patch:
        for name, model in MODELS.items():
            patch.setitem(MODELS, name, replace(model, stream_bytes=0))
        yield


@contextmanager
def steps_up_to(whole: int, regions: int, *, parts: bool = False) -> Generator[None]:
    """
    Steps of unknown size are moved as one panel up to `whole` bytes, and are asked for as a whole up to `regions`.

    Tensors of some hundred elements have no larger ones otherwise. `parts`: most go by parts of that size.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lengths_of_parts, "SHORT_PART_BYTES", whole // 16)
        patch.setattr(lengths_of_parts, "LONG_PART_BYTES", whole)
        for name in ("FEW_ROWS_BYTES", "WHOLE_BYTES"):
            patch.setattr(panel_of_step, name, whole)
        for module in (lengths_of_parts, whole_steps):
            patch.setattr(module, "MOST_BYTES", whole)
        largest_whole = 512 if parts else whole
        patch.setattr(group_panels, "WHOLE_BYTES", largest_whole)
        for name, model in MODELS.items():
            costs = replace(model.panel_costs, kept_region_bytes=regions)
            steps = replace(model, panel_costs=costs, small_step_bytes=whole, together_bytes=whole)
            steps = replace(steps, whole_step_bytes=largest_whole, largest_step_bytes=whole)
            steps = replace(steps, byte_part_bytes=whole, half_part_bytes=whole, kept_row_bytes=128)
            row, block = (128, whole) if parts else (256, 0)
            patch.setitem(
                MODELS, name, replace(steps, long_row_bytes=row, block_part_bytes=block, side_by_side_bytes=block)
            )
        yield


@contextmanager
def small_panels(*, carry: bool = False) -> Generator[None]:
    """
    Panels so small that a tensor of some hundred elements has several, and runs of little more than a line.

    `carry`: those that carry lines from one to the next, wherever there are such.
    """
    with pytest.MonkeyPatch.context() as patch:
        if carry:
            patch.setattr(panel_choice, "overhead", _overhead_unless_carried)
            patch.setattr(panel_choice, "SHARED_TRIPS", 2)
        patch.setattr(panel_choice, "RUN_BYTES", (192, 64) if carry else (192,))
        patch.setattr(panel_choice, "ROW_BYTES", (32,))
        patch.setattr(panel_choice, "LEAST_RUN_BYTES", 64)
        yield


def _overhead_unless_carried(
    panel: Panel, costs: PanelCosts, element_bytes: int, *, at_lines: bool, threads: bool
) -> float:
    cost = overhead(panel, costs, element_bytes, at_lines=at_lines, threads=threads)
    return cost - 1000 * (panel.carried is not None)


def source_and_expected(case: Reorder, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A random source, and what must be in a destination that was full of sentinels."""
    width = element_type(case.dtype).bytes
    maps = [layout.index_map(case.shape, case.dtype) for layout in (case.source, case.destination)]
    read, written = map(allocated_size, maps)
    source = np.random.default_rng(seed).integers(0, 256, read * width, np.uint8).view(f"u{width}")
    expected = np.full(written * width, SENTINEL, np.uint8).view(f"u{width}")
    pad = None if case.pad is None else pad_bits(case.pad, case.dtype)
    return source, reorder_reference(source, *maps, pad, expected)


def placed(size: int, like: np.ndarray, misaligned: int) -> np.ndarray:
    """An array of sentinels that starts `misaligned` elements behind a multiple of a cache line."""
    memory = np.full(size * like.itemsize + 2 * panel_steps.LINE_BYTES, SENTINEL, np.uint8)
    start = -memory.ctypes.data % panel_steps.LINE_BYTES + misaligned * like.itemsize
    return memory[start : start + size * like.itemsize].view(like.dtype)
