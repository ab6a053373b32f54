"""
The grammar of oneDNN's format tags: outer order, then inner blocks, outermost first, as in `aBcd16b` or `OIhw4i16o4i`.

A letter of the outer order is a dim, in upper case if it is blocked; `16b` is a block of 16 of dim b, and of a dim that
is blocked twice the last block is the least significant. The letters a, b, c, ... are the logical dims in their order.
An alias uses the letters of a family (n,c,d,h,w / g,o,i,d,h,w / t,n,c / l,d,i,g,o ...), in that logical order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

from layout_ir.errors import LayoutError, nearest
from layout_ir.layouts.blocked import blocked_layout
from layout_ir.layouts.tiled import TiledLayout

MAX_DIMS = 12
"""`DNNL_MAX_NDIMS`: the most dims of a tensor, and the most inner blocks of a tag."""

MAX_BLOCK = 65536
"""The largest block accepted; the library's own tags go up to 64."""

ALPHABET = "abcdefghijkl"

FAMILIES = (
    *("x", "nc", "ncw", "nchw", "ncdhw", "tn", "tnc", "ldnc"),
    *("oi", "oiw", "oihw", "oidhw", "goi", "goiw", "goihw", "goidhw"),
    *("ldio", "ldigo", "ldgo"),
)
"""The letters of aliases, each family in its logical order."""

MISLEADING = {
    "OhwI24o": "Ohwi24o",
    "OhwI32o": "Ohwi32o",
    "gOhwI24o": "gOhwi24o",
    "gOhwI32o": "gOhwi32o",
    "gIOhw2i8o16i2o": "gOIhw2i8o16i2o",
    "gIOdhw2i8o16i2o": "gOIdhw2i8o16i2o",
}
"""
Aliases that the library defines as another layout than the one that their letters say, and what they mean: four write I
as blocked although it is not, two write I before O although O comes first. Source: their values in `dnnl_types.h`.
"""


@dataclass(frozen=True)
class Tag:
    """What a tag says: the outer order of the dims and the blocks inside of it."""

    dims: tuple[str, ...]
    """Names of the logical dims, in lower case and in logical order."""

    outer: tuple[int, ...]
    """The dims, slowest first."""

    blocks: tuple[tuple[int, int], ...]
    """Inner blocks as pairs (dim, size), outermost first."""

    @property
    def rank(self) -> int:
        """Number of dims."""
        return len(self.dims)

    @cached_property
    def layout(self) -> TiledLayout:
        """The dense layout of the tag over its logical dims."""
        return blocked_layout(self.rank, self.outer, self.blocks)

    @cached_property
    def canonical_name(self) -> str:
        """The tag over the letters a, b, c, ...: `aBcd16b` for nChw16c."""
        blocked = {dim for dim, _ in self.blocks}
        outer = "".join(ALPHABET[dim].upper() if dim in blocked else ALPHABET[dim] for dim in self.outer)
        return outer + "".join(f"{size}{ALPHABET[dim]}" for dim, size in self.blocks)


def parse_tag(name: str) -> Tag:
    """
    The tag of a name; raises `LayoutError` with the position (from 0) and what was expected there.

    Names that the library does not list but the grammar explains are tags too, e.g. `aBcd24b`.
    """
    spelled = MISLEADING.get(name, name)
    try:
        letters = _outer_letters(spelled)
        dims = _logical_order(letters)
        blocks = _blocks(spelled, letters)
        _check_case(letters, {letter for letter, _ in blocks})
    except LayoutError as error:
        raise LayoutError(f"oneDNN tag '{_shortened(name)}': {error}{nearest(name, _candidates(name))}") from None
    position = {letter: dim for dim, letter in enumerate(dims)}
    return Tag(
        dims=tuple(dims),
        outer=tuple(position[letter] for letter in letters.lower()),
        blocks=tuple((position[letter], size) for letter, size in blocks),
    )


def _shortened(name: str) -> str:
    return name if len(name) <= 80 else name[:77] + "..."


def _candidates(name: str) -> list[str]:
    """Listed names of about the length and the characters of a mistyped one: to compare all would take milliseconds."""
    wanted, length = set(name.lower()), len(name)
    return [
        listed
        for listed, characters in _listed_characters()
        if abs(len(listed) - length) <= 2 and len(characters ^ wanted) <= 2
    ]


