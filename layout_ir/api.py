"""The Python API: layouts by name or text, and reorders of numpy arrays by compiled kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from xdsl.ir.affine import AffineDimExpr

from layout_ir.errors import LayoutError, nearest
from layout_ir.formats.format import Format, FormatOptions
from layout_ir.formats.registry import formats, parse_format
from layout_ir.layouts.element_type import ElementType, element_type
from layout_ir.layouts.layout import Layout, whole_number, whole_numbers
from layout_ir.layouts.strided import StridedLayout
from layout_ir.layouts.tiled import TiledLayout

if TYPE_CHECKING:
    import numpy.typing as npt

    from layout_ir.runtime.kernel import Kernel

__all__ = ["TARGETS", "compile_reorder", "formats", "layout", "reorder"]

TARGETS = ("c", "opencl")
"""What kernels can be compiled for."""


def layout(
    text: str | Layout,
    *,
    dims: str | None = None,
    groups: int | None = None,
    c0: int | None = None,
    hidden_size: int | None = None,
    input_size: int | None = None,
    strides: Sequence[int] | None = None,
    offset: int | None = None,
) -> Layout:
    """
    The layout that a text describes.

    `text`: a vendor's name (`"onednn:nChw16c"`), a plain dim string (`"NHWC"`), `"strided"` together with `strides` and
    `offset` in elements, or an explicit form as in IR (`"(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)"`,
    `"strided<[8, 1], offset: 2>"`). A layout is returned as it is. `dims`: the order in which the logical dims are
    given (`"HWCN"`); the other options are those of `FormatOptions`.

    Raises `LayoutError` for a name that is not known (with the nearest ones), or an option that the name does not take.
    """
    _check_texts(text, dims)
    numbers = None if strides is None else whole_numbers(strides, "strides: expected a list")
    given = {"groups": groups, "c0": c0, "hidden_size": hidden_size, "input_size": input_size, "offset": offset}
    whole = {name: whole_number(value, name) for name, value in given.items() if value is not None}
    options = FormatOptions(dims, strides=numbers, **whole)
    if isinstance(text, Layout):
        options.only("a layout that is given as such")
        return text
    if text == "strided":
        options.only("'strided'", "strides", "offset")
        if numbers is None:
            raise LayoutError("'strided': expected strides=..., in elements, got none")
        return StridedLayout(numbers, offset or 0)
    if text.startswith(("(", "strided<", "#layout.")):
        options.only("an explicit layout")
        return _explicit_layout(text)
    return parse_format(text, options)


def _check_texts(text: object, dims: object) -> None:
    if not isinstance(text, str | Layout):
        raise LayoutError(f"expected a layout or its name, got {text!r}")
    if not isinstance(dims, str | None):
        raise LayoutError(f"dims: expected a text such as 'HWCN', got {dims!r}")


@lru_cache(maxsize=1024)
def _explicit_layout(text: str) -> Layout:
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin, NoneAttr, StridedLayoutAttr
    from xdsl.parser import Parser
    from xdsl.utils.exceptions import ParseError, VerifyException

    from layout_ir.dialects.attributes import FormatAttr, TiledAttr
    from layout_ir.dialects.layout import LAYOUT
    from layout_ir.dialects.types import explicit_layout

    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(LAYOUT)
    code = f"#layout.tiled<{text}>" if text.startswith("(") else text
    parser = Parser(context, code, name="layout")
    try:
        attribute = parser.parse_attribute()
        if parser.pos < len(code.rstrip()):
            parser.raise_error("expected the layout to end here")
    except (ParseError, VerifyException) as error:
        raise LayoutError(f"expected a layout, got '{text}': {error}") from None
    match attribute:
        case TiledAttr() if isinstance(attribute.allocation, NoneAttr):
            return attribute.layout
        case FormatAttr():
            return attribute.format
        case StridedLayoutAttr():
            return explicit_layout(attribute, len(attribute.strides))
        case _:
            raise LayoutError(f"expected a layout that says where every element lies for any shape, got '{text}'")


def compile_reorder(
    src: str | Layout,
    dst: str | Layout,
    *,
    shape: Sequence[int | None],
    dtype: object,
    target: str = "c",
    threads: int | None = None,
    pad: float | None = 0,
    dims: str | None = None,
    device: str | None = None,
    images: bool = False,
    tune: bool = False,
) -> Kernel:
    """
    A kernel that copies a tensor from one layout to another: `kernel(src_storage, dst_storage)` returns `dst_storage`.

    `src`, `dst`: layouts, or texts as in `layout`; `dims` is the order of the logical dims of texts. `shape`: extents
    of the logical dims; None for one that the kernel takes: `kernel(source, destination, sizes=(8, 56, 56))`. `dtype`:
    `"f32"`, `"bf16"`, `"u8"`, ..., or a numpy dtype. `threads`: None for one, 0 for as many as OpenMP chooses, or a
    number; copies that move less than about 200 KB are made by one of them. `pad`: what the
    destination's pads are set to; None leaves them unwritten. `tune`: measure several schedules on scratch buffers,
    once on a processor, and take the fastest; what the kernel writes is the same.

    The storages are C-contiguous numpy arrays of any shape with `storage_size` elements of the dtype's width. The
    kernel's text is `kernel.source`. Raises `LayoutError` where a layout does not fit, and without a C compiler.

    With `target="opencl"` the kernel runs on an OpenCL device, and storages may also be `pyopencl.Buffer`, or
    `pyopencl.Image` where the layout is that of an image. `device`: its number or a part of its name; by default the
    one that the environment variable LAYOUT_IR_OPENCL_DEVICE names, else the first that works. `images`: whether arrays
    in image layouts become images there too. Raises `LayoutError` without pyopencl and a device that works.
    """
    if target not in TARGETS:
        raise LayoutError(f"unknown target '{target}', expected {' or '.join(TARGETS)}{nearest(target, TARGETS)}")
    source, destination = (_layout(text, dims) for text in (src, dst))
    sizes, element = _sizes(shape), element_type(dtype)
    _check_dim_order(source, destination)
    if target == "opencl":
        if None in sizes:
            raise LayoutError(f"expected sizes that are known for the target opencl, got {list(sizes)}")
        if threads is not None:
            raise LayoutError(f"expected threads for the target c alone, got threads={threads} for opencl")
        if tune:
            raise LayoutError("expected tune for the target c alone, got it for opencl")
        return _compiled_for_device(source, destination, sizes, element, _distinct(pad), device, images)
    if device is not None or images:
        raise LayoutError("expected device and images for the target opencl alone, got them for c")
    return _compiled(source, destination, sizes, element, threads, _distinct(pad), tune)


def _sizes(shape: Sequence[int | None]) -> tuple[int | None, ...]:
    """A shape as numbers, None for unknown extents."""
    expected = "expected a shape"
    try:
        return tuple(None if size is None else whole_numbers([size], expected)[0] for size in shape)
    except TypeError:
        raise LayoutError(f"{expected} of whole numbers, got {shape!r}") from None


def _distinct(pad: float | None) -> float | None:
    """A zero is an int and a negative zero a float, which the caches of kernels tell apart, as they compare equal."""
    return 0 if pad == 0 and math.copysign(1, pad) > 0 else pad


@lru_cache(maxsize=256, typed=True)
def _compiled(
    source: Layout,
    destination: Layout,
    shape: tuple[int | None, ...],
    element: ElementType,
    threads: int | None,
    pad: float | None,
    tune: bool,
) -> Kernel:
    from layout_ir.runtime.kept_kernels import Request

    request = Request(source, destination, shape, element, threads, pad)
    if not tune and (kept := request.find()) is not None:
        return kept
    from layout_ir.lowering.build import reorder_module
    from layout_ir.runtime.module import compile_where_possible
    from layout_ir.runtime.processor import this_processor

    module = reorder_module(source, destination, shape, element, pad=pad)
    if tune:
        from layout_ir.runtime.tuning import tune as search

        return search(module, "reorder", threads=threads).kernel()
    wanted = this_processor().target(threads)
    target, (kernel,) = compile_where_possible(module, ["reorder"], wanted, threads)
    if target == wanted:  # a compiler that failed may do better another time
        request.keep(kernel)
    return kernel


@lru_cache(maxsize=256, typed=True)
def _compiled_for_device(
    source: Layout,
    destination: Layout,
    shape: tuple[int | None, ...],
    element: ElementType,
    pad: float | None,
    device: str | None,
    images: bool,
) -> Kernel:
    from layout_ir.lowering.build import reorder_module
    from layout_ir.runtime.opencl import compile_device_functions

    module = reorder_module(source, destination, shape, element, pad=pad)
    (kernel,) = compile_device_functions(module, ["reorder"], device=device, images=images)
    return kernel


def _layout(text: str | Layout, dims: str | None) -> Layout:
    return text if isinstance(text, Layout) else layout(text, dims=dims)


def _check_dim_order(source: Layout, destination: Layout, rank: int | None = None) -> None:
    """
    Raise `LayoutError` where two layouts of one tensor name the same dims in different orders.

    With `rank`, also where a name means tensors of several ranks and names its dims for that one.
    """
    if not (isinstance(source, Format) and isinstance(destination, Format)):
        return
    names = (one.logical_dims if rank is None else one.dims_of_rank(rank) for one in (source, destination))
    left, right = ([dim.lower() for dim in dims or ()] for dims in names)
    if left != right and sorted(left) == sorted(right):
        raise LayoutError(
            f"expected one order of the logical dims, got {','.join(left)} for {source} and {','.join(right)} for "
            f'{destination}; give it as dims="{"".join(left).upper()}"'
        )


def reorder(
    array: npt.NDArray[Any],
    src: str | Layout,
    dst: str | Layout,
    *,
    shape: Sequence[int] | None = None,
    dtype: object = None,
    dims: str | None = None,
    pad: float | None = 0,
    threads: int | None = None,
) -> npt.NDArray[Any]:
    """
    The storage of `dst`, shaped `storage_shape`, of the tensor whose storage in `src` is `array`.

    `array`: the source's elements in storage order, in any shape. `shape`: extents of the logical dims; may be left out
    where `src` only orders the dims (`"NHWC"`) and `array` has one axis for each. `dtype`: the element type where
    numpy's does not say it (`"bf16"`, whose arrays are uint16). The other arguments are those of `compile_reorder`.

    Example: `reorder(x, "NCHW", "openvino:b_fs_yx_fsv16")` for `x` of shape (1, 3, 224, 224) has shape
    (1, 1, 224, 224, 16). Raises `LayoutError` where array, shape and layouts do not fit each other.
    """
    from layout_ir.runtime.storage import as_storage, new_storage

    if not hasattr(array, "dtype"):
        raise LayoutError(f"array: expected a numpy array, got {type(array).__name__}")
    source, destination = (_layout(text, dims) for text in (src, dst))
    element = element_type(array.dtype if dtype is None else dtype)
    sizes = _logical_shape(array.shape, source, element) if shape is None else whole_numbers(shape, "expected a shape")
    # given sizes are the dims of both as they come, like a tensor's in IR; those of an array mean what its names say
    _check_dim_order(source, destination, len(sizes) if shape is None else None)
    stored = as_storage(array, source.index_map(sizes, element), element, "array")
    kernel = _compiled(source, destination, sizes, element, threads, _distinct(pad), False)
    target = destination.index_map(sizes, element)
    result = new_storage(target, stored.dtype)
    kernel(stored, result)
    return result.reshape(target.storage_shape)


def _logical_shape(stored: tuple[int, ...], source: Layout, element: ElementType) -> tuple[int, ...]:
    """The logical shape of a storage's shape where the layout only orders the dims."""
    order = _dim_order(source, len(stored), element)
    if order is None:
        raise LayoutError(
            f"expected shape=..., the logical shape, which an array of shape {list(stored)} does not say for {source}"
        )
    sizes = [0] * len(stored)
    for size, dim in zip(stored, order, strict=True):
        sizes[dim] = size
    return tuple(sizes)


def _dim_order(source: Layout, rank: int, element: ElementType) -> list[int] | None:
    """The dims in storage order where each is one axis of a dense storage, else None."""
    probe = (2,) * rank
    try:
        explicit = source.resolve(probe, element) if isinstance(source, Format) else source
        index_map = source.index_map(probe, element)
    except LayoutError:
        return None
    if not isinstance(explicit, TiledLayout) or index_map.pad_count or not index_map.is_dense:
        return None
    if not all(isinstance(coordinate, AffineDimExpr) for coordinate in explicit.coordinates):
        return None
    return [coordinate.position for coordinate in explicit.coordinates if isinstance(coordinate, AffineDimExpr)]
