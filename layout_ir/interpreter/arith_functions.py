"""Implementations of the arith dialect for xDSL's interpreter: constants as bits, unsigned operations, integers."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from typing import Any, cast

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, IntegerAttr, IntegerType
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.interpreters.arith import ArithFunctions
from xdsl.ir import Operation, SSAValue
from xdsl.utils.comparisons import to_signed, to_unsigned
from xdsl.utils.exceptions import InterpretationError

from layout_ir.interpreter.bits import bits_dtype, bits_of, scalar_type

Integers = tuple[int, ...]

_COMPARISONS: tuple[Callable[[Any, Any], bool], ...] = (eq, ne, lt, le, gt, ge, lt, le, gt, ge)
"""By the number of a predicate of `arith.cmpi`; those from the seventh on are of unsigned integers."""
_FIRST_UNSIGNED = 6


@register_impls
class ArithOnBitsFunctions(ArithFunctions):
    """
    Constants as bits, and operations that xDSL's own lack.

    Sums, differences, products and comparisons are here for their speed: xDSL's own look up what `IntegerType` means
    for every operand of every operation.
    """

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

    @impl(arith.AddiOp)
    def run_addi(self, interpreter: Interpreter, op: arith.AddiOp, args: Integers) -> PythonValues:
        return (to_signed(args[0] + args[1], _bits(op.results[0])),)

    @impl(arith.SubiOp)
    def run_subi(self, interpreter: Interpreter, op: arith.SubiOp, args: Integers) -> PythonValues:
        return (to_signed(args[0] - args[1], _bits(op.results[0])),)

    @impl(arith.MuliOp)
    def run_muli(self, interpreter: Interpreter, op: arith.MuliOp, args: Integers) -> PythonValues:
        return (to_signed(args[0] * args[1], _bits(op.results[0])),)

    @impl(arith.CmpiOp)
    def run_cmpi(self, interpreter: Interpreter, op: arith.CmpiOp, args: Integers) -> PythonValues:
        bits, predicate = _bits(op.operands[0]), op.predicate.value.data
        integer = to_unsigned if predicate >= _FIRST_UNSIGNED else to_signed
        return (_COMPARISONS[predicate](integer(args[0], bits), integer(args[1], bits)),)

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


def _bits(value: SSAValue) -> int:
    """Of an integer; 64 of an index."""
    return 64 if isinstance(value.type, IndexType) else cast(IntegerType, value.type).width.data


def _not_negative(op: Operation, args: PythonValues) -> PythonValues:
    if min(args) < 0:
        raise InterpretationError(f"{op.name}: expected operands that are not negative, got {list(args)}")
    return args
