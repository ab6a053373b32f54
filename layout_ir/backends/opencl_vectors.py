"""Vectors and pixels in OpenCL C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation, SSAValue

from layout_ir.backends import expressions
from layout_ir.backends.expressions import Expression
from layout_ir.backends.opencl_shuffles import MOST_LANES
from layout_ir.backends.opencl_types import bits_literal
from layout_ir.backends.rules import RulesOfOperations
from layout_ir.dialects.aligned import ALIGNED
from layout_ir.dialects.types import is_vector
from layout_ir.lowering.to_device_image_type import is_device_image
from layout_ir.lowering.to_device_staging import is_local

if TYPE_CHECKING:
    from layout_ir.backends.opencl_printer import OpenCLPrinter

LANES = (1, 2, 4, 8, 16, 32, 64)
"""Lanes that vectors may have; one of a single lane is a scalar."""

_DIGITS = "0123456789abcdef"


class VectorRules:
    """The rules of the vector dialect, on behalf of a kernel's printer."""

    def __init__(self, printer: OpenCLPrinter) -> None:
        self._printer = printer
        self._lanes: dict[SSAValue, list[Expression]] = {}
        """Vectors that are put together from scalars, and written down where they are used."""

    @RulesOfOperations
    def print_operation(self, op: Operation) -> None:
        """The lines of one operation on vectors."""
        raise self._printer.refuse(op)

    def type_name(self, op: Operation, value: Attribute) -> str:
        """A vector's type; raises `LayoutError` unless it has one dimension of a power of two of lanes, up to 64."""
        if not is_vector(value) or value.get_num_dims() != 1 or value.get_shape()[0] not in LANES:
            raise self._printer.refuse(op, f"expected a vector of a power of two of lanes up to 64, got {value}")
        return self._printer.shuffles.type_name(self._printer.scalar_type(value.element_type), value.get_shape()[0])

    def _define(self, op: Operation, value: SSAValue, text: str) -> None:
        self._printer.line(f"const {self.type_name(op, value.type)} {self._printer.declare(value)} = {text};")

    def _vector(self, op: Operation, value: SSAValue) -> str:
        if (lanes := self._lanes.get(value)) is None:
            return self._printer.expression(value).text
        return f"({self.type_name(op, value.type)})({', '.join(map(str, lanes))})"

    def _place(self, op: Operation, base: SSAValue, indices: Sequence[SSAValue]) -> str:
        """`base + index` of a flat buffer, or `(int2)(column, row)` of an image."""
        if is_device_image(base.type):
            row, column, lane = (self._printer.expression(index) for index in indices)
            if lane.constant != 0:
                raise self._printer.refuse(op, "expected a whole pixel, from its first lane on")
            return f"(int2)({column}, {row})"
        self._printer.element_type(op, base.type)
        return expressions.add(self._printer.expression(base), self._printer.expression(indices[0])).text

    def _check_pixel(self, op: Operation, kind: Attribute) -> None:
        if not is_vector(kind) or tuple(kind.get_shape()) != (4,):
            raise self._printer.refuse(op, f"expected a pixel of 4 lanes, got {kind}")

    @print_operation.register
    def _(self, op: vector.LoadOp) -> None:
        name, place = self.type_name(op, op.result.type), self._place(op, op.base, list(op.indices))
        base = self._printer.expression(op.base)
        if is_device_image(op.base.type):
            self._check_pixel(op, op.result.type)
            pixel = f"read_imageui({base}, {place})"
            self._define(op, op.result, pixel if name == "uint4" else f"convert_{name}({pixel})")
        else:
            lanes = lane_count(op.result)
            self._define(op, op.result, _load(_pointer(op, name, lanes), lanes, place))

    @print_operation.register
    def _(self, op: vector.StoreOp) -> None:
        name, place = self.type_name(op, op.vector.type), self._place(op, op.base, list(op.indices))
        base = self._printer.expression(op.base)
        if is_device_image(op.base.type):
            self._check_pixel(op, op.vector.type)
            if op.vector in self._lanes:  # made as what the device wants
                pixel = f"(uint4)({', '.join(map(str, self._lanes[op.vector]))})"
            else:
                pixel = self._vector(op, op.vector)
                pixel = pixel if name == "uint4" else f"convert_uint4({pixel})"
            self._printer.line(f"write_imageui({base}, {place}, {pixel});")
        else:
            lanes, value = lane_count(op.vector), self._vector(op, op.vector)
            self._printer.line(_store(_pointer(op, name, lanes), lanes, place, value))

    @print_operation.register
    def _(self, op: vector.BroadcastOp) -> None:
        kind = op.vector.type
        self.type_name(op, kind)
        self._lanes[op.vector] = [self._scalar(op.source)] * kind.get_shape()[0]

    @print_operation.register
    def _(self, op: vector.InsertOp) -> None:
        self.type_name(op, op.result.type)
        (position,) = op.static_position.get_values()
        if op.dest not in self._lanes or position == DYNAMIC_INDEX:
            raise self._printer.refuse(op, "expected a known lane of a vector that is made of scalars")
        lanes = list(self._lanes[op.dest])
        lanes[position] = self._scalar(op.source)
        self._lanes[op.result] = lanes

    def _scalar(self, value: SSAValue) -> Expression:
        """A value that may be written down more than once, and later than where it is made."""
        expression = self._printer.expression(value)
        if expression.constant is not None or expression.text.isalnum() or expression.text.isidentifier():
            return expression
        name = self._printer.names.fresh(value.name_hint, "v")
        self._printer.line(f"const {self._printer.scalar_type(value.type)} {name} = {expression};")
        self._printer.bind(value, Expression(name))
        return Expression(name)

    @print_operation.register
    def _(self, op: vector.ExtractOp) -> None:
        self.type_name(op, op.vector.type)
        (position,) = op.static_position.get_values()
        if op.vector in self._lanes and position != DYNAMIC_INDEX:
            self._printer.define(op.result, self._lanes[op.vector][position])
            return
        pixel = Expression(self._vector(op, op.vector))
        if position != DYNAMIC_INDEX:
            self._printer.define(op.result, Expression(f"{pixel}.s{_DIGITS[position]}"))
            return
        lane = self._printer.expression(op.dynamic_position[0])
        count = lane_count(op.vector)
        chosen = Expression(f"{pixel}.s{_DIGITS[count - 1]}")
        for number in reversed(range(count - 1)):
            is_lane = expressions.compare("==", lane, expressions.literal(number))
            chosen = expressions.conditional(is_lane, Expression(f"{pixel}.s{_DIGITS[number]}"), chosen)
        self._printer.define(op.result, chosen, fold=False)

    @print_operation.register
    def _(self, op: vector.ShuffleOp) -> None:
        if op.v1.type != op.v2.type:
            raise self._printer.refuse(op, f"expected two vectors of one type, got {op.v1.type} and {op.v2.type}")
        self.type_name(op, op.v1.type)
        result = self.type_name(op, op.result.type)
        name = self._printer.shuffles.name(self.type_name(op, op.v1.type), result, op.mask.get_values())
        self._define(op, op.result, f"{name}({self._vector(op, op.v1)}, {self._vector(op, op.v2)})")

    @print_operation.register
    def _(self, op: arith.ConstantOp) -> None:
        if not isinstance(op.value, DenseIntOrFPElementsAttr):
            raise self._printer.refuse(op, f"expected a number or a dense vector, got {op.value}")
        name = self.type_name(op, op.result.type)
        literals = [bits_literal(attribute) for attribute in op.value.iter_attrs()]
        text = literals[0] if len(set(literals)) == 1 else ", ".join(literals)
        self._printer.bind(op.result, Expression(f"({name})({text})"))


def lane_count(value: SSAValue) -> int:
    """Lanes of a vector of one dimension."""
    assert is_vector(value.type)
    return value.type.get_shape()[0]


def _pointer(op: vector.LoadOp | vector.StoreOp, name: str, lanes: int) -> str | None:
    """The type of a pointer to vectors in a buffer; None where only OpenCL's own functions reach them."""
    space = "__local" if is_local(op.base.type) else "__global"
    if ALIGNED in op.attributes:
        return f"{space} {name} *"
    return f"{space} {name}_unaligned *" if lanes > MOST_LANES else None


def _load(pointer: str | None, lanes: int, place: str) -> str:
    if lanes == 1:
        return f"*({place})"
    return f"vload{lanes}(0, {place})" if pointer is None else f"*(const {pointer})({place})"


def _store(pointer: str | None, lanes: int, place: str, value: str) -> str:
    if lanes == 1:
        return f"*({place}) = {value};"
    return f"vstore{lanes}({value}, 0, {place});" if pointer is None else f"*({pointer})({place}) = {value};"
