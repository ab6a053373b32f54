"""Proofs about maps: against counting on small shapes, instant on large ones, with a witness where they fail."""

from __future__ import annotations

import random

import numpy as np
import pytest
from xdsl.ir.affine import AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.formats.format import FormatOptions
from layout_ir.formats.registry import parse_format
from layout_ir.layouts.element_type import element_type
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.proof import equality, injectivity
from layout_ir.layouts.proof_search import Unknown, null_difference, solve
from layout_ir.layouts.proof_shapes import Explicit, canonical_form, equality_for_all_shapes
from layout_ir.layouts.strided import StridedLayout
from layout_ir.layouts.tiled import TiledLayout

D0, D1, D2 = (AffineExpr.dimension(i) for i in range(3))


def mapped(name: str, shape: tuple[int, ...], **options: int) -> IndexMap:
    return parse_format(name, FormatOptions(**options)).index_map(shape, "f32")


def explicit(name: str) -> Explicit:
    result = parse_format(name)
    assert result.dims is not None
    return result.resolve_canonical((3,) * len(result.dims), element_type("f32"))


# -- the search --------------------------------------------------------------------------------------------------------


def test_the_search_agrees_with_trying_everything():
    chooser = random.Random(0)
    solvable = 0
    for _ in range(400):
        unknowns = [
            Unknown(chooser.randint(-9, 9), low := chooser.randint(-3, 2), low + chooser.randint(0, 4))
            for _ in range(chooser.randint(0, 4))
        ]
        total = chooser.randint(-30, 30)
        sums = {0}
        for unknown in unknowns:
            sums = {s + unknown.factor * v for s in sums for v in range(unknown.low, unknown.high + 1)}
        found = solve(unknowns, total)
        assert (found is not None) == (total in sums)
        if found is not None:
            solvable += 1
            assert sum(u.factor * v for u, v in zip(unknowns, found, strict=True)) == total
            assert all(u.low <= v <= u.high for u, v in zip(unknowns, found, strict=True))
    assert solvable > 50


def test_a_difference_is_a_difference():
    assert null_difference((3, 2), (2, 3)) is None
    assert null_difference((3, 2), (3, 4)) in ((2, -3), (-2, 3))
    assert null_difference((0, 2), (1, 4)) is None
    assert null_difference((0, 2), (2, 4)) == (1, 0)


# -- injectivity -------------------------------------------------------------------------------------------------------


