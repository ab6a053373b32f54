"""
A C text as several units that compilers may take at once.

A kernel for unknown sizes, or of long tiles, is many functions and one that chooses between them. Two processors
compile halves of them in 0.58 of the time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from layout_ir.backends.c_vocabulary import OUTLINED
from layout_ir.runtime.compiler_flags import is_long_tile

LEAST_CHARACTERS = 15_000
"""Length of what a unit holds at least, on average: what else a compiler does takes as long as for a quarter of it."""

_MOST_UNITS = 8

_LONG_TILE_EFFORT = 0.55
"""How long it takes to compile long tiles by themselves, where it would take 1 among others."""

_HIDDEN = '__attribute__((visibility("hidden"))) '
"""In front of a function that the units share, and nobody else sees."""

_DEFINITION = re.compile(rf"^(?:{re.escape(OUTLINED)})?void [^;{{]*\{{$", re.MULTILINE)
"""The first line of a function that was outlined or is public, or all of its lines up to the body."""


def compilation_units(source: str, processors: int) -> list[str]:
    """
    C texts that together are `source`, no more than there are processors; the text itself where it is best left whole.

    Functions that were outlined are parted, each of which is defined in one unit; public ones are in the last. What
    stands in front of the first of either is in every unit.
    """
    first = _DEFINITION.search(source)
    if first is None:
        return [source]
    shared, pieces = source[: first.start()], re.split(r"(?<=\n}\n)\n*", source[first.start() :])
    outlined = [piece.removeprefix(OUTLINED) for piece in pieces if piece.startswith(OUTLINED)]
    others = [piece for piece in pieces if not piece.startswith(OUTLINED)]
    count = min(processors, _MOST_UNITS, len(outlined), sum(map(len, outlined)) // LEAST_CHARACTERS)
    if count < 2 or any(piece.startswith("static") for piece in others):
        return [source]  # any unit may call a function that only one would have
    declared = [f"{_HIDDEN}{_head(piece)};\n" for piece in outlined]
    declared += [f"{_head(piece)};\n" for piece in others if piece.startswith("void ")]
    units = _parted(outlined, count)
    units[-1] += others
    return ["\n".join([shared, *declared, *unit]) for unit in units]


def _head(piece: str) -> str:
    """A function without its body."""
    return piece.partition(" {\n")[0]


def _parted(pieces: Sequence[str], count: int) -> list[list[str]]:
    """
    Pieces in parts that take about as long to compile as each other.

    Long tiles are kept apart, in the first parts, where that makes the slowest part faster: among others they get the
    flags of those.
    """
    long = [piece for piece in pieces if is_long_tile(piece)]
    others = [piece for piece in pieces if not is_long_tile(piece)]
    ways = [_balanced(pieces, count)]
    firsts = range(max(1, count - len(others)), min(len(long), count - 1) + 1)
    ways += [_balanced(long, first) + _balanced(others, count - first) for first in firsts]
    return min(ways, key=lambda parts: sorted(map(_effort, parts), reverse=True))


def _balanced(pieces: Sequence[str], count: int) -> list[list[str]]:
    """Pieces in parts that are about as long as each other: the longest first, each to the part that has least."""
    parts: list[list[str]] = [[] for _ in range(count)]
    for piece in sorted(pieces, key=len, reverse=True):
        min(parts, key=lambda part: sum(map(len, part))).append(piece)
    return parts


def _effort(part: Sequence[str]) -> float:
    """About how long it takes to compile functions together, in characters."""
    return sum(map(len, part)) * (_LONG_TILE_EFFORT if all(map(is_long_tile, part)) else 1)
