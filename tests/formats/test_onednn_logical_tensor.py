"""oneDNN Graph's logical tensors: construction, strides, size, equality, enrichment."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

import layout_ir.formats.onednn_graph as graph
from layout_ir.errors import LayoutError
from layout_ir.formats.onednn_logical_tensor import LogicalTensor
from layout_ir.formats.registry import parse_format
from layout_ir.layouts.strided import StridedLayout

U = graph.UNKNOWN_DIM
BLOCKED = parse_format("onednn:nChw16c")
Sizes = tuple[int, ...]


def dense(dims: Sizes, layout_type: str = "strided", **changes: object) -> LogicalTensor:
    return LogicalTensor.init_with_dims(0, changes.pop("dtype", "f32"), dims, layout_type, **changes)  # type: ignore[arg-type]


def strided(dims: Sizes, strides: Sizes, dtype: str = "f32") -> LogicalTensor:
    return LogicalTensor.init_with_strides(0, dtype, dims, strides)


def opaque(dims: Sizes, layout_id: int = 17, stands_for: str | None = None) -> LogicalTensor:
    layout = parse_format(stands_for) if stands_for else None
    return LogicalTensor(
        0,
        "f32",
        len(dims),
        dims,
        graph.LayoutType.OPAQUE,
        layout_id=layout_id,
        stands_for=layout,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    "dims, strides",
    [
        ((2, 3, 4, 5), (60, 20, 5, 1)),
        ((5,), (1,)),
        ((2, 1, 4, 1), (4, 4, 1, 1)),
        ((2, 0, 4), (4, 4, 1)),
        ((0,), (1,)),
        ((0, 0, 0), (1, 1, 1)),
        ((), ()),
        ((2, U, 4), (U, U, U)),
    ],
)
def test_strides_of_dims(dims: Sizes, strides: Sizes) -> None:
    assert dense(dims).strides == strides
    for layout_type in ("any", "undef", "opaque"):
        assert dense(dims, layout_type).strides == (U,) * len(dims)


def test_init_knows_no_dims() -> None:
    tensor = LogicalTensor.init(7, "f32", 3, "strided", "constant")
    assert (tensor.dims, tensor.strides, tensor.mem_size) == ((U, U, U), (U, U, U), None)
    unknown = LogicalTensor.init(7, "f32")
    assert (unknown.ndims, unknown.dims, unknown.layout_type) == (-1, (), "undef")
    assert LogicalTensor.init(7, "f32", 0, property="host_scalar").dims == ()
    positional = LogicalTensor(7, "f32", 2, (3, 4), "strided", "variable")  # type: ignore[arg-type]
    assert positional.strides == (4, 1)
    assert positional.layout_type is graph.LayoutType.STRIDED


def test_a_logical_tensor_is_immutable_and_hashable() -> None:
    tensor = dense((2, 3))
    with pytest.raises(FrozenInstanceError):
        tensor.dims = (3, 2)  # type: ignore[misc]
    assert {tensor, dense((2, 3))} == {tensor}


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: LogicalTensor.init(0, "f32", 13), "to 12 dims, got ndims = 13"),
        (lambda: LogicalTensor.init(0, "f32", -2), "got ndims = -2"),
        (lambda: LogicalTensor.init(0, "f32", 1, property="host_scalar"), "ndims = 0 for a host scalar"),
        (lambda: LogicalTensor.init(0, "f32", 1, "strode"), "did you mean strided"),
        (lambda: LogicalTensor.init(0, "f32", 1, property="const"), "did you mean constant"),
        (lambda: LogicalTensor.init(0, "f33", 1), "unknown data type 'f33'"),
        (lambda: dense((2, -1)), "not negative or UNKNOWN_DIM"),
        (lambda: dense((1,) * 13), "to 12 dims"),
        (lambda: strided((2, 3), (1,)), "expected 2 strides"),
        (lambda: LogicalTensor(0, "f32", 2, (3,)), "expected 2 dims for ndims = 2"),  # type: ignore[arg-type]
        (lambda: LogicalTensor(0, "f32", layout_id=3), "layout id only of an opaque layout"),  # type: ignore[arg-type]
    ],
)
def test_what_has_no_meaning_is_refused(make: object, message: str) -> None:
    with pytest.raises(LayoutError) as error:
        make()  # type: ignore[operator]
    assert message in str(error.value)


@pytest.mark.parametrize(
    "dims, strides, size",
    [
        ((2, 3, 4, 5), (60, 20, 5, 1), 480),
        ((2, 3, 4), (1, 2, 6), 96),
        ((2, 3, 4), (100, 20, 2), 800),
        ((2, 3), (0, 1), 12),
        ((2, 3), (0, 0), 0),
        ((5,), (3,), 60),
        ((5,), (0,), 0),
        ((1, 3), (99, 1), 12),
        ((1, 3), (0, 1), 12),
        ((1, 1), (5, 7), 4),
        ((2, 3), (1, 1), 12),
        ((4, 4), (2, 1), 32),
        ((2, 0, 3), (7, 8, 9), 0),
        ((), (), 4),
        ((2, U), (1, 1), None),
        ((U, 3), (3, 1), None),
        ((2, 3), (U, 1), None),
        ((2, 3), (U, U), None),
    ],
)
def test_mem_size_of_strided_tensors(dims: Sizes, strides: Sizes, size: int | None) -> None:
    assert strided(dims, strides).mem_size == size


@pytest.mark.parametrize(
    "dtypes, size",
    [
        ("f16 bf16", 30),
        ("f32 s32", 60),
        ("f64 s64", 120),
        ("s8 u8 boolean f8_e5m2 f8_e4m3 e8m0", 15),
        ("s4 u4 f4_e2m1", 8),
    ],
)
def test_mem_size_of_15_elements_of_each_type(dtypes: str, size: int) -> None:
    assert {dense((3, 5), dtype=dtype).mem_size for dtype in dtypes.split()} == {size}


def test_mem_size_of_other_layout_types() -> None:
    assert dense((2, 3), "any").mem_size == dense((), "undef").mem_size == 2**64 - 1
    assert opaque((1, 3, 2, 2), stands_for="onednn:nChw16c").mem_size == 64 * 4
    assert LogicalTensor.init(0, "f32", -1, "strided").mem_size is None


@pytest.mark.parametrize(
    "tensor, message",
    [
        (strided((2, 3), (-3, 1)), "strides that are not negative"),
        (strided((2**40, 3), (2**40, 1)), "less than 2^63 bytes"),
        (dense((2, 3), dtype="undef"), "expected a data type"),
        (opaque((2, 3)), "opaque layout 17 stands for, which only its backend knows"),
    ],
)
def test_mem_size_that_would_wrap_or_crash_is_refused(tensor: LogicalTensor, message: str) -> None:
    with pytest.raises(LayoutError) as error:
        _ = tensor.mem_size
    assert message in str(error.value)


NHWC = strided((2, 3, 4, 4), (48, 1, 12, 3))
UNKNOWN_RANK = LogicalTensor.init(0, "f32", -1, "strided")


@pytest.mark.parametrize(
    "left, right, equal",
    [
        (dense((2, 3, 4)), strided((2, 3, 4), (12, 4, 1)), True),
        (dense((2, 3)), LogicalTensor.init_with_dims(1, "f32", (2, 3)), False),
        (dense((2, 3), property="variable"), dense((2, 3)), False),
        (dense((2, 3), property="variable"), dense((2, 3), property="constant"), False),
        (dense((2, 3)), dense((2, 3), dtype="s32"), False),
        (dense((2, 3), dtype="undef"), dense((2, 3)), False),
        (dense((2, 3, 4)), dense((2, 3, 4, 1)), False),
        (dense(()), dense((1,)), False),
        (dense((2, 3)), dense((2, 4)), False),
        (dense((2, U)), dense((2, 3)), False),
        (dense((2, U)), dense((2, U)), True),
        (dense((2, 3)), strided((2, 3), (1, 2)), False),
        (strided((1, 3), (3, 1)), strided((1, 3), (99, 1)), False),
        (strided((3, 1), (1, 1)), strided((3, 1), (1, 7)), False),
        (strided((2, 0), (1, 1)), strided((2, 0), (5, 1)), False),
        (dense((2, 3), "any"), dense((2, 3), "any"), True),
        (dense((2, 3), "undef"), dense((2, 3), "undef"), True),
        (dense((2, 3), "any"), dense((2, 3), "undef"), False),
        (dense((2, 3), "any"), dense((2, 3)), False),
        (dense((2, 3), "undef"), dense((2, 3)), False),
        (dense((2, 3), "any"), opaque((2, 3)), False),
        (opaque((2, 3)), opaque((2, 3)), True),
        (opaque((2, 3), 17), opaque((2, 3), 18), False),
        (dense(()), opaque(()), True),
        (dense(()), dense((), "any"), False),
        (dense((), "any"), opaque(()), False),
        (UNKNOWN_RANK, LogicalTensor.init(0, "f32", -1, "opaque"), True),
        (UNKNOWN_RANK, LogicalTensor.init(0, "f32", -1, "any"), False),
        # the document's rule: an opaque layout that stands for NHWC equals the strided NHWC
        (opaque((2, 3, 4, 4), stands_for="onednn:nhwc"), NHWC, True),
        (opaque((2, 3, 4, 4), stands_for="onednn:nchw"), NHWC, False),
        (opaque((2, 3, 4, 4), stands_for="onednn:nChw16c"), NHWC, False),
        (opaque((2, 16, 4, 4), stands_for="onednn:nChw16c"), strided((2, 16, 4, 4), (256, 1, 64, 16)), True),
        (opaque((1, 3, 1, 1), stands_for="onednn:nChw16c"), dense((1, 3, 1, 1)), False),  # 13 pads more
        (opaque((1, 3, 4, 4), stands_for="onednn:nchw"), strided((1, 3, 4, 4), (99, 16, 4, 1)), True),
        (opaque((2, 3, 4, U), stands_for="onednn:nchw"), dense((2, 3, 4, U)), False),
    ],
)
def test_is_equal(left: LogicalTensor, right: LogicalTensor, equal: bool) -> None:
    assert left.is_equal(right) is equal
    assert right.is_equal(left) is equal
    assert left.is_equal(left)


def test_an_opaque_layout_that_nobody_knows_cannot_be_compared_to_a_strided_one() -> None:
    with pytest.raises(LayoutError, match="which only its backend knows"):
        dense((2, 3)).is_equal(opaque((2, 3)))


def test_layout_of_a_strided_tensor() -> None:
    layout = strided((2, 3, 4), (100, 20, 2)).layout()
    assert layout.index_map((2, 3, 4)).storage_size * 4 == 800
    assert dense((2, 3, 4, 5)).layout().index_map((2, 3, 4, 5))(1, 2, 3, 4) == 119
    assert opaque((2, 3, 4, 4), stands_for="onednn:nChw16c").layout() == BLOCKED
    for tensor, message in (
        (dense((2, U)), "expected known dims and strides"),
        (dense((2, 3), "any"), "expected a strided layout, got any"),
        (strided((2, 3), (-3, 1)), "strides that are not negative"),
        (opaque((2, 3)), "which only its backend knows"),
    ):
        with pytest.raises(LayoutError, match=message):
            tensor.layout()
    with pytest.raises(LayoutError, match="expected strides that nest"):
        strided((2, 3), (1, 1)).layout().index_map((2, 3))


def test_enrichment_keeps_the_id_and_the_first_tensor() -> None:
    first = LogicalTensor.init(42, "f32", property="constant")
    ranked = first.with_dims((2, U, 4, 4)).with_layout_type("strided")
    assert ranked.strides == (U, U, U, U)
    sized = ranked.with_dims((2, 3, 4, 4))
    assert (sized.id, sized.property, sized.strides) == (42, "constant", (48, 16, 4, 1))
    assert sized.with_strides((48, 1, 12, 3)).with_dims((2, 3, 4, 4)).strides == (48, 1, 12, 3)
    assert sized.with_property("variable").property == "variable"
    assert first.ndims == -1
    for dims, message in (((2, 5, 4, 4), "to stay"), ((2, 3), "expected 4 dims")):
        with pytest.raises(LayoutError, match=message):
            sized.with_dims(dims)


def test_a_chosen_layout_is_strided_where_it_is_plain_and_opaque_where_it_is_blocked() -> None:
    asked = dense((1, 16, 8, 8), "any")
    plain = asked.with_layout(parse_format("onednn:nhwc"))
    assert (plain.layout_type, plain.strides) == ("strided", (1024, 1, 128, 16))
    blocked = dense((1, 17, 8, 8), "any").with_layout(BLOCKED, layout_id=17)
    assert (blocked.layout_type, blocked.layout_id, blocked.mem_size) == ("opaque", 17, 32 * 64 * 4)
    pitched = asked.with_layout(StridedLayout((4096, 256, 16, 1)))
    assert pitched.strides == (4096, 256, 16, 1)
    with pytest.raises(LayoutError, match="expected a layout id"):
        dense((1, 17, 8, 8), "any").with_layout(BLOCKED)
    with pytest.raises(LayoutError, match="expected known dims"):
        dense((1, U), "any").with_layout(BLOCKED)
