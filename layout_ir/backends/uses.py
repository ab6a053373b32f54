"""What functions really use: no dead locals, `const` on what is never written, no private function without a caller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import cast

from xdsl.dialects import affine, arith, func, memref, scf, vector
from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineSymExpr
from xdsl.traits import is_side_effect_free

from layout_ir.dialects.casts import uncast
from layout_ir.dialects.nested import nested, of_kind
from layout_ir.lowering.private_functions import UNFENCED

_READS = {
    memref.LoadOp,
    memref.AllocOp,
    memref.AllocaOp,
    vector.LoadOp,
    vector.MaskedLoadOp,
    vector.CreateMaskOp,
    vector.BitcastOp,
    arith.SelectOp,
}
_WRITES = {memref.StoreOp, vector.StoreOp, vector.MaskedStoreOp, memref.CopyOp, func.CallOp}
_NAMED_OTHERWISE = {affine.ApplyOp, affine.MinOp, vector.MaskedLoadOp, vector.MaskedStoreOp}
_TWICE = {arith.MinUIOp, arith.MaxUIOp, arith.MinSIOp, arith.MaxSIOp}


class Uses:
    """
    How often the text of a function will name each of its values.

    `parallel`: the functions inside which other threads may run.
    """

    def __init__(self, function: func.FuncOp, parallel: Collection[str]) -> None:
        self._parallel_functions = parallel
        self._count: Counter[SSAValue] = Counter()
        self._users: dict[SSAValue, list[Operation]] = {}
        self._live: set[Operation] = set()
        self._parallel: set[Operation] = set()
        for block in function.body.blocks:
            self._visit(block)

    def is_live(self, operation: Operation) -> bool:
        """Whether the operation does something, or makes a value that is used by one that does."""
        return operation in self._live

    def count(self, value: SSAValue) -> int:
        """How often live operations name `value`."""
        return self._count[value]

    def only_user(self, value: SSAValue) -> Operation | None:
        """The one live operation that names `value`, and names it once."""
        return self._users[value][0] if self._count[value] == 1 else None

    def contains_parallel(self, operation: Operation) -> bool:
        """Whether other threads may run inside the live operation."""
        return operation in self._parallel

    def _visit(self, block: Block) -> bool:
        """Look at the operations of a block, last one first; whether other threads may run inside of one."""
        has_parallel = False
        operation = block.last_op
        while operation is not None:
            if not self._is_dead(operation):
                self._live.add(operation)
                for operand, count in _named_operands(operation):
                    self._count[operand] += count
                    self._users.setdefault(operand, []).append(operation)
                inside = [self._visit(inner) for region in operation.regions for inner in region.blocks]
                if self._runs_threads(operation) or any(inside):
                    self._parallel.add(operation)
                    has_parallel = True
            operation = operation.prev_op
        return has_parallel

    def _runs_threads(self, operation: Operation) -> bool:
        kind = type(operation)  # not `isinstance`, which takes much longer for operations
        if kind is func.CallOp:
            return cast("func.CallOp", operation).callee.string_value() in self._parallel_functions
        return kind is scf.ParallelOp

    def _is_dead(self, operation: Operation) -> bool:
        """Whether nothing is lost without the operation, all whose users have been visited."""
        results = operation.results
        if not results or any(result in self._count for result in results) or "prefetch" in operation.attributes:
            return False
        return type(operation) in _READS or is_side_effect_free(operation)


def constant_mask(mask: SSAValue) -> list[bool] | None:
    """The lanes of a mask that is a constant, else None."""
    from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

    if isinstance(mask.owner, arith.ConstantOp) and isinstance(mask.owner.value, DenseIntOrFPElementsAttr):
        return [bool(lane) for lane in mask.owner.value.get_values()]
    return None


def _named_operands(operation: Operation) -> Iterator[tuple[SSAValue, int]]:
    if type(operation) not in _NAMED_OTHERWISE:
        repeat = 2 if type(operation) in _TWICE else 1
        for operand in operation.operands:
            yield operand, repeat
    elif isinstance(operation, affine.ApplyOp | affine.MinOp):
        operands = operation.operands
        repeat = 1 if isinstance(operation, affine.ApplyOp) else 2
        for position in _named_positions(operation.map):
            yield operands[position], repeat
    elif isinstance(operation, vector.MaskedLoadOp | vector.MaskedStoreOp):
        lanes = constant_mask(operation.mask)
        moves = lanes is None or any(lanes)
        if moves or "prefetch" in operation.attributes:
            yield from ((operand, 1) for operand in (operation.base, *operation.indices))
        if lanes is None:
            yield operation.mask, 1
        if isinstance(operation, vector.MaskedLoadOp):
            yield operation.pass_thru, 1
        elif moves:
            yield operation.value_to_store, 1


def _named_positions(attribute: AffineMapAttr) -> list[int]:
    """The operands that the text of an affine map names, as often as it does."""
    dims = attribute.data.num_dims
    positions: list[int] = []
    for part in (part for result in attribute.data.results for part in result.dfs()):
        if isinstance(part, AffineDimExpr):
            positions.append(part.position)
        elif isinstance(part, AffineSymExpr):
            positions.append(dims + part.position)
    return positions


def read_can_move(load: memref.LoadOp, user: Operation | None) -> bool:
    """Whether reading only where `user`, a store in the same block, stores what was read gives the same value."""
    if not isinstance(user, memref.StoreOp) or user.value is not load.res or user.parent is not load.parent:
        return False
    between = load.next_op
    while between is not None and between is not user:
        if not (type(between) in _READS or is_side_effect_free(between)):
            return False
        between = between.next_op
    return between is user


def called_functions(module: ModuleOp) -> dict[str, func.FuncOp]:
    """The functions to print by name, in the module's order: all but private ones that no printed one calls."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
    needed: set[str] = set()
    todo = [name for name, op in functions.items() if not is_private(op)]
    while todo:
        name = todo.pop()
        if name in functions and name not in needed:
            needed.add(name)
            todo += called_by(functions[name])
    return {name: op for name, op in functions.items() if name in needed}


