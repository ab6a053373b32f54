"""Implementations of the vector dialect for xDSL's interpreter, which has none: a vector is a numpy array of bits."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import vector
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError

from layout_ir.dialects.aligned import ALIGNED, AT_LINE
from layout_ir.dialects.types import is_vector
from layout_ir.interpreter.bits import bits_dtype, scalar_type
from layout_ir.interpreter.loop_functions import Bits, check_access


def lanes_of(kind: Attribute) -> int:
    """Number of lanes of a 1-D vector type."""
    assert is_vector(kind)
    (lanes,) = kind.get_shape()
    return lanes


def _check_vector(op: Operation, buffer: Bits, indices: tuple[int, ...], lanes: int) -> None:
    """Raise `InterpretationError` unless all lanes lie inside, and where the op says that they are aligned, are."""
    check_access(op, buffer, indices, lanes)
    if ALIGNED in op.attributes and indices[-1] % lanes:
        raise InterpretationError(f"{op.name}: expected an index at a multiple of {lanes}, got {indices[-1]}")


def _check_address(op: Operation, buffer: Bits, indices: tuple[int, ...], size: int) -> None:
    """Raise `InterpretationError` unless the address is a multiple of a size in bytes."""
    address = _row(buffer, indices).__array_interface__["data"][0]
    if address % size:
        raise InterpretationError(f"{op.name}: expected an address at a multiple of {size}, got {address}")


def _row(buffer: Bits, indices: tuple[int, ...]) -> Bits:
    """The innermost axis of a buffer from `indices` on."""
    return buffer[(*indices[:-1], slice(indices[-1], None))]


@register_impls
class VectorFunctions(InterpreterFunctions):
    """1-D vectors: loads, stores, permutations."""

    def __init__(self) -> None:
        # by the identity of attributes, which live as long as what is interpreted
        self._masks: dict[int, tuple[Bits, Bits]] = {}

    @impl(vector.LoadOp)
    def run_load(self, interpreter: Interpreter, op: vector.LoadOp, args: PythonValues) -> PythonValues:
        buffer, *indices = args
        lanes = lanes_of(op.result.type)
        _check_vector(op, buffer, tuple(indices), lanes)
        return (_row(buffer, tuple(indices))[:lanes].copy(),)

    @impl(vector.StoreOp)
    def run_store(self, interpreter: Interpreter, op: vector.StoreOp, args: PythonValues) -> PythonValues:
        value, buffer, *indices = args
        _check_vector(op, buffer, tuple(indices), len(value))
        if AT_LINE in op.attributes:
            _check_address(op, buffer, tuple(indices), value.nbytes)
        _row(buffer, tuple(indices))[: len(value)] = value
        return ()

    @impl(vector.MaskedLoadOp)
    def run_masked_load(self, interpreter: Interpreter, op: vector.MaskedLoadOp, args: PythonValues) -> PythonValues:
        buffer, *indices, mask, pass_through = args
        result = pass_through.copy()
        for lane in np.flatnonzero(mask):
            position = (*indices[:-1], indices[-1] + int(lane))
            check_access(op, buffer, position)
            result[lane] = buffer[position]
        return (result,)

    @impl(vector.MaskedStoreOp)
    def run_masked_store(self, interpreter: Interpreter, op: vector.MaskedStoreOp, args: PythonValues) -> PythonValues:
        buffer, *indices, mask, value = args
        for lane in np.flatnonzero(mask):
            position = (*indices[:-1], indices[-1] + int(lane))
            check_access(op, buffer, position)
            buffer[position] = value[lane]
        return ()

    @impl(vector.CreateMaskOp)
    def run_create_mask(self, interpreter: Interpreter, op: vector.CreateMaskOp, args: PythonValues) -> PythonValues:
        return ((np.arange(lanes_of(op.mask_vector.type)) < args[0]).astype(np.uint8),)

    @impl(vector.BroadcastOp)
    def run_broadcast(self, interpreter: Interpreter, op: vector.BroadcastOp, args: PythonValues) -> PythonValues:
        kind = op.vector.type
        element = scalar_type(kind)
        value = int(args[0]) & ((1 << element.bits) - 1)
        return (np.full(lanes_of(kind), value, bits_dtype(element)),)

    @impl(vector.InsertOp)
    def run_insert(self, interpreter: Interpreter, op: vector.InsertOp, args: PythonValues) -> PythonValues:
        value, vector_, *dynamic = args
        (position,) = [*dynamic] or op.static_position.get_values()
        result = vector_.copy()
        result[position] = int(value) & ((1 << 8 * result.itemsize) - 1)
        return (result,)

    @impl(vector.ShuffleOp)
    def run_shuffle(self, interpreter: Interpreter, op: vector.ShuffleOp, args: PythonValues) -> PythonValues:
        attribute = op.mask
        if (known := self._masks.get(id(attribute))) is None:
            mask = np.array(attribute.get_values())
            known = self._masks[id(attribute)] = mask, mask < 0
        mask, is_poison = known
        both = np.concatenate(args)
        result = both[mask]
        result[is_poison] = ~both.dtype.type(0)  # any value would do
        return (result,)

    @impl(vector.BitcastOp)
    def run_bitcast(self, interpreter: Interpreter, op: vector.BitcastOp, args: PythonValues) -> PythonValues:
        return (args[0].view(bits_dtype(scalar_type(op.result.type))),)

    @impl(vector.ExtractOp)
    def run_extract(self, interpreter: Interpreter, op: vector.ExtractOp, args: PythonValues) -> PythonValues:
        source, *dynamic = args
        (position,) = [*dynamic] or op.static_position.get_values()
        return (int(source[position]),)
