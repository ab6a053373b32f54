"""Laws of every name of Ascend's: no two elements share a cell, all lie in the storage; no text breaks the parser."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from layout_ir.errors import LayoutError
from layout_ir.formats import ascend
from layout_ir.formats.format import FormatOptions
from layout_ir.formats.registry import parse_format

SIZES = (1, 2, 3, 5, 7, 15, 16, 17, 31, 33)
RECURRENT = {"ND_RNN_BIAS", "FRACTAL_ZN_RNN", "FRACTAL_ZN_LSTM"}


def shapes(rank: int | None, chooser: random.Random) -> Iterator[tuple[int, ...]]:
    for _ in range(8):
        shape = [chooser.choice(SIZES) for _ in range(rank if rank is not None else chooser.randint(1, 4))]
        while np.prod(shape) > 40_000:
            shape[shape.index(max(shape))] = 2
        yield tuple(shape)


def check(text: str, options: FormatOptions, shape: tuple[int, ...], dtype: str) -> None:
    result = parse_format(text, options).index_map(shape, dtype)
    offsets = result.offsets().ravel()
    assert np.unique(offsets).size == offsets.size, f"{text} {options} {shape} {dtype}"
    if offsets.size:
        assert offsets.min() >= 0
        assert offsets.max() < result.storage_size
    assert np.prod(result.storage_shape) == result.storage_size
    for expr, extent in zip(result.coordinates, result.extents, strict=True):
        assert 0 <= expr.eval([n - 1 for n in shape], []) < extent


@pytest.mark.parametrize("dtype", ["i8", "f16", "f32", "f64", "u4"])
@pytest.mark.parametrize("name", [name for name in ascend.names() if name not in RECURRENT])
def test_names_are_injective_and_stay_inside(name: str, dtype: str):
    chooser = random.Random(f"{name} {dtype}")
    known = parse_format(f"ascend:{name}")
    for shape in shapes(known.rank, chooser):
        if name == "FRACTAL_Z_C04":
            shape = (shape[0], min(shape[1], 4), *shape[2:])
        check(f"ascend:{name}", FormatOptions(), shape, dtype)
        if known.dims is not None:
            order = "".join(chooser.sample(known.dims, len(known.dims)))
            given = tuple(shape[known.dims.index(letter)] for letter in order)
            check(f"ascend:{name}", FormatOptions(dims=order), given, dtype)


@pytest.mark.parametrize("name", ["FRACTAL_Z", "FRACTAL_Z_3D"])
def test_groups_are_injective_and_stay_inside(name: str):
    chooser = random.Random(name)
    for _ in range(150):
        groups, per_group, channels = chooser.choice((1, 2, 3, 5, 7, 32)), chooser.randint(1, 9), chooser.randint(1, 20)
        space = [chooser.randint(1, 3) for _ in range(3 if name.endswith("3D") else 2)]
        options = FormatOptions(groups=groups, c0=chooser.choice((None, 4, 8)))
        check(f"ascend:{name}", options, (groups * per_group, channels, *space), chooser.choice(("i8", "f32")))


def test_recurrent_cells_are_injective_and_stay_inside():
    chooser = random.Random(0)
    for _ in range(150):
        gates, hidden, inputs = chooser.randint(1, 5), chooser.randint(1, 40), chooser.randint(0, 40)
        options = FormatOptions(hidden_size=hidden, input_size=inputs)
        check("ascend:ND_RNN_BIAS", FormatOptions(hidden_size=hidden), (gates * hidden,), "f16")
        check("ascend:FRACTAL_ZN_RNN", options, (inputs + hidden, gates * hidden), "f16")
        check("ascend:FRACTAL_ZN_LSTM", options, (4 * hidden, inputs + hidden, 1, 1), "f16")


@pytest.mark.parametrize("name", ["NC1HWC0", "FRACTAL_Z", "FRACTAL_Z_C04", "NHWC", "C1HWNCoC0"])
def test_an_empty_tensor_has_an_empty_storage(name: str):
    for empty in range(4):
        shape = tuple(0 if i == empty else 3 for i in range(4))
        assert parse_format(f"ascend:{name}").index_map(shape, "f16").storage_size == 0
    if name == "FRACTAL_Z":
        result = parse_format("ascend:FRACTAL_Z", FormatOptions(groups=2)).index_map((0, 3, 1, 1), "f16")
        assert result.storage_size == 0


def test_a_mutated_name_is_a_layout_or_one_error():
    chooser = random.Random(1)
    alphabet = "NCDHWL01248_oFRATZ3/: é٣x"
    accepted = 0
    for _ in range(2000):
        text = list(chooser.choice(ascend.names()))
        for _ in range(chooser.randint(1, 2)):
            position = chooser.randrange(len(text) + 1)
            text[position : position + chooser.randint(0, 2)] = chooser.choice(alphabet)
        name = "ascend:" + "".join(text)
        options = FormatOptions(c0=chooser.choice((None, None, 4)), groups=chooser.choice((None, None, 3)))
        try:
            rank = parse_format(name, options).rank
            check(name, options, tuple(chooser.choice((1, 3, 5)) for _ in range(rank or 3)), "i8")
            accepted += 1
        except LayoutError:
            continue
    assert accepted > 20
