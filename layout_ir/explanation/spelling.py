"""
Names that nobody lists but a system's grammar explains, written down from the structure of a layout.

What is written here is only proposed: a name counts once it has been parsed and proved to denote the layout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from layout_ir.explanation.roles import Roles
from layout_ir.explanation.subject import Subject
from layout_ir.layouts.proof_shapes import Digit, canonical_form
from layout_ir.layouts.tiled import TiledLayout

_LETTERS = {
    "batch": {"onednn": "n", "openvino": "b", "ascend": "N", "cudnn": "N", "plain": "N"},
    "channel": {"onednn": "c", "openvino": "f", "ascend": "C", "cudnn": "C", "plain": "C"},
    "depth": {"onednn": "d", "openvino": "z", "ascend": "D", "cudnn": "D", "plain": "D"},
    "height": {"onednn": "h", "openvino": "y", "ascend": "H", "cudnn": "H", "plain": "H"},
    "width": {"onednn": "w", "openvino": "x", "ascend": "W", "cudnn": "W", "plain": "W"},
    "group": {"onednn": "g", "openvino": "g", "plain": "G"},
    "output": {"onednn": "o", "openvino": "o", "plain": "O", "cudnn": "K"},
    "input": {"onednn": "i", "openvino": "i", "plain": "I", "cudnn": "C"},
    "space4": {"openvino": "w"},
    "space5": {"openvino": "u"},
    "space6": {"openvino": "v"},
    "time": {"onednn": "t"},
}
"""The letter of a role in each system."""

_DATA = ("batch", "channel", "depth", "height", "width")
_WEIGHTS = ("output", "input", "depth", "height", "width")
_GROUPED = ("group", *_WEIGHTS)
_USUAL_ROLES: dict[int, tuple[Roles, ...]] = {
    2: (_DATA[:2], _WEIGHTS[:2]),
    3: ((*_DATA[:2], "width"), (*_WEIGHTS[:2], "width")),
    4: ((*_DATA[:2], *_DATA[3:]), (*_WEIGHTS[:2], *_WEIGHTS[3:])),
    5: (_DATA, _WEIGHTS, (*_GROUPED[:3], *_GROUPED[4:])),
    6: (_GROUPED,),
}
"""What the dims of a tensor can be when they have no names."""

_FILTER = {"H": "R", "W": "S", "D": "T"}
"""Letters of space in cuDNN's filters."""


@dataclass(frozen=True)
class _Blocked:
    """Letters of the outer dims, slowest first, and inner blocks as pairs (letter, size), slowest first."""

    outer: str
    blocks: tuple[tuple[str, int], ...]

    padding: tuple[tuple[str, int], ...]
    """Outer dims that are rounded up without being split, and to what."""


def is_open(name: str) -> bool:
    """Whether a notation is meant to be written with any number: such a name exists although nobody lists it."""
    return ":" not in name or name.startswith("cudnn:NC/")


def spelled_names(subject: Subject, system: str) -> list[str]:
    """Names of a system that may denote the subject's layout, by the system's grammar."""
    spell = _SPELLINGS.get(system)
    if spell is None or not isinstance(subject.fixed, TiledLayout) or subject.fixed.is_image:
        return []
    names: list[str] = []
    for letters in _alphabets(subject, system):
        blocked = _blocked(subject.fixed, letters) if len(letters) == subject.rank and all(letters) else None
        if blocked is not None:
            names += spell(blocked)
    return list(dict.fromkeys(names))


def _alphabets(subject: Subject, system: str) -> list[list[str]]:
    """The letters that the subject's dims can have in a system, in the order in which they are given."""
    named = [roles for roles in subject.readings if roles is not None]
    result = [
        [_LETTERS.get(role, {}).get(system, "") for role in roles]
        for roles in named or _USUAL_ROLES.get(subject.rank, ())
    ]
    if not named and system == "onednn":
        result.append([*"abcdefghijkl"[: subject.rank]])
    return result


def _blocked(layout: TiledLayout, letters: Sequence[str]) -> _Blocked | None:
    canonical = canonical_form(layout)
    axes = canonical.axes
    outer, blocks = "", list[tuple[str, int]]()
    for axis in axes:
        if not isinstance(axis, Digit):
            return None
        if axis.modulus is not None:
            blocks.append((letters[axis.dim], axis.modulus))
        elif blocks:
            return None
        else:
            outer += letters[axis.dim]
    split = {letter for letter, _ in blocks}
    padded = [(letters[dim], units[0]) for dim, units in enumerate(canonical.rounding) if len(units) == 1]
    return _Blocked(outer, tuple(blocks), tuple((letter, unit) for letter, unit in padded if letter not in split))


def _onednn(blocked: _Blocked) -> list[str]:
    split = {letter for letter, _ in blocked.blocks}
    outer = "".join(letter.upper() if letter in split else letter for letter in blocked.outer)
    return [f"onednn:{outer}" + "".join(f"{size}{letter}" for letter, size in blocked.blocks)]


def _openvino(blocked: _Blocked) -> list[str]:
    split = {letter for letter, _ in blocked.blocks}
    segments: list[str] = []
    joins = False
    for letter in blocked.outer:
        if letter in split:
            segments.append(f"{letter}s")
            joins = False
        else:
            plain = letter + str(dict(blocked.padding).get(letter, ""))
            segments[-1:] = [segments[-1] + plain] if joins else [*segments[-1:], plain]
            joins = True
    for position, (letter, size) in enumerate(blocked.blocks):
        is_last = letter not in [other for other, _ in blocked.blocks[position + 1 :]]
        segments.append(f"{letter}s{'v' if is_last else 'a'}{size}")
    return ["openvino:" + "_".join(segments)]


def _cudnn(blocked: _Blocked) -> list[str]:
    is_filter = "K" in blocked.outer
    outer = "".join(_FILTER.get(letter, letter) for letter in blocked.outer) if is_filter else blocked.outer
    match blocked.blocks:
        case ():
            return [f"cudnn:{outer}"]
        case (("C", size),) if is_filter:
            return [f"cudnn:{outer}_VECT_C{size}"]
        case (("C", size),):
            return [f"cudnn:NC/{size}{blocked.outer.removeprefix('NC')}{size}"]
        case _:
            return []


def _letters_only(prefix: str) -> Callable[[_Blocked], list[str]]:
    def spell(blocked: _Blocked) -> list[str]:
        return [] if blocked.blocks else [prefix + blocked.outer]

    return spell


_SPELLINGS: dict[str, Callable[[_Blocked], list[str]]] = {
    "onednn": _onednn,
    "openvino": _openvino,
    "cudnn": _cudnn,
    "ascend": _letters_only("ascend:"),
    "plain": _letters_only(""),
}
