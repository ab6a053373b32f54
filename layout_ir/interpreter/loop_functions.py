"""Implementations for xDSL's interpreter of what its own lack: elements as bits, checked accesses, parallel loops."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects import affine, memref, scf
from xdsl.dialects.builtin import MemRefType
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
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.utils.exceptions import InterpretationError

from layout_ir.dialects.types import element_type_of
from layout_ir.interpreter.bits import bits_dtype

Bits = npt.NDArray[Any]

UNWRITTEN = 0xA5
"""Every byte of a fresh buffer, so that reading what was never written shows."""

Evaluate = Callable[[Sequence[int]], int]

_OPERATORS: dict[AffineBinaryOpKind, Callable[[int, int], int]] = {
    AffineBinaryOpKind.Add: lambda left, right: left + right,
    AffineBinaryOpKind.Mul: lambda left, right: left * right,
    AffineBinaryOpKind.FloorDiv: lambda left, right: left // right,
    AffineBinaryOpKind.CeilDiv: lambda left, right: -(-left // right),
    AffineBinaryOpKind.Mod: lambda left, right: left % right,
}
_DIVISIONS = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.CeilDiv, AffineBinaryOpKind.Mod)


def check_access(op: Operation, buffer: Bits, indices: tuple[int, ...], lanes: int = 1) -> None:
    """Raise `InterpretationError` unless `lanes` elements from `indices` on lie inside of the buffer."""
    ends = (*indices[:-1], indices[-1] + lanes - 1) if indices else ()
    inside = all(first >= 0 and end < size for first, end, size in zip(indices, ends, buffer.shape, strict=True))
    if not inside:
        what = f"{lanes} elements at {list(indices)}" if lanes != 1 else f"{list(indices)}"
        raise InterpretationError(
            f"{op.name}: expected an access inside of a buffer of shape {list(buffer.shape)}, got {what}"
        )


@dataclass(frozen=True)
class _Evaluated:
    """The results of an affine map, and the dividends in it, as functions of dims and then symbols."""

    results: tuple[Evaluate, ...]
    dividends: tuple[tuple[AffineExpr, Evaluate], ...]

    @staticmethod
    def of(expressions: AffineMap) -> _Evaluated:
        """Made once for each map: xDSL's own evaluation looks at every node again for every point."""
        functions = tuple(_function(result, expressions.num_dims) for result in expressions.results)
        dividends = dict.fromkeys(
            node.lhs
            for result in expressions.results
            for node in result.dfs()
            if isinstance(node, AffineBinaryOpExpr) and node.kind in _DIVISIONS
        )
        return _Evaluated(functions, tuple((node, _function(node, expressions.num_dims)) for node in dividends))


def _function(expression: AffineExpr, dims: int) -> Evaluate:
    """An affine expression as a function of the values of all dims, which symbols follow."""
    match expression:
        case AffineConstantExpr(value):
            return lambda _: value
        case AffineDimExpr(position):
            return itemgetter(position)
        case AffineSymExpr(position):
            return itemgetter(dims + position)
        case AffineBinaryOpExpr(kind, lhs, rhs):
            operator, left, right = _OPERATORS[kind], _function(lhs, dims), _function(rhs, dims)
            return lambda values: operator(left(values), right(values))
        case _:
            raise InterpretationError(f"expected an affine expression, got {expression}")


@register_impls
class AffineIndexFunctions(AffineFunctions):
    """Index arithmetic that refuses what C's `/` and `%` would get wrong."""

    def __init__(self) -> None:
        # by the identity of attributes, as a hash is made anew every time: they live as long as what is interpreted
        self._evaluated: dict[int, _Evaluated] = {}

    @impl(affine.ApplyOp)
    def run_apply(self, interpreter: Interpreter, op: affine.ApplyOp, args: tuple[int, ...]) -> PythonValues:
        attribute = op.map
        if (known := self._evaluated.get(id(attribute))) is None:
            known = self._evaluated[id(attribute)] = _Evaluated.of(attribute.data)
        for dividend, function in known.dividends:
            if (value := function(args)) < 0:
                raise InterpretationError(
                    f"{op.name}: expected a dividend that is not negative, got {dividend} = {value}"
                )
        return tuple([function(args) for function in known.results])


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
