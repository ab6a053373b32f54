"""Lowered modules with vectors: their C text, and what it does to buffers."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from layout_ir.backends.c import emit_c
from layout_ir.backends.c_prelude import Prelude
from layout_ir.errors import LayoutError

Run = Callable[..., None]
Text = Callable[[str], str]
Module = Callable[[str], ModuleOp]

CONSTANTS = "\n".join(f"%c{value} = arith.constant {value} : index" for value in (0, 1, 3, 4, 16, 64))

CLANG = next(filter(shutil.which, ("clang", *(f"clang-{version}" for version in range(30, 12, -1)))), "clang")
"""The newest one that there is."""

ELEMENTS = [
    ("f32", "f32", np.uint32),
    ("f64", "f64", np.uint64),
    ("f16", "u16", np.uint16),
    ("bf16", "u16", np.uint16),
    ("i1", "u8", np.uint8),
    ("i8", "i8", np.uint8),
    ("ui8", "u8", np.uint8),
    ("i16", "i16", np.uint16),
    ("i32", "i32", np.uint32),
    ("i64", "i64", np.uint64),
]


def function(*lines: str, element: str = "f32") -> str:
    """A function on the buffers %x and %y of 64 elements and the indices %n and %m."""
    body = "\n".join([CONSTANTS, *lines])
    arguments = f"%x : memref<64x{element}>, %y : memref<64x{element}>, %n : index, %m : index"
    return f"func.func @f({arguments}) {{\n{body}\nreturn }}"


def load(result: str, index: str, lanes: int = 16, element: str = "f32") -> str:
    return f"%{result} = vector.load %x[%{index}] : memref<64x{element}>, vector<{lanes}x{element}>"


def store(value: str, index: str, lanes: int = 16, element: str = "f32", hint: str = "") -> str:
    return f"vector.store %{value}, %y[%{index}] {hint} : memref<64x{element}>, vector<{lanes}x{element}>"


def buffers(dtype: Any = np.uint32, misaligned: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Random bits, and a destination of 64 elements with guards around; both start `misaligned` bytes past 64."""
    size = 64 * np.dtype(dtype).itemsize
    memory = np.zeros(2 * size + 512, np.uint8)
    start = -memory.ctypes.data % 64 + misaligned
    source = memory[start : start + size]
    source[:] = np.random.default_rng(5).integers(0, 256, size, np.uint8)
    destination = memory[start + size + 64 : start + 2 * size + 64 + 64]
    destination[:] = 0xA5
    return source.view(dtype), destination.view(dtype)


@pytest.mark.parametrize("hint", ["", "{nontemporal = true}"])
@pytest.mark.parametrize("element, name, dtype", ELEMENTS)
def test_load_shuffle_store(element: str, name: str, dtype: Any, hint: str, run: Run, c_text: Text) -> None:
    lanes = ", ".join(f"{lane}, {lane + 16}" for lane in range(16))
    ir = function(
        load("a", "c3", element=element),
        load("b", "n", element=element),
        f"%z = vector.shuffle %a, %b [{lanes}] : vector<16x{element}>, vector<16x{element}>",
        store("z", "c16", 32, element, hint),
        element=element,
    )
    for misaligned in (0, 16, 32, 1):
        source, destination = buffers(dtype, misaligned)
        run(ir, "f", source, destination, 20, 0, flags=())
        expected = np.full_like(destination, int.from_bytes(b"\xa5" * destination.itemsize, "little"))
        expected[16:48:2], expected[17:48:2] = source[3:19], source[20:36]
        assert destination.tobytes() == expected.tobytes()
    text = c_text(ir)
    assert f"const {name}x16 a = *(const {name}x16_unaligned *)&x[3];" in text
    assert f"const {name}x32 z = __builtin_shufflevector(a, b, 0, 16, 1, 17" in text
    assert ("LAYOUT_STREAM(&y[16], z);\n  LAYOUT_FENCE();" if hint else f"*({name}x32_unaligned *)&y[16] = z;") in text


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16, 32, 64])
def test_streaming_stores_of_every_size(lanes: int, run: Run) -> None:
    ir = function(load("a", "c0", lanes, "i8"), store("a", "c0", lanes, "i8", "{nontemporal = true}"), element="i8")
    for misaligned in (0, 8, 16, 32):
        source, destination = buffers(np.uint8, misaligned)
        run(ir, "f", source, destination, 0, 0, flags=("-march=native",))
        assert destination.tolist() == source[:lanes].tolist() + [0xA5] * (128 - lanes)


