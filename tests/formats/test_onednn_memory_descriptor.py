"""oneDNN's memory descriptors: fields, sizes, equality, acceptance of strides, and views."""

from __future__ import annotations

import itertools

import pytest

from layout_ir.errors import LayoutError
from layout_ir.formats.onednn_memory_descriptor import RUNTIME_DIM, MemoryDescriptor
from layout_ir.formats.onednn_views import permute_axes, reshape, submemory

from_tag, from_strides = MemoryDescriptor.from_tag, MemoryDescriptor.from_strides


def test_fields_of_a_blocked_tag() -> None:
    descriptor = from_tag((2, 17, 5, 3), "f32", "nChw16c")
    assert descriptor.padded_dims == (2, 32, 5, 3)
    assert descriptor.strides == (480, 240, 48, 16)
    assert descriptor.inner_blocks == ((1, 16),)
    assert descriptor.size_in_bytes == 2 * 32 * 5 * 3 * 4
    assert descriptor.equals(from_strides((2, 17, 5, 3), "f32", (480, 240, 48, 16), ((1, 16),)))
    assert descriptor.index_map().storage_size == 960


@pytest.mark.parametrize(
    "dims, dtype, tag, strides, size",
    [
        ((2, 3, 4, 5), "f32", "abcd", (60, 20, 5, 1), 480),
        ((2, 0, 4), "f32", "abc", (4, 4, 1), 0),
        ((3, 5), "bf16", "AB4b8a2b", (64, 64), 128),
        ((1, 1, 1, 1), "s8", "aBcd16b", (16, 16, 16, 16), 16),
        ((3, 4), "s4", "ab", (4, 1), 6),
        ((4, 3), "u4", "ba", (1, 4), 6),
        ((1, 3), "s4", "ab", (3, 1), 2),
        ((), "f32", "abcd", (), 0),
        ((2, RUNTIME_DIM, 4), "f32", "abc", (RUNTIME_DIM, 4, 1), None),
        ((RUNTIME_DIM, 17, 4), "f32", "aBc8b", (96, 32, 8), None),
    ],
)
def test_strides_and_size_of_a_tag(
    dims: tuple[int, ...], dtype: str, tag: str, strides: tuple[int, ...], size: int | None
) -> None:
    descriptor = from_tag(dims, dtype, tag)
    assert descriptor.strides == strides
    assert descriptor.size_in_bytes == size


@pytest.mark.parametrize(
    "dims, strides, size",
    [
        ((2, 3), (0, 0), 0),
        ((2, 3), (0, 1), 12),
        ((1, 3), (99, 1), 12),
        ((2, 3, 4), (100, 20, 2), 800),
        ((2, 3), None, 24),
        ((2, 0, 3), None, 0),
        ((2, 3), (RUNTIME_DIM, 1), None),
    ],
)
def test_size_of_explicit_strides(dims: tuple[int, ...], strides: tuple[int, ...] | None, size: int | None) -> None:
    assert from_strides(dims, "f32", strides).size_in_bytes == size


def test_row_major_strides_outside_of_an_empty_dim() -> None:
    assert from_strides((4, 2, 0, 4), "f32").strides == (0, 0, 4, 1)
    assert from_tag((4, 2, 0, 4), "f32", "abcd").strides == (8, 4, 4, 1)


def test_runtime_dims_and_strides() -> None:
    assert from_strides((2, RUNTIME_DIM, 3), "f32").strides == (RUNTIME_DIM, 3, 1)
    assert from_strides((2, RUNTIME_DIM, 0), "f32").size_in_bytes == 0
    assert from_strides((2, RUNTIME_DIM, 3), "f32", (1, 1, 1)).size_in_bytes is None  # no overlap can be told yet
    assert from_tag((RUNTIME_DIM, 3, 5), "u4", "abc").strides == (15, 5, 1)


