"""Lowered IR to the statements that C and OpenCL C share: loops, conditions, index arithmetic, loads and stores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache

from xdsl.dialects import affine, arith, func, memref, scf
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from layout_ir.backends import arithmetic, expressions
from layout_ir.backends.constants import integer_value
from layout_ir.backends.expressions import Expression, Precedence
from layout_ir.backends.names import Names, Vocabulary
from layout_ir.backends.rules import RulesOfOperations
from layout_ir.backends.uses import Uses, read_can_move
from layout_ir.dialects.types import is_buffer
from layout_ir.errors import LayoutError

_LONGEST_FOLDED = 72
"""Characters of an expression that is still read well inside another one."""

Count = tuple[SSAValue, SSAValue, SSAValue, SSAValue]
"""A loop's index, lower bound, upper bound and step."""


def is_flat(buffer: MemRefType[Attribute]) -> bool:
    """Whether an index into the buffer is an offset from its pointer."""
    return buffer.get_num_dims() <= 1 and isinstance(buffer.layout, NoneAttr)


@cache  # asked for every access
def _flat_element(buffer: Attribute) -> Attribute | None:
    """The element type of a flat buffer."""
    return buffer.element_type if is_buffer(buffer) and is_flat(buffer) else None


class FamilyPrinter(ABC):
    """
    Prints the bodies of lowered functions, line by line.

    Every value is a name or an expression that its only user folds in. What a language adds (vectors, the parallel
    loop, functions, types) its subclass prints.
    """

    vocabulary: Vocabulary
    index_type: str

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names = Names(self.vocabulary, ())
        self.uses: Uses
        self._depth = 0
        self._values: dict[SSAValue, Expression] = {}

    @abstractmethod
    def scalar_type(self, element: Attribute) -> str:
        """The type that carries the bits of an element; raises `LayoutError` if there is none."""

    @abstractmethod
    def float_literal(self, value: FloatAttr) -> Expression:
        """A literal, or whatever else is exactly the value's bits."""

    @abstractmethod
    def print_parallel(self, op: scf.ParallelOp, counts: Sequence[Count]) -> None:
        """A parallel loop over `counts`, one or more."""

    @abstractmethod
    def print_other(self, op: Operation) -> None:
        """An operation without a rule here; raises `LayoutError` (`refuse`) if the language has none either."""

    def refuse(self, op: Operation, detail: str = "") -> LayoutError:
        """The error for an operation that cannot be printed."""
        return LayoutError(
            f"{self.vocabulary.language}: no rule for operation '{op.name}'{': ' if detail else ''}{detail}"
        )

    # Lines

    def line(self, text: str) -> None:
        """One line at the present depth."""
        self.lines.append("  " * self._depth + text)

    @contextmanager
    def braces(self, head: str) -> Generator[None]:
        """`head {`, what is printed inside with a scope of its own, `}`."""
        self.line(f"{head} {{".lstrip())
        self._depth += 1
        with self.names.scope():
            yield
        self._depth -= 1
        self.line("}")

    # Values

    def expression(self, value: SSAValue) -> Expression:
        """The expression of a value that was printed before."""
        return self._values[value]

    def bind(self, value: SSAValue, expression: Expression) -> None:
        """Let `value` stand for an expression."""
        self._values[value] = expression

    def declare(self, value: SSAValue, default: str = "v") -> str:
        """A new name for a value, after its hint in the IR."""
        name = self.names.fresh(value.name_hint, default)
        self.bind(value, Expression(name))
        return name

    def define(self, value: SSAValue, expression: Expression, *, fold: bool | None = None) -> None:
        """Make `value` from an expression: folded into its one use where that reads well, else a constant local."""
        if fold is None:
            fold = self._folds(value, expression)
        if fold:
            self.bind(value, expression)
            return
        type_name = self.scalar_type(value.type)
        self.line(f"const {type_name} {self.declare(value)} = {expression};")

    def _folds(self, value: SSAValue, expression: Expression) -> bool:
        if expression.constant is not None or expression.text.isidentifier():
            return True
        user = self.uses.only_user(value)
        return (
            user is not None
            and user.parent is value.owner.parent
            and expression.precedence > Precedence.CONDITIONAL
            and len(expression.text) <= _LONGEST_FOLDED
        )

    def operands(self, op: Operation) -> list[Expression]:
        """The expressions of an operation's operands; those that nothing names are empty."""
        return [self._values.get(operand, Expression("")) for operand in op.operands]

    def element(self, op: Operation, buffer: SSAValue, indices: Sequence[SSAValue]) -> Expression:
        """`buffer[index]` of a flat buffer."""
        self.element_type(op, buffer.type)
        index = self.expression(indices[0]).text if indices else "0"
        return Expression(f"{self.expression(buffer)}[{index}]")

    def element_type(self, op: Operation, buffer: Attribute) -> str:
        """The type of the elements of a flat buffer; raises `LayoutError` for any other buffer."""
        element = _flat_element(buffer)
        if element is None:
            raise self.refuse(op, f"expected a flat memref (one dimension, no layout), got {buffer}")
        return self.scalar_type(element)

    # Operations

    def print_block(self, block: Block) -> None:
        """Every live operation of a block."""
        for op in block.ops:
            if self.uses.is_live(op):
                self.print_operation(op)

    @RulesOfOperations
    def print_operation(self, op: Operation) -> None:
        """The lines of one operation."""
        if type(op) in arithmetic.ARITHMETIC:
            combined = arithmetic.combine(op, self.operands(op), self.scalar_type)
            if combined is not None:
                self.define(op.results[0], combined)
                return
        self.print_other(op)

    @print_operation.register
    def _(self, op: arith.ConstantOp) -> None:
        match op.value:
            case IntegerAttr(type=IndexType() | IntegerType()):
                self.define(op.result, expressions.literal(integer_value(op.value)), fold=True)
            case FloatAttr():
                self.define(op.result, self.float_literal(op.value), fold=True)
            case _:
                self.print_other(op)

    @print_operation.register
    def _(self, op: affine.ApplyOp) -> None:
        affine_map = op.map.data
        result = expressions.affine(affine_map.results[0], affine_map.num_dims, self.operands(op))
        self.define(op.result, result)

    @print_operation.register
    def _(self, op: affine.MinOp) -> None:
        affine_map, operands = op.map.data, self.operands(op)
        parts = [expressions.affine(result, affine_map.num_dims, operands) for result in affine_map.results]
        least = parts[0]
        for part in parts[1:]:
            least = expressions.conditional(expressions.compare("<", least, part), least, part)
        self.define(op.result, least)

    @print_operation.register
    def _(self, op: memref.LoadOp) -> None:
        user = self.uses.only_user(op.res)
        self.define(op.res, self.element(op, op.memref, op.indices), fold=read_can_move(op, user))

    @print_operation.register
    def _(self, op: memref.StoreOp) -> None:
        self.line(f"{self.element(op, op.memref, op.indices)} = {self.expression(op.value)};")

    @print_operation.register
    def _(self, op: scf.ForOp) -> None:
        if op.iter_args:
            raise self.refuse(op, "expected a loop without iteration arguments")
        counts = self._multiple([(op.body.block.args[0], op.lb, op.ub, op.step)])
        self.print_loops(counts, op.body.block)

    @print_operation.register
    def _(self, op: scf.ParallelOp) -> None:
        if op.initVals:
            raise self.refuse(op, "expected a loop without reductions")
        if counts := self.parallel_counts(op):
            self.print_parallel(op, counts)
        else:
            self.print_loops(counts, op.body.block)

    def parallel_counts(self, op: scf.ParallelOp) -> list[Count]:
        """The loops of more than one trip that a parallel loop is made of, outermost first."""
        return self._multiple(list(zip(op.body.block.args, op.lowerBound, op.upperBound, op.step, strict=True)))

    def print_loops(self, counts: Sequence[Count], body: Block) -> None:
        """Nested loops around one body."""
        if not counts:
            self.print_block(body)
            return
        with self.names.scope(), self.braces(self._loop_head(*counts[0])):
            self.print_loops(counts[1:], body)

    def _loop_head(self, index: SSAValue, lower: SSAValue, upper: SSAValue, step: SSAValue) -> str:
        start, stop, stride = (self.expression(value) for value in (lower, upper, step))
        name = self.names.fresh_index(index.name_hint)
        self.bind(index, Expression(name))
        advance = f"{name}++" if stride.constant == 1 else f"{name} += {stride}"
        condition = expressions.compare("<", Expression(name), stop)
        return f"for ({self.index_type} {name} = {start}; {condition}; {advance})"

    def _multiple(self, counts: Sequence[Count]) -> list[Count]:
        """The loops of more than one trip; the index of any other stands for its one value."""
        multiple: list[Count] = []
        for index, lower, upper, step in counts:
            start, stop, stride = (self.expression(value).constant for value in (lower, upper, step))
            if start is not None and stop is not None and stride is not None and 0 < stop - start <= stride:
                self.bind(index, expressions.literal(start))
            else:
                multiple.append((index, lower, upper, step))
        return multiple

    @print_operation.register
    def _(self, op: scf.IfOp) -> None:
        if op.results:
            raise self.refuse(op, "expected a condition without results")
        with self.braces(f"if ({self.expression(op.cond)})"):
            self.print_block(op.true_region.block)
        if op.false_region.blocks and self._does_something(op.false_region.block):
            self.lines.pop()
            with self.braces("} else"):
                self.print_block(op.false_region.block)

    def _does_something(self, block: Block) -> bool:
        return any(self.uses.is_live(op) and not isinstance(op, scf.YieldOp) for op in block.ops)

    @print_operation.register
    def _(self, op: func.CallOp) -> None:
        if op.results:
            raise self.refuse(op, "expected a call without results")
        self.line(f"{op.callee.string_value()}({', '.join(str(operand) for operand in self.operands(op))});")

    @print_operation.register(scf.YieldOp)
    @print_operation.register(scf.ReduceOp)
    @print_operation.register(func.ReturnOp)
    def _(self, op: Operation) -> None:
        if op.operands:
            raise self.refuse(op, "expected a terminator without operands")
