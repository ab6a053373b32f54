"""IR text with layouts to modules, and what a module still says about layouts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.affine import ApplyOp
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.ir.affine import AffineExpr
from xdsl.parser import Parser

from layout_ir.dialects.layout import LAYOUT


def new_context() -> Context:
    """A context that knows every dialect."""
    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    context.load_dialect(LAYOUT)
    return context


def parse(text: str) -> ModuleOp:
    """The verified module of a text."""
    module = Parser(new_context(), text).parse_module()
    module.verify()
    return module


def left_of_layouts(module: ModuleOp) -> list[str]:
    """Names of the layout dialect's operations and attributes that a module has, with those inside of types."""
    found: list[str] = []
    for op in module.walk():
        attributes = [*op.attributes.values(), *op.properties.values()]
        attributes += [value.type for value in (*op.operands, *op.results)]
        attributes += [argument.type for region in op.regions for block in region.blocks for argument in block.args]
        names = [op.name, *(inner.name for attribute in attributes for inner in _walk(attribute))]
        found += [name for name in names if name.startswith("layout.")]
    return found


def _walk(attribute: Attribute) -> Iterator[Attribute]:
    yield attribute
    inside: Iterable[object] = ()
    if isinstance(attribute, ParametrizedAttribute):
        inside = attribute.parameters
    elif isinstance(attribute, ArrayAttr):
        inside = attribute.data
    elif isinstance(attribute, DictionaryAttr):
        inside = attribute.data.values()
    for inner in inside:
        if isinstance(inner, Attribute):
            yield from _walk(inner)


def index_expressions(module: ModuleOp) -> list[AffineExpr]:
    """What every affine.apply of a module computes."""
    return [result for op in module.walk() if isinstance(op, ApplyOp) for result in op.map.data.results]