def nests(dims: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """The acceptance rule in other words: some order of the dims in which each step clears all faster dims."""
    taking_part = [(s, n) for s, n in zip(strides, dims, strict=True) if n > 1 and s > 0]
    return any(
        all(slow[0] >= fast[0] * fast[1] for fast, slow in itertools.pairwise(order))
        for order in itertools.permutations(taking_part)
    )


def test_explicit_strides_are_accepted_where_they_nest() -> None:
    outcomes = set()
    for dims in itertools.product((1, 2, 3), repeat=3):
        for strides in itertools.product((0, 1, 2, 3, 4, 6), repeat=3):
            expected = nests(dims, strides)
            outcomes.add(expected)
            if expected:
                assert from_strides(dims, "f32", strides).strides == strides
            else:
                with pytest.raises(LayoutError, match="expected strides that nest"):
                    from_strides(dims, "f32", strides)
    assert outcomes == {True, False}


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: from_tag((2, 3), "f32", "abc"), "expected 3 dims"),
        (lambda: from_tag((2, -3), "f32", "ab"), "not negative"),
        (lambda: from_tag((2, 3), "boolean", "ab"), "data type other than"),
        (lambda: from_tag((2, 3), "f4_e3m0", "ab"), "data type other than"),
        (lambda: from_tag((2, 3), "u64", "ab"), "expected one of"),
        (lambda: from_tag((2, 3), "f8_e4m4", "ab"), "did you mean f8_e4m3"),
        (lambda: from_tag((2**32, 2**32), "f32", "ab"), "less than 2^63"),
        (lambda: from_tag((4, 3), "s4", "ab"), "to be 1 or even, got 3 on dim 0"),
        (lambda: from_strides((2, 3), "f32", (1,)), "expected 2 strides"),
        (lambda: from_strides((2, 3), "f32", (-3, 1)), "not negative"),
        (lambda: from_strides((1,) * 13, "f32"), "at most 12 dims"),
        (lambda: from_strides((2, 3), "f32", None, ((2, 4),)), "expected blocks"),
        (lambda: from_tag((RUNTIME_DIM, 3), "f32", "ab").index_map(), "expected known dims"),
    ],
)
def test_what_the_library_refuses_is_refused(make: object, message: str) -> None:
    with pytest.raises(LayoutError) as error:
        make()  # type: ignore[operator]
    assert message in str(error.value)


@pytest.mark.parametrize(
    "dims, left, right, equal",
    [
        ((2, 1, 3, 4), "abcd", "acdb", True),
        ((2, 3, 1, 1), "abcd", "acdb", True),
        ((2, 3, 4, 4), "abcd", "acdb", False),
        ((0, 3), "ab", "ba", False),
        ((2, 16, 3, 3), "aBcd16b", "acdb", False),
        ((2, RUNTIME_DIM), "ab", "ab", True),
        ((2, 16, 3, 3), "aBcd16b", "nChw16c", True),
    ],
)
def test_equality_is_the_librarys(dims: tuple[int, ...], left: str, right: str, equal: bool) -> None:
    assert from_tag(dims, "f32", left).equals(from_tag(dims, "f32", right)) is equal
    assert not from_tag(dims, "f32", left).equals(from_tag(dims, "s32", left))


@pytest.mark.parametrize(
    "dims, offsets, padded, offset0",
    [
        ((2, 16, 3, 3), (0, 16, 0, 0), (2, 16, 3, 3), 16 * 9),
        ((2, 24, 3, 3), (0, 16, 0, 0), (2, 32, 3, 3), 16 * 9),  # reaches the end: padded to the parent's padded end
        ((1, 8, 3, 3), (1, 16, 0, 0), (1, 8, 3, 3), 48 * 9 + 16 * 9),  # inside of one block: not rounded up
        ((2, 40, 1, 2), (0, 0, 2, 1), (2, 48, 1, 2), (2 * 3 + 1) * 16),
    ],
)
def test_submemory(dims: tuple[int, ...], offsets: tuple[int, ...], padded: tuple[int, ...], offset0: int) -> None:
    parent = from_tag((2, 40, 3, 3), "f32", "nChw16c")
    part = submemory(parent, dims, offsets)
    assert (part.padded_dims, part.offset0, part.strides) == (padded, offset0, parent.strides)
    window = tuple(slice(start, start + size) for start, size in zip(offsets, dims, strict=True))
    assert (part.index_map().offsets() == parent.index_map().offsets()[window]).all()