@pytest.mark.parametrize("flag", ["-march=x86-64", "-march=x86-64-v3", "-march=native", None])
@pytest.mark.parametrize("lanes", [16, 32, 64])
def test_stores_to_known_lines_are_not_tested(lanes: int, flag: str | None, run: Run, c_text: Text) -> None:
    hint = "{nontemporal = true, at_line}"
    ir = function(load("a", "c0", lanes, "i8"), store("a", "c0", lanes, "i8", hint), element="i8")
    assert "LAYOUT_STREAM_AT_LINE(&y[0], a);" in (text := c_text(ir))
    assert "LAYOUT_STREAM(" not in text
    source, destination = buffers(np.uint8)
    run(ir, "f", source, destination, 0, 0, flags=() if flag is None or platform.machine() != "x86_64" else (flag,))
    assert destination.tolist() == source[:lanes].tolist() + [0xA5] * (128 - lanes)


@pytest.mark.parametrize("parts", [False, True])
def test_headers_of_intrinsics_are_for_clang_alone(parts: bool) -> None:
    """They take GCC longer to read than most kernels."""
    included = re.findall("#include <(.*)>", Prelude(streams=True, parts=parts).text())
    assert included == ["stddef.h", "stdint.h", "string.h", *(["immintrin.h"] if parts else [])]
    assert ("__clang__)\n#include <immintrin.h>\n#endif" in Prelude(parts=parts).text()) == parts


