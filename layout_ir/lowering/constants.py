"""Constants while loops are built: each made once in a function, and what a value that is one holds."""

from __future__ import annotations

from typing import cast

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

ScalarConstant = IntegerAttr[IntegerType] | FloatAttr
Constant = IntegerAttr[IndexType] | ScalarConstant


def constant_of(value: SSAValue) -> ScalarConstant:
    """The constant that a value of an element type is."""
    assert isinstance(value.owner, arith.ConstantOp)
    return cast("ScalarConstant", value.owner.value)


def repeated(value: Attribute, lanes: int) -> DenseIntOrFPElementsAttr:
    """The constant vector of `lanes` times a number."""
    if isinstance(value, FloatAttr):
        real = cast("FloatAttr[AnyFloat]", value)
        return DenseIntOrFPElementsAttr.from_list(VectorType(real.type, [lanes]), [real.value.data])
    assert isinstance(value, IntegerAttr)
    integer = cast("IntegerAttr[IntegerType]", value)
    return DenseIntOrFPElementsAttr.from_list(VectorType(integer.type, [lanes]), [integer.value.data])


class Constants:
    """The constants of one function: each made once, at the start of its body, out of a reader's way."""

    def __init__(self, body: Block):
        self._body = body
        self._last: Operation | None = None
        self._values: dict[Constant, SSAValue] = {}
        self._splats: dict[tuple[SSAValue, int], SSAValue] = {}

    @property
    def last(self) -> Operation:
        """The last constant, behind which others stand; there must be one."""
        assert self._last is not None
        return self._last

    def get(self, value: Constant) -> SSAValue:
        """The value of a constant."""
        if value not in self._values:
            operation = arith.ConstantOp(value)
            place = InsertPoint.after(self._last) if self._last else InsertPoint.at_start(self._body)
            Builder(place).insert(operation)
            self._last = operation
            self._values[value] = operation.result
        return self._values[value]

    def splat(self, scalar: SSAValue, lanes: int) -> SSAValue:
        """A vector that repeats a constant."""
        key = (scalar, lanes)
        if key not in self._splats:
            assert isinstance(scalar.owner, arith.ConstantOp)
            assert self._last is not None
            operation = arith.ConstantOp(repeated(scalar.owner.value, lanes))
            Builder(InsertPoint.after(self._last)).insert(operation)
            self._last = operation
            self._splats[key] = operation.result
        return self._splats[key]
