"""oneDNN's explicit strides, plain and with inner blocks."""

from __future__ import annotations

import numpy as np
import pytest

from layout_ir.errors import LayoutError
from layout_ir.formats import onednn
from layout_ir.formats.format import Format, FormatOptions
from layout_ir.layouts.strided import StridedLayout


def strided(name: str = "strided", **options: object) -> Format:
    return onednn.parse(name, FormatOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "shape, strides, elements",
    [
        ((2, 3, 4, 5), None, 120),
        ((2, 3, 4), (1, 2, 6), 24),  # transposed
        ((2, 3, 4), (100, 20, 2), 200),  # padded: the gap behind the outermost dim counts
        ((2, 3), (0, 1), 3),  # broadcast
        ((5,), (3,), 15),
        ((1, 3), (99, 1), 3),  # the stride of a dim of size 1 does not count
        ((1, 1), (5, 7), 1),
        ((2, 0, 3), (7, 7, 7), 0),
        ((), (), 1),
    ],
)
def test_size_is_the_largest_product_of_dim_and_stride(
    shape: tuple[int, ...], strides: tuple[int, ...] | None, elements: int
) -> None:
    assert strided(strides=strides).index_map(shape).storage_size == elements


def test_offsets_are_the_sum_of_index_times_stride() -> None:
    offsets = strided(strides=(100, 1, 7), offset=11).index_map((2, 3, 4)).offsets()
    n, c, w = np.indices((2, 3, 4))
    assert (offsets == 11 + 100 * n + c + 7 * w).all()
    assert strided(strides=(100, 1, 7), offset=11).index_map((2, 3, 4)).storage_size == 11 + 200
    assert strided(strides=(4, 1)).resolve((2, 3)) == StridedLayout((4, 1))
    assert strided().resolve((2, 3, 4, 5)) == StridedLayout((60, 20, 5, 1))


def test_a_blocked_tag_with_a_row_pitch() -> None:
    # 3 columns of 16 channels, each row padded to 64 elements, 4 rows apart from image to image
    format_ = strided("nChw16c", strides=(1024, 512, 64, 16))
    index_map = format_.index_map((2, 20, 4, 3))
    n, c, h, w = np.indices((2, 20, 4, 3))
    assert (index_map.offsets() == 1024 * n + 512 * (c // 16) + 64 * h + 16 * w + c % 16).all()
    assert index_map.storage_size == 2048
    assert index_map.required_size == 1024 + 512 + 3 * 64 + 2 * 16 + 16
    assert index_map.padded_shape == (2, 32, 4, 3)


def test_strides_follow_the_order_in_which_dims_are_given() -> None:
    own = strided("nChw16c", strides=(1024, 512, 64, 16)).index_map((2, 20, 4, 3)).offsets()
    given = strided("nChw16c", strides=(64, 16, 512, 1024), dims="hwcn").index_map((4, 3, 20, 2)).offsets()
    assert (given == own.transpose(2, 3, 1, 0)).all()


def test_dense_strides_are_the_tag_itself() -> None:
    shape = (2, 20, 4, 3)
    tag = strided("nChw16c")
    explicit = strided("nChw16c", strides=(384, 192, 48, 16))
    assert explicit.resolve(shape) == tag.resolve(shape)
    assert (explicit.index_map(shape).offsets() == tag.index_map(shape).offsets()).all()
    assert explicit.index_map(shape).storage_shape == tag.index_map(shape).storage_shape


@pytest.mark.parametrize(
    "name, options, shape, message",
    [
        ("strided", {"strides": (1, 1)}, (2, 3), "expected strides that nest"),
        ("strided", {"strides": (2, 1)}, (4, 4), "expected strides that nest"),
        ("strided", {"strides": (2, 3)}, (3, 2), "expected strides that nest"),
        ("strided", {"strides": (-3, 1)}, (2, 3), "not negative"),
        ("strided", {"strides": (3, 1), "offset": -1}, (2, 3), "offset that is not negative"),
        ("strided", {"strides": (3, 1)}, (2, 3, 4), "rank 2"),
        ("strided", {"dims": "hw"}, (2, 3), "option 'dims'"),
        ("nChw16c", {"strides": (64, 16, 16)}, (1, 3, 2, 2), "expected 4 strides"),
        ("nChw16c", {"strides": (512, 64, 32, 8)}, (1, 3, 2, 2), "16 elements of the inner blocks"),
        ("nhwc", {"strides": (48, 16, 4, 1)}, (1, 3, 4, 4), "`onednn:strided` takes any order"),
    ],
)
def test_strides_that_overlap_or_contradict_the_tag_are_refused(
    name: str, options: dict[str, object], shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(LayoutError) as error:
        strided(name, **options).index_map(shape)
    assert message in str(error.value)


def test_gaps_between_blocks_have_no_tiled_form() -> None:
    with pytest.raises(LayoutError, match="expected the dense strides"):
        strided("nChw16c", strides=(1024, 512, 64, 16)).resolve((2, 20, 4, 3))
