"""`layout-to-buffers` keeps what a program means: random programs on tensors against the same ones on buffers."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import PassFailedException

from layout_ir.dialects.layout import LAYOUT
from layout_ir.dialects.types import index_map_of, stored_type
from layout_ir.interpreter.module import interpret
from layout_ir.lowering.to_buffers import ToBuffersPass

Storage = npt.NDArray[Any]

LAYOUTS = (
    "tensor<3x5xf32>",
    'tensor<3x5xf32, #layout.format<"NC">>',
    "tensor<3x5xf32, strided<[5, 1]>>",
    'tensor<3x5xf32, #layout.format<"CN">>',
    "tensor<3x5xf32, strided<[1, 3]>>",
    "tensor<3x5xf32, strided<[8, 1], offset: 2>>",
    "tensor<3x5xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>>",
    "tensor<3x5xf32, #layout.tiled<(d0, d1) -> (d1, d0), round_up = [4, 1]>>",
)
SAME = ((0, 1, 2), (3, 4))
"""Layouts that are one function, between which a cast is valid."""

HELPER = f"""
func.func @helper(%a: {LAYOUTS[0]}, %b: {LAYOUTS[6]}) -> ({LAYOUTS[4]}, {LAYOUTS[6]}) {{
  %c = layout.reorder %a : {LAYOUTS[0]} to {LAYOUTS[4]}
  func.return %c, %b : {LAYOUTS[4]}, {LAYOUTS[6]}
}}
"""


def random_program(seed: int) -> str:
    """A function of two tensors that reorders, casts and calls, and returns some of its values, some of them twice."""
    generator = random.Random(seed)
    kinds = [generator.choice(LAYOUTS), generator.choice(LAYOUTS)]
    arguments = ", ".join(f"%v{i}: {kind}" for i, kind in enumerate(kinds))
    lines: list[str] = []

    def define(line: str, *results: str) -> None:
        names = ", ".join(f"%v{len(kinds) + i}" for i in range(len(results)))
        lines.append(f"  {names} = {line}")
        kinds.extend(results)

    def reorder(source: int, kind: str) -> int:
        pad = generator.choice(["", "", " pad = 7.0 : f32"])
        define(f"layout.reorder %v{source}{pad} : {kinds[source]} to {kind}", kind)
        return len(kinds) - 1

    for _ in range(generator.randrange(1, 8)):
        source, choice = generator.randrange(len(kinds)), generator.random()
        same = next((group for group in SAME if LAYOUTS.index(kinds[source]) in group), None)
        if choice < 0.3 and same:
            kind = LAYOUTS[generator.choice(same)]
            define(f"layout.cast %v{source} : {kinds[source]} to {kind}", kind)
        elif choice < 0.5:
            first, second = reorder(source, LAYOUTS[0]), reorder(source, LAYOUTS[6])
            signature = f"({LAYOUTS[0]}, {LAYOUTS[6]}) -> ({LAYOUTS[4]}, {LAYOUTS[6]})"
            define(f"func.call @helper(%v{first}, %v{second}) : {signature}", LAYOUTS[4], LAYOUTS[6])
        else:
            reorder(source, generator.choice(LAYOUTS))
    returned = [generator.randrange(len(kinds)) for _ in range(generator.randrange(1, 5))]
    types = ", ".join(kinds[i] for i in returned)
    lines.append(f"  func.return {', '.join(f'%v{i}' for i in returned)} : {types}")
    return HELPER + f"func.func @main({arguments}) -> ({types}) {{\n" + "\n".join(lines) + "\n}\n"


def parse(text: str) -> ModuleOp:
    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    context.load_dialect(LAYOUT)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def main_of(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")


def storage(kind: Attribute, seed: int) -> Storage:
    size = index_map_of(stored_type(kind)).storage_size
    return np.random.default_rng(seed).integers(1, 1000, size).astype(np.float32)


def elements(array: Storage, kind: Attribute) -> Storage:
    return array.reshape(-1)[index_map_of(stored_type(kind)).offsets()]


@pytest.mark.parametrize("results", ["arguments", "allocate"])
@pytest.mark.parametrize("seed", range(60))
def test_buffers_hold_what_the_tensors_held(seed: int, results: str) -> None:
    tensors = parse(random_program(seed))
    inputs = [storage(kind, i) for i, kind in enumerate(main_of(tensors).function_type.inputs)]
    kinds = main_of(tensors).function_type.outputs.data
    expected = interpret(tensors, "main", inputs)

    buffers = tensors.clone()
    ToBuffersPass(results).apply(Context(), buffers)
    buffers.verify()
    assert not any(isinstance(v.type, TensorType) for op in buffers.walk() for v in (*op.operands, *op.results))
    # reading back what was printed must give the same module
    buffers = parse(str(buffers))
    if results == "arguments":
        actual = [np.full(array.size, -1, np.float32) for array in expected]
        assert interpret(buffers, "main", [*inputs, *actual]) == ()
    else:
        actual = list(interpret(buffers, "main", inputs))
    for array, wanted, kind in zip(actual, expected, kinds, strict=True):
        np.testing.assert_array_equal(elements(array, kind), elements(wanted, kind))


def test_pads_are_those_of_the_reorder_wherever_it_is_returned() -> None:
    blocked = LAYOUTS[6]
    module = parse(f"""
func.func @main(%x: {LAYOUTS[0]}) -> ({blocked}, {blocked}) {{
  %y = layout.reorder %x pad = 7.0 : f32 : {LAYOUTS[0]} to {blocked}
  func.return %y, %y : {blocked}, {blocked}
}}""")
    inputs = [storage(TensorType(f32, [3, 5]), 0)]
    expected = interpret(module, "main", inputs)
    assert np.count_nonzero(expected[0] == 7.0) >= 9
    ToBuffersPass().apply(Context(), module)
    actual = [np.zeros(24, np.float32), np.zeros(24, np.float32)]
    interpret(module, "main", [*inputs, *actual])
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("seed", range(20))
def test_every_allocation_is_freed_or_returned(seed: int) -> None:
    module = parse(random_program(seed))
    ToBuffersPass("allocate").apply(Context(), module)
    for function in (op for op in module.ops if isinstance(op, FuncOp)):
        made = {
            result
            for op in function.body.block.ops
            if op.name in ("memref.alloc", "func.call")
            for result in op.results
        }
        freed = [op.operands[0] for op in function.body.block.ops if op.name == "memref.dealloc"]
        returned = list(function.body.block.last_op.operands) if function.body.block.last_op else []
        assert sorted(map(id, made)) == sorted(map(id, (*freed, *returned)))


def test_nothing_changes_where_something_is_refused() -> None:
    module = parse("""
func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> { func.return %x : tensor<4xf32> }
func.func @second(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "test.op"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}""")
    before = str(module)
    with pytest.raises(PassFailedException, match=r"got 'test.op' in @second; lower it to buffers first"):
        ToBuffersPass().apply(Context(), module)
    assert str(module) == before


def test_an_unknown_choice_of_results_names_the_nearest() -> None:
    message = r"expected results to be arguments or allocate, got 'argument'; did you mean arguments\?"
    with pytest.raises(PassFailedException, match=message):
        ToBuffersPass("argument").apply(Context(), parse("builtin.module {}"))
