"""
layout_ir: a compiler for tensor memory layouts.

A layout is a function from a logical index to a place in memory; a reorder is the copy between two such functions.

    import layout_ir as li

    li.layout("openvino:b_fs_yx_fsv16").index_map((1, 3, 224, 224), "f32").storage_shape
    li.reorder(x, "NCHW", "openvino:b_fs_yx_fsv16")
    kernel = li.compile_reorder("NCHW", "onednn:nChw16c", shape=(8, 64, 56, 56), dtype="f32")

Everything is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from layout_ir._version import __version__

if TYPE_CHECKING:
    from layout_ir.api import compile_reorder, layout, reorder
    from layout_ir.errors import LayoutError
    from layout_ir.explanation.explain import Explanation, explain
    from layout_ir.explanation.translate import translate
    from layout_ir.formats.onednn_logical_tensor import LogicalTensor
    from layout_ir.formats.onednn_memory_descriptor import MemoryDescriptor
    from layout_ir.formats.registry import formats
    from layout_ir.layouts.element_type import ElementType, element_type
    from layout_ir.layouts.index_map import IndexMap
    from layout_ir.layouts.layout import Layout
    from layout_ir.layouts.strided import StridedLayout
    from layout_ir.layouts.tiled import TiledLayout
    from layout_ir.runtime.kernel import Kernel

__all__ = [
    "ElementType",
    "Explanation",
    "IndexMap",
    "Kernel",
    "Layout",
    "LayoutError",
    "LogicalTensor",
    "MemoryDescriptor",
    "StridedLayout",
    "TiledLayout",
    "__version__",
    "compile_reorder",
    "element_type",
    "explain",
    "formats",
    "layout",
    "reorder",
    "translate",
]

_HOMES = {
    "ElementType": "layout_ir.layouts.element_type",
    "Explanation": "layout_ir.explanation.explain",
    "IndexMap": "layout_ir.layouts.index_map",
    "Kernel": "layout_ir.runtime.kernel",
    "Layout": "layout_ir.layouts.layout",
    "LayoutError": "layout_ir.errors",
    "LogicalTensor": "layout_ir.formats.onednn_logical_tensor",
    "MemoryDescriptor": "layout_ir.formats.onednn_memory_descriptor",
    "StridedLayout": "layout_ir.layouts.strided",
    "TiledLayout": "layout_ir.layouts.tiled",
    "compile_reorder": "layout_ir.api",
    "element_type": "layout_ir.layouts.element_type",
    "explain": "layout_ir.explanation.explain",
    "layout": "layout_ir.api",
    "reorder": "layout_ir.api",
    "translate": "layout_ir.explanation.translate",
}


def __getattr__(name: str) -> object:
    if name == "formats":  # the package of that name can be called: see its file
        return import_module("layout_ir.formats")
    if name not in _HOMES:
        raise AttributeError(f"module 'layout_ir' has no attribute '{name}'")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
