"""Run a lowered module - loops over flat buffers - by interpretation: slow, and right by xDSL's own definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute

from layout_ir.dialects.types import is_buffer
from layout_ir.errors import LayoutError

if TYPE_CHECKING:
    import numpy.typing as npt
    from xdsl.interpreter import Interpreter


def run_loops(
    module: ModuleOp,
    function_name: str,
    buffers: Sequence[npt.NDArray[Any]],
    sizes: Sequence[int] = (),
    *,
    listeners: Sequence[Interpreter.Listener] = (),
) -> None:
    """
    Call a function of memrefs on numpy buffers, which are changed in place.

    `buffers`: one C-contiguous array for every argument, of at least as many elements as the memref has; the
    interpreted function sees only these. `sizes`: the index arguments behind them. `listeners` see every op before and
    after it runs. Costs some microseconds an operation: for small shapes.

    Raises `LayoutError` where the buffers do not fit, and xDSL's `InterpretationError` for an access outside of a
    buffer or a division of a negative index.
    """
    from xdsl.interpreters.func import FuncFunctions
    from xdsl.interpreters.scf import ScfFunctions

    from layout_ir.interpreter.arith_functions import ArithOnBitsFunctions
    from layout_ir.interpreter.functions import find_function
    from layout_ir.interpreter.loop_functions import AffineIndexFunctions, BufferFunctions
    from layout_ir.interpreter.region_runner import RegionRunner
    from layout_ir.interpreter.vector_functions import VectorFunctions

    function = find_function(module, function_name)
    types = list(function.function_type.inputs)
    count = sum(isinstance(kind, MemRefType) for kind in types)
    if len(buffers) != count:
        raise LayoutError(f"{function_name}: expected {count} buffers, got {len(buffers)}")
    if len(sizes) != len(types) - count:
        raise LayoutError(f"{function_name}: expected {len(types) - count} sizes, got {len(sizes)}")
    views = tuple(_view(buffer, kind) for buffer, kind in zip(buffers, types, strict=False))
    interpreter = RegionRunner(module, index_bitwidth=64, listeners=tuple(listeners))
    for implementations in (
        FuncFunctions(),
        ScfFunctions(),
        AffineIndexFunctions(),
        ArithOnBitsFunctions(),
        BufferFunctions(),
        VectorFunctions(),
    ):
        interpreter.register_implementations(implementations)
    interpreter.call_op(function, (*views, *sizes))


def _view(buffer: npt.NDArray[Any], kind: Attribute) -> npt.NDArray[Any]:
    """The elements of a buffer that a memref has, as bits."""
    import math

    from layout_ir.dialects.types import element_type_of
    from layout_ir.interpreter.bits import bits_dtype

    if not is_buffer(kind) or (not kind.has_static_shape() and kind.get_num_dims() > 1):
        raise LayoutError(f"expected a function of memrefs with static shapes, or flat ones, got one of type {kind}")
    shape = kind.get_shape() if kind.has_static_shape() else (buffer.size,)
    element, size = element_type_of(kind), math.prod(shape)
    if buffer.itemsize != element.bytes:
        raise LayoutError(f"expected a buffer of {element.bytes}-byte elements ({element}), got {buffer.dtype}")
    if buffer.size < size or not buffer.flags.c_contiguous:
        raise LayoutError(f"expected a contiguous buffer of at least {size} elements, got {buffer.size}")
    return buffer.reshape(-1)[:size].view(bits_dtype(element)).reshape(shape)
