"""
What vectors need in front of the kernels: a function for every shuffle, and types of more lanes than the language has.

`shuffle2` is the language's own, but some compilers take a call of it for one even where all lanes are known, and many
are made from Clang, whose builtin becomes the instruction that there is. Vectors of more than 16 lanes exist in
compilers made from Clang only.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

PREFIX = "layout_shuffle_"
MOST_LANES = 16
"""Lanes of the longest vectors of the language itself."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Shuffles:
    """The shuffles of one file."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str, tuple[int, ...]], str] = {}
        self._types: dict[str, str] = {}

    def type_name(self, scalar: str, lanes: int) -> str:
        """The type of a vector; of a single lane it is the scalar."""
        if lanes <= MOST_LANES:
            return f"{scalar}{lanes if lanes > 1 else ''}"
        name = f"layout_{scalar}{lanes}"
        self._types[name] = _WIDE_TYPE.format(name=name, scalar=scalar, lanes=lanes)
        return name

    def name(self, operand: str, result: str, lanes: Sequence[int]) -> str:
        """The function whose lane i is lane `lanes[i]` of two vectors, one behind the other."""
        return self._names.setdefault((operand, result, tuple(lanes)), f"{PREFIX}{len(self._names)}")

    def definitions(self) -> list[str]:
        """The text of all functions."""
        types = ["\n".join(self._types.values())] if self._types else []
        if not self._names:
            return types
        return [_CHOICE, *types, *(_definition(name, *shuffle) for shuffle, name in self._names.items())]


_WIDE_TYPE = """\
typedef {scalar} {name} __attribute__((ext_vector_type({lanes})));
typedef {name} {name}_unaligned __attribute__((aligned(sizeof({scalar}))));
"""

_CHOICE = """\
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define LAYOUT_SHUFFLEVECTOR
#endif
#endif
"""


def _definition(name: str, operand: str, result: str, lanes: tuple[int, ...]) -> str:
    width = int(operand.lstrip(LETTERS + "_") or 1)
    if width == 1 or len(lanes) == 1:  # no vectors at all on one side
        values = ", ".join(
            _lane("a", lane, width) if lane < width else _lane("b", lane - width, width) for lane in lanes
        )
        return f"static {result} {name}(const {operand} a, const {operand} b) {{\n  return ({result})({values});\n}}\n"
    listed = ", ".join(map(str, lanes))
    builtin = _filled(f"return __builtin_shufflevector(a, b, {listed});")
    if max(width, len(lanes)) > MOST_LANES:
        return f"static {result} {name}(const {operand} a, const {operand} b) {{\n{builtin}\n}}\n"
    standard = _filled(f"return shuffle2(a, b, ({result})({listed}));")
    return f"""\
static {result} {name}(const {operand} a, const {operand} b) {{
#ifdef LAYOUT_SHUFFLEVECTOR
{builtin}
#else
{standard}
#endif
}}
"""


def _lane(vector: str, lane: int, width: int) -> str:
    return vector if width == 1 else f"{vector}.s{lane:x}"


def _filled(line: str) -> str:
    return fill(line, 100, initial_indent="  ", subsequent_indent="      ")