@pytest.mark.parametrize(
    "dims, offsets, message",
    [
        ((2, 16, 3, 3), (0, 8, 0, 0), "begin at a multiple of its block 16, got 8"),
        ((2, 24, 3, 3), (0, 0, 0, 0), "size of dim 1 to be a multiple of its block 16"),
        ((2, 16, 3, 3), (0, 32, 0, 0), "inside 0 to 40 of dim 1"),
        ((2, 16, 3, 3), (-1, 0, 0, 0), "inside 0 to 2 of dim 0"),
        ((2, 16, 3), (0, 0, 0), "expected 4 dims"),
    ],
)
def test_submemory_refuses(dims: tuple[int, ...], offsets: tuple[int, ...], message: str) -> None:
    with pytest.raises(LayoutError) as error:
        submemory(from_tag((2, 40, 3, 3), "f32", "nChw16c"), dims, offsets)
    assert message in str(error.value)


def test_permute_axes_moves_blocks_along() -> None:
    source = from_tag((2, 17, 5, 3), "f32", "nChw16c")
    moved = permute_axes(source, (3, 0, 1, 2))
    assert moved.dims == (17, 5, 3, 2)
    assert moved.inner_blocks == ((0, 16),)
    assert (moved.index_map().offsets() == source.index_map().offsets().transpose(1, 2, 3, 0)).all()
    with pytest.raises(LayoutError, match="expected an order of 0 to 3"):
        permute_axes(source, (0, 0, 1, 2))


def test_the_last_of_several_dims_of_size_1_is_the_blocked_one() -> None:
    assert reshape(from_tag((24, 1, 1, 2), "f32", "nChw32c"), (24, 1, 1, 1, 2)).padded_dims == (24, 1, 1, 32, 2)
    assert reshape(from_tag((16, 1, 4), "f32", "AcB8a2b"), (16, 1, 1, 4)).padded_dims == (16, 1, 2, 4)


@pytest.mark.parametrize(
    "tag, dims, reshaped",
    [
        ("abcd", (2, 6, 4, 5), (2, 2, 3, 4, 5)),
        ("abcd", (2, 6, 4, 5), (12, 20)),
        ("abcd", (2, 6, 4, 5), (1, 2, 6, 1, 20, 1)),
        ("abcd", (2, 1, 4, 1), (2, 4)),
        ("abcd", (2, 6, 4, 5), (3, 4, 4, 5)),
        ("aBcd16b", (1, 1, 3, 3), (1, 3, 3)),
        ("aBcd16b", (2, 1, 1, 3), (2, 1, 3)),
        ("acdb", (2, 6, 4, 5), (2, 6, 20)),
        ("acdb", (2, 6, 4, 5), (2, 3, 2, 4, 5)),
        ("nChw16c", (2, 32, 4, 5), (2, 32, 20)),
        ("nChw16c", (2, 17, 4, 5), (2, 17, 2, 2, 5)),
        ("nChw16c", (1, 17, 4, 5), (17, 4, 1, 5)),
    ],
)
def test_reshape_keeps_every_element_in_place(tag: str, dims: tuple[int, ...], reshaped: tuple[int, ...]) -> None:
    source = from_tag(dims, "f32", tag)
    result = reshape(source, reshaped)
    assert (result.index_map().offsets() == source.index_map().offsets().reshape(reshaped)).all()
    assert result.size_in_bytes == source.size_in_bytes


@pytest.mark.parametrize(
    "tag, dims, reshaped, message",
    [
        ("nChw16c", (2, 32, 3, 3), (2, 2, 16, 3, 3), "without blocks to be split"),
        ("nChw16c", (2, 32, 3, 3), (64, 3, 3), "without blocks to be split, merged"),
        ("aBcd16b", (2, 1, 3, 3), (2, 3, 3), "without blocks to be split, merged or removed"),
        ("abcd", (0, 6, 4, 5), (2, 0, 4, 5), "split or merge"),
        ("acdb", (2, 6, 4, 5), (12, 4, 5), "to be dense to be merged"),
        ("abcd", (2, 6, 4, 5), (2, 6, 4, 6), "the same product"),
        ("abcd", (2, RUNTIME_DIM, 4, 5), (2, 20), "expected known dims"),
    ],
)
def test_reshape_refuses(tag: str, dims: tuple[int, ...], reshaped: tuple[int, ...], message: str) -> None:
    with pytest.raises(LayoutError) as error:
        reshape(from_tag(dims, "f32", tag), reshaped)
    assert message in str(error.value)
