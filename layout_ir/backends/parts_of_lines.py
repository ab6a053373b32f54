"""Loads of which nothing but a part is stored, which can go from one buffer to another without a variable between."""

from __future__ import annotations

from xdsl.dialects import vector

from layout_ir.backends.uses import Uses
from layout_ir.dialects.casts import uncast


def stored_in_part(op: vector.LoadOp, uses: Uses) -> vector.MaskedStoreOp | None:
    """The masked store to another buffer that is all that comes of a load, if nothing but its mask lies before it."""
    store = op.next_op.next_op if isinstance(op.next_op, vector.CreateMaskOp) else None
    if not isinstance(store, vector.MaskedStoreOp) or store.value_to_store is not op.result:
        return None
    is_elsewhere = uncast(store.base) is not uncast(op.base)
    return store if is_elsewhere and uses.count(op.result) == 1 else None
