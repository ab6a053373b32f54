"""Every operation's and attribute's docstring shows an example, and every example is valid."""

from __future__ import annotations

import inspect
import re

import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser

from layout_ir.dialects.layout import LAYOUT


def context() -> Context:
    result = Context()
    for name, factory in get_all_dialects().items():
        result.register_dialect(name, factory)
    result.load_dialect(LAYOUT)
    return result


@pytest.mark.parametrize("operation", list(LAYOUT.operations), ids=lambda operation: operation.name)
def test_operation_example_parses_and_verifies(operation: type[Operation]) -> None:
    examples = re.findall(r"```mlir\n(.*?)```", inspect.getdoc(operation) or "", re.DOTALL)
    assert examples
    for example in examples:
        module = Parser(context(), example).parse_module()
        module.verify()
        assert any(isinstance(op, operation) for op in module.walk())


@pytest.mark.parametrize("attribute", list(LAYOUT.attributes), ids=lambda attribute: attribute.name)
def test_attribute_example_round_trips(attribute: type[Attribute]) -> None:
    examples = re.findall(r"Example: `(.*?)`", inspect.getdoc(attribute) or "", re.DOTALL)
    assert examples
    for example in examples:
        parsed = Parser(context(), example).parse_attribute()
        assert isinstance(parsed, attribute)
        assert str(parsed) == example
