"""All operations inside of one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar, cast

from xdsl.ir import Operation

OperationKind = TypeVar("OperationKind", bound=Operation)


def nested(operation: Operation) -> list[Operation]:
    """
    An operation and everything inside of it, in order.

    What `Operation.walk` gives, as a list: its generators, one in another for every level of regions, take four times
    as long, and modules of large kernels are walked many times.
    """
    found = [operation]
    for region in operation.regions:
        for block in region.blocks:
            inner = block.first_op
            while inner is not None:
                if inner.regions:
                    found += nested(inner)
                else:
                    found.append(inner)
                inner = inner.next_op
    return found


def of_kind(operations: Iterable[Operation], kind: type[OperationKind]) -> list[OperationKind]:
    """Those of some operations that are of one kind; `isinstance` takes much longer for those that are not."""
    return [cast("OperationKind", operation) for operation in operations if type(operation) is kind]
