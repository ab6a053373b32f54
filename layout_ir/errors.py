"""The one exception that a user's mistake raises, and the nearest-name suggestion that its messages carry."""

from __future__ import annotations

from collections.abc import Iterable


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