@pytest.mark.skipif(platform.machine() != "x86_64", reason="expected an x86-64 processor's compiler")
@pytest.mark.parametrize(("level", "register"), [("x86-64", "xmm"), ("x86-64-v3", "ymm"), ("x86-64-v4", "[yz]mm")])
@pytest.mark.parametrize("compiler", ["cc", CLANG])
@pytest.mark.parametrize("hint", ["{nontemporal = true}", "{nontemporal = true, at_line}"])
def test_streaming_stores_go_past_the_caches(
    hint: str, compiler: str, level: str, register: str, module: Module
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"expected {compiler} on PATH, found none")
    text = emit_c(module(function(load("a", "c0"), store("a", "c0", hint=hint))))
    command = [compiler, "-O2", f"-march={level}", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-psabi"]
    command += ["-Wno-unused-parameter", "-x", "c", "-", "-S", "-o", "-"]
    assembly = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    assert re.search(rf"movnt\w+\s+%{register}", assembly), assembly


@pytest.mark.parametrize("size", [-3, 0, 1, 7, 15, 16, 40])
def test_masks_made_at_run_time(size: int, run: Run) -> None:
    ir = function(
        load("initial", "c16"),
        "%mask = vector.create_mask %n : vector<16xi1>",
        "%a = vector.maskedload %x[%m], %mask, %initial : memref<64xf32>, vector<16xi1>, vector<16xf32> "
        "into vector<16xf32>",
        store("a", "c0"),
        "vector.maskedstore %y[%c16], %mask, %a : memref<64xf32>, vector<16xi1>, vector<16xf32>",
    )
    source, destination = buffers()
    run(ir, "f", source, destination, size, 33, flags=())
    count = min(max(size, 0), 16)
    loaded = [*source[33 : 33 + count], *source[16 + count : 32]]
    assert destination[:32].tolist() == loaded + loaded[:count] + [0xA5A5A5A5] * (16 - count)


@pytest.mark.parametrize("mask", ["1111", "0000", "1110", "0110", "1011", "0001"])
def test_constant_masks(mask: str, run: Run, c_text: Text) -> None:
    bits = [digit == "1" for digit in mask]
    ir = function(
        "%zero = arith.constant dense<0.0> : vector<4xf32>",
        f"%mask = arith.constant dense<[{', '.join(str(bit).lower() for bit in bits)}]> : vector<4xi1>",
        "%a = vector.maskedload %x[%n], %mask, %zero : memref<64xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>",
        store("a", "c0", 4),
        "vector.maskedstore %y[%c4], %mask, %a : memref<64xf32>, vector<4xi1>, vector<4xf32>",
    )
    source, destination = buffers()
    run(ir, "f", source, destination, 9, 0, flags=())
    loaded = [int(source[9 + lane]) if bit else 0 for lane, bit in enumerate(bits)]
    stored = [value if bit else 0xA5A5A5A5 for value, bit in zip(loaded, bits, strict=True)]
    assert destination[:9].tolist() == [*loaded, *stored, 0xA5A5A5A5]
    assert "mask" not in c_text(ir)


def test_a_store_of_no_lane_still_asks_for_its_line(run: Run, c_text: Text) -> None:
    ir = function(
        "%none = arith.constant dense<false> : vector<4xi1>",
        "%a = vector.load %x[%c0] : memref<64xf32>, vector<4xf32>",
        "vector.maskedstore %y[%c4], %none, %a {prefetch = 16 : index} : memref<64xf32>, vector<4xi1>, vector<4xf32>",
    )
    source, destination = buffers()
    run(ir, "f", source, destination, 9, 0, flags=())
    assert set(destination.tolist()) == {0xA5A5A5A5}
    assert "__builtin_prefetch(&y[4] + 16, 1);" in c_text(ir)


def test_masks_of_splats_and_of_constant_sizes(run: Run, c_text: Text) -> None:
    ir = function(
        "%zero = arith.constant dense<0.0> : vector<4xf32>",
        "%all = arith.constant dense<true> : vector<4xi1>",
        "%three = vector.create_mask %c3 : vector<4xi1>",
        "%a = vector.maskedload %x[%c0], %all, %zero : memref<64xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>",
        "vector.maskedstore %y[%c0], %three, %a : memref<64xf32>, vector<4xi1>, vector<4xf32>",
    )
    source, destination = buffers()
    run(ir, "f", source, destination, 9, 0, flags=())
    assert destination[:4].tolist() == [*source[:3], 0xA5A5A5A5]
    assert "memcpy(&y[0], &a, 3 * sizeof(float));" in c_text(ir)


def test_bitcast(run: Run, c_text: Text) -> None:
    ir = function(
        load("a", "c0", 4),
        "%b = vector.bitcast %a : vector<4xf32> to vector<8xi16>",
        "%c = vector.shuffle %b, %b [1, 0, 3, 2, 5, 4, 7, 6] : vector<8xi16>, vector<8xi16>",
        "%d = vector.bitcast %c : vector<8xi16> to vector<4xf32>",
        store("d", "c0", 4),
    )
    source, destination = buffers()
    run(ir, "f", source, destination, 0, 0, flags=())
    swapped = source[:4].view(np.uint16).reshape(4, 2)[:, ::-1].copy().view(np.uint32)
    assert destination[:4].tolist() == swapped.reshape(-1).tolist()
    assert "const i16x8 b = (i16x8)a;" in c_text(ir)


@pytest.mark.parametrize("element, name, dtype", ELEMENTS)
def test_broadcast_keeps_the_bits(element: str, name: str, dtype: Any, run: Run) -> None:
    ir = function(
        f"%s = memref.load %x[%n] : memref<64x{element}>",
        f"%a = vector.broadcast %s : {element} to vector<8x{element}>",
        store("a", "c0", 8, element),
        element=element,
    )
    source, destination = buffers(dtype)
    if element == "f32":
        source[5] = 0x7FA00001  # a signalling NaN
    run(ir, "f", source, destination, 5, 0, flags=())
    assert destination[:8].tolist() == [int(source[5])] * 8


@pytest.mark.parametrize(
    "constant, dtype, expected",
    [
        ("dense<0.0> : vector<4xf32>", np.uint32, [0] * 4),
        ("dense<-0.0> : vector<4xf32>", np.uint32, [1 << 31] * 4),
        ("dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>", np.float32, [1, 2, 3, 4]),
        ("dense<1.5> : vector<4xbf16>", np.uint16, [0x3FC0] * 4),
        ("dense<7> : vector<4xi8>", np.int8, [7] * 4),
        ("dense<[1, -2, 3, 127]> : vector<4xi8>", np.int8, [1, -2, 3, 127]),
        ("dense<[true, false, true, true]> : vector<4xi1>", np.uint8, [1, 0, 1, 1]),
    ],
)
def test_constants(constant: str, dtype: Any, expected: list[int], run: Run) -> None:
    element = constant.rpartition("x")[2].rstrip(">")
    ir = function(f"%a = arith.constant {constant}", store("a", "c0", 4, element), element=element)
    source, destination = buffers(dtype)
    run(ir, "f", source, destination, 0, 0, flags=())
    assert destination[:4].tolist() == expected


STREAMING_LOOP = f"""
func.func @f(%x : memref<4096xf32>, %y : memref<4096xf32>) {{
  {CONSTANTS}
  LOOP
    %at = affine.apply affine_map<(d0) -> (d0 * 64)> (%i)
    %a = vector.load %x[%at] : memref<4096xf32>, vector<16xf32>
    vector.store %a, %y[%at] {{nontemporal = true}} : memref<4096xf32>, vector<16xf32>
  END
  return
}}
"""
SERIAL = STREAMING_LOOP.replace("LOOP", "scf.for %i = %c0 to %c64 step %c1 {").replace("END", "}")
PARALLEL = STREAMING_LOOP.replace(
    "LOOP", '"scf.parallel"(%c0, %c64, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({\n^bb0(%i : index):'
).replace("END", "scf.reduce\n}) : (index, index, index) -> ()")


def test_streaming_stores_are_fenced_once_after_the_loop(c_text: Text) -> None:
    text = c_text(SERIAL)
    assert text.endswith("    LAYOUT_STREAM(&y[at], a);\n  }\n  LAYOUT_FENCE();\n}\n")
    assert text.count("LAYOUT_FENCE") == 1


def test_every_thread_fences_its_streaming_stores(c_text: Text) -> None:
    text = c_text(PARALLEL)
    assert (
        "#pragma omp parallel\n#endif\n  {\n#ifdef _OPENMP\n#pragma omp for nowait\n#endif\n    for (int64_t i" in text
    )
    assert text.endswith("      LAYOUT_STREAM(&y[at], a);\n    }\n    LAYOUT_FENCE();\n  }\n}\n")


@pytest.mark.parametrize("ir", [SERIAL, PARALLEL])
@pytest.mark.parametrize("flags", [("-march=native", "-O3"), ("-march=native", "-O3", "-fopenmp")])
def test_streaming_loops(ir: str, flags: tuple[str, ...], run: Run) -> None:
    source, destination = np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32)
    run(ir, "f", source, destination, flags=flags)
    expected = np.where(np.arange(4096) % 64 < 16, source, 0)
    assert destination.tolist() == expected.tolist()