@cache
def _listed_characters() -> list[tuple[str, frozenset[str]]]:
    from layout_ir.formats.onednn_names import listed_names

    return [(name, frozenset(name.lower())) for name in listed_names()]


def _outer_letters(name: str) -> str:
    """The letters before the first digit."""
    if not name:
        raise LayoutError("expected a tag such as nchw or aBcd16b at position 0, got an empty name")
    letters = ""
    for position, letter in enumerate(name):
        if letter.isascii() and letter.isdigit():
            break
        if not (letter.isascii() and letter.isalpha()):
            raise LayoutError(f"expected a letter (a dim) or a digit (a block) at position {position}, got {letter!r}")
        if letter.lower() in letters.lower():
            raise LayoutError(f"expected every dim once, got '{letter}' again at position {position}")
        letters += letter
    if not letters:
        raise LayoutError(f"expected the outer order of the dims at position 0, got '{name[0]}'")
    return letters


def _logical_order(letters: str) -> str:
    """The letters of a tag in logical order; raises `LayoutError` for letters that belong to no family."""
    used = set(letters.lower())
    alphabetical = ALPHABET[: len(used)]
    if used == set(alphabetical):
        return alphabetical
    for family in FAMILIES:
        if used == set(family):
            return family
    if used <= set(ALPHABET):
        home, what = alphabetical, f"the letters of a tag of rank {len(used)}, {', '.join(alphabetical)}"
    elif len(used) > MAX_DIMS:
        raise LayoutError(f"expected at most {MAX_DIMS} dims, got {letters[MAX_DIMS]!r} at position {MAX_DIMS}")
    else:
        home = max(FAMILIES, key=lambda family: (len(used & set(family)) - len(used ^ set(family)), family))
        what = f"a, b, c, ... or the letters of an alias, {', '.join(home)}"
    stray = [position for position, letter in enumerate(letters) if letter.lower() not in home]
    if stray:
        raise LayoutError(f"expected {what}, got '{letters[stray[0]]}' at position {stray[0]}")
    missing = [letter for letter in home if letter not in used]
    raise LayoutError(f"expected {what}; '{missing[0]}' is missing at position {len(letters)}")


def _blocks(name: str, letters: str) -> list[tuple[str, int]]:
    """The inner blocks, as pairs (letter, size)."""
    position = len(letters)
    blocks: list[tuple[str, int]] = []
    while position < len(name):
        start = position
        while position < len(name) and name[position].isascii() and name[position].isdigit():
            position += 1
        digits = name[start:position]
        if not digits:
            raise LayoutError(f"expected the size of a block at position {start}, got {name[start]!r}")
        if digits[0] == "0" or len(digits) > len(str(MAX_BLOCK)) or int(digits) > MAX_BLOCK:
            raise LayoutError(f"expected a block of 1 to {MAX_BLOCK} at position {start}, got {_shortened(digits)}")
        if position == len(name):
            raise LayoutError(f"expected the dim of the block {digits} at position {position}, got the end of the name")
        letter = name[position]
        if letter not in letters.lower():
            choices = ", ".join(letters.lower())
            raise LayoutError(
                f"expected the dim of the block {digits} at position {position} (one of {choices}), got {letter!r}"
            )
        blocks.append((letter, int(digits)))
        if len(blocks) > MAX_DIMS:
            raise LayoutError(f"expected at most {MAX_DIMS} blocks, got another at position {start}")
        position += 1
    return blocks


def _check_case(letters: str, blocked: set[str]) -> None:
    """Upper case says that a dim is blocked; raises `LayoutError` where it does not tell the truth."""
    for position, letter in enumerate(letters):
        if letter.isupper() and letter.lower() not in blocked:
            raise LayoutError(
                f"expected a block of dim '{letter.lower()}', which is in upper case at position {position}, "
                "or the letter in lower case"
            )
        if letter.islower() and letter in blocked:
            raise LayoutError(
                f"expected '{letter.upper()}' at position {position}, since the dim is blocked, got '{letter}'"
            )
