"""From a module to kernels of an OpenCL device, called on numpy arrays, pyopencl buffers or pyopencl images."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from layout_ir.backends.opencl_host import Allocate, Copy, Launch, Release
from layout_ir.errors import LayoutError
from layout_ir.runtime.kernel import Kernel, KernelArgument
from layout_ir.runtime.opencl_devices import choose_device, pyopencl, tuning_of
from layout_ir.runtime.opencl_memory import CHANNELS, Place, Session, check_given, overlap
from layout_ir.runtime.opencl_module import DeviceProgram, device_programs
from layout_ir.runtime.opencl_program import LoadedProgram, load_program

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import TypeIs
    from xdsl.dialects.builtin import ModuleOp

    Bytes = npt.NDArray[np.uint8]


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

    signatures: list[tuple[list[Storage], list[Storage]]] = []
    for name in names:
        function = find_function(module, name)
        signatures.append((list(arguments(function)), list(results(function))))
        for storage in itertools.chain(*signatures[-1]):
            _ = storage.element.bytes  # packed types have index maps, but no kernel moves them
    chosen = choose_device(device)
    kernels: list[DeviceKernel] = []
    programs = device_programs(module, names, images=images, tuning=tuning_of(chosen))
    for program, (inputs, outputs) in zip(programs, signatures, strict=True):
        # a result is one even where it has no elements that a kernel could write
        written = {*program.written, *range(len(inputs), len(inputs) + len(outputs))}
        buffers = [
            KernelArgument(storage.name, storage.element, allocated_size(storage.index_map), i in written)
            for i, storage in enumerate([*inputs, *outputs])
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
        self._programs = {(device, images): program}
        self._images = images
        self._lock = Lock()
        _load(session(device), program)

    def __call__(self, *buffers: Any) -> Any:
        """Run on `buffers`; raises `LayoutError` where one does not fit, or the device fails."""
        if all(map(is_array, buffers)) or len(buffers) != len(self.arguments):
            return super().__call__(*buffers)
        self._check_buffers(buffers)
        where, program = self._place(buffers)
        self._run(where, program, buffers)
        written = [buffer for argument, buffer in zip(self.arguments, buffers, strict=True) if argument.is_written]
        return written[0] if len(written) == 1 else tuple(written)

    def _place(self, buffers: Sequence[Any]) -> tuple[Session, DeviceProgram]:
        """Where a call on memory of a device runs, and what; raises `LayoutError` for what does not go together."""
        cl = pyopencl()
        self._check_apart(buffers)
        contexts = [buffer.context for buffer in buffers if not is_array(buffer)]
        if any(context != contexts[0] for context in contexts):
            raise LayoutError(f"{self.name}: expected buffers of one OpenCL context, got several contexts")
        where = session(self.device, contexts[0] if contexts else None)
        images = self._images or any(isinstance(buffer, cl.Image) for buffer in buffers)
        return where, self._program(where.device, images)

    def _check_buffers(self, buffers: Sequence[Any]) -> None:
        """Raise `LayoutError` for anything but memory of a device and arrays that fit."""
        memory = pyopencl().MemoryObjectHolder
        for argument, buffer in zip(self.arguments, buffers, strict=True):
            if not isinstance(buffer, memory):
                self._checked_address(argument, buffer)

    def _check_apart(self, buffers: Sequence[Any]) -> None:
        """Raise `LayoutError` where an argument that is written overlaps another one."""
        addresses = [buffer.ctypes.data if is_array(buffer) else 0 for buffer in buffers]
        for left, right in self._pairs:
            if is_array(buffers[left]) and is_array(buffers[right]):
                self._check_disjoint(addresses, left, right)
            elif not (is_array(buffers[left]) or is_array(buffers[right])) and overlap(buffers[left], buffers[right]):
                names = f"{self.arguments[left].name} and {self.arguments[right].name}"
                raise LayoutError(
                    f"{self.name}: expected buffers that do not overlap, got {names} in the same memory of the device"
                )

    def ready(self, *buffers: Any) -> Callable[[], object]:
        """
        A call that was checked once: it launches the kernels and waits for them, and does no more.

        Memory of the device is used as it is; of arrays it takes copies that lie on the device and stay there. Raises
        `LayoutError` as a call does, and for an image that would have to be converted every time.
        """
        if len(buffers) != len(self.arguments):
            self._refuse_count(len(buffers))
        self._check_buffers(buffers)
        where, program = self._place(buffers)
        places = list(zip(program.places, buffers, strict=False))
        for place, buffer in places:
            if not is_array(buffer) and not where.takes(place, buffer):
                raise LayoutError(
                    f"{place.name}: expected an image of RGBA pixels with channels of type "
                    f"{CHANNELS[place.element_bytes]}, which the kernel takes as it is"
                )
        with _device_errors(self.name, where.device):
            memory = [
                _on_device(where, place, buffer, i in program.written) for i, (place, buffer) in enumerate(places)
            ]
            loaded = _load(where, program)

        def call() -> None:
            with self._lock, _device_errors(self.name, where.device):
                _execute(where, program, loaded, memory)
                where.queue.finish()

        return call

    def _program(self, device: Any, images: bool) -> DeviceProgram:
        """The program for a device: a caller's context may have another than the kernel was made for."""
        if (device, images) not in self._programs:
            (self._programs[device, images],) = device_programs(
                self._module, [self.name], images=images, tuning=tuning_of(device)
            )
        return self._programs[device, images]

    def _on_arrays(self, *addresses: int) -> None:
        """Run on memory of the host that has been checked."""
        import ctypes

        import numpy as np

        arrays: list[Bytes] = []
        for argument, address in zip(self.arguments, addresses, strict=True):
            size = argument.size * argument.element.bytes
            arrays.append(np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address)))
        self._run(session(self.device), self._program(self.device, self._images), arrays)

    def _run(self, where: Session, program: DeviceProgram, buffers: Sequence[Any]) -> None:
        with self._lock, _device_errors(self.name, where.device):
            memory = [
                _on_device(where, place, buffer, i in program.written)
                for i, (place, buffer) in enumerate(zip(program.places, buffers, strict=False))
            ]
            _execute(where, program, _load(where, program), memory)
            results: list[tuple[Any, Bytes]] = []
            for i in program.written:
                if is_array(buffers[i]):
                    results.append((buffers[i], where.download(program.places[i], memory[i])))
                elif buffers[i] is not memory[i]:
                    where.copy(program.places[i], memory[i], buffers[i])
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


def _on_device(where: Session, place: Place, buffer: Any, is_written: bool) -> Any:
    """What a kernel takes for a caller's array, buffer or image."""
    if is_array(buffer):
        return where.upload(place, bytes_of(buffer)[: place.bytes])
    check_given(place, buffer, is_written)
    if where.takes(place, buffer):
        return buffer
    memory = where.allocate(place)
    where.copy(place, buffer, memory)
    return memory


def _execute(where: Session, program: DeviceProgram, loaded: LoadedProgram, memory: list[Any]) -> None:
    """All steps of the host, on the arguments' memory."""
    held: dict[int, Any] = dict(enumerate(memory))
    for step in program.host.steps:
        match step:
            case Launch():
                loaded.launch(where.queue, step, [held[number] for number in step.buffers])
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
def _loaded(where: Session, source: str) -> LoadedProgram:
    return load_program(where.context, where.device, source)


def _load(where: Session, program: DeviceProgram) -> LoadedProgram:
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