def test_streaming_stores_are_fenced_before_other_threads_read_them(c_text: Text) -> None:
    both = SERIAL.replace("  return\n}\n", "")
    inner = PARALLEL.partition("LOOP")[2] or PARALLEL[PARALLEL.index('"scf.parallel"') :]
    assert "  }\n  LAYOUT_FENCE();\n#ifdef _OPENMP\n#pragma omp parallel" in c_text(both + inner)


CALLS_OF_A_TILE = (
    STREAMING_LOOP.replace("func.func @f", "func.func private @tile")
    .replace("f32>) {", "f32>) attributes {unfenced} {")
    .replace("LOOP", "%i = arith.constant 5 : index")
    .replace("END", "")
)


@pytest.mark.parametrize(("ir", "level"), [(SERIAL, 1), (PARALLEL, 2)], ids=["serial", "parallel"])
def test_the_stores_of_a_function_that_leaves_that_to_its_callers_are_fenced_by_these(
    ir: str, level: int, c_text: Text
) -> None:
    store = ir[ir.index("    %a = vector.load") : ir.index("vector<16xf32>\n", ir.index("vector.store")) + 15]
    call = "func.call @tile(%x, %y) : (memref<4096xf32>, memref<4096xf32>) -> ()\n"
    tile, _, caller = c_text(CALLS_OF_A_TILE + ir.replace(store, call)).partition("void f(")
    assert "LAYOUT_STREAM(" in tile
    assert "LAYOUT_FENCE" not in tile
    assert caller.count("LAYOUT_FENCE") == 1
    inside, outside = "  " * (level + 1), "  " * level
    assert f"{inside}tile(x, y);\n{outside}}}\n{outside}LAYOUT_FENCE();\n" in caller
    public = CALLS_OF_A_TILE.replace("private ", "")  # which anyone may call
    assert c_text(public).endswith("LAYOUT_FENCE();\n}\n")


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("ir", [SERIAL, PARALLEL], ids=["serial", "parallel"])
def test_one_text_compiles_for_every_level_of_x86(
    level: str, ir: str, module: Module, compiles: Callable[..., Any]
) -> None:
    source = emit_c(module(ir))
    compiles(source, f"-march={level}")
    compiles(source, f"-march={level}", "-O3", "-std=gnu11", "-fopenmp")


@pytest.mark.parametrize(
    "lines, message",
    [
        (["%a = vector.load %x[%c0] : memref<64xf32>, vector<3xf32>", store("a", "c0", 3)], "a power of two of lanes"),
        (
            ["%a = vector.load %x[%c0] : memref<64xf32>, vector<4x4xf32>",
             "vector.store %a, %y[%c0] : memref<64xf32>, vector<4x4xf32>"],
            "one dimension",
        ),
        (
            [load("a", "c0", 4), load("b", "c0", 8),
             "%c = vector.shuffle %a, %b [0, 1, 2, 3] : vector<4xf32>, vector<8xf32>", store("c", "c0", 4)],
            "two vectors of one type",
        ),
        (
            [load("a", "c0", 4), "%b = vector.fma %a, %a, %a : vector<4xf32>", store("b", "c0", 4)],
            "c: no rule for operation 'vector.fma'",
        ),
    ],
)  # fmt: skip
def test_what_c_has_not_is_refused(lines: list[str], message: str, c_text: Text) -> None:
    with pytest.raises(LayoutError, match=message):
        c_text(function(*lines))
