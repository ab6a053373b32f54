"""Layout attributes as values: what they mean for a shape, their text, and the errors of their constructors."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import (
    Builtin,
    IntegerType,
    MemRefType,
    Signedness,
    StridedLayoutAttr,
    TensorType,
    f32,
    i8,
)
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from layout_ir.dialects.attributes import AnyAttr, FormatAttr, LayoutAttr, OpaqueAttr, TiledAttr, UndefAttr
from layout_ir.dialects.functions import same_function
from layout_ir.dialects.layout import LAYOUT
from layout_ir.dialects.types import index_map_of
from layout_ir.errors import LayoutError
from layout_ir.formats.format import FormatOptions
from layout_ir.formats.registry import SYSTEMS, formats
from layout_ir.layouts.blocked import blocked_layout
from layout_ir.layouts.strided import StridedLayout
from layout_ir.layouts.tiled import TiledLayout
from layout_ir.lowering.resolve import resolved_type


def parse(text: str) -> object:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(LAYOUT)
    return Parser(context, text).parse_attribute()


NAMES = [name for system in SYSTEMS for name in formats(system)]

OPTIONS = {
    "ascend:ND_RNN_BIAS": FormatOptions(hidden_size=5),
    "ascend:FRACTAL_ZN_RNN": FormatOptions(hidden_size=7, input_size=5),
    "cudnn:CUDNN_TENSOR_NCHW_VECT_C": FormatOptions(c0=4),
    "cudnn:strided": FormatOptions(strides=(200, 40, 8, 1)),
}
"""Of the names that mean nothing without."""

SHAPES = ((3, 17, 5, 6, 2, 3, 2, 2, 1, 2, 1, 1), (1, 16, 6, 6, 3, 3), (5, 1, 1, 3, 3), (1, 3, 5, 5), (12, 28, 1, 1))
"""Shapes of which some suit every format: some demand a size of 1, 3 or 4 somewhere."""


def a_tensor_in(attribute: FormatAttr) -> TensorType[Attribute]:
    """A tensor that the format takes; ranks and element types are tried too."""
    ranks = [attribute.format.rank] if attribute.format.rank else [4, 2, 3, 1]
    for shape, element, rank in itertools.product(SHAPES, (f32, i8, IntegerType(1, Signedness.UNSIGNED)), ranks):
        candidate = TensorType(element, shape[:rank], attribute)
        with contextlib.suppress(LayoutError):
            index_map_of(candidate)
            return candidate
    raise AssertionError(f"no shape of {SHAPES} suits {attribute}")


def test_every_name_round_trips_and_resolves_to_the_same_function() -> None:
    kept: list[str] = []
    for name in NAMES:
        attribute = FormatAttr(name, OPTIONS.get(name))
        assert parse(str(attribute)) == attribute
        tensor = a_tensor_in(attribute)
        resolved = resolved_type(tensor)
        assert parse(str(resolved)) == resolved
        named, explicit = index_map_of(tensor), index_map_of(resolved)
        assert same_function(named, explicit)
        assert named.cell_count == explicit.cell_count
        if resolved == tensor:
            kept.append(name)
    assert kept == []


def expressions(dims: int) -> st.SearchStrategy[AffineExpr]:
    leaves = st.integers(0, dims - 1).map(AffineExpr.dimension) | st.integers(0, 9).map(AffineExpr.constant)
    numbers = st.integers(1, 9)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
            st.tuples(inner, st.integers(-9, 9)).map(lambda pair: pair[0] * pair[1]),
            st.tuples(inner, numbers).map(lambda pair: pair[0] // pair[1]),
            st.tuples(inner, numbers).map(lambda pair: pair[0] % pair[1]),
        ),
        max_leaves=6,
    )


@settings(max_examples=200, deadline=None)
@given(st.lists(expressions(3), min_size=1, max_size=4), st.lists(st.integers(1, 8), min_size=3, max_size=3))
def test_tiled_text_reads_back_as_what_was_printed(coordinates: list[AffineExpr], units: list[int]) -> None:
    text = str(TiledAttr(TiledLayout(3, tuple(coordinates), tuple(units))))
    parsed = parse(text)
    assert isinstance(parsed, TiledAttr)
    assert str(parsed) == text
    for point in ((0, 0, 0), (1, 2, 3), (7, 5, 11)):
        expected = [expr.eval(list(point), []) for expr in coordinates]
        assert [expr.eval(list(point), []) for expr in parsed.layout.coordinates] == expected


def test_format_means_what_its_name_means() -> None:
    attribute = FormatAttr("NCHW", FormatOptions(dims="HWCN"))
    assert attribute.index_map((2, 3, 5, 7), "f32")(1, 2, 4, 6) == ((6 * 5 + 4) * 2 + 1) * 3 + 2
    assert attribute.explicit((2, 3, 5, 7), "f32") == blocked_layout(4, [3, 2, 0, 1])
    assert attribute.options == FormatOptions(dims="HWCN")


def test_strided_format_is_explicit_as_strides() -> None:
    attribute = FormatAttr("onednn:ab", FormatOptions(strides=(16, 1), offset=4))
    assert attribute.explicit((2, 3), "f32") == StridedLayout((16, 1), 4)
    resolved = resolved_type(MemRefType(f32, [2, 3], attribute))
    assert isinstance(resolved, MemRefType)
    assert index_map_of(resolved).offsets().tolist() == [[4, 5, 6], [20, 21, 22]]


def test_allocation_counts_towards_the_storage() -> None:
    attribute = TiledAttr(blocked_layout(1, [0], [(0, 4)]), allocation=20)
    assert attribute.index_map((5,), "f32").storage_size == 20
    assert attribute.index_map((5,), "f32").cell_count == 8
    with pytest.raises(LayoutError, match=r"expected an allocation of at least 24 elements for \[21\], got 20"):
        attribute.index_map((21,), "f32")


def test_affine_map_of_a_tiled_buffer_is_its_coordinates() -> None:
    layout = blocked_layout(2, [1, 0], [(1, 4)])
    assert MemRefType(f32, [3, 8], TiledAttr(layout)).get_affine_map() == AffineMap(2, 0, layout.coordinates)


@pytest.mark.parametrize(
    "attribute, reason",
    [
        (AnyAttr(), "it is still to be chosen"),
        (UndefAttr(), "it is not yet said"),
        (OpaqueAttr(17), "only the backend that made it knows it"),
    ],
    ids=str,
)
def test_open_layouts_say_no_place(attribute: LayoutAttr, reason: str) -> None:
    expected = f"expected a layout that says where every element lies, got {attribute}: {reason}"
    for ask in (attribute.index_map, attribute.explicit):
        with pytest.raises(LayoutError) as error:
            ask((4, 8), "f32")
        assert str(error.value) == expected
    with pytest.raises(LayoutError, match=reason):
        attribute.get_affine_map()


def test_a_name_alone_has_no_affine_map() -> None:
    with pytest.raises(LayoutError, match="expected a shape and an element type"):
        FormatAttr("NCHW").get_affine_map()


@pytest.mark.parametrize(
    "name, options, message",
    [
        ("NCHWW", FormatOptions(), "expected every dim once, got 'W' again"),
        ("NCHW", FormatOptions(dims="NCHX"), "expected dims to be an order of NCHW, got 'NCHX'"),
        ("NCHW", FormatOptions(groups=2), "got the option 'groups'"),
        ("nowhere:NCHW", FormatOptions(), "unknown system 'nowhere'"),
    ],
)
def test_a_wrong_name_is_no_attribute(name: str, options: FormatOptions, message: str) -> None:
    with pytest.raises(VerifyException, match=f"layout.format: .*{message}"):
        FormatAttr(name, options)


def test_equal_layouts_are_equal_attributes() -> None:
    assert FormatAttr("NCHW") == FormatAttr("NCHW")
    assert hash(FormatAttr("NCHW")) == hash(FormatAttr("NCHW"))
    assert FormatAttr("NCHW") != FormatAttr("NCHW", FormatOptions(dims="NHWC"))
    assert TiledAttr(blocked_layout(1, [0])) != TiledAttr(blocked_layout(1, [0]), allocation=9)
    assert resolved_type(TensorType(f32, [2, 3], StridedLayoutAttr([3, 1]))).encoding == StridedLayoutAttr([3, 1])
