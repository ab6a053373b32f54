"""
`layout-split-vectors`: vectors that are longer than a processor's registers become several that fit into one.

Tiles go through vectors as long as a line of the cache, so that lines are written whole. Where registers are half as
long, a compiler would take such vectors apart element by element; here each part of a shuffle is one of the registers
that its lanes come from, or a shuffle of two of them, and seldom of more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from xdsl.context import Context
from xdsl.dialects import affine, arith, vector
from xdsl.dialects.builtin import (
    I64,
    AffineMapAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException
from xdsl.utils.hints import isa

from layout_ir.layouts.network_registers import registers_taken
from layout_ir.lowering.constants import repeated
from layout_ir.lowering.target import VECTOR_WIDTHS

Vectors = Sequence[SSAValue]
"""The parts of a vector, in order."""

TAKEN_APART = vector.StoreOp, vector.ShuffleOp
"""The operations on vectors that are done part by part."""


@dataclass(frozen=True)
class SplitVectorsPass(ModulePass):
    """Take loads, stores and shuffles of vectors that are longer than registers apart; others get them whole."""

    name = "layout-split-vectors"

    register_bytes: int = 32
    """Width of the registers: 16, 32 or 64."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.register_bytes not in VECTOR_WIDTHS[1:]:
            expected = ", ".join(map(str, VECTOR_WIDTHS[1:]))
            raise PassFailedException(
                f"{self.name}: expected register-bytes to be one of {expected}, got {self.register_bytes}"
            )
        splitter = _Splitter(self.register_bytes)
        for operation in list(op.walk()):
            splitter.split(operation)
        splitter.erase_unused()


@dataclass(frozen=True)
class Registers:
    """What a vector is taken apart into."""

    count: int
    kind: VectorType[Attribute]

    @property
    def lanes(self) -> int:
        """Elements of each."""
        return self.kind.get_shape()[0]


