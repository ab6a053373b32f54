"""`#layout.tiled`: the explicit form of a layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, BoolAttr, IntAttr, NoneAttr
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from layout_ir.dialects.attribute_syntax import check_map, parse_integers, parse_map
from layout_ir.dialects.layout_attribute import LayoutAttr
from layout_ir.errors import LayoutError
from layout_ir.formats.format import ExplicitLayout
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.tiled import TiledLayout


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
                    units = parse_integers(parser)
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
