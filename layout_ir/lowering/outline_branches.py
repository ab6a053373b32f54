"""
`layout-outline-branches`: what a function does in each of several cases becomes a private function.

A function with sizes decides by them between many loops. A compiler that sees all of them at once keeps the numbers of
each through all the others, and has few registers left for any: on Zen 4 copies in the caches are 1.01 times as fast in
the mean, up to 1.09, where every case has a function that computes what it needs. Functions can also be compiled at the
same time: of one without sizes, which decides by where its destination begins, the cases become functions where this
takes long enough to be worth it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from layout_ir.dialects.nested import nested
from layout_ir.lowering.private_functions import NO_INLINE, PrivateFunctions, private_function

LEAST_OPERATIONS = 300
"""Operations of each of two cases that are worth compiling at the same time."""


@dataclass(frozen=True)
class OutlineBranchesPass(ModulePass):
    """Make functions of the loops that a function chooses from by sizes, or that are long; all others stay."""

    name = "layout-outline-branches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [function for function in op.ops if isinstance(function, FuncOp)]:
            if NO_INLINE not in function.attributes and (_takes_sizes(function) or _has_long_branches(function)):
                _outline(function)


def _takes_sizes(function: FuncOp) -> bool:
    return any(isinstance(kind, IndexType) for kind in function.function_type.inputs)


def _has_long_branches(function: FuncOp) -> bool:
    """Whether two cases or more are long."""
    found = (branch for body in function.body.blocks for branch in branches(body))
    lengths = (sum(len(nested(op)) for op in branch.ops) for branch in found)
    return sum(length >= LEAST_OPERATIONS for length in lengths) > 1


def _outline(function: FuncOp) -> None:
    """Put a function in front of another for each of its branches; those that do the same have one together."""
    functions = PrivateFunctions(function, "")
    made: list[FuncOp] = []
    for body in function.body.blocks:
        for branch in list(branches(body)):
            arguments, case = _function_of(branch)
            same = next((other for other in made if _do_the_same(case, other)), None)
            if same is None:
                made.append(functions.add(case))
            else:
                case.erase()
            name = (same or case).sym_name.data
            Rewriter.insert_op(CallOp(name, arguments, []), InsertPoint.at_start(branch))
        _join_same(body)
    _erase_unused(function)


def _join_same(block: Block) -> None:
    """Make the call that both alternatives of a choice make without the choice."""
    for choice in list(block.ops):
        if not isinstance(choice, scf.IfOp) or choice.results:
            continue
        alternatives = [inner for region in choice.regions for inner in region.blocks]
        for alternative in alternatives:
            _join_same(alternative)
        match [_only_call(alternative) for alternative in alternatives]:
            case [CallOp() as call, CallOp() as other] if _calls_the_same(call, other):
                call.detach()
                Rewriter.insert_op(call, InsertPoint.before(choice))
                choice.detach()
                choice.erase()
            case _:
                pass


def _only_call(block: Block) -> CallOp | None:
    """The call that is all that a block does; None where it does anything else."""
    acting = [op for op in block.ops if not isinstance(op, scf.YieldOp) and not is_side_effect_free(op)]
    return acting[0] if len(acting) == 1 and isinstance(acting[0], CallOp) else None


def _calls_the_same(call: CallOp, other: CallOp) -> bool:
    return call.callee == other.callee and tuple(call.operands) == tuple(other.operands)


def _do_the_same(function: FuncOp, other: FuncOp) -> bool:
    return function.function_type == other.function_type and function.body.is_structurally_equivalent(other.body)


def branches(block: Block) -> Iterator[Block]:
    """The innermost alternatives that hold loops, and are inside of none."""
    for choice in block.ops:
        if not isinstance(choice, scf.IfOp) or choice.results:
            continue
        for alternative in (inner for region in choice.regions for inner in region.blocks):
            if any(isinstance(op, scf.ForOp | scf.ParallelOp) for op in alternative.ops):
                yield alternative
            else:
                yield from branches(alternative)


def _function_of(branch: Block) -> tuple[list[SSAValue], FuncOp]:
    """The values that a branch works on, and a function of these that holds its operations from now on."""
    moved = [op for op in branch.ops if not isinstance(op, scf.YieldOp)]
    inside = {op: None for outer in moved for op in nested(outer)}
    captured = {value: None for op in inside for value in op.operands if _scope(value) not in inside}
    arguments = _origins(captured)
    kinds = [value.type for value in arguments]
    body = Block(arg_types=kinds)
    known: dict[SSAValue, SSAValue] = dict(zip(arguments, body.args, strict=True))
    for value, argument in known.items():
        argument.name_hint = value.name_hint
    for value in captured:
        _compute(value, body, known)
        known[value].name_hint = known[value].name_hint or value.name_hint
    for op in inside:  # which are fewer than the uses that a value has in all branches
        for position, operand in enumerate(op.operands):
            if operand in captured:
                op.operands[position] = known[operand]
    for op in moved:
        op.detach()
    body.add_ops(moved)
    return arguments, private_function(kinds, body)


def _scope(value: SSAValue) -> Operation | None:
    """The operation that makes a value, or whose block takes it."""
    return value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()


def _maker(value: SSAValue) -> Operation | None:
    """The operation that makes a value, where it may do so anywhere else as well."""
    op = value.owner
    return op if isinstance(op, Operation) and not op.regions and is_side_effect_free(op) else None


def _origins(values: Iterable[SSAValue]) -> list[SSAValue]:
    """What values are computed from: first the arguments of the function, in their order."""
    todo, found = list(values), dict[SSAValue, None]()
    while todo:
        value = todo.pop()
        maker = _maker(value)
        if maker is None:
            found[value] = None
        else:
            todo += maker.operands
    return sorted(found, key=lambda value: value.index if isinstance(value, BlockArgument) else math.inf)


def _compute(value: SSAValue, body: Block, known: dict[SSAValue, SSAValue]) -> None:
    """Add to a body what a value needs that is not known there, and the value itself."""
    if value in known:
        return
    maker = _maker(value)
    assert maker is not None
    for operand in maker.operands:
        _compute(operand, body, known)
    body.add_op(maker.clone(known))


def _erase_unused(function: FuncOp) -> None:
    """Erase what only the branches needed."""
    for op in list(function.walk(reverse=True)):
        if is_trivially_dead(op) or _is_unused_rest(op):
            op.detach()
            op.erase()


def _is_unused_rest(op: Operation) -> bool:
    """Whether nothing uses the rest of a division by a number, which has no effects as the number is not zero."""
    if not isinstance(op, arith.RemUIOp | arith.DivUIOp) or any(op.results[0].uses):
        return False
    return isinstance(op.operands[1].owner, arith.ConstantOp)