@cache  # asked for every operation of a tile
def registers_of(kind: Attribute, register_bytes: int) -> Registers:
    """The registers that a vector takes; one, of its own type, where it does not fill several."""
    assert isa(kind, VectorType[Attribute])
    element = kind.element_type
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) and kind.get_num_dims() == 1 else 0
    count, rest = divmod(kind.get_shape()[0] * bits, 8 * register_bytes) if bits >= 8 else (1, 0)
    if count < 2 or rest:
        return Registers(1, kind)
    return Registers(count, VectorType(element, [kind.get_shape()[0] // count]))


@dataclass
class _Splitter:
    """The vectors of a module that were taken apart."""

    register_bytes: int
    _parts: dict[SSAValue, Vectors] = field(default_factory=dict[SSAValue, Vectors])
    _left: list[Operation] = field(default_factory=list[Operation])
    """Operations in place of which there are others; some are still used as a whole."""

    def split(self, op: Operation) -> None:
        """One operation, after those that make its operands."""
        match op:
            case vector.LoadOp() if any(isinstance(use.operation, TAKEN_APART) for use in op.result.uses):
                self._replace(op, self._loads(op))
            case vector.StoreOp() if op.vector in self._parts:
                self._store(op, self._parts[op.vector])
                self._left.append(op)
            case vector.ShuffleOp() if op.v1.type == op.v2.type:
                self._replace(op, self._shuffles(op))
            case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as value) if value.is_splat():
                self._replace(op, self._constants(op, value))
            case _:
                pass

    def erase_unused(self) -> None:
        """Erase what was taken apart, or the parts of it that nothing takes where it is still needed as a whole."""
        for op in reversed(self._left):
            if any(result.uses for result in op.results):
                unused = {part.owner for part in self._parts.get(op.results[0], ()) if not part.uses}
            else:
                unused = {op}
            for one in unused:
                assert isinstance(one, Operation)
                Rewriter.erase_op(one)

    def _replace(self, op: Operation, parts: Vectors) -> None:
        """Remember the parts of the one result of an operation; one part takes its place at once."""
        if not parts:
            return
        self._left.append(op)
        if len(parts) == 1:
            op.results[0].replace_all_uses_with(parts[0])
        else:
            self._parts[op.results[0]] = parts

    # -- loads, stores, constants --------------------------------------------------------------------------------------

    def _loads(self, op: vector.LoadOp) -> Vectors:
        """The loads of the parts, of which the first asks for what the whole one does."""
        registers = registers_of(op.result.type, self.register_bytes)
        if registers.count == 1:
            return ()
        parts: list[SSAValue] = []
        for number in range(registers.count):
            load = vector.LoadOp(op.base, _place(op, op.indices, number * registers.lanes), registers.kind)
            load.properties |= op.properties
            load.attributes |= op.attributes if number == 0 else {}
            parts.append(_insert(op, load, op.result.name_hint))
        return parts

    def _store(self, op: vector.StoreOp, parts: Vectors) -> None:
        """The stores of the parts; where both lines that a vector may lie in are asked for, the last asks for its."""
        lanes = registers_of(op.vector.type, self.register_bytes).lanes
        attributes = dict(op.attributes)
        both_lines = attributes.pop("both_lines", None) is not None
        for number, part in enumerate(parts):
            store = vector.StoreOp(part, op.base, _place(op, op.indices, number * lanes))
            store.properties |= op.properties
            if number == 0:
                store.attributes |= attributes
            elif number == len(parts) - 1 and both_lines and isa(ahead := op.attributes["prefetch"], IntegerAttr):
                store.attributes |= attributes | {"prefetch": IntegerAttr(ahead.value.data + lanes - 1, IndexType())}
            Rewriter.insert_op(store, InsertPoint.before(op))

    def _constants(self, op: arith.ConstantOp, value: DenseIntOrFPElementsAttr) -> Vectors:
        """One constant for all parts."""
        registers = registers_of(op.result.type, self.register_bytes)
        if registers.count == 1:
            return ()
        constant = arith.ConstantOp(repeated(next(value.iter_attrs()), registers.lanes))
        return [_insert(op, constant, op.result.name_hint)] * registers.count

    # -- shuffles ------------------------------------------------------------------------------------------------------

    def _shuffles(self, op: vector.ShuffleOp) -> Vectors:
        """Each part of a shuffle, from the registers of its operands."""
        registers = registers_of(op.result.type, self.register_bytes)
        left, right = self._parts.get(op.v1), self._parts.get(op.v2)
        sources = [*left, *right] if left and right else [op.v1, op.v2]
        if registers.count == 1 and len(sources) == 2:
            return ()
        length, mask = registers.lanes, [max(lane, 0) for lane in op.mask.get_values()]  # -1: any lane
        return [self._shuffle(op, sources, mask[at : at + length]) for at in range(0, len(mask), length)]

    def _shuffle(self, op: vector.ShuffleOp, sources: Vectors, mask: Sequence[int]) -> SSAValue:
        """A vector of some lanes of registers, which are numbered through all of them."""
        lanes = _lanes(sources[0])
        taken, chosen = registers_taken(mask, lanes)
        if chosen == list(range(lanes)):
            return sources[taken[0]]
        if len(taken) <= 2:
            return _mixed(op, sources[taken[0]], sources[taken[-1]], chosen)
        # lanes of some registers and those of the others, all in their places, then one or the other
        near = taken[: len(taken) // 2]
        is_near = [lane // lanes in near for lane in mask]
        padded = [*mask, *[mask[0]] * (lanes - len(mask))]
        halves = [
            self._shuffle(op, sources, [lane if (lane // lanes in near) == side else other * lanes for lane in padded])
            for side, other in ((True, near[0]), (False, taken[len(near)]))
        ]
        return _mixed(op, halves[0], halves[1], [lane if stays else lanes + lane for lane, stays in enumerate(is_near)])


def _mixed(op: vector.ShuffleOp, left: SSAValue, right: SSAValue, mask: Sequence[int]) -> SSAValue:
    assert isa(left.type, VectorType[Attribute])
    kind = VectorType(left.type.element_type, [len(mask)])
    return _insert(op, vector.ShuffleOp(left, right, _mask(tuple(mask)), result_type=kind), op.result.name_hint)


@lru_cache(maxsize=1024)
def _mask(lanes: tuple[int, ...]) -> DenseArrayBase[I64]:
    return DenseArrayBase.from_list(i64, lanes)


def _lanes(value: SSAValue) -> int:
    assert isa(value.type, VectorType[Attribute])
    return value.type.get_shape()[0]


def _place(op: Operation, indices: Sequence[SSAValue], distance: int) -> list[SSAValue]:
    """The place some elements behind that of a load or a store."""
    if distance == 0:
        return list(indices)
    *outer, last = indices
    operands, near = [last], AffineMap(1, 0, (AffineExpr.dimension(0),))
    if isinstance(last.owner, affine.ApplyOp):
        operands, near = list(last.owner.mapOperands), last.owner.map.data
    behind = AffineMap(near.num_dims, near.num_symbols, (near.results[0] + distance,))
    return [*outer, _insert(op, affine.ApplyOp(operands, AffineMapAttr(behind)), None)]


def _insert(op: Operation, new: Operation, name_hint: str | None) -> SSAValue:
    """The result of a new operation in front of another."""
    Rewriter.insert_op(new, InsertPoint.before(op))
    new.results[0].name_hint = name_hint
    return new.results[0]
