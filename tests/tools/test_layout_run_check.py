"""What layout-run's check catches: unwritten and wrong elements, writes outside of the buffer."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from layout_ir.errors import LayoutError
from layout_ir.interpreter.functions import find_function
from layout_ir.layouts.element_type import element_type
from layout_ir.runtime.kernel import Kernel, KernelArgument
from layout_ir.tools.layout_run_job import Job, amount

MODULE = "func.func @f(%x: tensor<10xf32>) -> tensor<10xf32> { func.return %x : tensor<10xf32> }"
X = np.arange(10, dtype=np.float32)


def faulty(fault: Callable[[int, int], object]) -> Job:
    """A job whose kernel copies 10 floats rightly, and then does `fault(source, destination)`."""

    def run(source: int, destination: int) -> None:
        ctypes.memmove(destination, source, 40)
        fault(source, destination)

    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(Func)
    f32 = element_type("f32")
    arguments = [KernelArgument("x", f32, 10, False), KernelArgument("result", f32, 10, True)]
    module = Parser(context, MODULE).parse_module()
    return Job(module, find_function(module, "f"), Kernel("f", arguments, "", run), {"x": X})


@pytest.mark.parametrize(
    "fault, message",
    [
        (lambda _, d: ctypes.memset(d + 40, 0, 1), "result: the kernel wrote behind the buffer"),
        (lambda _, d: ctypes.memset(d - 1, 0, 1), "result: the kernel wrote in front of the buffer"),
        (
            lambda _, d: ctypes.memset(d + 36, 0xA5, 4),
            "differs from the interpreter in 1 of 10 elements, .* element 9",
        ),
        (lambda _, d: ctypes.memset(d + 8, 1, 1), "element 2: expected the bits 0x40000000, got 0x40000001"),
    ],
)
def test_the_check_catches(fault: Callable[[int, int], object], message: str) -> None:
    job = faulty(fault)
    expected = job.expected()
    job.run()
    with pytest.raises(LayoutError, match=message):
        job.compare(expected)


def test_the_check_passes_what_is_right() -> None:
    job = faulty(lambda _, __: None)
    expected = job.expected()
    job.run()
    job.compare(expected)
    assert (job.outputs()["result"] == X).all()
    assert job.traffic() == (40, 40)


@pytest.mark.parametrize(
    "number, unit, text",
    [(0, "B", "0 B"), (40, "B", "40 B"), (3211264, "B", "3.21 MB"), (0.000412, "s", "412 us"), (999.9e-6, "s", "1 ms")],
)
def test_amounts(number: float, unit: str, text: str) -> None:
    assert amount(number, unit) == text
