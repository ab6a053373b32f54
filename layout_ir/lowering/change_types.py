"""Change types wherever a module has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
from xdsl.rewriter import Rewriter

_WITHOUT_TYPES = frozenset({DenseArrayBase, IndexType, IntegerAttr, IntegerType, StringAttr, VectorType})
"""Kinds of most attributes, which hold no type that may change."""


def change_types(operations: Iterable[Operation], changed: Callable[[Attribute], Attribute]) -> None:
    """
    Change types in place: what operations make, what their blocks take, and what their attributes mention.

    `changed` is asked once about every attribute that may be a type, after what is inside of it; it gives the attribute
    itself where it stays. xDSL's `TypeConversionPattern` asks about every occurrence, and makes them anew.
    """
    known: dict[Attribute, Attribute] = {}

    def everywhere(attribute: Attribute) -> Attribute:
        if type(attribute) in _WITHOUT_TYPES:  # not `isinstance`: all attributes of all operations are asked
            return attribute
        if (result := known.get(attribute)) is None:
            result = known[attribute] = changed(_with_parts(attribute, everywhere))
        return result

    for operation in operations:
        _change(operation, everywhere)


def _change(op: Operation, changed: Callable[[Attribute], Attribute]) -> None:
    arguments = (argument for region in op.regions for block in region.blocks for argument in block.args)
    for value in (*op.results, *arguments):
        if (kind := changed(value.type)) != value.type:
            Rewriter.replace_value_with_new_type(value, kind)
    for attributes in (op.properties, op.attributes):
        for name, attribute in attributes.items():
            attributes[name] = changed(attribute)


def _with_parts(attribute: Attribute, changed: Callable[[Attribute], Attribute]) -> Attribute:
    """An attribute with what is inside of it changed."""
    if isinstance(attribute, DictionaryAttr):
        return DictionaryAttr({name: changed(part) for name, part in attribute.data.items()})
    if isinstance(attribute, ArrayAttr):
        return ArrayAttr([changed(part) for part in cast("ArrayAttr[Attribute]", attribute)])
    if not isinstance(attribute, ParametrizedAttribute):
        return attribute
    parts = [changed(part) for part in attribute.parameters]
    if all(part is before for part, before in zip(parts, attribute.parameters, strict=True)):
        return attribute
    return type(attribute).new(parts)
