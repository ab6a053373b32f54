"""From a module to kernels of an OpenCL device, called on numpy arrays, pyopencl buffers or pyopencl images."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from layout_ir.backends.opencl_host import Allocate, Copy, HostProgram, Launch, Release
from layout_ir.errors import LayoutError
from layout_ir.runtime.kernel import Kernel, KernelArgument
from layout_ir.runtime.opencl_devices import Tuning, choose_device, pyopencl, tuning_of
from layout_ir.runtime.opencl_memory import Place, Session, check_given
from layout_ir.runtime.opencl_program import load_program

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import TypeIs
    from xdsl.dialects.builtin import ModuleOp

    Bytes = npt.NDArray[np.uint8]


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


def compile_device_functions(
    module: ModuleOp, names: Sequence[str], *, device: str | None = None, images: bool = False
) -> list[DeviceKernel]:
    """
    Kernels of public functions of tensors and memrefs: they take the storage of every argument, then of every result.

    `device`: as in `choose_device`. `images`: whether image layouts are images of the device, also for numpy arrays.
    Raises `LayoutError` for a function that cannot be compiled, without a device that works, and where its compiler
    fails.
    """
    from layout_ir.interpreter.functions import Storage, arguments, find_function, results
    from layout_ir.interpreter.reference import allocated_size

    signatures: list[list[Storage]] = []
    for name in names:
        function = find_function(module, name)
        signatures.append([*arguments(function), *results(function)])
        for storage in signatures[-1]:
            _ = storage.element.bytes  # packed types have index maps, but no kernel moves them
    chosen = choose_device(device)
    kernels: list[DeviceKernel] = []
    programs = device_programs(module, names, images=images, tuning=tuning_of(chosen))
    for program, storages in zip(programs, signatures, strict=True):
        buffers = [
            KernelArgument(storage.name, storage.element, allocated_size(storage.index_map), i in program.written)
            for i, storage in enumerate(storages)
        ]
        kernels.append(DeviceKernel(module, program, buffers, chosen, images))
    return kernels


class DeviceKernel(Kernel):
    """
    A compiled function of an OpenCL device, called as a `Kernel` is: `kernel(source, destination)`.

    Every buffer is a C-contiguous numpy array or a `pyopencl.Buffer`, and where the layout is that of an image also a
    `pyopencl.Image` of RGBA pixels. Arrays travel to the device and back; memory of the device stays there, in its own
    context. A call returns when all is written. Where it fails, arrays are as they were.
    """

    def __init__(
        self,
        module: ModuleOp,
        program: DeviceProgram,
        arguments: Sequence[KernelArgument],
        device: Any,
        images: bool,
    ) -> None:
        super().__init__(program.host.name, arguments, program.source, self._on_arrays)
        self.device = device
        """The `pyopencl.Device` that it runs on."""
        self._module = module
        self._programs = {images: program}
        self._images = images
        self._lock = Lock()
        _load(session(device), program)

    def __call__(self, *buffers: Any) -> Any:
        """Run on `buffers`; raises `LayoutError` where one does not fit, or the device fails."""
        cl = pyopencl()
        given = [isinstance(buffer, cl.MemoryObjectHolder) for buffer in buffers]
        if not any(given) or len(buffers) != len(self.arguments):
            return super().__call__(*buffers)
        for argument, buffer, is_memory in zip(self.arguments, buffers, given, strict=True):
            if not is_memory:
                self._check_array(argument, buffer)
        memory = [buffer.int_ptr for buffer, is_memory in zip(buffers, given, strict=True) if is_memory]
        if len(set(memory)) < len(memory):
            raise LayoutError(f"{self.name}: expected buffers that do not overlap, got one buffer twice")
        contexts = [buffer.context for buffer, is_memory in zip(buffers, given, strict=True) if is_memory]
        if any(context != contexts[0] for context in contexts):
            raise LayoutError(f"{self.name}: expected buffers of one OpenCL context, got several contexts")
        images = self._images or any(isinstance(buffer, cl.Image) for buffer in buffers)
        self._run(session(self.device, contexts[0]), self._program(images), buffers)
        written = [buffer for argument, buffer in zip(self.arguments, buffers, strict=True) if argument.is_written]
        return written[0] if len(written) == 1 else tuple(written)

    def _check_array(self, argument: KernelArgument, array: Any) -> None:
        fits = (
            is_array(array)
            and array.itemsize == argument.element.bytes
            and array.size >= argument.size
            and array.flags.c_contiguous
            and (array.flags.writeable or not argument.is_written)
        )
        if not fits:
            self._refuse(argument, array)

    def _program(self, images: bool) -> DeviceProgram:
        if images not in self._programs:
            (self._programs[images],) = device_programs(
                self._module, [self.name], images=images, tuning=tuning_of(self.device)
            )
        return self._programs[images]

    def _on_arrays(self, *addresses: int) -> None:
        """Run on memory of the host that has been checked."""
        import ctypes

        import numpy as np

        arrays: list[Bytes] = []
        for argument, address in zip(self.arguments, addresses, strict=True):
            size = argument.size * argument.element.bytes
            arrays.append(np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address)))
        self._run(session(self.device), self._program(self._images), arrays)

    def _run(self, where: Session, program: DeviceProgram, buffers: Sequence[Any]) -> None:
        with self._lock, _device_errors(self.name, where.device):
            memory = [_on_device(where, place, buffer) for place, buffer in zip(program.places, buffers, strict=False)]
            _execute(where, program, memory)
            where.queue.finish()
            results = [
                (buffer, where.download(place, memory[i]))
                for i, (place, buffer) in enumerate(zip(program.places, buffers, strict=False))
                if i in program.written and is_array(buffer)
            ]
            for i, (place, buffer) in enumerate(zip(program.places, buffers, strict=False)):
                if i in program.written and not is_array(buffer) and buffer is not memory[i]:
                    where.copy(place, memory[i], buffer)
            where.queue.finish()
        for buffer, result in results:  # from here on nothing can fail
            bytes_of(buffer)[: result.size] = result


def is_array(buffer: object) -> TypeIs[npt.NDArray[Any]]:
    """Whether a caller's buffer is memory of the host."""
    import numpy as np

    return isinstance(buffer, np.ndarray)


