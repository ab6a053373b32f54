"""Vectors in C: the vector extension of GCC and Clang, one text for SSE2, AVX2, AVX-512 and NEON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from layout_ir.backends import expressions
from layout_ir.backends.c_prelude import MASKED_BYTES
from layout_ir.backends.constants import integer_value
from layout_ir.backends.expressions import Expression, Precedence
from layout_ir.backends.parts_of_lines import stored_in_part
from layout_ir.backends.rules import RulesOfOperations
from layout_ir.backends.uses import constant_mask, is_streaming
from layout_ir.dialects.aligned import AT_LINE
from layout_ir.dialects.types import is_vector

if TYPE_CHECKING:
    from layout_ir.backends.c import CPrinter

_SHORT_NAMES = {
    "float": "f32",
    "double": "f64",
    **{f"int{bits}_t": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": f"u{bits}" for bits in (8, 16, 32, 64)},
}


def _bytes(element: str) -> int:
    return int(_SHORT_NAMES[element][1:]) // 8


@cache  # asked for every operation of a tile
def _element_of(value: Attribute) -> Attribute:
    assert is_vector(value)
    return value.element_type


@cache  # asked for every operation of a tile
def lane_count(value: Attribute) -> int:
    """Lanes of a vector of one dimension, 0 for any other type."""
    return value.get_shape()[0] if is_vector(value) and value.get_num_dims() == 1 else 0


@dataclass(frozen=True)
class WideMask:
    """A shuffle's mask in units of `factor` neighbouring lanes."""

    factor: int
    mask: tuple[int, ...]


