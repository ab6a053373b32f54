"""Methods with one rule for every kind of operation."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from types import MethodType
from typing import Any

from xdsl.ir import Operation

Rule = Callable[[Any, Any], None]
"""What is done with one operation: the printer's method of it."""


class RulesOfOperations:
    """
    What `functools.singledispatchmethod` is, for all operations of a function, of which there are thousands.

    Python 3.11's makes a function anew for every call, which takes longer than most rules.
    """

    def __init__(self, default: Rule) -> None:
        self._rules = singledispatch(default)
        self.register: Callable[[Any], Any] = self._rules.register
        """Decorates the rule for the operation that it is annotated with, or, with a type, one for that."""
        self._found: dict[type[Operation], Rule] = {}

    def __get__(self, printer: object | None, owner: type) -> Callable[..., None]:
        return self._apply if printer is None else MethodType(self._apply, printer)

    def _apply(self, printer: object, op: Operation) -> None:
        rule = self._found.get(type(op))
        if rule is None:
            rule = self._found[type(op)] = self._rules.dispatch(type(op))
        rule(printer, op)
