"""Pieces of the ops' custom syntax: `pad = undef`, `pad = 7 : i8`, and `: type to type`."""

from __future__ import annotations

from xdsl.ir import Attribute, TypeAttribute
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from layout_ir.dialects.attributes import UndefAttr


def parse_pad(parser: Parser) -> Attribute | None:
    """`pad = undef` or `pad = <typed number>`, if present."""
    if parser.parse_optional_keyword("pad") is None:
        return None
    parser.parse_punctuation("=")
    if parser.parse_optional_keyword("undef") is not None:
        return UndefAttr()
    start = parser.pos
    try:
        return parser.parse_attribute()
    except ParseError:  # `pad = 7 : tensor<...>` reads the op's own types as that of the number
        parser.raise_error("expected undef or a typed number such as 7 : i8", start, start + 1)


def print_pad(printer: Printer, pad: Attribute | None) -> None:
    """What `parse_pad` reads, after a space; nothing for None."""
    if pad is None:
        return
    printer.print_string(" pad = ")
    if isinstance(pad, UndefAttr):
        printer.print_string("undef")
    else:
        printer.print_attribute(pad)


def parse_types(parser: Parser) -> tuple[TypeAttribute, TypeAttribute]:
    """`: type to type`."""
    parser.parse_punctuation(":")
    source = parser.parse_type()
    parser.parse_keyword("to")
    return source, parser.parse_type()


def print_types(printer: Printer, source: Attribute, destination: Attribute) -> None:
    """What `parse_types` reads, after a space."""
    printer.print_string(" : ")
    printer.print_attribute(source)
    printer.print_string(" to ")
    printer.print_attribute(destination)