@cache
def coarsest(mask: tuple[int, ...], lanes: int, element_bytes: int) -> WideMask:
    """
    The mask of a shuffle of vectors of `lanes` elements in the widest integers, of up to 8 bytes, that it moves whole.

    Compilers find the instruction for a few wide elements, and a slow general one for many narrow ones. Vectors of 8
    bytes are two elements: one of 8 bytes GCC takes for a number and joins with another one in memory.
    """
    for factor in (8, 4, 2):
        if factor * element_bytes > 8 or lanes % factor or len(mask) % factor:
            continue
        if factor * element_bytes == 8 and lanes == factor:
            continue
        starts = mask[::factor]
        if all(start % factor == 0 for start in starts) and mask == tuple(
            start + position for start in starts for position in range(factor)
        ):
            return WideMask(factor, tuple(start // factor for start in starts))
    return WideMask(1, mask)


class VectorRules:
    """The rules of the vector dialect, on behalf of a function's printer."""

    def __init__(self, printer: CPrinter) -> None:
        self._printer = printer
        # by the identity of attributes, as a hash is made anew every time: they live as long as the module
        self._type_names: dict[int, str] = {}
        self._wider_types: dict[tuple[str, int], Attribute] = {}
        self._masks: dict[tuple[int, int], tuple[int, str]] = {}
        self.is_streaming = False
        """Whether a streaming store was printed after the last fence."""

    @RulesOfOperations
    def print_operation(self, op: Operation) -> None:
        """The lines of one operation on vectors."""
        raise self._printer.refuse(op)

    def type_name(self, op: Operation, value: Attribute) -> str:
        """The C type of a vector; raises `LayoutError` unless it has one dimension and a power of two of lanes."""
        if (known := self._type_names.get(id(value))) is not None:
            return known
        lanes = lane_count(value)
        if lanes < 1 or lanes & (lanes - 1):
            expected = "expected a vector of one dimension and a power of two of lanes"
            raise self._printer.refuse(op, f"{expected}, got {value}")
        element = self._printer.scalar_type(_element_of(value))
        name = f"{_SHORT_NAMES[element]}x{lanes}"
        self._printer.prelude.vector_types[name] = (element, lanes * _bytes(element))
        self._type_names[id(value)] = name
        return name

    def _define(self, op: Operation, value: SSAValue, text: Callable[[str], str]) -> None:
        type_name = self.type_name(op, value.type)
        self._printer.line(f"const {type_name} {self._printer.declare(value)} = {text(type_name)};")

    def _place(self, op: Operation, base: SSAValue, indices: list[SSAValue]) -> str:
        return f"&{self._printer.element(op, base, indices)}"

    @print_operation.register
    def _(self, op: vector.LoadOp) -> None:
        self._ask_ahead(op, "")
        if self._printer.uses.count(op.result):
            place = self._place(op, op.base, list(op.indices))
            store = stored_in_part(op, self._printer.uses)
            if store is not None and self._has_mask(store):  # in a variable it would first go to the stack
                kind = self.type_name(op, op.result.type)
                self._printer.bind(op.result, Expression(f"*(const {kind}_unaligned *){place}"))
                return
            self._define(op, op.result, lambda name: f"*(const {name}_unaligned *){place}")

    @print_operation.register
    def _(self, op: vector.StoreOp) -> None:
        place, value = self._place(op, op.base, list(op.indices)), self._printer.expression(op.vector)
        name = self.type_name(op, op.vector.type)
        self._ask_ahead(op, ", 1")
        if is_streaming(op):
            self._stream(place, value, at_line=AT_LINE in op.attributes)
        else:
            self._printer.line(f"*({name}_unaligned *){place} = {value};")

    def _stream(self, place: str, value: Expression, *, at_line: bool) -> None:
        prelude = self._printer.prelude
        prelude.streams = self.is_streaming = True
        prelude.streams_anywhere |= not at_line
        self._printer.line(f"LAYOUT_STREAM{'_AT_LINE' if at_line else ''}({place}, {value});")

    @print_operation.register
    def _(self, op: vector.ShuffleOp) -> None:
        left, right = op.operands
        kind = left.type
        if kind is not right.type and kind != right.type:
            raise self._printer.refuse(op, f"expected two vectors of one type, got {kind} and {right.type}")
        self.type_name(op, kind)
        first, second = self._printer.expression(left), self._printer.expression(right)
        factor, mask = self._mask(op.mask, kind)
        if factor > 1:
            first, second = (self._widened(op, kind, operand, factor) for operand in (first, second))
        text = f"__builtin_shufflevector({first}, {second}, {mask})"
        self._define(op, op.result, lambda name: f"({name}){text}" if factor > 1 else text)

    def _mask(self, mask: DenseArrayBase[I64], kind: Attribute) -> tuple[int, str]:
        """The lanes in one unit of the mask of a shuffle of vectors of a type, and the text of it."""
        key = id(mask), id(kind)
        if (known := self._masks.get(key)) is None:
            wide = coarsest(mask.get_values(), lane_count(kind), self._element_bytes(kind))
            known = self._masks[key] = wide.factor, ", ".join(map(str, wide.mask))
        return known

    def _element_bytes(self, vector_type: Attribute) -> int:
        return _bytes(self._printer.scalar_type(_element_of(vector_type)))

    def _widened(self, op: Operation, old: Attribute, operand: Expression, factor: int) -> Expression:
        """A vector as one of fewer and wider integers."""
        key = self.type_name(op, old), factor
        if key not in self._wider_types:
            bits = IntegerType(8 * factor * self._element_bytes(old))
            self._wider_types[key] = VectorType(bits, [lane_count(old) // factor])
        return expressions.cast(self.type_name(op, self._wider_types[key]), operand)

    @print_operation.register
    def _(self, op: vector.BitcastOp) -> None:
        source = self._printer.expression(op.source)
        self._define(op, op.result, lambda name: expressions.cast(name, source).text)

    @print_operation.register
    def _(self, op: vector.BroadcastOp) -> None:
        if isinstance(source_type := op.source.type, VectorType):
            raise self._printer.refuse(op, f"expected a scalar, got {cast(Attribute, source_type)}")
        source = self._printer.expression(op.source)
        if source.precedence < Precedence.PRIMARY or source.text.endswith("]"):  # it is spelled once for every lane
            element = self._printer.scalar_type(op.source.type)
            name = self._printer.names.fresh(None, "lane")
            self._printer.line(f"const {element} {name} = {source};")
            source = Expression(name)
        lanes = lane_count(op.vector.type)
        self._define(op, op.vector, lambda name: _literal(name, [source] * lanes))

    @print_operation.register
    def _(self, op: arith.ConstantOp) -> None:
        if not isinstance(op.value, DenseIntOrFPElementsAttr):
            raise self._printer.refuse(op, f"expected a number or a dense vector, got {op.value}")
        lanes = [self._lane(attribute) for attribute in op.value.iter_attrs()]
        self._define(op, op.result, lambda name: _literal(name, lanes))

    def _lane(self, attribute: IntegerAttr | FloatAttr) -> Expression:
        if isinstance(attribute, FloatAttr):
            return self._printer.float_literal(attribute)
        return expressions.literal(integer_value(attribute))

    @print_operation.register
    def _(self, op: vector.CreateMaskOp) -> None:
        lanes = lane_count(op.mask_vector.type)
        if not lanes:
            raise self._printer.refuse(op, f"expected a mask of one dimension, got {op.mask_vector.type}")
        size = self._printer.expression(op.mask_dim_sizes[0])
        if size.constant is None and not size.text.isidentifier():
            name = self._printer.names.fresh(None, "lanes")
            self._printer.line(f"const int64_t {name} = {size};")
            size = Expression(name)
        none, all_lanes = expressions.literal(0), expressions.literal(lanes)
        if size.constant is not None:
            count = expressions.literal(min(max(size.constant, 0), lanes))
        else:
            at_most = expressions.conditional(expressions.compare("<", size, all_lanes), size, all_lanes)
            count = expressions.conditional(expressions.compare(">", size, none), at_most, none)
        if count.constant is not None:
            self._printer.bind(op.mask_vector, count)
        else:
            self._printer.line(f"const int64_t {self._printer.declare(op.mask_vector, 'mask')} = {count};")

    @print_operation.register
    def _(self, op: vector.MaskedLoadOp) -> None:
        type_name = self.type_name(op, op.result.type)
        initial = self._printer.expression(op.pass_thru)
        name = self._printer.declare(op.result)
        self._printer.line(f"{type_name} {name} = {initial};")
        for lane, place, size in self._pieces(op, name):
            self._printer.line(f"memcpy({lane}, {place}, {size});")

    @print_operation.register
    def _(self, op: vector.MaskedStoreOp) -> None:
        self.type_name(op, op.value_to_store.type)
        has_mask = self._has_mask(op)
        self._printer.prelude.parts |= has_mask
        self._ask_ahead(op, ", 1")
        store = "LAYOUT_STORE_PART" if has_mask else "memcpy"
        for lane, place, size in self._pieces(op, str(self._printer.operands(op)[-1])):
            self._printer.line(f"{store}({place}, {lane}, {size});")

    def _has_mask(self, op: vector.MaskedStoreOp) -> bool:
        vector_bytes = lane_count(op.value_to_store.type) * self._element_bytes(op.value_to_store.type)
        return constant_mask(op.mask) is None and vector_bytes == MASKED_BYTES

    def _ask_ahead(self, op: vector.LoadOp | vector.StoreOp | vector.MaskedStoreOp, near: str) -> None:
        """What an access asks for, with the arguments `near` unless it is to come into a further cache."""
        if isinstance(ahead := op.attributes.get("prefetch"), IntegerAttr):
            place = self._place(op, op.base, list(op.indices))
            locality = op.attributes.get("locality")
            hint = f", 0, {locality.value.data}" if isinstance(locality, IntegerAttr) else near
            times = op.attributes.get("times")
            distance = f" + {ahead.value.data}" if ahead.value.data else ""
            for _ in range(times.value.data if isinstance(times, IntegerAttr) else 1):
                self._printer.line(f"__builtin_prefetch({place}{distance}{hint});")
            if "both_lines" in op.attributes and isinstance(op, vector.StoreOp):
                last = ahead.value.data + lane_count(op.vector.type) - 1
                self._printer.line(f"__builtin_prefetch({place} + {last}{hint});")

    def _pieces(
        self, op: vector.MaskedLoadOp | vector.MaskedStoreOp, vector_name: str
    ) -> Iterator[tuple[str, str, Expression]]:
        """
        Where each run of lanes that are on lies in the vector and in the buffer, and its bytes, for memcpy.

        It touches nothing else, and with a constant size becomes plain moves.
        """
        element = self._printer.element_type(op, op.base.type)
        for start, count in self._runs(op, op.mask):
            self._printer.prelude.headers.add("string.h")
            index = self._printer.expression(op.indices[0]) if op.indices else expressions.literal(0)
            place = f"&{self._printer.expression(op.base)}[{expressions.add(index, expressions.literal(start))}]"
            lane = f"(char *)&{vector_name} + {start} * sizeof({element})" if start else f"&{vector_name}"
            if isinstance(op, vector.MaskedStoreOp):
                lane = lane.replace("(char *)", "(const char *)")
            yield lane, place, expressions.multiply(count, Expression(f"sizeof({element})"))

    def _runs(self, op: Operation, mask: SSAValue) -> list[tuple[int, Expression]]:
        lanes = constant_mask(mask)
        if lanes is None:
            if not isinstance(mask.owner, vector.CreateMaskOp):
                raise self._printer.refuse(op, "expected a mask that is a constant or made by vector.create_mask")
            return [(0, self._printer.expression(mask))]
        runs: list[tuple[int, Expression]] = []
        for is_on, group in groupby(range(len(lanes)), key=lambda lane: lanes[lane]):
            run = list(group)
            if is_on:
                runs.append((run[0], expressions.literal(len(run))))
        return runs

    def fence(self) -> None:
        """Order the streaming stores printed so far before whatever follows."""
        if self.is_streaming:
            self._printer.line("LAYOUT_FENCE();")
        self.is_streaming = False


def _literal(type_name: str, lanes: list[Expression]) -> str:
    if all(lane.constant == 0 or lane.text in ("0.0", "0.0f") for lane in lanes):
        return f"({type_name}){{0}}"
    return f"({type_name}){{{', '.join(lane.text for lane in lanes)}}}"
