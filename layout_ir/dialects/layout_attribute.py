"""What every layout attribute can do, and the three that say no place in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Never

from xdsl.dialects.builtin import IntAttr, MemRefLayoutAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from layout_ir.errors import LayoutError
from layout_ir.formats.format import ExplicitLayout
from layout_ir.layouts.index_map import IndexMap


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
