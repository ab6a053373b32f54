"""Functions of lowered modules in C: signatures, parallel loops, buffers, and where streaming stores are fenced."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import cast

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import FloatAttr, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from layout_ir.backends import expressions
from layout_ir.backends.c_family import Count, FamilyPrinter
from layout_ir.backends.c_prelude import Prelude
from layout_ir.backends.c_types import element_type
from layout_ir.backends.c_vectors import VectorRules
from layout_ir.backends.c_vocabulary import C_VOCABULARY, OUTLINED
from layout_ir.backends.constants import c_float
from layout_ir.backends.expressions import Expression
from layout_ir.backends.names import Names
from layout_ir.backends.rules import RulesOfOperations
from layout_ir.backends.uses import Uses, is_private, is_streaming, is_unfenced
from layout_ir.dialects.types import is_buffer
from layout_ir.lowering.loop_builder import NO_WAIT
from layout_ir.lowering.private_functions import NO_INLINE

_LINE_LENGTH = 100
_ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""


class CPrinter(FamilyPrinter):
    """Prints one function of a lowered module."""

    vocabulary = C_VOCABULARY
    index_type = "int64_t"

    def __init__(
        self,
        prelude: Prelude,
        functions: dict[str, func.FuncOp],
        written: dict[str, set[int]],
        parallel: Collection[str],
    ) -> None:
        super().__init__()
        self.prelude = prelude
        self._functions = functions
        self._written = written
        self._parallel = parallel
        self._vectors = VectorRules(self)

    def scalar_type(self, element: Attribute) -> str:
        name = element_type(element)
        self.prelude.floats |= name in ("float", "double")
        return name

    def float_literal(self, value: FloatAttr) -> Expression:
        return c_float(value)

    def print_function(self, op: func.FuncOp) -> None:
        """A function's definition, or its prototype if it has no body."""
        if op.is_declaration:
            self.line(f"{self.prototype(op)};")
            return
        if len(op.body.blocks) != 1:
            raise self.refuse(op, "expected a body of one block (structured control flow)")
        self.uses = Uses(op, self._parallel)
        head = self.prototype(op)
        self.names = Names(self.vocabulary, self._functions)
        body = op.body.blocks[0]
        with self.braces(head):
            names = [self.declare(argument, f"arg{index}") for index, argument in enumerate(body.args)]
            for name, argument in zip(names, body.args, strict=True):
                if not self.uses.count(argument):
                    self.line(f"(void){name};")
            self.print_block(body)
            if is_unfenced(op):
                self._vectors.is_streaming = False
            self._vectors.fence()

    def prototype(self, op: func.FuncOp, *, restrict: str = "restrict ") -> str:
        """The head of a function; raises `LayoutError` for a name or a type that C has not."""
        if op.function_type.outputs.data:
            raise self.refuse(op, "expected a function without results")
        names = Names(self.vocabulary, self._functions)
        written = self._written[op.sym_name.data]
        parameters: list[str] = []
        for index, kind in enumerate(op.function_type.inputs):
            hint = None if op.is_declaration else op.body.blocks[0].args[index].name_hint
            name = names.fresh(hint, f"arg{index}")
            if isinstance(kind, MemRefType):
                constness = "" if index in written else "const "
                parameters.append(f"{constness}{self.element_type(op, cast(Attribute, kind))} *{restrict}{name}")
            else:
                parameters.append(f"{self.scalar_type(kind)} {name}")
        head = f"{self._linkage(op)}void {self.vocabulary.function_name(op.sym_name.data)}("
        if len(head) + len(", ".join(parameters)) > _LINE_LENGTH:
            return head + "\n    " + ",\n    ".join(parameters) + ")"
        return f"{head}{', '.join(parameters) or 'void'})"

    def _linkage(self, op: func.FuncOp) -> str:
        """What stands in front of a function that only the module sees."""
        if op.is_declaration or not is_private(op):
            return ""
        return OUTLINED if NO_INLINE in op.attributes else "static "

    def print_block(self, block: Block) -> None:
        """
        Every live operation of a block, with a fence between streaming stores and threads that might read them.

        The last fence of a function orders its stores; a block that is repeated and has threads in it needs its own.
        """
        has_parallel = False
        for op, *others in self._together(block):
            if op.regions or (self._vectors.is_streaming and type(op) is func.CallOp):
                parallel = self.uses.contains_parallel(op)
                has_parallel |= parallel
                if parallel:
                    self._vectors.fence()
            if others:
                self._print_team([cast("scf.ParallelOp", loop) for loop in (op, *others)])
            else:
                self.print_operation(op)
                self._vectors.is_streaming |= self._leaves_a_fence(op)
        if has_parallel:
            self._vectors.fence()

    def _together(self, block: Block) -> Iterator[list[Operation]]:
        """The live operations of a block, one by one but for parallel loops with nothing but constants between them."""
        loops: list[Operation] = []
        for op in block.ops:
            if not self.uses.is_live(op):
                continue
            kind = type(op)  # not `isinstance`, which takes much longer for operations
            if kind is arith.ConstantOp:
                yield [op]
            elif isinstance(op, scf.ParallelOp) and not self._streams(op) and self.parallel_counts(op):
                loops.append(op)
            else:
                if loops:
                    yield loops
                loops = []
                yield [op]
        if loops:
            yield loops

    def _print_team(self, loops: Sequence[scf.ParallelOp]) -> None:
        """Parallel loops one after the other for the same threads, which it takes a microsecond or more to wake."""
        self._pragma("omp parallel")
        with self.braces(""):
            for loop in loops:
                counts = self.parallel_counts(loop)
                nowait = " nowait" if NO_WAIT in loop.attributes or loop is loops[-1] else ""
                self._pragma(f"omp for{_collapse(counts)}{nowait}")
                self.print_loops(counts, loop.body.block)

    def print_parallel(self, op: scf.ParallelOp, counts: Sequence[Count]) -> None:
        collapse = _collapse(counts)
        if not self._streams(op):
            several = self._several(counts)
            if several is None or _has_straight_line_code(op):
                self._pragma(f"omp parallel for{collapse}{_clause(several)}")
                self.print_loops(counts, op.body.block)
                return
            # a clause that does not hold still costs half a microsecond: loops of a few lines are printed twice
            with self.braces(f"if ({several})"):
                self._pragma(f"omp parallel for{collapse}")
                self.print_loops(counts, op.body.block)
            self.lines.pop()
            with self.braces("} else"):
                self.print_loops(counts, op.body.block)
            return
        self._pragma("omp parallel")  # every thread has to fence its own streaming stores
        with self.braces(""):
            self._pragma(f"omp for{collapse} nowait")
            self.print_loops(counts, op.body.block)
            self._vectors.fence()

    def _several(self, counts: Sequence[Count]) -> Expression | None:
        """Whether loops turn out to have more than one trip; None where their steps are always the same."""
        conditions: list[Expression] = []
        for _, first, end, step in counts:
            start, stop, stride = (self.expression(value) for value in (first, end, step))
            if stride.constant is not None:
                return None
            conditions.append(expressions.compare("<", expressions.add(start, stride), stop))
        several = conditions[0]
        for condition in conditions[1:]:
            several = expressions.disjunction(several, condition)
        return several

    def _streams(self, op: Operation) -> bool:
        return any(is_streaming(inner) or self._leaves_a_fence(inner) for inner in op.walk())

    def _leaves_a_fence(self, op: Operation) -> bool:
        """Whether an operation is the call of a function whose streaming stores have to be fenced after it."""
        if type(op) is not func.CallOp:  # not `isinstance`, which takes much longer for operations
            return False
        return is_unfenced(self._functions.get(op.callee.string_value()))

    def _pragma(self, text: str) -> None:
        self.lines += ["#ifdef _OPENMP", f"#pragma {text}", "#endif"]  # unknown pragmas are warned about

    def print_other(self, op: Operation) -> None:
        self._print_buffers(op)

    @RulesOfOperations
    def _print_buffers(self, op: Operation) -> None:
        self._vectors.print_operation(op)

    @_print_buffers.register
    def _(self, op: memref.AllocOp) -> None:
        element, count = self.element_type(op, op.memref.type), self._count(op, op.memref.type, op.dynamic_sizes)
        wanted = op.alignment.value.data if op.alignment is not None else 0
        alignment = max(_ALIGNMENT, wanted)
        size = expressions.multiply(count, Expression(f"sizeof({element})"))
        self.prelude.allocations = True
        name = self.declare(op.memref, "buffer")
        self.line(f"{element} *restrict {name} = layout_allocate({alignment}, {size});")

    @_print_buffers.register
    def _(self, op: memref.CastOp) -> None:
        self.bind(op.dest, self.expression(op.source))  # a pointer tells no sizes

    @_print_buffers.register
    def _(self, op: memref.AllocaOp) -> None:
        element, count = self.element_type(op, op.memref.type), self._count(op, op.memref.type, ())
        wanted = op.alignment.value.data if op.alignment is not None else 0
        name = self.declare(op.memref, "buffer")
        self.line(f"_Alignas({max(_ALIGNMENT, wanted)}) {element} {name}[{count}];")

    @_print_buffers.register
    def _(self, op: memref.ExtractAlignedPointerAsIndexOp) -> None:
        pointer = expressions.cast("uintptr_t", self.expression(op.source))
        self.define(op.aligned_pointer, expressions.cast(self.index_type, pointer))

    @_print_buffers.register
    def _(self, op: memref.DeallocOp) -> None:
        self.prelude.headers.add("stdlib.h")
        self.line(f"free({self.expression(op.memref)});")

    @_print_buffers.register
    def _(self, op: memref.CopyOp) -> None:
        element = self.element_type(op, op.source.type)
        count = self._count(op, op.source.type, ())
        size = expressions.multiply(count, Expression(f"sizeof({element})"))
        self.prelude.headers.add("string.h")
        self.line(f"memcpy({self.expression(op.destination)}, {self.expression(op.source)}, {size});")

    def _count(self, op: Operation, kind: Attribute, sizes: Sequence[SSAValue]) -> Expression:
        assert is_buffer(kind)
        if kind.has_static_shape():
            return expressions.literal(kind.element_count())
        if not sizes:
            raise self.refuse(op, f"expected a buffer of a known size, got {kind}")
        return self.expression(sizes[0])


def _collapse(counts: Sequence[Count]) -> str:
    return f" collapse({len(counts)})" if len(counts) > 1 else ""


def _clause(several: Expression | None) -> str:
    """The clause without which threads would be woken for loops of one trip."""
    return "" if several is None else f" if({several})"


def _has_straight_line_code(op: scf.ParallelOp) -> bool:
    """Whether the straight-line code of tiles is in a loop, and not in functions that it calls."""
    return any(inner.name.startswith("vector.") for inner in op.body.walk())
