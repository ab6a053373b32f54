"""Which device is chosen: one that works, one that is asked for, or a message that says what to do."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opencl_support import working_device

from layout_ir.errors import LayoutError
from layout_ir.runtime import opencl_devices
from layout_ir.runtime.opencl_devices import DEVICE_VARIABLE, FoundDevice, choose_device, device_report
from layout_ir.tools.layout_run import main


class DriverError(Exception):
    """What a driver raises."""


class Library:
    """Stands for pyopencl."""

    Error = DriverError

    class device_type:
        GPU, ACCELERATOR, CPU = 4, 8, 2


class Named:
    def __init__(self, name: str) -> None:
        self.name = name


class Device:
    """A device of a driver that works or does not."""

    version = "OpenCL 1.2"

    def __init__(self, name: str, kind: int, problem: str | None = None) -> None:
        self.name, self.type, self.problem = name, kind, problem
        self.platform = Named("Maker")


def attempt(_: object, device: Device) -> str | None:
    if device.problem == "raises":
        raise DriverError("clBuildProgram failed: BUILD_PROGRAM_FAILURE\n\nerror: unknown target CPU 'newest'")
    return device.problem


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A machine with the given devices."""

    def have(*devices: Device) -> None:
        found = tuple(FoundDevice(number, device) for number, device in enumerate(devices))
        monkeypatch.setattr(opencl_devices, "found_devices", lambda: found)
        monkeypatch.setattr(opencl_devices, "pyopencl", lambda: Library)
        monkeypatch.setattr(opencl_devices, "_try", attempt)

    monkeypatch.delenv(DEVICE_VARIABLE, raising=False)
    return have


def test_the_first_gpu_that_works_is_chosen(machine: Any) -> None:
    machine(Device("old cpu", 2), Device("broken gpu", 4, "raises"), Device("gpu", 4), Device("other gpu", 4))
    assert choose_device().name == "gpu"


def test_a_device_that_cannot_build_a_program_is_passed_over(machine: Any) -> None:
    machine(Device("wheel", 2, "raises"), Device("distribution", 2))
    assert choose_device().name == "distribution"
    assert list(device_report()) == [
        "0  Maker: wheel (OpenCL 1.2): does not work: clBuildProgram failed: BUILD_PROGRAM_FAILURE\n"
        "error: unknown target CPU 'newest'",
        "1  Maker: distribution (OpenCL 1.2): works",
        "chosen: 1; force another with --device or LAYOUT_IR_OPENCL_DEVICE, by number or a part of its name",
    ]


@pytest.mark.parametrize("wanted, chosen", [("0", "cpu"), ("1", "gpu"), ("CP", "cpu"), ("maker: gp", "gpu")])
def test_the_choice_can_be_forced(machine: Any, monkeypatch: pytest.MonkeyPatch, wanted: str, chosen: str) -> None:
    machine(Device("cpu", 2), Device("gpu", 4))
    assert choose_device(wanted).name == chosen
    monkeypatch.setenv(DEVICE_VARIABLE, wanted)
    assert choose_device().name == chosen
    assert choose_device("gpu").name == "gpu"


def test_a_forced_device_is_not_replaced_by_another(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(Device("cpu", 2), Device("gpu", 4, "raises"))
    with pytest.raises(LayoutError, match=r"'Maker: gpu' does not work: .*BUILD_PROGRAM_FAILURE"):
        choose_device("gpu")
    with pytest.raises(LayoutError, match="whose number or name matches '2', found 0 Maker: cpu; 1 Maker: gpu"):
        choose_device("2")
    monkeypatch.setenv(DEVICE_VARIABLE, "gpus")
    with pytest.raises(LayoutError, match=r"name matches 'gpus' .LAYOUT_IR_OPENCL_DEVICE., found 0 Maker: cpu"):
        choose_device()


def test_without_a_device_one_message_says_what_to_install(machine: Any) -> None:
    machine()
    for wanted in (None, "gpu"):
        with pytest.raises(LayoutError, match=r"found no OpenCL device that works: .*apt install pocl-opencl-icd"):
            choose_device(wanted)
    (line,) = device_report()
    assert "apt install pocl-opencl-icd" in line
    machine(Device("cpu", 2, "a tiny program gave a wrong result"))
    with pytest.raises(LayoutError, match=r"0 Maker: cpu .a tiny program gave a wrong result.; install"):
        choose_device()


def test_without_pyopencl_one_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> None:
        raise ImportError(f"No module named '{name}'")

    monkeypatch.setattr(importlib, "import_module", missing)
    opencl_devices.pyopencl.cache_clear()
    opencl_devices.found_devices.cache_clear()
    try:
        assert main(["--devices"]) == 1
    finally:
        opencl_devices.found_devices.cache_clear()
    assert "pip install layout-ir[opencl]" in capsys.readouterr().err


def test_devices_are_listed_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    device = working_device()
    assert main(["--devices"]) == 0
    listed = capsys.readouterr().out
    assert device.name in listed
    assert ": works" in listed


def test_a_file_is_needed_for_everything_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--target", "opencl"]) == 1
    assert "expected a file with IR" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options, message",
    [
        (["--target", "opencl", "--threads", "2"], "expected --threads with --target c alone"),
        (["--target", "opencl", "--explain"], "expected --explain with --target c alone"),
        (["--images"], "expected --device and --images with --target opencl alone"),
        (["--target", "opencl", "--device", "no such"], "whose number or name matches 'no such', found 0 "),
    ],
)
def test_options_that_do_not_fit(options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    working_device()
    assert main([str(Path(__file__).parents[2] / "examples" / "stem.mlir"), *options]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("images", [(), ("--images",)])
def test_files_are_run_and_checked(tmp_path: Any, capsys: pytest.CaptureFixture[str], images: tuple[str, ...]) -> None:
    working_device()
    file = tmp_path / "a.mlir"
    kinds = "tensor<1x5x3x2xf16>", 'tensor<1x5x3x2xf16, #layout.format<"mace:IN_OUT_HEIGHT", dims = "NCHW">>'
    file.write_text(
        f"func.func @f(%x: {kinds[0]}) -> {kinds[1]} {{\n"
        f"  %y = layout.reorder %x : {kinds[0]} to {kinds[1]}\n  func.return %y : {kinds[1]}\n}}\n"
    )
    assert main([str(file), "--target", "opencl", "--repeat", "1", "--output", str(tmp_path / "y.npy"), *images]) == 0
    assert "equals the interpreter" in capsys.readouterr().out
    assert np.load(tmp_path / "y.npy").dtype == np.float16
