"""
`layout-split-vectors`: vectors that are longer than a processor's registers become several that fit into one.

Tiles go through vectors as long as a line of the cache, so that lines are written whole. Where registers are half as
long, a compiler would take such vectors apart element by element; here each part of a shuffle is one of the registers
that its lanes come from, or a shuffle of two of them, and seldom of more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.context import Context
from xdsl.dialects import affine, arith, vector
from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseIntOrFPElementsAttr,
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException
from xdsl.utils.hints import isa

from layout_ir.dialects.aligned import AT_LINE
from layout_ir.dialects.nested import nested
from layout_ir.dialects.types import is_vector
from layout_ir.layouts.network_registers import Part, mixtures
from layout_ir.lowering.constants import repeated
from layout_ir.lowering.register_order import take_few_registers
from layout_ir.lowering.shuffles import shuffle, vector_of
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

    stores_apart: bool = False
    """Whether all stores of a block go to different places, as those of a tile do, so that their order may change."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.register_bytes not in VECTOR_WIDTHS[1:]:
            expected = ", ".join(map(str, VECTOR_WIDTHS[1:]))
            raise PassFailedException(
                f"{self.name}: expected register-bytes to be one of {expected}, got {self.register_bytes}"
            )
        splitter = _Splitter(self.register_bytes)
        for operation in nested(op):
            splitter.split(operation)
        splitter.erase_unused()
        if self.stores_apart:
            take_few_registers(splitter.blocks, splitter.stores)


@dataclass(frozen=True)
class Registers:
    """What a vector is taken apart into."""

    count: int
    kind: VectorType[Attribute]

    @property
    def lanes(self) -> int:
        """Elements of each."""
        return self.kind.get_shape()[0]


