"""Implementations for xDSL's interpreter of what its own lack: elements as bits, checked accesses, parallel loops."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, IntegerAttr, MemRefType
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.interpreters.affine import AffineFunctions
from xdsl.interpreters.arith import ArithFunctions
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineExpr, AffineMap
from xdsl.utils.exceptions import InterpretationError

from layout_ir.dialects.types import element_type_of, is_vector
from layout_ir.interpreter.bits import bits_dtype, bits_of
from layout_ir.layouts.element_type import ElementType, element_type

Bits = npt.NDArray[Any]

UNWRITTEN = 0xA5
"""Every byte of a fresh buffer, so that reading what was never written shows."""

_DIVISIONS = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.CeilDiv, AffineBinaryOpKind.Mod)


def scalar_type(kind: Attribute) -> ElementType:
    """The element type of a vector or of a scalar; an index counts as 64 bits."""
    element = kind.element_type if is_vector(kind) else kind
    return element_type("i64") if isinstance(element, IndexType) else element_type_of(element)


def check_access(op: Operation, buffer: Bits, indices: tuple[int, ...], lanes: int = 1) -> None:
    """Raise `InterpretationError` unless `lanes` elements from `indices` on lie inside of the buffer."""
    ends = (*indices[:-1], indices[-1] + lanes - 1) if indices else ()
    inside = all(first >= 0 and end < size for first, end, size in zip(indices, ends, buffer.shape, strict=True))
    if not inside:
        what = f"{lanes} elements at {list(indices)}" if lanes != 1 else f"{list(indices)}"
        raise InterpretationError(
            f"{op.name}: expected an access inside of a buffer of shape {list(buffer.shape)}, got {what}"
        )


def _dividends(expressions: AffineMap) -> tuple[AffineExpr, ...]:
    """The left operands of all divisions in a map."""
    return tuple(
        node.lhs
        for result in expressions.results
        for node in result.dfs()
        if isinstance(node, AffineBinaryOpExpr) and node.kind in _DIVISIONS
    )


@register_impls
class AffineIndexFunctions(AffineFunctions):
    """Index arithmetic that refuses what C's `/` and `%` would get wrong."""

    def __init__(self) -> None:
        # by the identity of attributes, as a hash is made anew every time: they live as long as what is interpreted
        self._dividends: dict[int, tuple[AffineExpr, ...]] = {}

    @impl(affine.ApplyOp)
    def run_apply(self, interpreter: Interpreter, op: affine.ApplyOp, args: tuple[Any, ...]) -> PythonValues:
        attribute = op.map
        expressions = attribute.data
        dims, symbols = list(args[: expressions.num_dims]), list(args[expressions.num_dims :])
        if (known := self._dividends.get(id(attribute))) is None:
            known = self._dividends[id(attribute)] = _dividends(expressions)
        for dividend in known:
            if (value := dividend.eval(dims, symbols)) < 0:
                raise InterpretationError(
                    f"{op.name}: expected a dividend that is not negative, got {dividend} = {value}"
                )
        return tuple(expressions.eval(dims, symbols))


