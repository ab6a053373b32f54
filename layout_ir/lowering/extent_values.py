"""The unknown extents of a function while its copies become loops: `memref.dim` of arguments, and what follows."""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects import memref
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from layout_ir.dialects.sizes import FunctionSizes
from layout_ir.dialects.types import stored_type, unknown_dims
from layout_ir.errors import LayoutError
from layout_ir.layouts.symbols import Symbols
from layout_ir.lowering.constants import Constants
from layout_ir.lowering.quantities import Quantities, Unknown


class ExtentValues:
    """
    The values of a function's sizes, in the order in which it will be given them.

    They stand at the start of its body, behind its constants, whether a loop needs them or not.
    """

    def __init__(self, function: FuncOp, constants: Constants) -> None:
        self._sizes = FunctionSizes(function)
        self._constants = constants
        self._anchor: Operation | None = None
        self._extents: dict[SSAValue, dict[int, SSAValue]] = {}
        self._quantities: dict[SSAValue, Quantities] = {}
        for size in self._sizes.sizes:
            if isinstance(size.value, BlockArgument) and size.value.block is function.body.block:
                position = constants.get(IntegerAttr(size.dim, IndexType()))
                extent = memref.DimOp(size.value, position)
                extent.result.name_hint = size.name
                self._insert(extent)
                self._extents.setdefault(size.value, {})[size.dim] = extent.result

    def _insert(self, operation: Operation) -> None:
        Builder(InsertPoint.after(self._anchor or self._constants.last)).insert(operation)
        self._anchor = operation

    def of(self, buffer: SSAValue, symbols: Symbols) -> Unknown:
        """The values of the stand-ins for a buffer's extents; raises `LayoutError` where nobody gives them."""
        root = self._sizes.root(buffer)
        if root not in self._quantities:
            self._quantities[root] = self._start(root)
        quantities = self._quantities[root]
        return Unknown(symbols, lambda number: quantities.value(symbols.polynomial(number)))

    def _start(self, root: SSAValue) -> Quantities:
        def constant(value: int) -> SSAValue:
            return self._constants.get(IntegerAttr(value, IndexType()))

        if root in self._extents:
            return Quantities(self._insert, constant, self._extents[root])
        last = root.owner
        if not isinstance(last, memref.AllocOp):
            raise LayoutError(
                f"expected the unknown sizes of a function's argument or of a memref.alloc, got {root.type}"
            )
        place: list[Operation] = [last]

        def insert(operation: Operation) -> None:
            Builder(InsertPoint.after(place[-1])).insert(operation)
            place.append(operation)

        return Quantities(insert, constant, allocated_extents(last))


def allocated_extents(allocation: memref.AllocOp) -> dict[int, SSAValue]:
    """The unknown extents of a buffer by the position of the dim, as they are given where it is made."""
    return dict(zip(unknown_dims(stored_type(allocation.memref.type)), allocation.dynamic_sizes, strict=True))
