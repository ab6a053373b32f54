"""`#layout.format`: a name in a vendor's own notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from layout_ir.dialects.attribute_syntax import parse_integers
from layout_ir.dialects.layout_attribute import LayoutAttr
from layout_ir.errors import LayoutError, nearest
from layout_ir.formats.format import ExplicitLayout, Format, FormatOptions
from layout_ir.formats.registry import parse_format
from layout_ir.layouts.index_map import IndexMap

_LIST_OPTIONS = ("strides",)
_TEXT_OPTIONS = ("dims",)
_OPTIONS = tuple(field.name for field in fields(FormatOptions))


@irdl_attr_definition
class FormatAttr(LayoutAttr):
    """
    A name in a vendor's own notation, with the options that the name alone does not say.

    Example: `#layout.format<"ascend:FRACTAL_Z", dims = "HWCN", groups = 2, c0 = 16>`
    """

    name = "layout.format"

    qualified_name: StringAttr
    """`system:NAME`, or a plain dim string such as `NCHW`."""

    given_options: DictionaryAttr
    """The options that are set: text, integers, or lists of integers."""

    def __init__(self, qualified_name: str, options: FormatOptions | None = None):
        given = (options or FormatOptions()).given()
        super().__init__(StringAttr(qualified_name), DictionaryAttr({k: _option_attr(v) for k, v in given.items()}))

    def __hash__(self) -> int:  # types are keys of many tables, and a DictionaryAttr has no hash of its own
        return hash((self.qualified_name, tuple(sorted(self.given_options.data.items(), key=lambda item: item[0]))))

    @property
    def options(self) -> FormatOptions:
        """The options as a value."""
        return _options(self.given_options.data)

    @property
    def format(self) -> Format:
        """What the name means; raises `LayoutError` for an unknown one."""
        return parse_format(self.qualified_name.data, self.options)

    def verify(self) -> None:
        try:
            _checked_format(self.qualified_name.data, self.options)
        except LayoutError as error:
            raise VerifyException(f"{self.name}: {error}") from None

    def index_map(self, shape: Sequence[int], dtype: object) -> IndexMap:
        return self.format.index_map(shape, dtype)

    def explicit(self, shape: Sequence[int], dtype: object) -> ExplicitLayout:
        return self.format.resolve(shape, dtype)

    def get_affine_map(self) -> AffineMap:
        raise LayoutError(
            f'{self.name}: expected a shape and an element type to place "{self.qualified_name.data}", got none; '
            f"use index_map, or run layout-resolve first"
        )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            start = parser.pos
            text = parser.parse_str_literal(" with a layout's name")
            options: dict[str, Attribute] = {}
            while parser.parse_optional_punctuation(","):
                _parse_option(parser, options)
            end = parser.pos
        try:
            _checked_format(text, _options(options))
        except LayoutError as error:
            parser.raise_error(str(error), start, end)
        return StringAttr(text), DictionaryAttr({key: options[key] for key in _OPTIONS if key in options})

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.qualified_name.data)
            for key, value in self.options.given().items():
                printer.print_string(f", {key} = ")
                if isinstance(value, str):
                    printer.print_string_literal(value)
                else:
                    printer.print_string(str(list(value) if isinstance(value, tuple) else value))


def _checked_format(text: str, options: FormatOptions) -> Format:
    """The format of a name; raises `LayoutError` also for an order of dims that is none, which formats check late."""
    result = parse_format(text, options)
    _ = result.logical_dims
    return result


def _parse_option(parser: AttrParser, options: dict[str, Attribute]) -> None:
    start = parser.pos
    key = parser.parse_identifier(" of an option")
    if key not in _OPTIONS:
        parser.raise_error(f"expected one of {', '.join(_OPTIONS)}, got '{key}'{nearest(key, _OPTIONS)}", start)
    if key in options:
        parser.raise_error(f"expected every option once, got '{key}' again", start)
    parser.parse_punctuation("=")
    if key in _TEXT_OPTIONS:
        options[key] = StringAttr(parser.parse_str_literal())
    elif key in _LIST_OPTIONS:
        options[key] = _option_attr(tuple(parse_integers(parser)))
    else:
        options[key] = IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))


def _option_attr(value: str | int | tuple[int, ...]) -> Attribute:
    if isinstance(value, tuple):
        return ArrayAttr(IntAttr(number) for number in value)
    return StringAttr(value) if isinstance(value, str) else IntAttr(value)


def _options(attributes: Mapping[str, Attribute]) -> FormatOptions:
    values: dict[str, str | int | tuple[int, ...]] = {}
    for key, attribute in attributes.items():
        if isa(attribute, StringAttr) or isa(attribute, IntAttr):
            values[key] = attribute.data
        elif isa(attribute, ArrayAttr[IntAttr]):
            values[key] = tuple(number.data for number in attribute)
        else:
            raise LayoutError(f"layout.format: expected text, an integer or integers for {key}, got {attribute}")
    unknown = [key for key in values if key not in _OPTIONS]
    if unknown:
        raise LayoutError(f"layout.format: expected options among {', '.join(_OPTIONS)}, got '{unknown[0]}'")
    return FormatOptions(**values)  # pyright: ignore[reportArgumentType]
