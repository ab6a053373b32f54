"""OpenCL C text: accepted by a strict compiler, 32- and 64-bit indices, bits of constants, and what is refused."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from layout_families import FAMILIES
from opencl_support import compiled, image_reorders, program, working_device
from reorder_batch import Reorder, faults, module_of
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

import layout_ir as li
from layout_ir.backends import opencl_shuffles
from layout_ir.backends.opencl import emit_opencl
from layout_ir.lowering.build import reorder_module
from layout_ir.lowering.to_device import ToDevicePass
from layout_ir.lowering.to_device_pipeline import lower_for_device
from layout_ir.runtime import opencl_devices

STRICT = (
    *("-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-target", "spir64", "-fsyntax-only"),
    *("-Wall", "-Wextra", "-Wconversion", "-Wno-sign-conversion", "-Wno-implicit-int-conversion", "-Werror"),
)
CLANGS = ("clang", *(f"clang-{version}" for version in range(25, 12, -1)))


def text_of(source: str, destination: str, shape: tuple[int, ...], dtype: str = "f32", pad: float | None = 0) -> str:
    module = reorder_module(li.layout(source), li.layout(destination), shape, dtype, pad=pad)
    lower_for_device(Context(), module)
    return emit_opencl(module)


MODES = (
    *({}, {"images": True}, {"tile": 32, "work_group": 256}),
    *({"vector_bytes": 16}, {"vector_bytes": 64}, {"vector_bytes": 64, "most_lanes": 64}),
)


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_a_strict_compiler_takes_the_text(mode: dict[str, int], tmp_path: Path) -> None:
    reorders: list[Reorder] = list(image_reorders())[::7]
    if "images" not in mode:
        reorders = [case for family in FAMILIES for case in family.reorders[::97]]
    module = module_of(reorders)
    lower_for_device(Context(), module, **mode)
    file = tmp_path / "kernels.cl"
    file.write_text(emit_opencl(module))
    result = subprocess.run([program(*CLANGS), *STRICT, str(file)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[:4000]


def test_shuffles_are_right_in_the_languages_own_words_too(monkeypatch: pytest.MonkeyPatch) -> None:
    working_device()
    monkeypatch.setenv("LAYOUT_IR_VECTOR_BYTES", "64")
    monkeypatch.setattr(opencl_shuffles, "_CHOICE", "")
    monkeypatch.setattr(opencl_devices, "_has_wide_vectors", lambda _: False)
    cases = [Reorder(li.layout("NC"), li.layout("CN"), (37, 50), dtype) for dtype in ("f32", "f16", "u8", "f64")]
    kernels = compiled(cases)
    assert "shuffle2" in kernels[0].source
    assert "#define" not in kernels[0].source
    assert not faults(cases, kernels)


@pytest.mark.parametrize(
    "elements, dtype, expected",
    [(2**29 - 1, "f32", "int"), (2**29, "f32", "long"), (2**31 - 1, "u8", "int"), (2**31, "u8", "long")],
)
def test_buffers_of_2_gib_are_indexed_with_long(elements: int, dtype: str, expected: str) -> None:
    text = text_of("NC", "CN", (1, elements), dtype)
    assert f"const {expected} x = ({expected})get_global_id(0);" in text
    assert ("long" in text) == (expected == "long")


@pytest.mark.parametrize(
    "dtype, pad, kind, bits",
    [
        *[("f32", 1.5, "uint", "0x3fc00000u"), ("f16", -2.0, "ushort", "0xc000"), ("bf16", 1.5, "ushort", "0x3fc0")],
        *[("f64", 1.5, "ulong", "0x3ff8000000000000UL"), ("i8", -3, "uchar", "0xfd"), ("i64", 7, "ulong", "7")],
        *[("i1", 1, "uchar", "1"), ("u8", 200, "uchar", "0xc8"), ("i32", -1, "uint", "0xffffffffu")],
    ],
)
def test_elements_are_moved_and_pads_are_written_as_bits(dtype: str, pad: float, kind: str, bits: str) -> None:
    text = text_of("NC", "(d0, d1) -> (d0, d1 floordiv 4, d1 mod 4)", (2, 3), dtype, pad)
    assert f"__global const {kind} *restrict source, __global {kind} *restrict destination" in text
    assert re.search(rf"(: |= |, ){bits}(;|, |\))", text)


def parsed(module: Callable[[str], ModuleOp], body: str, arguments: str = "%x: memref<8xf32>") -> ModuleOp:
    return module(f"func.func @f({arguments}) {{\n{body}\n func.return\n}}")


def test_names_that_mean_something_to_opencl_are_changed(module: Callable[[str], ModuleOp]) -> None:
    body = "%i = arith.constant 3 : index\n%v = memref.load %global[%i] : memref<8xf32>\n"
    body += "memref.store %v, %convert_int[%i] : memref<8xf32>"
    ir = parsed(module, body, "%global: memref<8xf32>, %convert_int: memref<8xf32>")
    ToDevicePass().apply(Context(), ir)
    text = emit_opencl(ir)
    assert "*restrict global_" in text
    assert "*restrict convert_int_" in text or "*restrict arg1" in text or "convert_int_value" in text


def test_what_is_no_parallel_loop_runs_in_one_work_item(module: Callable[[str], ModuleOp]) -> None:
    body = (
        "%0 = arith.constant 0 : index\n%1 = arith.constant 1 : index\n%8 = arith.constant 8 : index\n"
        "scf.for %i = %0 to %8 step %1 { %v = memref.load %x[%i] : memref<8xf32>\n"
        "memref.store %v, %x[%0] : memref<8xf32> }"
    )
    ir = parsed(module, body)
    ToDevicePass().apply(Context(), ir)
    text = emit_opencl(ir)
    assert "f_0(x) in 1 groups of 1 work items" in text
    assert "for (int i = 0; i < 8; i++)" in text


def test_functions_that_call_themselves_are_refused(module: Callable[[str], ModuleOp]) -> None:
    ir = parsed(module, "func.call @f(%x) : (memref<8xf32>) -> ()")
    with pytest.raises(li.LayoutError, match="expected functions that do not call themselves, got 'f'"):
        emit_opencl(ir)


def test_values_that_leave_a_kernel_are_refused(module: Callable[[str], ModuleOp]) -> None:
    body = (
        "%0 = arith.constant 0 : index\n%1 = arith.constant 1 : index\n%8 = arith.constant 8 : index\n"
        "%v = memref.load %x[%0] : memref<8xf32>\n"
        '"scf.parallel"(%1, %8, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({\n^bb0(%i: index):\n'
        "memref.store %v, %x[%i] : memref<8xf32>\nscf.reduce\n}) : (index, index, index) -> ()"
    )
    with pytest.raises(PassFailedException, match=r"expected no value that leaves a kernel, got memref\.load"):
        ToDevicePass().apply(Context(), parsed(module, body))


@pytest.mark.parametrize("size", [0, -4])
def test_a_group_has_work_items(size: int) -> None:
    with pytest.raises(PassFailedException, match=f"expected a work_group of at least 1, got {size}"):
        ToDevicePass(size).apply(Context(), ModuleOp([]))
