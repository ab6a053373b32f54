"""The constants and enumerations of oneDNN Graph's C interface, under the names of `dnnl_graph_types.h`."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from layout_ir.errors import LayoutError, nearest

UNKNOWN_NDIMS = -1
"""`DNNL_GRAPH_UNKNOWN_NDIMS`: the rank is not known."""

UNKNOWN_DIM = -(2**63)
"""`DNNL_GRAPH_UNKNOWN_DIM`: a dim or a stride is not known."""

SIZE_MAX = 2**64 - 1
"""The library's size of a tensor whose layout is still to be chosen."""


class LayoutType(StrEnum):
    """`dnnl_graph_layout_type_t`."""

    UNDEF = "undef"
    ANY = "any"
    STRIDED = "strided"
    OPAQUE = "opaque"


class TensorProperty(StrEnum):
    """`dnnl_graph_tensor_property_t`."""

    UNDEF = "undef"
    VARIABLE = "variable"
    CONSTANT = "constant"
    HOST_SCALAR = "host_scalar"


Member = TypeVar("Member", bound=StrEnum)


def member(kind: type[Member], value: str, what: str) -> Member:
    """The member of an enumeration by its name; raises `LayoutError` for another one."""
    try:
        return kind(value)
    except ValueError:
        known = [str(each) for each in kind]
        raise LayoutError(
            f"logical tensor: expected as {what} one of {', '.join(known)}, got {value!r}{nearest(str(value), known)}"
        ) from None
