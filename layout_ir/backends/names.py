"""Names in generated text: what a function may be called, and readable unique names of its locals."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from layout_ir.errors import LayoutError

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_LOOP_NAMES = ("i", "j", "k", "m", "n", "p", "q", "r")


@dataclass(frozen=True)
class Vocabulary:
    """The words of a language that have a meaning of their own."""

    language: str
    words: frozenset[str]
    """Keywords, macros, and what the generated text calls: no name of ours may be one."""

    functions: frozenset[str]
    """Functions of the library that a function of ours would clash with; a local may hide them."""

    pattern: re.Pattern[str]
    """What else is reserved, by the look of it."""

    def is_reserved(self, name: str) -> bool:
        """Whether no local may have the name."""
        return name in self.words or self.pattern.fullmatch(name) is not None

    def function_name(self, name: str) -> str:
        """
        The name of a function, unchanged: callers look it up by what the IR says.

        Raises `LayoutError` if it is no identifier or one that is reserved.
        """
        if _IDENTIFIER.fullmatch(name) is None:
            raise LayoutError(
                f"{self.language}: expected a function name of ASCII letters, digits and '_', not a digit first, "
                f"got {name!a}"
            )
        if self.is_reserved(name) or name in self.functions:
            suggestion = f"layout_{name.strip('_')}"
            raise LayoutError(
                f"{self.language}: expected a function name that is not reserved, got '{name}'; try '{suggestion}'"
            )
        return name


class Names:
    """Names of the locals of one function: unique within every scope and the scopes around it."""

    def __init__(self, vocabulary: Vocabulary, taken: Iterable[str]) -> None:
        """`taken`: names of the file's scope, which no local may hide."""
        self._vocabulary = vocabulary
        self._scopes: list[set[str]] = [set(taken)]
        self._numbers: list[dict[str, int]] = [{}]

    def fresh(self, hint: str | None, default: str) -> str:
        """A new name, as near to `hint` (any text, or None for `default`) as the language and the scopes allow."""
        base = _identifier(hint) or default
        for ending in ("_", "value"):  # some reserved words are known by how they begin
            if self._vocabulary.is_reserved(base):
                base += ending
        if self._vocabulary.is_reserved(base):
            base = default
        numbers = self._numbers[-1]
        number = numbers.get(base, 0)  # the names below it are taken in this scope, which lives at least as long
        name = f"{base}_{number}" if number else base
        while any(name in scope for scope in self._scopes):
            number += 1
            name = f"{base}_{number}"
        numbers[base] = number
        self._scopes[-1].add(name)
        return name

    def fresh_index(self, hint: str | None) -> str:
        """A new name of a loop's index: `hint` or the first free one of i, j, k, ..."""
        free = (name for name in _LOOP_NAMES if not any(name in scope for scope in self._scopes))
        return self.fresh(hint, next(free, _LOOP_NAMES[0]))

    @contextmanager
    def scope(self) -> Generator[None]:
        """Names made inside are free again afterwards."""
        self._scopes.append(set())
        self._numbers.append({})
        try:
            yield
        finally:
            self._scopes.pop()
            self._numbers.pop()


@cache  # of few different hints
def _identifier(hint: str | None) -> str:
    text = re.sub(r"[^A-Za-z0-9_]+", "_", hint or "").strip("_")
    return f"v{text}" if text[:1].isdigit() else text