def called_by(function: func.FuncOp) -> list[str]:
    """The names of the functions that one calls, as often as it does and in that order."""
    return [op.callee.string_value() for op in of_kind(nested(function), func.CallOp)]


def is_private(function: func.FuncOp) -> bool:
    """Whether only the module itself sees the function."""
    return function.sym_visibility is not None and function.sym_visibility.data == "private"


def is_unfenced(function: func.FuncOp | None) -> bool:
    """Whether who calls a function orders the streaming stores that it makes."""
    return function is not None and is_private(function) and UNFENCED in function.attributes


def written_arguments(functions: dict[str, func.FuncOp]) -> dict[str, set[int]]:
    """Per function the positions of its arguments that it writes, itself or through what it calls."""
    written: dict[str, set[int]] = {
        name: set(range(len(op.function_type.inputs))) if op.is_declaration else set() for name, op in functions.items()
    }
    writing = {
        name: [op for op in nested(function) if type(op) in _WRITES]
        for name, function in functions.items()
        if not function.is_declaration
    }
    grown = True
    while grown:  # a fixed point, as functions may call each other in any order
        grown = False
        for name, operations in writing.items():
            targets = {uncast(target) for op in operations for target in _written_buffers(op, written)}
            arguments = functions[name].body.blocks[0].args
            found = {index for index, argument in enumerate(arguments) if argument in targets}
            grown |= found != written[name]
            written[name] = found
    return written


def parallel_functions(functions: dict[str, func.FuncOp]) -> set[str]:
    """The functions inside which other threads may run, in their own loops or in those of what they call."""
    found = {name for name, op in functions.items() if op.is_declaration or of_kind(nested(op), scf.ParallelOp)}
    callees = {name: {*called_by(op)} for name, op in functions.items()}
    while more := {name for name in functions if name not in found and callees[name] & found}:
        found |= more
    return found


def _written_buffers(operation: Operation, written: dict[str, set[int]]) -> Iterator[SSAValue]:
    match operation:
        case memref.StoreOp():
            yield operation.memref
        case vector.StoreOp() | vector.MaskedStoreOp():
            yield operation.base
        case memref.CopyOp():
            yield operation.destination
        case func.CallOp():
            for index in written.get(operation.callee.string_value(), set(range(len(operation.arguments)))):
                yield operation.arguments[index]
        case _:
            pass


def is_streaming(operation: Operation) -> bool:
    """Whether the operation stores past the caches."""
    hint = operation.properties.get("nontemporal")
    return isinstance(operation, vector.StoreOp) and isinstance(hint, IntegerAttr) and bool(hint.value.data)
