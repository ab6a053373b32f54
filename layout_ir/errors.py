"""The one exception that a user's mistake raises, and the nearest-name suggestion that its messages carry."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile


class LayoutError(ValueError):
    """
    A user's mistake: an unknown name, a wrong rank, a shape that cannot be stored, a file that does not fit.

    The message is complete by itself: it says what was expected, what was given and, where a name was mistyped, which
    names are near. The command line tools print it without a traceback.
    """


def nearest(name: str, known: Iterable[str], count: int = 3) -> str:
    """
    The ending of an error message that suggests the known names closest to `name`, or an empty string.

    Example: `nearest("b_fs_yx_fsv61", ["b_fs_yx_fsv16"])` is `"; did you mean b_fs_yx_fsv16?"`.
    """
    from difflib import get_close_matches  # only a mistake pays for the import

    candidates = {candidate.lower(): candidate for candidate in known}
    matches = get_close_matches(name.lower(), candidates, n=count, cutoff=0.6)
    if not matches:
        return ""
    return "; did you mean " + " or ".join(candidates[match] for match in matches) + "?"


def departure(name: str, known: Iterable[str]) -> str:
    """
    The part of an error message that says where a name leaves the known ones, and what could stand there.

    Example: `departure("HTA_N4", ["HTA_NCHW32", "HTA_D32"])` is `"expected 'CHW32' at position 5, got '4'"`.
    """
    shared = {candidate: _shared_length(name, candidate) for candidate in known}
    position = max(shared.values(), default=0)
    endings = [candidate[position:] for candidate, length in shared.items() if length == position]
    expected = " or ".join(f"'{ending}'" if ending else "the end" for ending in endings)
    rest = name[position:]
    got = f"'{rest[:32]}{'...' if len(rest) > 32 else ''}'" if rest else "the end"
    return f"expected {expected} at position {position}, got {got}"


def _shared_length(left: str, right: str) -> int:
    pairs = zip(left, right, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
