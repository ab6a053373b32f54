"""`layout-to-loops`: every copy becomes loops over the flat storage of its two buffers, by way of its plan."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    Signedness,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import PassFailedException
from xdsl.utils.hints import isa

from layout_ir.dialects.attributes import UndefAttr
from layout_ir.dialects.ops import CopyOp, StorageOp
from layout_ir.dialects.types import Stored, element_type_of, index_map_of, stored_type
from layout_ir.errors import LayoutError
from layout_ir.layouts.plan import CopyPlan
from layout_ir.layouts.symbols import is_symbolic
from layout_ir.layouts.unknown_plan import plan_copy, storage_size
from layout_ir.lowering.box_loops import Buffers, emit_box
from layout_ir.lowering.constants import Constants
from layout_ir.lowering.extent_values import ExtentValues
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.medium_copies import for_any_size, schedule_at_lines
from layout_ir.lowering.private_functions import PrivateFunctions
from layout_ir.lowering.quantities import Unknown
from layout_ir.lowering.schedule import choose_schedule
from layout_ir.lowering.small_copies import for_threads_that_pay, threads_pay_for_elements
from layout_ir.lowering.target import LoopOptions, Target
from layout_ir.lowering.to_device_builder import ParallelBuilder
from layout_ir.lowering.to_device_loops import Style, emit_parallel_plan
from layout_ir.lowering.vector_loops import emit_by_start, emit_vector_boxes
from layout_ir.lowering.worth_threads import WorthThreads


def storage_element_type(element: Attribute) -> Attribute:
    """The type that moves an element's bits in IR: integers lose their sign, which only arithmetic would need."""
    if isa(element, IntegerType) and element.signedness.data is not Signedness.SIGNLESS:
        return IntegerType(element.width.data)
    return element


