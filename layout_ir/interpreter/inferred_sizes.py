"""Unknown sizes from arrays: what the shape of a storage says about the extents of the tensor in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.func import FuncOp

from layout_ir.dialects.sizes import FunctionSizes
from layout_ir.dialects.types import Stored, index_map_of, is_stored, unknown_dims
from layout_ir.errors import LayoutError
from layout_ir.layouts.symbols import is_symbolic

if TYPE_CHECKING:
    import numpy.typing as npt


def sizes_of_arrays(
    function: FuncOp,
    table: FunctionSizes,
    inputs: Sequence[npt.NDArray[Any] | None],
    given: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """
    The sizes of a function by name, from arrays shaped as the storages of its arguments.

    None is an argument without an array. `given`: sizes that need no array. Raises `LayoutError` where no array says a
    size, or two say different ones.
    """
    found = dict(given or {})
    for value, array in zip(function.body.block.args, inputs, strict=False):
        if array is None or not is_stored(kind := value.type):
            continue
        names = {dim: size.name for dim, size in table.of(value).items()}
        for dim, size in _sizes_of(kind, array.shape).items():
            if found.setdefault(names[dim], size) != size:
                raise LayoutError(
                    f"{function.sym_name.data}: expected one size {names[dim]}, got {found[names[dim]]} and {size}"
                )
    if missing := [size.name for size in table.sizes if size.name not in found]:
        shapes = ", ".join(str(list(array.shape)) for array in inputs if array is not None)
        name, wanted = function.sym_name.data, ", ".join(missing)
        raise LayoutError(f"{name}: expected sizes for {wanted}, which arrays shaped {shapes} do not say")
    return {size.name: found[size.name] for size in table.sizes}


def _sizes_of(kind: Stored, shape: tuple[int, ...]) -> dict[int, int]:
    """The unknown extents, by position, that are axes of a storage of this shape."""
    if not unknown_dims(kind):
        return {}
    index_map = index_map_of(kind)
    symbols = index_map.unknown
    assert symbols is not None
    if len(shape) != len(index_map.extents):
        return {}
    sizes: dict[int, int] = {}
    for extent, size in zip(index_map.extents, shape, strict=True):
        terms = symbols.polynomial(extent) if is_symbolic(extent) else ()
        for product, factor in terms if len(terms) == 1 else ():
            if len(product) == 1 and factor == 1 and product[0].block == 1:
                sizes[product[0].dim] = size
    return sizes
