"""
What the project adds to xDSL's own tools: the dialect, the passes and the targets.

xDSL imports this file whenever `xdsl-opt` starts, so it holds factories and nothing that costs time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.universe import Universe

if TYPE_CHECKING:
    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass
    from xdsl.utils.target import Target


def _layout() -> Dialect:
    from layout_ir.dialects.layout import LAYOUT

    return LAYOUT


def _resolve() -> type[ModulePass]:
    from layout_ir.lowering.resolve import ResolvePass

    return ResolvePass


def _to_buffers() -> type[ModulePass]:
    from layout_ir.lowering.to_buffers import ToBuffersPass

    return ToBuffersPass


def _to_loops() -> type[ModulePass]:
    from layout_ir.lowering.to_loops import ToLoopsPass

    return ToLoopsPass


def _flatten() -> type[ModulePass]:
    from layout_ir.lowering.flatten import FlattenPass

    return FlattenPass


def _outline_branches() -> type[ModulePass]:
    from layout_ir.lowering.outline_branches import OutlineBranchesPass

    return OutlineBranchesPass


def _split_vectors() -> type[ModulePass]:
    from layout_ir.lowering.split_vectors import SplitVectorsPass

    return SplitVectorsPass


def _lower() -> type[ModulePass]:
    from layout_ir.lowering.pipeline import LowerPass

    return LowerPass


def _to_images() -> type[ModulePass]:
    from layout_ir.lowering.to_device_images import ToImagesPass

    return ToImagesPass


def _to_device() -> type[ModulePass]:
    from layout_ir.lowering.to_device import ToDevicePass

    return ToDevicePass


def _lower_device() -> type[ModulePass]:
    from layout_ir.lowering.to_device_pipeline import LowerForDevicePass

    return LowerForDevicePass


def _c() -> type[Target]:
    from layout_ir.backends.c import CTarget

    return CTarget


def _opencl() -> type[Target]:
    from layout_ir.backends.opencl import OpenCLTarget

    return OpenCLTarget


LAYOUT_UNIVERSE = Universe(
    all_dialects={"layout": _layout},
    all_passes={
        "layout-resolve": _resolve,
        "layout-to-buffers": _to_buffers,
        "layout-to-loops": _to_loops,
        "layout-flatten": _flatten,
        "layout-outline-branches": _outline_branches,
        "layout-split-vectors": _split_vectors,
        "layout-lower": _lower,
        "layout-to-images": _to_images,
        "layout-to-device": _to_device,
        "layout-lower-device": _lower_device,
    },
    all_targets={"c": _c, "opencl": _opencl},
)
