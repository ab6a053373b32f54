"""From a module to the text of its kernels and what the host does with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from layout_ir.backends.opencl_host import HostProgram
from layout_ir.errors import LayoutError
from layout_ir.runtime.opencl_devices import Tuning
from layout_ir.runtime.opencl_memory import Place

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class DeviceProgram:
    """The text of a module's kernels and what the host does with them for one function."""

    source: str
    host: HostProgram
    written: frozenset[int]
    """Arguments that are written."""

    places: tuple[Place, ...]
    """All buffers, arguments first."""


def device_programs(
    module: ModuleOp, names: Sequence[str], *, images: bool = False, tuning: Tuning | None = None
) -> list[DeviceProgram]:
    """
    The programs of a module's functions.

    `images`: whether image layouts are images of the device. `tuning`: how kernels are made. Raises `LayoutError`
    where a pass or the backend cannot go on.
    """
    from xdsl.context import Context
    from xdsl.dialects import func
    from xdsl.utils.exceptions import DiagnosticException

    from layout_ir.backends.opencl import emit_opencl
    from layout_ir.backends.opencl_host import host_program, place_of, written_arguments
    from layout_ir.lowering.to_device_pipeline import lower_for_device
    from layout_ir.runtime.module import brief_message

    lowered = module.clone()
    try:
        lower_for_device(Context(), lowered, images=images, **asdict(tuning or Tuning()))
    except DiagnosticException as error:
        raise LayoutError(brief_message(error)) from None
    source = emit_opencl(lowered)
    functions = {op.sym_name.data: op for op in lowered.ops if isinstance(op, func.FuncOp)}
    programs: list[DeviceProgram] = []
    for name in names:
        host = host_program(lowered, functions[name])
        places = tuple(
            Place(f"{name}: {label}", *place_of(kind)) for label, kind in zip(host.names, host.types, strict=True)
        )
        programs.append(DeviceProgram(source, host, written_arguments(lowered, host), places))
    return programs
