"""
The order of straight-line code whose vectors were taken apart, so that few registers are taken at the same time.

A shuffle of vectors of two registers each keeps to its order in both halves at once. But what the halves of a tile come
from often has nothing to do with each other: sixteen rows of sixteen elements are four quarters that are transposed
one by one. Each in its turn takes half as many registers; those that complete the same lines are stored together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import affine, arith, vector
from xdsl.ir import Block, Operation, SSAValue

from layout_ir.dialects.casts import uncast

STRAIGHT = {vector.LoadOp, vector.ShuffleOp, vector.StoreOp, affine.ApplyOp, affine.MinOp, arith.ConstantOp}
"""The operations of a tile: none but loads and stores is more than its result."""


def take_few_registers(blocks: Iterable[Block], stores: Sequence[Sequence[vector.StoreOp]]) -> None:
    """
    Order the operations of blocks whose stores go to different places, and whose buffers are apart.

    Stores of one tile may write a place twice, as they write the same there; those of two tiles keep their order.
    `stores`: the parts that each store was taken apart into.
    """
    of_line = {store: tuple(parts) for parts in stores for store in parts}
    for block in blocks:
        for run in list(_runs(block)):
            order = _Run(run, of_line).ordered()
            if order is not None and most_live(order) < most_live(run):
                _arrange(block, run, order)


def most_live(operations: Iterable[Operation]) -> int:
    """How many vectors are kept at the same time, at most."""
    uses: dict[SSAValue, int] = {}
    live = most = 0
    for op in operations:
        if isinstance(op, vector.LoadOp | vector.ShuffleOp) and (count := len(list(op.results[0].uses))):
            uses[op.results[0]] = count
            live += 1
        most = max(most, live)
        for operand in op.operands:
            if operand in uses:
                uses[operand] -= 1
                live -= uses[operand] == 0
    return most


def _runs(block: Block) -> Iterator[list[Operation]]:
    """The operations of a block that follow each other and are those of tiles."""
    run: list[Operation] = []
    for op in block.ops:
        if type(op) in STRAIGHT:
            run.append(op)
        else:
            if run:
                yield run
            run = []
    if run:
        yield run


def _arrange(block: Block, old: Sequence[Operation], new: Sequence[Operation]) -> None:
    """Put operations that follow each other in a block into another order."""
    behind = old[-1].next_op
    for op in new:
        op.detach()
        if behind is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, behind)


@dataclass
class _Run:
    """The operations of one run, and which of them have to do with each other."""

    operations: Sequence[Operation]
    of_line: dict[vector.StoreOp, tuple[vector.StoreOp, ...]]
    """For each store those of the same vector before it was taken apart."""

    _own: set[Operation] = field(init=False)
    _leader: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])
    _done: dict[Operation, None] = field(default_factory=dict[Operation, None])

    def __post_init__(self) -> None:
        self._own = set(self.operations)

    def ordered(self) -> list[Operation] | None:
        """The operations in their new order; None where all have to do with each other, or may not change places."""
        vectors = [op for op in self.operations if isinstance(op, vector.LoadOp | vector.ShuffleOp | vector.StoreOp)]
        if not self._may_change_places(vectors):
            return None
        members = self._members(vectors)
        if len(members) < 2:
            return None
        for together in self._together(members):
            self._emit([members[leader] for leader in together])
        for op in self.operations:
            self._put(op)
        return list(self._done)

    @staticmethod
    def _may_change_places(vectors: Sequence[Operation]) -> bool:
        """Whether nothing is stored to what is loaded from; requests load nothing."""
        loaded = {uncast(op.base) for op in vectors if isinstance(op, vector.LoadOp) and op.results[0].uses}
        return not any(uncast(op.base) in loaded for op in vectors if isinstance(op, vector.StoreOp))

    def _members(self, vectors: Sequence[Operation]) -> dict[Operation, list[Operation]]:
        """The operations that have to do with each other, by one of them; requests belong to what comes next."""
        for op in vectors:
            self._leader[op] = op
            for operand in op.operands:
                if isinstance(operand.owner, Operation) and operand.owner in self._leader:
                    self._leader[self._find(operand.owner)] = self._find(op)
        members: dict[Operation, list[Operation]] = {}
        requests: list[Operation] = []
        for op in vectors:
            if isinstance(op, vector.LoadOp) and not op.results[0].uses:
                requests.append(op)
                continue
            members.setdefault(self._find(op), []).extend([*requests, op])
            requests = []
        return members

    def _find(self, op: Operation) -> Operation:
        while self._leader[op] is not op:
            self._leader[op] = self._leader[self._leader[op]]
            op = self._leader[op]
        return op

    def _together(self, members: dict[Operation, list[Operation]]) -> list[list[Operation]]:
        """The leaders of what is stored to the same lines."""
        bundles: list[list[Operation]] = []
        for leader, some in members.items():
            lines = {self._find(part) for op in some if isinstance(op, vector.StoreOp) for part in self._line(op)}
            joined = [bundle for bundle in bundles if lines & set(bundle)]
            bundles = [bundle for bundle in bundles if bundle not in joined]
            bundles.append([*(one for bundle in joined for one in bundle), leader])
        return bundles

    def _line(self, store: vector.StoreOp) -> tuple[vector.StoreOp, ...]:
        return self.of_line.get(store, (store,))

    def _emit(self, parts: Sequence[Sequence[Operation]]) -> None:
        """All of what is stored to the same lines, each store as soon as the last one of its line can be done."""
        waiting: set[Operation] = set()
        for part in parts:
            for op in part:
                if not isinstance(op, vector.StoreOp):
                    self._put(op)
                    continue
                waiting.add(op)
                if all(one in waiting for one in self._line(op)):
                    for one in self._line(op):
                        self._put(one)

    def _put(self, op: Operation) -> None:
        """An operation behind what makes its operands."""
        if op in self._done:
            return
        for operand in op.operands:
            if isinstance(operand.owner, Operation) and operand.owner in self._own:
                self._put(operand.owner)
        self._done[op] = None
