"""SizedKernel: a compiled function that takes the sizes of its tensors when it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from layout_ir.errors import LayoutError
from layout_ir.layouts.index_map import INDEX_LIMIT, IndexMap
from layout_ir.layouts.symbols import Polynomial, value_of
from layout_ir.runtime.kernel import Kernel, KernelArgument

if TYPE_CHECKING:
    import numpy.typing as npt

    from layout_ir.dialects.known_sizes import Sizes

KEPT = 256
"""Sets of sizes whose checks are kept."""


@dataclass(frozen=True)
class SizedArgument:
    """One buffer of a kernel whose sizes are not known yet."""

    argument: KernelArgument
    """Its name and element type; its size is 0."""

    cells: Polynomial
    """Elements that it must have at least, unless one of its sizes is 0: then it needs none."""

    names: Mapping[int, str]
    """What the sizes of its unknown dims, by position, are called."""

    @staticmethod
    def of(argument: KernelArgument, index_map: IndexMap, names: Mapping[int, str]) -> SizedArgument:
        """The buffer that holds the storage of an index map."""
        symbols = index_map.unknown
        if symbols is None:
            cells: Polynomial = (((), max(index_map.storage_size, index_map.required_size)),)
        else:
            cells = () if 0 in index_map.shape else symbols.polynomial(index_map.required_size)
        return SizedArgument(argument, cells, names)

    def at(self, sizes: Mapping[str, int]) -> KernelArgument:
        """The buffer for known sizes."""
        extents = {dim: sizes[name] for dim, name in self.names.items()}
        size = 0 if 0 in extents.values() else value_of(self.cells, extents)
        if size >= INDEX_LIMIT:
            raise LayoutError(f"{self.argument.name}: expected a storage of less than 2^63 elements, got {size}")
        return replace(self.argument, size=size)


class SizedKernel(Kernel):
    """
    A kernel for all sizes: `kernel(source, destination, sizes=(8, 56, 56))`, in the order of `size_names`, or by name.

    What a `Kernel` checks it checks for the sizes of the call.
    """

    def __init__(
        self,
        name: str,
        arguments: Sequence[SizedArgument],
        size_names: Sequence[str],
        source: str,
        function: Callable[..., object],
    ) -> None:
        super().__init__(name, [sized.argument for sized in arguments], source, function)
        self.size_names = tuple(size_names)
        """The unknown extents, in the order in which the function takes them."""
        self.sized_arguments = tuple(arguments)
        """The buffers that it takes, with what their sizes are made of."""
        self._kernels: dict[tuple[int, ...], Kernel] = {}

    def __repr__(self) -> str:
        arguments = ", ".join(f"{a.name}: {a.element}" for a in self.arguments)
        return f"SizedKernel {self.name}({arguments}; {', '.join(self.size_names)})"

    def __call__(
        self, *buffers: npt.NDArray[Any], sizes: Sizes | None = None
    ) -> npt.NDArray[Any] | tuple[npt.NDArray[Any], ...]:
        """Run on `buffers`; raises `LayoutError` for sizes that are missing, and where a buffer does not fit them."""
        return self.at(() if sizes is None else sizes)(*buffers)

    def ready(self, *buffers: npt.NDArray[Any], sizes: Sizes | None = None) -> Callable[[], object]:
        """A call on `buffers` for some sizes, checked now; raises `LayoutError` as a call does."""
        return self.at(() if sizes is None else sizes).ready(*buffers)

    def at(self, sizes: Sizes) -> Kernel:
        """The kernel for one set of sizes, which nothing is compiled for."""
        from layout_ir.dialects.known_sizes import checked_sizes

        known = checked_sizes(sizes, self.size_names, self.name)
        key = tuple(known.values())
        kernel = self._kernels.get(key)
        if kernel is None:
            kernel = self._at(known)
            if len(self._kernels) >= KEPT:
                self._kernels.clear()
            self._kernels[key] = kernel
        return kernel

    def _at(self, sizes: Mapping[str, int]) -> Kernel:
        import ctypes

        arguments = [sized.at(sizes) for sized in self.sized_arguments]
        numbers = tuple(map(ctypes.c_int64, sizes.values()))
        return Kernel(self.name, arguments, self.source, self._function, numbers)
