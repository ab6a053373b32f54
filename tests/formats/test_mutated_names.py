"""Bad input: a name that somebody mistyped is an injective map, or one error that says what was expected."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from layout_ir.errors import LayoutError
from layout_ir.formats.format import FormatOptions
from layout_ir.formats.registry import SYSTEMS, formats, parse_format
from layout_ir.layouts.index_map import IndexMap

ALPHABET = "abcdefghiklmnopstuvwxyzABCDEFGHIKLMNOPRSTUVWXYZ0123456789_/:- \n\0é٣{%"
ROUNDS = 3000

LARGEST_CHECK = 50_000
"""Elements whose offsets are also compared one by one."""


def mutated(name: str, chooser: random.Random) -> str:
    """A name with one mistake or more, seldom in its system."""
    system, colon, bare = name.rpartition(":")
    if colon and chooser.random() < 0.9:
        return f"{system}:{mutated(bare, chooser)}"
    text = list(name)
    for _ in range(chooser.choice((1, 1, 1, 2, 3, 6))):
        position = chooser.randrange(len(text) + 1)
        match chooser.randrange(6):
            case 0:
                text[position : position + 1] = []
            case 1:
                text[position:position] = chooser.choice(ALPHABET)
            case 2:
                text[position : position + 1] = chooser.choice(ALPHABET)
            case 3:
                text[position : position + 1] = [str(chooser.choice((0, 1, 3, 7, 24, 65536, 65537, 10**9, 10**30)))]
            case 4:
                other = chooser.randrange(len(text) + 1)
                text[position:position] = text[min(position, other) : max(position, other)]
            case _:
                text[position : position + 1] = list("_" + chooser.choice(("fsv", "osa", "16c", "C0", "x", "__ai32")))
    return "".join(text)


def random_options(chooser: random.Random) -> FormatOptions:
    if chooser.random() < 0.8:
        return FormatOptions()
    return FormatOptions(
        dims=chooser.choice((None, "HWCN", "ND", "", "nchw", "NN", "é")),
        groups=chooser.choice((None, 1, 2, 0, -3)),
        c0=chooser.choice((None, 4, 16, 0, -1)),
        hidden_size=chooser.choice((None, 3, 0)),
    )


def check_refusal(error: LayoutError, is_of_the_name: bool) -> None:
    """One kind of error, that says what was expected and, of a name, at which position."""
    assert type(error) is LayoutError
    message = str(error)
    assert re.search(r"expected|has no layout: ", message)
    if is_of_the_name:
        assert re.search(r"position \d+|has no layout: ", message)


def mapped(name: str, options: FormatOptions, chooser: random.Random) -> IndexMap | LayoutError:
    """The map of a random shape, or the refusal."""
    try:
        layout = parse_format(name, options)
        rank = chooser.randint(1, 5) if layout.rank is None else layout.rank
        shape = tuple(chooser.choice((1, 2, 3, 5, 17)) for _ in range(rank))
        return layout.index_map(shape, chooser.choice(("i8", "f16", "f32", "u4", "u1")))
    except LayoutError as error:
        return error


def is_name(name: str) -> bool:
    """Whether a name is one, whatever the tensor."""
    try:
        parse_format(name)
    except LayoutError:
        return False
    return True


def check(name: str, options: FormatOptions, chooser: random.Random) -> bool:
    """Whether the name was accepted; fails unless it is an injective map or a `LayoutError` that helps."""
    result = mapped(name, options, chooser)
    if isinstance(result, LayoutError):
        check_refusal(result, is_of_the_name=not options.given() and not is_name(name))
        return False
    assert result.is_injective()
    if result.size <= LARGEST_CHECK:
        offsets = result.offsets()
        assert np.unique(offsets).size == offsets.size
        assert offsets.min() >= 0
        assert offsets.max() < result.storage_size
    return True


@pytest.mark.parametrize("system", [*SYSTEMS, "plain"])
def test_mutated_names_are_maps_or_one_helpful_error(system: str):
    chooser = random.Random(system)
    names = [name for name in formats() if name.startswith(f"{system}:") or (system == "plain" and ":" not in name)]
    accepted = 0
    for _ in range(ROUNDS // 6):
        name = mutated(chooser.choice(names), chooser)
        options = random_options(chooser)
        try:
            accepted += check(name, options, chooser)
        except Exception as error:
            raise AssertionError(f"{name!r} with {options.given()}: {type(error).__name__}: {error}") from error
    assert 0 < accepted < ROUNDS // 6


@pytest.mark.parametrize(
    "name",
    [
        "",
        ":",
        "onednn:",
        "openvino:",
        "a:b:c",
        "onednn:" + "a" * 100_000,
        "openvino:" + "_fsv16" * 20_000,
        "x" * 100_000,
    ]
    + [f"{system}:{'9' * 5000}" for system in SYSTEMS],
)
def test_extreme_names_are_refused_in_an_instant(name: str):
    with pytest.raises(LayoutError) as caught:
        parse_format(name)
    check_refusal(caught.value, is_of_the_name=True)
    assert len(str(caught.value)) < 250_000
