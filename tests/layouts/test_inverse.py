"""The inverse: every element comes back from its cell, and no pad is taken for one."""

from __future__ import annotations

import random

import numpy as np
import pytest
from xdsl.ir.affine import AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.formats.format import FormatOptions
from layout_ir.formats.registry import parse_format
from layout_ir.layouts.index_map import IndexMap, evaluate
from layout_ir.layouts.inverse import Inverse, inverse
from layout_ir.layouts.strided import StridedLayout

D0, D1 = (AffineExpr.dimension(i) for i in range(2))


def inverted(name: str, shape: tuple[int, ...], **options: int) -> Inverse:
    return inverse(parse_format(name, FormatOptions(**options)).index_map(shape, "f32"))


def check_laws(subject: Inverse) -> None:
    """`inverse(map(i)) == i` for all i, and the predicate is false exactly on pads."""
    index_map = subject.index_map
    indices, owned = subject.evaluate()
    grids = np.indices(index_map.shape).reshape(index_map.rank, -1)
    cells = tuple(
        np.broadcast_to(expr.eval(list(grids), []), grids.shape[1]).astype(np.int64) for expr in index_map.coordinates
    )
    expected = np.zeros(index_map.extents, bool)
    expected[cells] = True
    np.testing.assert_array_equal(owned, expected)
    np.testing.assert_array_equal(indices[cells], grids.T)


CASES: list[tuple[str, tuple[int, ...], dict[str, int]]] = [
    ("onednn:nChw16c", (2, 35, 3, 5), {}),
    ("onednn:OIhw4i16o4i", (17, 20, 3, 3), {}),
    ("NHWC", (2, 3, 4, 5), {}),
    ("ascend:FRACTAL_Z", (6, 5, 2, 3), {"groups": 3}),
    ("ascend:FRACTAL_Z", (66, 5, 2, 3), {"groups": 33}),
    ("ascend:FRACTAL_Z_C04", (17, 3, 3, 5), {}),
    ("ascend:C1HWNCoC0", (3, 20, 2, 3), {}),
    ("ascend:ND_RNN_BIAS", (120,), {"hidden_size": 40}),
    ("ascend:FRACTAL_ZN_RNN", (47, 80), {"hidden_size": 40}),
    ("mace:IN_OUT_HEIGHT", (2, 6, 3, 5), {}),
    ("mace:ARGUMENT", (7,), {}),
    ("openvino:os_i_yxs_osv4_yxsv4", (5, 3, 3, 5), {}),
    ("openvino:os_iyx_osv16_rotate_180", (17, 2, 3, 5), {}),
    ("openvino:iy_xs_os_xsv2_osv16__ao32", (33, 2, 3, 5), {}),
    ("openvino:image_2d_weights_c4_fyx_b", (3, 5, 3, 3), {}),
    ("openvino:os_i_osv8__ai8", (9, 3), {}),
]


@pytest.mark.parametrize("name, shape, options", CASES)
def test_the_inverse_undoes_the_map(name: str, shape: tuple[int, ...], options: dict[str, int]):
    check_laws(inverted(name, shape, **options))


