"""Shuffles and the types of vectors, of which a tile has hundreds but few different ones."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from xdsl.dialects import vector
from xdsl.dialects.builtin import I64, BytesAttr, DenseArrayBase, VectorType, i64
from xdsl.ir import Attribute, SSAValue


def shuffle(left: SSAValue, right: SSAValue, lanes: tuple[int, ...]) -> vector.ShuffleOp:
    """Some lanes of two vectors of one type; made by its parts, as its own constructor takes several times as long."""
    kind = cast("VectorType[Attribute]", left.type)
    if kind.get_shape()[0] != len(lanes):
        kind = vector_of(kind.element_type, len(lanes))
    return vector.ShuffleOp.create(operands=[left, right], result_types=[kind], properties={"mask": _mask(lanes)})


@lru_cache(maxsize=64)
def vector_of(element: Attribute, lanes: int) -> VectorType[Attribute]:
    """The type of a vector."""
    return VectorType(element, [lanes])


@lru_cache(maxsize=1024)
def _mask(lanes: tuple[int, ...]) -> DenseArrayBase[I64]:
    return DenseArrayBase(i64, BytesAttr(i64.pack(lanes)))  # `from_list` checks every lane
