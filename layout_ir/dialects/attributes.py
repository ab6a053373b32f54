"""
The layouts of tensors and buffers as attributes: a vendor's name, an explicit form, or one of the open states.

All of them stand both in `tensor<4x8xf32, #l>` and in `memref<4x8xf32, #l>`. None stores the shape: whoever needs
places in memory asks `index_map` with the shape and the element type at hand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Never

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    IntAttr,
    MemRefLayoutAttr,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from layout_ir.dialects.tiled_syntax import check_map, parse_map
from layout_ir.errors import LayoutError, nearest
from layout_ir.formats.format import ExplicitLayout, Format, FormatOptions
from layout_ir.formats.registry import parse_format
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.tiled import TiledLayout

_LIST_OPTIONS = ("strides",)
_TEXT_OPTIONS = ("dims",)
_OPTIONS = tuple(field.name for field in fields(FormatOptions))


class LayoutAttr(MemRefLayoutAttr, ParametrizedAttribute, ABC):
    """Any layout of this dialect."""

    @abstractmethod
    def index_map(self, shape: Sequence[int], dtype: object) -> IndexMap:
        """
        Where every element of one tensor lies, in elements.

        `shape`: extents of the logical dims; `dtype`: an element type as in `layouts.element_type`.
        Raises `LayoutError` where the layout does not fit them or says no place at all.
        """

    @abstractmethod
    def explicit(self, shape: Sequence[int], dtype: object) -> ExplicitLayout:
        """The layout without names; raises `LayoutError` like `index_map`."""


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
            _ = self.format
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
            parse_format(text, _options(options))
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


@irdl_attr_definition
class TiledAttr(LayoutAttr):
    """
    The explicit form: quasi-affine storage coordinates, outermost first; the storage is dense and row-major over them.

    Extents follow from the shape: a dim that is split is rounded up to the product of its blocks, `round_up` rounds a
    dim without splitting it. `image` says that the coordinates are row, column and lane of an RGBA image. `allocation`
    is the number of elements that a vendor allocates for one shape, where that is more than the last cell needs.

    Example: `#layout.tiled<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4), round_up = [8, 1], image>`
    """

    name = "layout.tiled"

    coordinates: AffineMapAttr
    """From the logical dims to the storage's axes."""

    round_up: ArrayAttr[IntAttr]
    """What each dim is rounded up to although it is not split; 1 where it is not."""

    is_image: BoolAttr
    """Whether the three axes are those of an RGBA image."""

    allocation: IntAttr | NoneAttr
    """Number of elements allocated, where that is more than the last cell needs."""

    def __init__(self, layout: TiledLayout, allocation: int | None = None):
        super().__init__(
            AffineMapAttr(AffineMap(layout.num_dims, 0, layout.coordinates)),
            ArrayAttr(IntAttr(unit) for unit in layout.round_up),
            BoolAttr.from_bool(layout.is_image),
            NoneAttr() if allocation is None else IntAttr(allocation),
        )

    @property
    def layout(self) -> TiledLayout:
        """The layout as a value."""
        coordinates = self.coordinates.data
        units = tuple(unit.data for unit in self.round_up)
        return TiledLayout(coordinates.num_dims, coordinates.results, units, bool(self.is_image))

    def verify(self) -> None:
        try:
            check_map(self.coordinates.data)
            _ = self.layout
        except LayoutError as error:
            raise VerifyException(f"{self.name}: {error}") from None

    def index_map(self, shape: Sequence[int], dtype: object) -> IndexMap:
        result = self.layout.index_map(shape, dtype)
        if isinstance(self.allocation, NoneAttr):
            return result
        if self.allocation.data < result.required_size:
            raise LayoutError(
                f"tiled layout: expected an allocation of at least {result.required_size} elements for "
                f"{list(shape)}, got {self.allocation.data}"
            )
        return replace(result, allocation=self.allocation.data)

    def explicit(self, shape: Sequence[int], dtype: object) -> ExplicitLayout:
        return self.layout

    def get_affine_map(self) -> AffineMap:
        """The storage coordinates, as of a builtin `affine_map` layout: strides need the shape, see `index_map`."""
        return self.coordinates.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        is_image, allocation = False, None
        with parser.in_angle_brackets():
            start = parser.pos
            coordinates = parse_map(parser)
            units: Sequence[int] = (1,) * coordinates.num_dims
            while parser.parse_optional_punctuation(","):
                key = parser.expect(
                    lambda: parser.parse_optional_keyword_in(("round_up", "image", "allocation")),
                    "expected round_up, image or allocation",
                )
                if key == "image":
                    is_image = True
                    continue
                parser.parse_punctuation("=")
                if key == "round_up":
                    units = _parse_integers(parser)
                else:
                    allocation = parser.parse_integer(allow_boolean=False, allow_negative=False)
            end = parser.pos
        try:
            layout = TiledLayout(coordinates.num_dims, coordinates.results, tuple(units), is_image)
        except LayoutError as error:
            parser.raise_error(str(error), start, end)
        return cls(layout, allocation).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.layout))
            if isinstance(self.allocation, IntAttr):
                printer.print_string(f", allocation = {self.allocation.data}")


