"""`layout-resolve`: every named layout becomes the explicit one that it means for the type's shape and element type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineConstantExpr
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from layout_ir.dialects.attributes import FormatAttr, OpenAttr
from layout_ir.dialects.functions import same_function
from layout_ir.dialects.nested import nested, of_kind
from layout_ir.dialects.sizes import keep_dim_names
from layout_ir.dialects.types import (
    Stored,
    element_type_of,
    index_map_of,
    is_stored,
    layout_attribute,
    layout_of,
    with_layout,
)
from layout_ir.errors import LayoutError, nearest
from layout_ir.formats.format import ExplicitLayout
from layout_ir.formats.registry import ALIASES, SYSTEMS
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.strided import StridedLayout
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.lowering.change_types import change_types

PLAIN = "plain"
"""What the option `systems` calls the dim strings that need no system."""


@lru_cache(maxsize=4096)
def resolved_type(stored: Stored) -> Stored:
    """
    A tensor or buffer type with an explicit layout in place of a name; other types as they are.

    A name stays where no explicit layout says all of it, such as blocks with strides of their own, strides with more
    allocated behind them than they reach, or a map that needs an extent that is not known. Raises `LayoutError` where
    the name does not fit the shape or the element type, or has to know a size.
    """
    layout = layout_of(stored)
    if not isinstance(layout, FormatAttr):
        return stored
    named = index_map_of(stored)
    try:
        explicit = layout.explicit(named.shape, element_type_of(stored))
        if named.unknown is not None and _needs_extents(explicit):
            return stored
        result = with_layout(stored, layout_attribute(explicit, named.allocation))
        return result if _says_the_same(named, index_map_of(result)) else stored
    except LayoutError:  # the index map exists, so only the explicit spelling does not
        return stored


def _needs_extents(layout: ExplicitLayout) -> bool:
    """Whether an explicit layout has the stand-in of an unknown extent in it."""
    if isinstance(layout, StridedLayout):
        return any(map(is_symbolic, (*layout.strides, layout.offset)))
    return any(
        isinstance(node, AffineConstantExpr) and is_symbolic(node.value)
        for expr in layout.coordinates
        for node in expr.dfs()
    )


def _says_the_same(named: IndexMap, explicit: IndexMap) -> bool:
    return named.cell_count == explicit.cell_count and same_function(named, explicit)


def _resolved(attribute: Attribute, systems: frozenset[str] | None) -> Attribute:
    """A type without the names of some systems (of all for None); everything else as it is."""
    if not is_stored(attribute):
        return attribute
    layout = layout_of(attribute)
    if isinstance(layout, OpenAttr) and systems is None:
        raise PassFailedException(
            f"layout-resolve: expected a layout that says where every element lies, "
            f"got {attribute}: {layout.reason()}; write the layout that is meant"
        )
    if not isinstance(layout, FormatAttr):
        return attribute
    if systems is not None and (layout.format.system or PLAIN) not in systems:
        return attribute
    try:
        return resolved_type(attribute)
    except LayoutError as error:
        raise PassFailedException(f"layout-resolve: {error}") from None


@dataclass(frozen=True)
class ResolvePass(ModulePass):
    """Replace names by explicit layouts. A layout that is still open (any, undef, opaque) is an error."""

    name = "layout-resolve"

    systems: tuple[str, ...] | None = None
    """Resolve the names of these systems only (`plain`: of none), and leave everything else as it is."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        systems = None if self.systems is None else _known_systems(self.systems)
        operations = nested(op)
        for function in of_kind(operations, FuncOp):
            keep_dim_names(function)
        change_types(operations, partial(_resolved, systems=systems))


def _known_systems(names: Sequence[str]) -> frozenset[str]:
    known = (*SYSTEMS, *ALIASES, PLAIN)
    for name in names:
        if name not in known:
            expected = ", ".join((*SYSTEMS, PLAIN))
            suggestion = nearest(name, known)
            raise PassFailedException(f"layout-resolve: expected systems among {expected}, got '{name}'{suggestion}")
    return frozenset(ALIASES.get(name, name) for name in names)
