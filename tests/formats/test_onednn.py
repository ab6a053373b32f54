"""oneDNN's tags: the grammar, every listed name, tables computed by the library, and mutated names."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import numpy as np
import pytest

from layout_ir.errors import LayoutError
from layout_ir.formats import onednn
from layout_ir.formats.format import FormatOptions
from layout_ir.formats.onednn_tag import MISLEADING, parse_tag
from layout_ir.formats.registry import parse_format
from layout_ir.layouts.index_map import IndexMap

# each row: a tag, a shape, and the element offset of every index as the library's own reorder placed it
with gzip.open(Path(__file__).parents[1] / "data" / "onednn_offsets.jsonl.gz", "rt") as lines:
    TABLE = [json.loads(line) for line in lines]


def tag(name: str, **options: object) -> onednn.Format:
    return onednn.parse(name, FormatOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['format']}-{'x'.join(map(str, row['shape']))}")
def test_offsets_are_those_of_the_library(row: dict[str, object]) -> None:
    index_map = tag(str(row["format"])).index_map(row["shape"])  # type: ignore[arg-type]
    assert index_map.storage_size == row["buffer_elems"]
    assert index_map.offsets().ravel().tolist() == row["offsets"]
    assert parse_tag(str(row["format"])).canonical_name == row["canonical"]


def test_the_list_is_the_whole_enumeration() -> None:
    names = onednn.names()
    assert len(set(names)) == len(names) == 873 + 798
    canonical = [name for name in names if parse_tag(name).canonical_name == name]
    assert len(canonical) == 873
    assert {"abcdefghijkl", "aBcd16b", "nChw16c", "OIhw4i16o4i", "gOIhw16i16o", "ldigo", "tnc", "x", *MISLEADING} <= {
        *names
    }
    # an alias is another spelling of a listed tag, never a layout of its own
    assert {parse_tag(name).canonical_name for name in names} == set(canonical)


def assert_injective(index_map: IndexMap) -> None:
    offsets = index_map.offsets().ravel()
    assert np.unique(offsets).size == offsets.size
    assert offsets.min() >= 0
    assert offsets.max() < index_map.storage_size


def test_every_listed_tag_is_injective_and_stays_inside_its_storage() -> None:
    for number, name in enumerate(onednn.names()):
        format_ = tag(name)
        assert format_.rank is not None
        shape = [(1, 2, 3)[(number + dim) % 3] if format_.rank > 4 else 3 + dim for dim in range(format_.rank)]
        index_map = format_.index_map(shape)
        assert_injective(index_map)
        assert index_map.storage_size == np.prod(index_map.padded_shape, dtype=np.int64)


@pytest.mark.parametrize(
    "name, canonical",
    [
        ("gIOhw2i8o16i2o", "aBCde2c8b16c2b"),
        ("gIOdhw2i8o16i2o", "aBCdef2c8b16c2b"),
        ("OhwI24o", "Acdb24a"),
        ("OhwI32o", "Acdb32a"),
        ("gOhwI24o", "aBdec24b"),
        ("gOhwI32o", "aBdec32b"),
        ("ldigo", "abcde"),
        ("ldgOI32o4i", "abdEC32e4c"),
        ("ntc", "bac"),
        ("hwioG16g", "decbA16a"),
        ("aBcd24b", "aBcd24b"),  # not listed, but explained
        ("nCw64c", "aBc64b"),
        ("goi", "abc"),
        ("ABcd2a3b5a7b", "ABcd2a3b5a7b"),
    ],
)
def test_names_mean_their_canonical_tag(name: str, canonical: str) -> None:
    assert parse_tag(name).canonical_name == canonical


def test_logical_dims_follow_the_family() -> None:
    assert tag("nhwc").logical_dims == ("n", "c", "h", "w")
    assert tag("hwigo").logical_dims == ("g", "o", "i", "h", "w")
    assert tag("ldgoi").logical_dims == ("l", "d", "i", "g", "o")
    assert tag("acdb").logical_dims == ("a", "b", "c", "d")
    assert tag("ncdhw").logical_dims == ("n", "c", "d", "h", "w")


def test_dims_may_be_given_in_another_order() -> None:
    given = tag("OIhw4i16o4i", dims="hwio").index_map((3, 2, 5, 7)).offsets()
    own = tag("OIhw4i16o4i").index_map((7, 5, 3, 2)).offsets()
    assert (given == own.transpose(2, 3, 1, 0)).all()


def test_the_registry_finds_the_notation() -> None:
    assert parse_format("onednn:nChw16c").index_map((1, 3, 2, 2)).storage_size == 64
    assert parse_format("dnnl:aBcd16b").index_map((1, 3, 2, 2)).storage_size == 64


@pytest.mark.parametrize(
    "name, message",
    [
        ("", "expected a tag such as nchw or aBcd16b at position 0, got an empty name"),
        ("16c", "expected the outer order of the dims at position 0, got '1'"),
        ("nchw16c", "expected 'C' at position 1, since the dim is blocked, got 'c'; did you mean nChw16c"),
        ("nChw16", "expected the dim of the block 16 at position 6, got the end of the name"),
        ("nChw16cc", "expected the size of a block at position 7, got 'c'"),
        ("nChw16k", "expected the dim of the block 16 at position 6 (one of n, c, h, w), got 'k'"),
        ("nChw016c", "expected a block of 1 to 65536 at position 4, got 016"),
        ("nChw65537c", "expected a block of 1 to 65536 at position 4, got 65537"),
        ("OIhw16i", "expected a block of dim 'o', which is in upper case at position 0, or the letter in lower case"),
        ("abd", "expected the letters of a tag of rank 3, a, b, c, got 'd' at position 2"),
        ("nhw", "expected a, b, c, ... or the letters of an alias, n, c, h, w; 'c' is missing at position 3"),
        ("qihw", "got 'q' at position 0"),
        ("nncw", "expected every dim once, got 'n' again at position 1"),
        ("nc hw", "expected a letter (a dim) or a digit (a block) at position 2, got ' '"),
        ("nchw\u00b2", "at position 4"),
        ("abcdefghijklm", "expected at most 12 dims, got 'm' at position 12"),
        ("any", "expected a layout, got a state without one; in IR it is #layout.any"),
    ],
)
def test_a_malformed_name_is_refused_with_its_position(name: str, message: str) -> None:
    with pytest.raises(LayoutError) as error:
        tag(name)
    assert message in str(error.value)


def test_a_block_too_many_and_a_storage_too_large_are_refused() -> None:
    with pytest.raises(LayoutError, match="at most 12 blocks, got another at position 25"):
        tag("A" + "2a" * 13)
    with pytest.raises(LayoutError, match="less than 2\\^63"):
        tag("A" + "65536a" * 4).index_map((1,))
    with pytest.raises(LayoutError, match="rank 4"):
        tag("nchw").index_map((1, 2, 3))
    with pytest.raises(LayoutError, match="option 'groups'"):
        tag("nchw", groups=2)


def mutated(name: str, generator: random.Random) -> str:
    letters = list(name)
    for _ in range(generator.randint(1, 3)):
        place = generator.randrange(len(letters)) if letters else 0
        match generator.randrange(5):
            case 0:
                letters.insert(place, generator.choice("abcdefghilnotwxABCGION0123468_ :\u00e9\0\u00b2"))
            case 1:
                del letters[place : place + 1]
            case 2:
                letters[place : place + 1] = generator.choice("abcdefghilnotwxABCGION0123468")
            case 3:
                letters[place : place + 2] = letters[place : place + 2][::-1]
            case _:
                letters[place : place + 1] = [letter.swapcase() for letter in letters[place : place + 1]]
    return "".join(letters)


def test_mutated_names_are_parsed_to_an_injective_map_or_refused_with_a_position() -> None:
    generator = random.Random(20)
    names = onednn.names()
    parsed, refused = 0, list[tuple[str, str]]()
    for _ in range(3000):
        name = mutated(generator.choice(names), generator)
        try:
            format_ = tag(name)
        except LayoutError as error:
            refused.append((name, str(error)))
            continue
        assert_injective(format_.index_map([generator.choice((1, 2, 3)) for _ in range(format_.rank or 0)]))
        parsed += 1
    assert parsed > 100
    assert len(refused) > 1000
    assert [name for name, message in refused if name and "at position" not in message] == []