def pad_constant(element: Attribute, pad: Attribute | None) -> IntegerAttr[IntegerType] | FloatAttr:
    """The value for pads as a constant of the element's storage type; zero where none is given."""
    storage = storage_element_type(element)
    if isa(storage, IntegerType):
        value = pad.value.data if isinstance(pad, IntegerAttr) else 0
        limit = 1 << storage.width.data
        signed = value % limit if storage.width.data == 1 else (value + limit // 2) % limit - limit // 2
        return IntegerAttr(signed, storage)
    assert isa(storage, AnyFloat)
    return FloatAttr(pad.value.data if isinstance(pad, FloatAttr) else 0.0, storage)


def plan_of(op: CopyOp) -> CopyPlan:
    """The plan of one copy; raises `LayoutError` where its layouts have no plan."""
    return plan_copy(index_map_of(op.source.type), index_map_of(op.destination.type), not isinstance(op.pad, UndefAttr))


class LowerCopy(RewritePattern):
    """One copy to loops."""

    def __init__(self, target: Target, device: bool, most_lanes: int, tile: int) -> None:
        self._most_lanes, self._tile = most_lanes, tile
        self._target = target
        self._vector_bytes = target.vector_bytes
        self._device = device
        self._constants: dict[Block, Constants] = {}
        self._extents: dict[Block, ExtentValues] = {}
        self._functions: dict[FuncOp, PrivateFunctions] = {}

    def _emit_vectors(self, builder: LoopBuilder, op: CopyOp, plan: CopyPlan, buffers: Buffers) -> None:
        source, destination = index_map_of(op.source.type), index_map_of(op.destination.type)
        width, cells = element_type_of(op.source.type).bytes, destination.cell_count
        elements, writes_pads = source.size, buffers.pad is not None
        usual = choose_schedule(self._target, width, cells, elements)
        if plan.unknown is not None:
            usual = for_any_size(self._target, usual, source, destination)
        usual = for_threads_that_pay(usual, self._target, plan, buffers.source_size, width)
        at_lines = schedule_at_lines(self._target, plan, width, cells, elements, buffers.source_size, writes_pads)
        if at_lines is None:
            emit_vector_boxes(builder, plan.boxes, buffers, usual)
        else:
            emit_by_start(builder, plan.boxes, buffers, at_lines, usual)

    def _constants_of(self, op: CopyOp) -> Constants:
        body = op.parent_block()
        assert body is not None
        return self._constants.setdefault(body, Constants(body))

    def _unknown(self, op: CopyOp, plan: CopyPlan) -> Unknown | None:
        """The values of what the plan has stand-ins for."""
        if plan.unknown is None:
            return None
        if self._device:
            raise LayoutError(f"expected sizes that are known for a device, got {op.source.type}")
        function = _function_around(op)
        if function is None:
            raise LayoutError(f"expected unknown sizes inside of a func.func only, got {op.source.type}")
        body = function.body.blocks[0]
        if body not in self._extents:
            constants = self._constants.setdefault(body, Constants(body))
            self._extents[body] = ExtentValues(function, constants)
        return self._extents[body].of(op.source, plan.unknown)

    def _functions_of(self, op: CopyOp) -> PrivateFunctions | None:
        """The functions of tiles that a copy may share with others in its function."""
        function = _function_around(op)
        if function is None or not isinstance(function.parent_op(), ModuleOp):
            return None
        return self._functions.setdefault(function, PrivateFunctions(function, "tile"))

    def _worth_threads(self, op: CopyOp, plan: CopyPlan) -> WorthThreads | None:
        """From which size on threads share a copy of unknown size; None where they always do."""
        if not self._target.share_bytes:
            return None
        cells = sum(box.cells for box in plan.boxes)
        moved = cells + sum(box.elements for box in plan.boxes)
        return WorthThreads(cells, moved, element_type_of(op.source.type).bytes, self._target.share_bytes)

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CopyOp, rewriter: PatternRewriter) -> None:
        try:
            plan = plan_of(op)
            _ = element_type_of(op.source.type).bytes  # packed types have index maps, but no loop moves them
            unknown = self._unknown(op, plan)
        except LayoutError as error:
            raise PassFailedException(f"layout-to-loops: {error}") from None
        functions = None if unknown is None else self._functions_of(op)
        worth_threads = None if unknown is None else self._worth_threads(op, plan)
        builder = ParallelBuilder(InsertPoint.before(op), self._constants_of(op), unknown, functions, worth_threads)
        source, destination = (_storage(builder, buffer) for buffer in (op.source, op.destination))
        pad = None
        if not isinstance(op.pad, UndefAttr):
            pad = builder.scalar(pad_constant(stored_type(op.destination.type).element_type, op.pad))
        cells = sum(box.cells for box in plan.boxes if not box.is_fill)
        sizes = [storage_size(index_map_of(side.type), plan) for side in (op.source, op.destination)]
        buffers = Buffers(source, destination, pad, sizes[0], sizes[1] or cells, cells)
        if self._device:
            width = element_type_of(op.source.type).bytes
            style = Style(width, self._vector_bytes, self._most_lanes, self._tile)
            emit_parallel_plan(builder, plan, buffers, style)
            rewriter.erase(op)
            return
        if plan.fill_first is not None and pad is not None:
            with builder.loop(0, plan.fill_first, "cell") as cell:
                builder.store(pad, destination, cell)
        if self._vector_bytes >= 2 * element_type_of(op.source.type).bytes:
            self._emit_vectors(builder, op, plan, buffers)
        else:
            threads = threads_pay_for_elements(self._target, plan)
            for box in plan.boxes:
                emit_box(builder, box, buffers, threads)
        if unknown is None:  # then no two boxes write the same cell
            builder.skip_waits()
        rewriter.erase(op)


def _function_around(op: Operation) -> FuncOp | None:
    """The function that an operation stands in."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        parent = parent.parent_op()
    return parent


def _storage(builder: LoopBuilder, buffer: SSAValue) -> SSAValue:
    operation = StorageOp(buffer, flat_type(stored_type(buffer.type)))
    operation.result.name_hint = buffer.name_hint
    builder.insert(operation)
    return operation.result


def flat_type(buffer: Stored) -> MemRefType[Attribute]:
    """The flat storage of a buffer: one axis that holds every cell, in the element's storage type."""
    assert isinstance(buffer, MemRefType)
    size = index_map_of(buffer).storage_size
    extent = DYNAMIC_INDEX if is_symbolic(size) else size
    return MemRefType(storage_element_type(buffer.element_type), [extent], memory_space=buffer.memory_space)


@dataclass(frozen=True)
class ToLoopsPass(LoopOptions):
    """Lower every `layout.copy` to scf loops, affine.apply and loads and stores on flat memrefs."""

    name = "layout-to-loops"

    device: bool = False
    """Whether all loops are parallel, as the kernels of a device start from, but for those between vector tiles."""

    most_lanes: int = 16
    """With `device`: elements of the longest vectors that its language has."""

    tile: int = 0
    """With `device`: elements along the side of the largest tile in local memory, more of small elements; 0: none."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pattern = LowerCopy(self.target, self.device, self.most_lanes, self.tile)
        PatternRewriteWalker(pattern, apply_recursively=False).rewrite_module(op)