def random_map(chooser: random.Random) -> IndexMap:
    rank = chooser.randint(1, 3)
    shape = tuple(chooser.choice((1, 2, 3, 5, 6, 7)) for _ in range(rank))
    coordinates: list[AffineExpr] = []
    for _ in range(chooser.randint(1, 4)):
        expr = sum((AffineExpr.dimension(d) * chooser.randint(0, 4) for d in range(rank)), AffineExpr.constant(0))
        expr = chooser.choice((expr, expr // chooser.randint(1, 4), expr % chooser.randint(1, 5)))
        coordinates.append(chooser.choice((AffineExpr.dimension(chooser.randrange(rank)), expr)))
    strides = tuple(chooser.choice((1, 1, 2, 3, 4, 6, 7, 12, 20, 50)) for _ in coordinates)
    return IndexMap(shape, tuple(coordinates), (100,) * len(coordinates), strides)  # room for every coordinate


def test_injectivity_agrees_with_counting():
    chooser = random.Random(1)
    holding = 0
    for _ in range(1500):
        subject = random_map(chooser)
        offsets = subject.offsets()
        result = injectivity(subject)
        assert bool(result) == (np.unique(offsets).size == offsets.size), str(subject)
        holding += bool(result)
        if result.clash is not None:
            first, second = result.clash
            assert first != second
            assert offsets[first] == offsets[second] == result.offset
            assert f"{list(first)} and {list(second)}" in str(result)
    assert 200 < holding < 1300


@pytest.mark.parametrize(
    "name, shape",
    [
        ("onednn:nChw16c", (2**10, 2**10 + 3, 2**10, 2**10)),
        ("onednn:OIhw4i16o4i", (2**10 + 7, 2**10 + 5, 2**10, 2**10)),
        ("onednn:abcdefghijkl", (8, 16) * 6),
        ("ascend:FRACTAL_Z", (2**12 + 1, 2**10 + 1, 2**9, 2**9)),
        ("mace:IN_OUT_HEIGHT", (2**10, 2**10 + 1, 2**10, 2**10)),
    ],
)
def test_large_maps_are_proved_without_counting(name: str, shape: tuple[int, ...]):
    assert injectivity(mapped(name, shape))


@pytest.mark.parametrize(
    "strides, shape, holds",
    [
        ((3, 2), (2, 4), True),
        ((3, 2), (3, 4), False),
        ((2**20 + 1, 2**20), (2**20, 2**19), True),
        ((2**20 + 1, 2**20), (2**20 + 1, 2**21), False),
        ((0, 1), (2, 4), False),
        ((0, 1), (1, 4), True),
        ((5, 7, 11), (7, 5, 2), False),
    ],
)
def test_strides_that_do_not_nest_are_decided(strides: tuple[int, ...], shape: tuple[int, ...], holds: bool):
    subject = StridedLayout(strides).index_map(shape)
    result = injectivity(subject)
    assert bool(result) is holds
    if result.clash is not None:
        assert subject(*result.clash[0]) == subject(*result.clash[1]) == result.offset


@pytest.mark.parametrize(
    "name, shape, options",
    [
        ("ascend:FRACTAL_Z", (30, 5, 3, 3), {"groups": 3}),
        ("ascend:C1HWNCoC0", (17, 20, 2, 2), {}),
        ("ascend:FRACTAL_Z_C04", (17, 3, 3, 5), {}),
        ("openvino:os_i_yxs_osv4_yxsv4", (5, 3, 3, 5), {}),
        ("openvino:iy_xs_os_xsv2_osv16__ao32", (33, 2, 3, 5), {}),
        ("openvino:os_iyx_osv16_rotate_180", (17, 2, 3, 5), {}),
    ],
)
def test_irregular_maps_are_proved_too(name: str, shape: tuple[int, ...], options: dict[str, int]):
    assert injectivity(mapped(name, shape, **options))


def test_what_is_too_large_to_look_at_is_refused():
    entangled = IndexMap((2**20, 2**20), ((D0 * 3 + D1 * 5) // 7, D1), (2**21, 2**20))
    with pytest.raises(LayoutError, match=r"cannot decide whether two elements share a place: dims \[0, 1\]"):
        injectivity(entangled)


# -- equality on a shape -----------------------------------------------------------------------------------------------


def test_equality_agrees_with_counting():
    chooser = random.Random(2)
    equal = 0
    for _ in range(1500):
        left = random_map(chooser)
        coordinates = list(left.coordinates)
        position = chooser.randrange(len(coordinates))
        dim = AffineExpr.dimension(chooser.randrange(left.rank))
        block = chooser.randint(1, 6)
        coordinates[position] = chooser.choice(
            (
                coordinates[position],
                dim // block * block + dim % block,
                coordinates[position] + dim // chooser.randint(2, 8),
                coordinates[position] % 5,
            )
        )
        right = IndexMap(left.shape, tuple(coordinates), left.extents, left.strides)
        differing = np.argwhere(left.offsets() != right.offsets())
        result = equality(left, right)
        assert bool(result) == (len(differing) == 0)
        equal += bool(result)
        if not result:
            assert result.index == tuple(differing[0])
            assert result.offsets == (left.offsets()[result.index], right.offsets()[result.index])
    assert 200 < equal < 1300


def test_large_maps_are_compared_without_counting():
    shape = (2**10, 2**10 + 3, 2**10, 2**10)
    block = mapped("onednn:nChw16c", shape)
    assert equality(block, mapped("openvino:b_fs_yx_fsv16", shape))
    assert equality(block, mapped("cudnn:NC/16HW16", shape))
    other = equality(block, mapped("onednn:nChw8c", shape))
    assert other.index == (0, 0, 0, 1)
    assert other.offsets == (16, 8)
    assert str(other) == "not equal: element [0, 0, 0, 1] has the offsets 16 and 8"


@pytest.mark.parametrize(
    "left, right, shape, expected",
    [
        ("cudnn:NC/1HW1", "NCHW", (2, 3, 4, 5), None),
        ("cudnn:NC/3HW3", "NHWC", (2, 3, 4, 5), None),
        ("cudnn:NC/4HW4", "NHWC", (1, 3, 1, 1), "the storages have 4 and 3 elements"),
        ("mace:IN_OUT_CHANNEL", "NHWC", (1, 2, 2, 4), "the first is an image, the other a buffer"),
        ("NCHW", "NHWC", (1, 2, 1, 2), "element [0, 0, 0, 1] has the offsets 1 and 2"),
        ("NCHW", "NHWC", (1, 2, 1, 1), None),
        ("NCHW", "NHWC", (0, 2, 3, 4), None),
        ("mace:WEIGHT_HEIGHT", "mace:WEIGHT_WIDTH", (1, 1, 1, 5), None),
        ("mace:WEIGHT_HEIGHT", "mace:WEIGHT_WIDTH", (2, 1, 1, 5), "element [1, 0, 0, 0] has the offsets 1 and 20"),
    ],
)
def test_equality_is_of_functions(left: str, right: str, shape: tuple[int, ...], expected: str | None):
    assert equality(mapped(left, shape), mapped(right, shape)).difference == expected


def test_shapes_are_compared_first():
    assert equality(mapped("NC", (2, 3)), mapped("NC", (3, 2))).difference == "the shapes are [2, 3] and [3, 2]"


# -- equality for all shapes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "left, right",
    [
        ("cudnn:NC/1HW1", "NCHW"),
        ("onednn:nChw16c", "openvino:b_fs_yx_fsv16"),
        ("onednn:nChw16c", "cudnn:NC/16HW16"),
        ("openvino:b_fs_yx_fsv16", "cudnn:NC/16HW16"),
        ("onednn:aBcd16b", "onednn:aBcd2b8b"),
        ("openvino:bfyx_f16", "onednn:nChw16c"),
        ("openvino:os_is_yx_osa4_isa8_osv8_isv4", "openvino:os_is_yx_osa4_isa2_isa4_osv8_isv4"),
    ],
)
def test_one_structure_is_equal_for_all_shapes(left: str, right: str):
    assert equality_for_all_shapes(explicit(left), explicit(right))


@pytest.mark.parametrize(
    "left, right, shape",
    [
        ("cudnn:NC/4HW4", "NHWC", (1, 1, 1, 2)),
        ("NCHW", "NHWC", (1, 2, 1, 2)),
        ("onednn:nChw16c", "onednn:nChw8c", (1, 1, 1, 2)),
        ("openvino:b_fs_yx_fsv16", "NCHW", (1, 1, 1, 2)),
        ("openvino:os_i_osv16__ai8", "openvino:os_i_osv16", (1, 1)),
        ("onednn:aBcd16b", "onednn:abcd", (1, 1, 1, 2)),
    ],
)
def test_a_small_shape_tells_structures_apart(left: str, right: str, shape: tuple[int, ...]):
    result = equality_for_all_shapes(explicit(left), explicit(right))
    assert result.shape == shape
    assert not equality(explicit(left).index_map(shape), explicit(right).index_map(shape))
    assert f"with shape {list(shape)}" in str(result)


def test_padding_is_part_of_the_structure():
    plain, padded = TiledLayout(2, (D0, D1)), TiledLayout(2, (D0, D1), (1, 4))
    assert equality_for_all_shapes(TiledLayout(2, (D0, D1 // 4, D1 % 4)), padded)
    assert canonical_form(padded) != canonical_form(plain)
    result = equality_for_all_shapes(plain, padded)
    assert result.shape == (2, 1)
    assert result.difference == "with shape [2, 1], element [1, 0] has the offsets 1 and 4"


def test_strides_are_compared_as_they_are():
    assert equality_for_all_shapes(StridedLayout((8, 1)), StridedLayout((8, 1)))
    assert not equality_for_all_shapes(StridedLayout((8, 1)), StridedLayout((8, 2)))
    assert not equality_for_all_shapes(StridedLayout((8, 1)), TiledLayout(2, (D0, D1)))
    assert not equality_for_all_shapes(TiledLayout(2, (D0, D1)), TiledLayout(3, (D0, D1, D2)))


def test_forms_that_no_shape_tells_apart_are_no_guess():
    with pytest.raises(LayoutError, match="cannot decide whether two layouts are equal for all shapes"):
        equality_for_all_shapes(TiledLayout(2, (D0, D1)), TiledLayout(2, (D0, D1 * 2 // 2)))


def test_canonical_forms_agree_with_the_functions_that_they_stand_for():
    chooser = random.Random(3)
    equal = 0
    for _ in range(400):
        layouts: list[TiledLayout] = []
        for _ in range(2):
            axes = [D0 // 12, D0 // 6 % 2, D0 // 2 % 3, D0 % 2, D1]
            if chooser.random() < 0.7:
                axes[chooser.randrange(3) : 4] = chooser.choice(([D0 // 6, D0 % 6], [D0 // 2, D0 % 2], [D0]))
                axes = axes[-5:]
            if chooser.random() < 0.3:
                chooser.shuffle(axes)
            layouts.append(TiledLayout(2, tuple(axes), (chooser.choice((1, 2, 3, 4, 12)), 1)))
        left, right = layouts
        shapes = [(a, b) for a in (*range(1, 27), 36) for b in (1, 2)]
        same = all(equality(left.index_map(s), right.index_map(s)) for s in shapes)
        if canonical_form(left) == canonical_form(right):
            equal += 1
            assert same, f"{left} {right}"
    assert equal > 20
