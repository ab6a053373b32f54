"""Lowered modules, interpreted: loops, vectors, bits, and accesses that must be refused."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import InterpretationError

from layout_ir.errors import LayoutError
from layout_ir.interpreter.loops import run_loops


def parse(text: str) -> ModuleOp:
    context = Context()
    for name in ("builtin", "func", "scf", "affine", "memref", "arith", "vector"):
        context.register_dialect(name, get_all_dialects()[name])
    module = Parser(context, text).parse_module()
    module.verify()
    return module


TRANSPOSE = """
func.func @inner(%s: memref<6xf32>, %d: memref<6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %c6 step %c1 {
    %j = affine.apply affine_map<(d0) -> (d0 mod 2 * 3 + d0 floordiv 2)>(%i)
    %v = memref.load %s[%j] : memref<6xf32>
    memref.store %v, %d[%i] : memref<6xf32>
  }
  func.return
}
func.func @outer(%s: memref<6xf32>, %d: memref<6xf32>) {
  %t = memref.alloc() : memref<6xf32>
  func.call @inner(%s, %t) : (memref<6xf32>, memref<6xf32>) -> ()
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %pad = arith.constant 1.500000e+00 : f32
  "scf.parallel"(%c0, %c0, %c3, %c2, %c1, %c1) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
  ^bb0(%i: index, %j: index):
    %a = arith.muli %i, %c2 : index
    %k = arith.addi %a, %j : index
    %last = arith.cmpi eq, %k, %c5 : index
    scf.if %last {
      memref.store %pad, %d[%k] : memref<6xf32>
    } else {
      %v = memref.load %t[%k] : memref<6xf32>
      memref.store %v, %d[%k] : memref<6xf32>
    }
    scf.reduce
  }) : (index, index, index, index, index, index) -> ()
  memref.dealloc %t : memref<6xf32>
  func.return
}
"""


def test_loops() -> None:
    source = np.array([[0.5, -1, np.nan], [3, 4, 5]], np.float32)
    source.view(np.uint32)[0, 2] = 0x7F800001  # a signalling NaN keeps its bits
    destination = np.full(8, 77, np.float32)
    run_loops(parse(TRANSPOSE), "outer", [source, destination])
    expected = [*source.T.ravel()[:5], 1.5, 77, 77]
    assert (destination.view(np.uint32) == np.array(expected, np.float32).view(np.uint32)).all()


def one(body: str, types: str = "memref<8xi8>, memref<8xi8>") -> ModuleOp:
    first, second = types.split(", ")
    constants = "".join(f"%c{i} = arith.constant {i} : index\n" for i in range(9))
    return parse(f"func.func @f(%s: {first}, %d: {second}) {{\n{constants}{body}\nfunc.return\n}}")


V8 = "vector<8xi8>"
VECTORS = {
    "copy": ("%v = vector.load %s[%c0] : memref<8xi8>, vector<4xi8>\n"
             "vector.store %v, %d[%c4] : memref<8xi8>, vector<4xi8>", [99, 99, 99, 99, 1, 2, 3, 4]),
    "nontemporal": ("%v = vector.load %s[%c0] : memref<8xi8>, vector<8xi8>\n"
             "vector.store %v, %d[%c0] {nontemporal = true} : memref<8xi8>, vector<8xi8>", [1, 2, 3, 4, 5, 6, 7, 8]),
    "zip": (f"%v = vector.load %s[%c0] : memref<8xi8>, vector<4xi8>\n"
            f"%w = vector.load %s[%c4] : memref<8xi8>, vector<4xi8>\n"
            f"%z = vector.shuffle %v, %w [0, 4, 1, 5, 2, 6, 3, 7] : vector<4xi8>, vector<4xi8>\n"
            f"vector.store %z, %d[%c0] : memref<8xi8>, {V8}", [1, 5, 2, 6, 3, 7, 4, 8]),
    "bitcast": (f"%v = vector.load %s[%c0] : memref<8xi8>, {V8}\n"
                f"%w = vector.bitcast %v : {V8} to vector<4xi16>\n"
                "%x = vector.shuffle %w, %w [3, 2, 1, 0] : vector<4xi16>, vector<4xi16>\n"
                f"%y = vector.bitcast %x : vector<4xi16> to {V8}\n"
                f"vector.store %y, %d[%c0] : memref<8xi8>, {V8}", [7, 8, 5, 6, 3, 4, 1, 2]),
    "masked": (f"%p = arith.constant -3 : i8\n%pads = vector.broadcast %p : i8 to {V8}\n"
               "%m = vector.create_mask %c3 : vector<8xi1>\n"
               f"%v = vector.maskedload %s[%c5], %m, %pads : memref<8xi8>, vector<8xi1>, {V8} into {V8}\n"
               "%n = vector.create_mask %c5 : vector<8xi1>\n"
               f"vector.maskedstore %d[%c3], %n, %v : memref<8xi8>, vector<8xi1>, {V8}",
               [99, 99, 99, 6, 7, 8, -3, -3]),
    "constant": ("%m = arith.constant dense<[true, false, true, false]> : vector<4xi1>\n"
                 "%z = arith.constant dense<9> : vector<4xi8>\n"
                 "vector.maskedstore %d[%c0], %m, %z : memref<8xi8>, vector<4xi1>, vector<4xi8>",
                 [9, 99, 9, 99, 99, 99, 99, 99]),
    "minui": ("%n = arith.minui %c5, %c3 : index\n%v = memref.load %s[%n] : memref<8xi8>\n"
              "memref.store %v, %d[%c0] : memref<8xi8>", [4, *[99] * 7]),
    "true": ("%v = arith.constant -1 : i8\nmemref.store %v, %d[%c0] : memref<8xi8>", [-1, *[99] * 7]),
}  # fmt: skip


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name: str) -> None:
    body, expected = VECTORS[name]
    destination = np.full(8, 99, np.int8)
    run_loops(one(body), "f", [np.arange(1, 9, dtype=np.int8), destination])
    assert destination.tolist() == expected


REFUSED = {
    "past the end": "%v = memref.load %s[%c8] : memref<8xi8>",
    "before the start": "%n = arith.constant -1 : index\n%v = memref.load %s[%n] : memref<8xi8>",
    "store": "%v = arith.constant 1 : i8\nmemref.store %v, %d[%c8] : memref<8xi8>",
    "last lane of a load": "%v = vector.load %s[%c5] : memref<8xi8>, vector<4xi8>",
    "last lane of a store": "%v = arith.constant dense<1> : vector<4xi8>\n"
    "vector.store %v, %d[%c5] : memref<8xi8>, vector<4xi8>",
    "lane that the mask lets through": "%m = vector.create_mask %c4 : vector<8xi1>\n"
    "%v = arith.constant dense<1> : vector<8xi8>\n"
    "vector.maskedstore %d[%c5], %m, %v : memref<8xi8>, vector<8xi1>, vector<8xi8>",
    "negative dividend": "%n = arith.constant -3 : index\n%i = affine.apply affine_map<(d0) -> (d0 mod 2)>(%n)",
}


@pytest.mark.parametrize("place", [0, 16])
def test_stores_to_known_lines(place: int) -> None:
    """They are where the IR says, in memory: a multiple of the vector's size, wherever the buffer begins."""
    body = f"%i = arith.constant {place} : index\n%v = arith.constant dense<1> : vector<16xi8>\n"
    body += "vector.store %v, %d[%i] {nontemporal = true, at_line} : memref<64xi8>, vector<16xi8>"
    lowered = parse(f"func.func @f(%d : memref<64xi8>) {{\n{body}\nreturn }}")
    memory = np.zeros(256, np.int8)
    begin = -memory.ctypes.data % 64
    run_loops(lowered, "f", [memory[begin : begin + 64]])
    assert np.flatnonzero(memory).tolist() == list(range(begin + place, begin + place + 16))
    with pytest.raises(InterpretationError, match="expected an address at a multiple of 16, got"):
        run_loops(lowered, "f", [memory[begin + 8 : begin + 72]])


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    # the arrays are longer than the memrefs: an access behind the memref is refused all the same
    message = "not negative" if "negative" in name else r"inside of a buffer of shape \[8\]"
    with pytest.raises(InterpretationError, match=message):
        run_loops(one(REFUSED[name]), "f", [np.zeros(64, np.int8), np.zeros(64, np.int8)])


@pytest.mark.parametrize(
    "types, buffers, message",
    [
        ("memref<8xi8>, memref<8xi8>", [np.zeros(8, np.int8)], "f: expected 2 buffers, got 1"),
        ("memref<8xi8>, memref<8xi8>", [np.zeros(8, np.int8), np.zeros(7, np.int8)], "at least 8 elements, got 7"),
        ("memref<8xi8>, memref<8xi8>", [np.zeros(8), np.zeros(8)], r"1-byte elements \(i8\), got float64"),
        ("memref<?x2xi8>, memref<8xi8>", [np.zeros(8), np.zeros(8)], "of memrefs with static shapes, or flat ones"),
    ],
)
def test_errors(types: str, buffers: list[np.ndarray[tuple[int], np.dtype[np.generic]]], message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        run_loops(one("", types), "f", buffers)
