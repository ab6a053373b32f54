"""What a function takes as a kernel: the storages of its arguments, then of its results, then its unknown sizes."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from layout_ir.dialects.sizes import FunctionSizes
from layout_ir.interpreter.functions import Storage, arguments, results
from layout_ir.interpreter.reference import allocated_size
from layout_ir.runtime.kernel import Kernel, KernelArgument, load_function
from layout_ir.runtime.sized_kernel import SizedArgument, SizedKernel


class Signature:
    """
    The storages and sizes of one function.

    Raises `LayoutError` for arguments and results that are no tensors or memrefs of whole bytes.
    """

    def __init__(self, function: FuncOp) -> None:
        self.name = function.sym_name.data
        self._sizes = FunctionSizes(function)
        self._arguments = arguments(function, unknown=True)
        self._storages: list[Storage] = [*self._arguments, *results(function, unknown=True)]
        terminator = function.body.block.last_op
        returned = terminator.arguments if isinstance(terminator, ReturnOp) else ()
        self._values: list[SSAValue] = [*function.body.block.args, *returned]
        for storage in self._storages:
            _ = storage.element.bytes  # packed types have index maps, but no kernel moves them

    @property
    def size_names(self) -> list[str]:
        """What its unknown sizes are called, in the order in which it takes them."""
        return [size.name for size in self._sizes.sizes]

    def kernel(
        self, source: str, written: Collection[int], threads: int | None, *, symbol: str | None = None
    ) -> Kernel:
        """
        The kernel that `source` is the text of, and that writes to the arguments in `written`.

        `symbol`: what the function is called there; as here by default.
        """
        # a result is one even where it has no elements that a loop could write
        outputs = {*written, *range(len(self._arguments), len(self._storages))}
        names = self.size_names
        function = load_function(source, symbol or self.name, len(self._storages), len(names), threads=threads)
        buffers = [
            KernelArgument(
                storage.name,
                storage.element,
                0 if storage.index_map.unknown else allocated_size(storage.index_map),
                i in outputs,
            )
            for i, storage in enumerate(self._storages)
        ]
        if not names:
            return Kernel(self.name, buffers, source, function)
        sized = [
            SizedArgument.of(buffer, storage.index_map, {dim: s.name for dim, s in self._sizes.of(value).items()})
            for buffer, storage, value in zip(buffers, self._storages, self._values, strict=True)
        ]
        return SizedKernel(self.name, sized, names, source, function)