def bytes_of(array: npt.NDArray[Any]) -> Bytes:
    """The bytes of a contiguous array."""
    import numpy as np

    return array.reshape(-1).view(np.uint8)


def _on_device(where: Session, place: Place, buffer: Any) -> Any:
    """What a kernel takes for a caller's array, buffer or image."""
    cl = pyopencl()
    if is_array(buffer):
        return where.upload(place, bytes_of(buffer)[: place.bytes])
    check_given(place, buffer)
    if place.image_size is None or (isinstance(buffer, cl.Image) and where.has_format(place, buffer)):
        return buffer
    memory = where.allocate(place)
    where.copy(place, buffer, memory)
    return memory


def _execute(where: Session, program: DeviceProgram, memory: list[Any]) -> None:
    """All steps of the host, on the arguments' memory."""
    cl = pyopencl()
    loaded = _load(where, program)
    held: dict[int, Any] = dict(enumerate(memory))
    for step in program.host.steps:
        match step:
            case Launch():
                kernel = cl.Kernel(loaded, step.kernel)
                kernel.set_args(*(held[number] for number in step.buffers))
                sizes = [groups * items for groups, items in zip(step.groups, step.items, strict=True)]
                cl.enqueue_nd_range_kernel(where.queue, kernel, sizes, step.items)
            case Allocate():
                held[step.buffer] = where.allocate(program.places[step.buffer])
            case Release():
                where.queue.finish()
                held.pop(step.buffer).release()
            case Copy():
                where.copy(program.places[step.source], held[step.source], held[step.destination])


@lru_cache(maxsize=64)
def _session(device: Any, context: Any) -> Session:
    cl = pyopencl()
    made = cl.Context([device]) if context is None else context
    if device not in made.devices:
        device = made.devices[0]
    return Session(made, device, cl.CommandQueue(made, device))


def session(device: Any, context: Any = None) -> Session:
    """The queue of a device in a context, in one of its own if none is given."""
    with _device_errors("opencl", device):
        return _session(device, context)


@lru_cache(maxsize=256)
def _loaded(where: Session, source: str) -> Any:
    return load_program(where.context, where.device, source)


def _load(where: Session, program: DeviceProgram) -> Any:
    return _loaded(where, program.source)


@contextmanager
def _device_errors(name: str, device: Any) -> Generator[None]:
    """Turn what the driver raises into one message."""
    cl = pyopencl()
    try:
        yield
    except cl.MemoryError as error:
        raise LayoutError(f"{name}: the OpenCL device '{device.name}' has not enough memory: {error}") from None
    except cl.Error as error:
        raise LayoutError(f"{name}: the OpenCL device '{device.name}' failed: {error}") from None
