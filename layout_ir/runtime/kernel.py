"""Kernel: a compiled function that is called on numpy buffers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, cast

from layout_ir.errors import LayoutError
from layout_ir.layouts.element_type import ElementType

if TYPE_CHECKING:
    import ctypes

    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class KernelArgument:
    """One buffer that a kernel reads or writes."""

    name: str
    """What error messages call it."""

    element: ElementType
    """Type of its elements; a buffer may have any dtype of this width, since kernels move bits."""

    size: int
    """Elements that the buffer must have at least."""

    is_written: bool
    """Whether the kernel writes to it."""


class Kernel:
    """
    A compiled function: `kernel(source, destination)`, or one buffer for every argument of a general function.

    Buffers are C-contiguous numpy arrays of any shape that hold the storage of a layout; one that is written overlaps
    no other. Arrays of other libraries will do if they export writable memory and have `itemsize` and `size`. A call
    returns the buffer that was written (a tuple, if several were). It may be called from several threads at once, as
    long as their buffers differ.
    """

    def __init__(
        self,
        name: str,
        arguments: Sequence[KernelArgument],
        source: str,
        function: Callable[..., object],
        sizes: tuple[object, ...] = (),
    ) -> None:
        """`sizes`: what the function takes behind the addresses of its buffers."""
        self.name = name
        """Name of the function."""
        self.arguments = tuple(arguments)
        """The buffers that it takes, in order."""
        self.source = source
        """The text that was compiled."""
        from ctypes import addressof

        from layout_ir.runtime.addresses import address_of, view_of

        self._address_of_view, self._view_of, self._address_of = addressof, view_of, address_of
        self._function, self._sizes = function, sizes
        self._checks = tuple((argument.element.bytes, argument.size) for argument in self.arguments)
        self._written = tuple(i for i, argument in enumerate(self.arguments) if argument.is_written)
        self._spans = tuple(width * size for width, size in self._checks)
        self._pairs = tuple(
            (left, right)
            for right, argument in enumerate(self.arguments)
            for left in range(right)
            if argument.is_written or self.arguments[left].is_written
        )

    def __repr__(self) -> str:
        arguments = ", ".join(f"{a.name}: {a.size} x {a.element}" for a in self.arguments)
        return f"Kernel {self.name}({arguments})"

    def __call__(self, *buffers: npt.NDArray[Any]) -> npt.NDArray[Any] | tuple[npt.NDArray[Any], ...]:
        """Run on `buffers`; raises `LayoutError` where one does not fit."""
        self._function(*self._addresses(buffers), *self._sizes)
        if len(self._written) == 1:
            return buffers[self._written[0]]
        return tuple(buffers[i] for i in self._written)

    def ready(self, *buffers: npt.NDArray[Any]) -> Callable[[], object]:
        """
        A call on `buffers`, which are checked now and kept: it runs the kernel and does no more.

        They may not be resized while it is in use. Raises `LayoutError` as a call does.
        """
        function, given = self._function, (*self._addresses(buffers), *self._sizes)

        def call(_kept: object = buffers) -> None:  # whose memory goes with them
            function(*given)

        return call

    def _addresses(self, buffers: Sequence[npt.NDArray[Any]]) -> list[int]:
        """Where buffers begin that fit, in the time that a call on tiny ones may take."""
        address_of_view, view_of = self._address_of_view, self._view_of
        addresses: list[int] = []
        try:
            for (width, size), buffer in zip(self._checks, buffers, strict=True):
                address = address_of_view(view_of(buffer))
                if buffer.itemsize != width or buffer.size < size or address % width:
                    break
                addresses.append(address)
        except (AttributeError, TypeError, ValueError, BufferError):
            addresses.clear()
        if not len(addresses) == len(self._checks) == len(buffers):
            addresses = self._addresses_of_others(buffers)
        for left, right in self._pairs:
            self._check_disjoint(addresses, left, right)
        return addresses

    def _addresses_of_others(self, buffers: Sequence[object]) -> list[int]:
        """The same for arrays that ctypes has no view of, as read-only ones; raises for buffers that do not fit."""
        if len(buffers) != len(self._checks):
            self._refuse_count(len(buffers))
        return [
            self._checked_address(argument, buffer) for argument, buffer in zip(self.arguments, buffers, strict=True)
        ]

    def _checked_address(self, argument: KernelArgument, buffer: object) -> int:
        """Where an array begins that fits an argument; raises `LayoutError` for anything else."""
        import numpy as np

        if not isinstance(buffer, np.ndarray):  # the memory of a numpy scalar is gone as soon as it is asked for
            self._refuse(argument, buffer)
        array, width = cast("npt.NDArray[Any]", buffer), argument.element.bytes
        address = self._address_of(array)
        fits = (
            array.itemsize == width
            and array.size >= argument.size
            and array.flags.c_contiguous
            and (array.flags.writeable or not argument.is_written)
            and address % width == 0
        )
        if not fits:
            self._refuse(argument, array)
        return address

    def _check_disjoint(self, addresses: Sequence[int], left: int, right: int) -> None:
        first, second, spans = addresses[left], addresses[right], self._spans
        if first < second + spans[right] and second < first + spans[left]:
            raise LayoutError(
                f"{self.name}: expected buffers that do not overlap, got {self.arguments[left].name} and "
                f"{self.arguments[right].name} in the same memory"
            )

    def _refuse_count(self, count: int) -> NoReturn:
        names = ", ".join(argument.name for argument in self.arguments)
        raise LayoutError(f"{self.name}: expected {len(self.arguments)} buffers ({names}), got {count}")

    def _refuse(self, argument: KernelArgument, buffer: object) -> None:
        """Raise the error that says why `buffer` cannot be `argument`."""
        import numpy as np

        what = f"{self.name}: {argument.name}"
        width = argument.element.bytes
        if not isinstance(buffer, np.ndarray):
            raise LayoutError(f"{what}: expected a numpy array, got {type(buffer).__name__}")
        array = cast("npt.NDArray[np.void]", buffer)
        if array.itemsize != width:
            raise LayoutError(
                f"{what}: expected elements of {width} bytes ({argument.element}), got {array.dtype} "
                f"({array.itemsize} bytes)"
            )
        if array.size < argument.size:
            raise LayoutError(f"{what}: expected a buffer of at least {argument.size} elements, got {array.size}")
        if not array.flags.c_contiguous:
            raise LayoutError(f"{what}: expected a C-contiguous array, got strides {array.strides}")
        if argument.is_written and not array.flags.writeable:
            raise LayoutError(f"{what}: expected a writable array, got a read-only one")
        raise LayoutError(f"{what}: expected an address that is a multiple of {width} bytes, got a misaligned array")


def load_kernel(
    source: str,
    name: str,
    arguments: Sequence[KernelArgument],
    *,
    symbol: str | None = None,
    threads: int | None = None,
) -> Kernel:
    """
    Compile a C text (or find it in the cache) and load the function `symbol` (`name` by default) from it.

    `threads`: None for a kernel of one thread, 0 for as many as OpenMP chooses, else the number of threads. Raises
    `LayoutError` if there is no compiler or if it fails.
    """
    return Kernel(name, arguments, source, load_function(source, symbol or name, len(arguments), threads=threads))


def load_function(
    source: str, symbol: str, buffers: int, sizes: int = 0, *, threads: int | None = None
) -> Callable[..., object]:
    """The compiled function itself, which takes addresses of buffers and then sizes; otherwise as `load_kernel`."""
    _check_threads(threads)
    return function_of(_load(source, threads is not None), symbol, buffers, sizes, threads=threads)


def function_of(
    library: ctypes.CDLL, symbol: str, buffers: int, sizes: int = 0, *, threads: int | None = None
) -> Callable[..., object]:
    """A function of a library, which takes addresses of buffers and then sizes."""
    import ctypes

    _check_threads(threads)
    function = library[symbol]
    function.restype = None
    function.argtypes = [*[ctypes.c_void_p] * buffers, *[ctypes.c_int64] * sizes]
    return _with_threads(library, function, threads)


def _check_threads(threads: int | None) -> None:
    if threads is not None and threads < 0:
        raise LayoutError(f"expected a number of threads that is not negative, got {threads}")


def _with_threads(library: ctypes.CDLL, function: Callable[..., object], threads: int | None) -> Callable[..., object]:
    """The function, called with a number of threads; unchanged where the library was built without OpenMP."""
    if not threads or not hasattr(library, "omp_set_num_threads"):
        return function
    set_threads = library.omp_set_num_threads

    def call(*addresses: int) -> None:
        set_threads(threads)
        function(*addresses)

    return call


_loaded: dict[str, ctypes.CDLL] = {}


def _load(source: str, threads: bool) -> ctypes.CDLL:
    from layout_ir.runtime.cache import cached_library

    try:
        return loaded(str(cached_library(source, threads=threads)))
    except OSError:  # a library that a full disk or another machine left in the cache
        try:
            return loaded(str(cached_library(source, threads=threads, refresh=True)))
        except OSError as error:
            raise LayoutError(f"cannot load the compiled kernel: {error}") from None


def loaded(path: str) -> ctypes.CDLL:
    """A shared library, loaded once; raises `OSError` where that fails."""
    import ctypes

    if path not in _loaded:
        _loaded[path] = ctypes.CDLL(path)
    return _loaded[path]