@pytest.mark.parametrize("name, shape, options", CASES)
def test_single_cells_and_offsets_agree_with_all_cells(name: str, shape: tuple[int, ...], options: dict[str, int]):
    subject = inverted(name, shape, **options)
    indices, owned = subject.evaluate()
    cells = list(np.ndindex(subject.index_map.extents))
    for cell in cells[:: max(len(cells) // 200, 1)]:
        expected = tuple(int(i) for i in indices[cell]) if owned[cell] else None
        offset = sum(c * s for c, s in zip(cell, subject.index_map.strides, strict=True))
        assert subject.index_of(cell) == expected
        assert subject.of_offset(offset) == expected


def random_expression(chooser: random.Random, rank: int, depth: int = 2) -> AffineExpr:
    dim = AffineExpr.dimension(chooser.randrange(rank))
    if depth == 0:
        return dim
    inner = random_expression(chooser, rank, depth - 1)
    number = chooser.randint(1, 6)
    match chooser.randrange(6):
        case 0:
            return inner // number
        case 1:
            return inner % number
        case 2:
            return inner * number + random_expression(chooser, rank, depth - 1)
        case 3:
            return inner * -1 + 40
        case 4:
            return inner * number + inner % number
        case _:
            return inner


def test_inverses_of_random_maps_undo_them():
    chooser = random.Random(4)
    inverted_maps = symbolic = 0
    for _ in range(1500):
        rank = chooser.randint(1, 3)
        shape = tuple(chooser.choice((1, 2, 3, 4, 5, 6)) for _ in range(rank))
        coordinates: list[AffineExpr] = []
        for dim in range(rank):
            d, block = AffineExpr.dimension(dim), chooser.randint(1, 4)
            coordinates += chooser.choice(([d // block, d % block], [d], [random_expression(chooser, rank)]))
        coordinates.append(random_expression(chooser, rank))
        chooser.shuffle(coordinates)
        values = [evaluate(expr, shape) for expr in coordinates]
        if min(int(v.min()) for v in values) < 0:
            continue
        extents = tuple(int(v.max()) + 1 + chooser.randint(0, 1) for v in values)
        index_map = IndexMap(shape, tuple(coordinates), extents)
        if index_map.cell_count > 200_000 or not index_map.is_injective():
            continue
        subject = inverse(index_map)
        inverted_maps += 1
        symbolic += subject.indices is not None
        check_laws(subject)
    assert symbolic > 300
    assert inverted_maps > symbolic


def test_blocks_are_inverted_symbolically_whatever_the_size():
    subject = inverted("onednn:nChw16c", (2**10, 2**10 + 3, 2**10, 2**10))
    assert str(subject) == ("(s0, s1, s2, s3, s4) -> (s0, s4 + (s1 * 16), s2, s3) if s4 + (s1 * 16) < 1027")
    assert subject.index_of((7, 64, 5, 6, 2)) == (7, 1026, 5, 6)
    assert subject.index_of((7, 64, 5, 6, 3)) is None
    last = subject.index_map.storage_size - 1
    assert subject.of_offset(last) is None
    assert subject.of_offset(last - 13) == (2**10 - 1, 1026, 2**10 - 1, 2**10 - 1)


def test_predicates_are_read_by_people():
    assert inverted("NCHW", (2, 3, 4, 5)).predicate == "true"
    assert inverted("ascend:C1HWNCoC0", (3, 32, 2, 3)).predicate == "s5 == s4"
    assert inverted("openvino:iy_xs_os_xsv2_osv16__ao32", (33, 1, 1, 3)).predicate == "a table of all cells"


def test_gaps_and_pads_hold_nothing():
    subject = inverse(StridedLayout((10, 2), 3).index_map((2, 3)))
    held = {offset: subject.of_offset(offset) for offset in range(subject.index_map.storage_size)}
    assert {offset: index for offset, index in held.items() if index} == {
        3: (0, 0), 5: (0, 1), 7: (0, 2), 13: (1, 0), 15: (1, 1), 17: (1, 2)
    }  # fmt: skip


def test_strides_that_do_not_nest_are_searched():
    subject = inverse(StridedLayout((3, 2)).index_map((2, 4)))
    for index in np.ndindex(2, 4):
        assert subject.of_offset(subject.index_map(*index)) == index
    assert subject.of_offset(8) is None


def test_an_empty_tensor_has_no_cell():
    subject = inverted("onednn:nChw16c", (2, 0, 3, 5))
    _, owned = subject.evaluate()
    assert owned.size == 0


@pytest.mark.parametrize("coordinate", [(0, 0), (2, 0, 0, 0, 0), (0, 0, 0, 0, -1)])
def test_coordinates_outside_are_refused(coordinate: tuple[int, ...]):
    with pytest.raises(LayoutError, match=r"expected a storage coordinate inside \[2, 1, 3, 5, 16\], got"):
        inverted("onednn:nChw16c", (2, 3, 3, 5)).index_of(coordinate)


def test_offsets_outside_are_refused():
    with pytest.raises(LayoutError, match="expected an offset from 0 to 59, got 60"):
        inverted("NCHW", (1, 3, 4, 5)).of_offset(60)


def test_a_map_that_is_not_injective_has_no_inverse():
    with pytest.raises(LayoutError, match=r"elements \[0, 0\] and \[1, 0\] share offset 0"):
        inverse(StridedLayout((0, 1)).index_map((2, 3)))


def test_a_table_has_a_limit():
    coordinates = (D0 // 4096, (D0 // 4096) * 3 + (D0 % 4096) * 5 // 3 + D0 % 4096)
    sparse = IndexMap((2**13,), coordinates, (2, 2**27))
    with pytest.raises(LayoutError, match="cannot invert a map of 268435456 cells"):
        inverse(sparse)