def registers_of(kind: Attribute, register_bytes: int) -> Registers:
    """The registers that a vector takes; one, of its own type, where it does not fill several."""
    assert is_vector(kind)
    element = kind.element_type
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) and kind.get_num_dims() == 1 else 0
    count, rest = divmod(kind.get_shape()[0] * bits, 8 * register_bytes) if bits >= 8 else (1, 0)
    if count < 2 or rest:
        return Registers(1, kind)
    return Registers(count, vector_of(element, kind.get_shape()[0] // count))


_Shuffle = tuple[int, int, int]
"""The identity of a mask, elements of the registers that it takes lanes from, and of those that they go to."""


@dataclass
class _Splitter:
    """The vectors of a module that were taken apart."""

    register_bytes: int
    stores: list[list[vector.StoreOp]] = field(default_factory=list[list[vector.StoreOp]])
    """The parts of each store that was taken apart."""

    _parts: dict[SSAValue, Vectors] = field(default_factory=dict[SSAValue, Vectors])
    # what was found out by the identity of attributes, as a hash is made anew every time: they live as long as this
    _kinds: dict[int, Registers] = field(default_factory=dict[int, Registers])
    _mixtures: dict[_Shuffle, tuple[Part, ...]] = field(default_factory=dict[_Shuffle, tuple[Part, ...]])
    _left: list[Operation] = field(default_factory=list[Operation])
    """Operations in place of which there are others; some are still used as a whole."""

    @property
    def blocks(self) -> list[Block]:
        """The blocks with such stores."""
        found = dict.fromkeys(parts[0].parent for parts in self.stores)
        return [block for block in found if block is not None]

    def split(self, op: Operation) -> None:
        """One operation, after those that make its operands."""
        kind = type(op)  # not by patterns: a tile has thousands, and abstract classes answer slowly
        if kind is vector.ShuffleOp:
            self._replace(op, self._shuffles(cast(vector.ShuffleOp, op)))
        elif kind is vector.LoadOp:
            if any(type(use.operation) in TAKEN_APART for use in op.results[0].uses):
                self._replace(op, self._loads(cast(vector.LoadOp, op)))
        elif kind is vector.StoreOp:
            if (parts := self._parts.get(op.operands[0])) is not None:
                self._store(cast(vector.StoreOp, op), parts)
                self._left.append(op)
        elif kind is arith.ConstantOp:
            constant = cast(arith.ConstantOp, op)
            if isinstance(value := constant.value, DenseIntOrFPElementsAttr) and value.is_splat():
                self._replace(op, self._constants(constant, value))

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

    def _registers(self, kind: Attribute) -> Registers:
        """The registers that a vector takes."""
        if (known := self._kinds.get(id(kind))) is None:
            known = self._kinds[id(kind)] = registers_of(kind, self.register_bytes)
        return known

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
        registers = self._registers(op.result.type)
        if registers.count == 1:
            return ()
        parts: list[SSAValue] = []
        for number in range(registers.count):
            load = vector.LoadOp.create(
                operands=[op.base, *_place(op, op.indices, number * registers.lanes)],
                result_types=[registers.kind],
                properties=dict(op.properties),
                attributes=dict(op.attributes) if number == 0 else {},
            )
            parts.append(_insert(op, load, op.result.name_hint))
        return parts

    def _store(self, op: vector.StoreOp, parts: Vectors) -> None:
        """The stores of the parts; where both lines that a vector may lie in are asked for, the last asks for its."""
        lanes = self._registers(op.vector.type).lanes
        attributes = dict(op.attributes)
        for_all = {AT_LINE: attributes.pop(AT_LINE)} if AT_LINE in attributes else {}
        both_lines = attributes.pop("both_lines", None) is not None
        self.stores.append([])
        for number, part in enumerate(parts):
            place = _place(op, op.indices, number * lanes)
            store = vector.StoreOp.create(
                operands=[part, op.base, *place], properties=dict(op.properties), attributes=dict(for_all)
            )
            if number == 0:
                store.attributes |= attributes
            elif number == len(parts) - 1 and both_lines and isa(ahead := op.attributes["prefetch"], IntegerAttr):
                store.attributes |= attributes | {"prefetch": IntegerAttr(ahead.value.data + lanes - 1, IndexType())}
            Rewriter.insert_op(store, InsertPoint.before(op))
            self.stores[-1].append(store)

    def _constants(self, op: arith.ConstantOp, value: DenseIntOrFPElementsAttr) -> Vectors:
        """One constant for all parts."""
        registers = self._registers(op.result.type)
        if registers.count == 1:
            return ()
        constant = arith.ConstantOp(repeated(next(value.iter_attrs()), registers.lanes))
        return [_insert(op, constant, op.result.name_hint)] * registers.count

    # -- shuffles ------------------------------------------------------------------------------------------------------

    def _shuffles(self, op: vector.ShuffleOp) -> Vectors:
        """Each part of a shuffle, from the registers of its operands."""
        first, second = op.operands
        if first.type is not second.type and first.type != second.type:
            return ()
        result = op.results[0]
        registers = self._registers(result.type)
        left, right = self._parts.get(first), self._parts.get(second)
        sources = [*left, *right] if left and right else [first, second]
        if registers.count == 1 and len(sources) == 2:
            return ()
        mask = op.properties["mask"]
        key = id(mask), _lanes(sources[0]), registers.lanes
        if (known := self._mixtures.get(key)) is None:
            lanes = tuple(max(lane, 0) for lane in op.mask.get_values())  # -1: any lane
            known = self._mixtures[key] = mixtures(lanes, _lanes(sources[0]), registers.lanes)
        return [_mixed(op, sources, part) for part in known]


def _mixed(op: vector.ShuffleOp, sources: Vectors, part: Part) -> SSAValue:
    """A part of a shuffle, in front of it."""
    if isinstance(part, int):
        return sources[part]
    left, right = (_mixed(op, sources, side) for side in (part.left, part.right))
    return _insert(op, shuffle(left, right, part.lanes), op.results[0].name_hint)


def _lanes(value: SSAValue) -> int:
    return cast("VectorType[Attribute]", value.type).get_shape()[0]


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
