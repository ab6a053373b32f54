"""
Shuffles of two vectors in OpenCL C: a function for each.

`shuffle2` is the language's own, but some compilers take a call of it for one even where all lanes are known, and many
are made from Clang, whose builtin becomes the instruction that there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

PREFIX = "layout_shuffle_"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Shuffles:
    """The shuffles of one file."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str, tuple[int, ...]], str] = {}

    def name(self, operand: str, result: str, lanes: Sequence[int]) -> str:
        """The function whose lane i is lane `lanes[i]` of two vectors, one behind the other."""
        return self._names.setdefault((operand, result, tuple(lanes)), f"{PREFIX}{len(self._names)}")

    def definitions(self) -> list[str]:
        """The text of all functions."""
        if not self._names:
            return []
        return [_CHOICE, *(_definition(name, *shuffle) for shuffle, name in self._names.items())]


_CHOICE = """\
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define LAYOUT_SHUFFLEVECTOR
#endif
#endif
"""


def _definition(name: str, operand: str, result: str, lanes: tuple[int, ...]) -> str:
    width = int(operand.lstrip(LETTERS) or 1)
    if width == 1 or len(lanes) == 1:  # no vectors at all on one side
        values = ", ".join(
            _lane("a", lane, width) if lane < width else _lane("b", lane - width, width) for lane in lanes
        )
        return f"static {result} {name}(const {operand} a, const {operand} b) {{\n  return ({result})({values});\n}}\n"
    listed = ", ".join(map(str, lanes))
    calls = (f"return __builtin_shufflevector(a, b, {listed});", f"return shuffle2(a, b, ({result})({listed}));")
    builtin, standard = (fill(call, 100, initial_indent="  ", subsequent_indent="      ") for call in calls)
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
