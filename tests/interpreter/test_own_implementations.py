"""What is here for its speed does as xDSL's own implementations do."""

from __future__ import annotations

import random

import pytest
from xdsl.builder import Builder, InsertPoint
from xdsl.dialects import affine, arith
from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.interpreter import Interpreter
from xdsl.interpreters.arith import ArithFunctions
from xdsl.interpreters.func import FuncFunctions
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.utils.exceptions import InterpretationError
from xdsl.utils.test_value import create_ssa_value

from layout_ir.interpreter.arith_functions import ArithOnBitsFunctions
from layout_ir.interpreter.loop_functions import AffineIndexFunctions
from layout_ir.interpreter.region_runner import RegionRunner

INDEX = IndexType()
OPERATIONS = [arith.AddiOp, arith.SubiOp, arith.MuliOp]
PREDICATES = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]


def integers(bits: int) -> list[int]:
    """Of one width, signed and unsigned, at all ends of their range and between."""
    most = (1 << bits) - 1
    return [-(most // 2) - 1, -1, 0, 1, most // 2, most // 2 + 1, most, random.Random(bits).randrange(most)]


def assert_same(op: Operation, bits: int) -> None:
    module = ModuleOp([])
    ours, theirs = (Interpreter(module, index_bitwidth=64) for _ in range(2))
    ours.register_implementations(ArithOnBitsFunctions())
    theirs.register_implementations(ArithFunctions())
    for left in integers(bits):
        for right in integers(bits):
            assert ours.run_op(op, (left, right)) == theirs.run_op(op, (left, right)), (left, right)


@pytest.mark.parametrize("kind, bits", [(INDEX, 64), (IntegerType(64), 64), (IntegerType(8), 8), (IntegerType(1), 1)])
def test_integers(kind: Attribute, bits: int) -> None:
    left, right = create_ssa_value(kind), create_ssa_value(kind)
    for operation in OPERATIONS:
        assert_same(operation(left, right), bits)
    for predicate in PREDICATES:
        assert_same(arith.CmpiOp(left, right, predicate), bits)


D0, D1, S0 = AffineExpr.dimension(0), AffineExpr.dimension(1), AffineExpr.symbol(0)
MAP = AffineMap(2, 1, (D0 * 12 + D1, (D0 * 7 + S0) % 5 - D1, D1 // 3 + (D0 + S0).ceil_div(4), AffineExpr.constant(9)))


def test_affine_maps() -> None:
    interpreter = Interpreter(ModuleOp([]))
    interpreter.register_implementations(AffineIndexFunctions())
    for number, result in enumerate(MAP.results):
        alone = AffineMap(2, 1, (result,))
        op = affine.ApplyOp([create_ssa_value(INDEX) for _ in range(3)], AffineMapAttr(alone))
        for d0, d1, s0 in [(0, 0, 0), (3, 1, 2), (10, 100, 1000), (1, 7, 5)]:
            assert interpreter.run_op(op, (d0, d1, s0)) == alone.eval([d0, d1], [s0]), number
        if number in (1, 2):
            with pytest.raises(InterpretationError):
                interpreter.run_op(op, (-1, -1, -1))


def test_values_of_a_function_that_is_called_twice_are_those_of_the_call() -> None:
    double = FuncOp("double", ([INDEX], [INDEX]))
    builder = Builder(InsertPoint.at_end(double.body.block))
    builder.insert(ReturnOp(builder.insert(arith.AddiOp(*[double.args[0]] * 2)).result))
    main = FuncOp("main", ([INDEX], [INDEX]))
    builder = Builder(InsertPoint.at_end(main.body.block))
    first = builder.insert(CallOp("double", [main.args[0]], [INDEX]))
    second = builder.insert(CallOp("double", [first.results[0]], [INDEX]))
    builder.insert(ReturnOp(builder.insert(arith.AddiOp(first.results[0], second.results[0])).result))
    runner = RegionRunner(ModuleOp([double, main]))
    for implementations in (FuncFunctions(), ArithOnBitsFunctions()):
        runner.register_implementations(implementations)
    assert [runner.call_op("main", (number,)) for number in (1, 5)] == [(6,), (30,)]