class OpenAttr(LayoutAttr, ABC):
    """A layout that says no place in memory."""

    @abstractmethod
    def reason(self) -> str:
        """Why there is no place, and what to do about it."""

    def _refuse(self) -> Never:
        raise LayoutError(f"expected a layout that says where every element lies, got {self}: {self.reason()}")

    def index_map(self, shape: Sequence[int], dtype: object) -> IndexMap:
        self._refuse()

    def explicit(self, shape: Sequence[int], dtype: object) -> ExplicitLayout:
        self._refuse()

    def get_affine_map(self) -> AffineMap:
        self._refuse()


@irdl_attr_definition
class AnyAttr(OpenAttr):
    """To be chosen by the backend. Example: `#layout.any`"""

    name = "layout.any"

    def reason(self) -> str:
        return "it is still to be chosen"


@irdl_attr_definition
class UndefAttr(OpenAttr):
    """Not yet said. As the `pad` of an op: pads are left unwritten. Example: `#layout.undef`"""

    name = "layout.undef"

    def reason(self) -> str:
        return "it is not yet said"


@irdl_attr_definition
class OpaqueAttr(OpenAttr):
    """Known to a backend only, by its number. Example: `#layout.opaque<17>`"""

    name = "layout.opaque"

    identifier: IntAttr
    """The backend's number."""

    def __init__(self, identifier: int):
        super().__init__(IntAttr(identifier))

    def reason(self) -> str:
        return "only the backend that made it knows it"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False)),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.identifier.data))


# -- options of a format -----------------------------------------------------------------------------------------------


def _parse_integers(parser: AttrParser) -> Sequence[int]:
    return parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False, allow_negative=False)
    )


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
        options[key] = _option_attr(tuple(_parse_integers(parser)))
    else:
        options[key] = IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))


def _option_attr(value: str | int | tuple[int, ...]) -> Attribute:
    if isinstance(value, tuple):
        return ArrayAttr(IntAttr(number) for number in value)
    return StringAttr(value) if isinstance(value, str) else IntAttr(value)


def _options(attributes: Mapping[str, Attribute]) -> FormatOptions:
    values: dict[str, str | int | tuple[int, ...]] = {}
    for key, attribute in attributes.items():
        if isinstance(attribute, StringAttr | IntAttr):
            values[key] = attribute.data
        elif isa(attribute, ArrayAttr[IntAttr]):
            values[key] = tuple(number.data for number in attribute)
        else:
            raise LayoutError(f"layout.format: expected text, an integer or integers for {key}, got {attribute}")
    unknown = [key for key in values if key not in _OPTIONS]
    if unknown:
        raise LayoutError(f"layout.format: expected options among {', '.join(_OPTIONS)}, got '{unknown[0]}'")
    return FormatOptions(**values)  # pyright: ignore[reportArgumentType]