@register_impls
class ArithOnBitsFunctions(ArithFunctions):
    """Constants as bits, and unsigned operations."""

    @impl(arith.ConstantOp)
    def run_constant(self, interpreter: Interpreter, op: arith.ConstantOp, args: PythonValues) -> PythonValues:
        kind, value = op.result.type, op.value
        if isinstance(value, DenseIntOrFPElementsAttr):
            element = scalar_type(kind)
            lanes = [bits_of(lane, element) for lane in value.iter_attrs()]
            shape = value.get_shape()
            return (np.array(np.broadcast_to(np.array(lanes, bits_dtype(element)), shape)),)
        if isinstance(kind, IndexType) and isinstance(value, IntegerAttr):
            return (value.value.data,)
        return (bits_of(value, scalar_type(kind)),)

    @impl(arith.MinUIOp)
    def run_minui(self, interpreter: Interpreter, op: arith.MinUIOp, args: PythonValues) -> PythonValues:
        return (min(_not_negative(op, args)),)

    @impl(arith.MaxUIOp)
    def run_maxui(self, interpreter: Interpreter, op: arith.MaxUIOp, args: PythonValues) -> PythonValues:
        return (max(_not_negative(op, args)),)

    @impl(arith.MinSIOp)
    def run_minsi(self, interpreter: Interpreter, op: arith.MinSIOp, args: PythonValues) -> PythonValues:
        return (min(args),)

    @impl(arith.MaxSIOp)
    def run_maxsi(self, interpreter: Interpreter, op: arith.MaxSIOp, args: PythonValues) -> PythonValues:
        return (max(args),)

    @impl(arith.DivUIOp)
    def run_divui(self, interpreter: Interpreter, op: arith.DivUIOp, args: PythonValues) -> PythonValues:
        left, right = _not_negative(op, args)
        return (left // right,)

    @impl(arith.RemUIOp)
    def run_remui(self, interpreter: Interpreter, op: arith.RemUIOp, args: PythonValues) -> PythonValues:
        left, right = _not_negative(op, args)
        return (left % right,)


def _not_negative(op: Operation, args: PythonValues) -> PythonValues:
    if min(args) < 0:
        raise InterpretationError(f"{op.name}: expected operands that are not negative, got {list(args)}")
    return args


def _unwritten(kind: MemRefType[Attribute]) -> Bits:
    element = element_type_of(kind)
    size = int(np.prod(kind.get_shape(), dtype=np.int64)) * element.bytes
    return np.full(size, UNWRITTEN, np.uint8).view(bits_dtype(element)).reshape(kind.get_shape())


@register_impls
class BufferFunctions(InterpreterFunctions):
    """Buffers as numpy arrays of bits, and `scf.parallel`."""

    @impl(memref.AllocOp)
    def run_alloc(self, interpreter: Interpreter, op: memref.AllocOp, args: PythonValues) -> PythonValues:
        return (_unwritten(op.memref.type),)

    @impl(memref.AllocaOp)
    def run_alloca(self, interpreter: Interpreter, op: memref.AllocaOp, args: PythonValues) -> PythonValues:
        return (_unwritten(op.memref.type),)

    @impl(memref.ExtractAlignedPointerAsIndexOp)
    def run_pointer(
        self, interpreter: Interpreter, op: memref.ExtractAlignedPointerAsIndexOp, args: tuple[Bits, ...]
    ) -> PythonValues:
        return (int(args[0].__array_interface__["data"][0]),)

    @impl(memref.DeallocOp)
    def run_dealloc(self, interpreter: Interpreter, op: memref.DeallocOp, args: PythonValues) -> PythonValues:
        return ()

    @impl(memref.CastOp)
    def run_cast(self, interpreter: Interpreter, op: memref.CastOp, args: PythonValues) -> PythonValues:
        return args

    @impl(memref.LoadOp)
    def run_load(self, interpreter: Interpreter, op: memref.LoadOp, args: PythonValues) -> PythonValues:
        buffer, *indices = args
        check_access(op, buffer, tuple(indices))
        return (int(buffer[tuple(indices)]),)

    @impl(memref.StoreOp)
    def run_store(self, interpreter: Interpreter, op: memref.StoreOp, args: PythonValues) -> PythonValues:
        value, buffer, *indices = args
        check_access(op, buffer, tuple(indices))
        buffer[tuple(indices)] = int(value) & ((1 << 8 * buffer.itemsize) - 1)
        return ()

    @impl(scf.ParallelOp)
    def run_parallel(self, interpreter: Interpreter, op: scf.ParallelOp, args: PythonValues) -> PythonValues:
        if op.initVals:
            raise InterpretationError(f"{op.name}: reductions are not implemented")
        count = len(op.lowerBound)
        ranges = [range(*args[i::count][:3]) for i in range(count)]
        # backwards, because iterations that need their order are wrong
        for point in itertools.product(*(reversed(axis) for axis in ranges)):
            interpreter.run_ssacfg_region(op.body, point, "parallel")
        return ()

    @impl_terminator(scf.ReduceOp)
    def run_reduce(
        self, interpreter: Interpreter, op: scf.ReduceOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()
