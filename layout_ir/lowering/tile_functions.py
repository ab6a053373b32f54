"""
Tiles of unknown sizes as functions, which all loops share that go by the same tile.

A kernel for unknown sizes chooses between loops that differ in their order and in what they ask for, but not in how a
tile goes through registers. With a function for each tile instead of a copy for each loop, texts have 0.6 of the
characters and compile in 0.75 of the time; kernels are as fast, 1.00 times in the mean of 180 copies in the caches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, MemRefType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from layout_ir.dialects.ops import StorageOp
from layout_ir.layouts.shuffle_network import Load, Network, Shuffle, Splat, Store
from layout_ir.layouts.symbols import FACTOR_LIMIT, Product, Symbols, is_symbolic
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.constants import Constants, ScalarConstant, constant_of
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.private_functions import private_function
from layout_ir.lowering.quantities import Quantities, Unknown
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.short_rows import place_behind
from layout_ir.lowering.tile_code import Ahead, TileCode

LEAST_SHUFFLES = 32
"""From how many shuffles on a tile takes so long that a call of a function does not show."""


@dataclass(frozen=True)
class _Signature:
    """What the code of a tile depends on: tiles that agree in it have one function."""

    network: Network
    """With the offsets of stores in pitches, if the function is given one."""

    symbols: Symbols
    """What the offsets are made of."""

    arguments: tuple[str, ...]
    """What the function is given besides unknown extents."""

    kinds: tuple[Attribute, Attribute]
    """Types of the two buffers."""

    pad: ScalarConstant | None
    """What pads are, if the tile has any."""

    asks_far: bool
    """Whether what is asked for of the source is used much later."""

    times: int
    """How many times it is asked for."""

    @cached_property
    def products(self) -> list[Product]:
        """The products of unknown extents that offsets are made of."""
        accesses = self.network.loads if "pitch" in self.arguments else (*self.network.loads, *self.network.stores)
        offsets = {access.offset for access in accesses if is_symbolic(access.offset)}
        found = {product for offset in offsets for product, _ in self.symbols.polynomial(offset)}
        return sorted((product for product in found if product), key=self.symbols.number)


def emit_shared(code: TileCode, network: Network, places: tuple[SSAValue, SSAValue]) -> bool:
    """The call of a tile's function, which is made if there is none; False, and nothing, for a tile that has none."""
    builder, unknown = code.builder, code.builder.unknown
    shuffles = sum(isinstance(value, Shuffle) for value in network.values)
    if (
        builder.functions is None
        or unknown is None
        or shuffles < LEAST_SHUFFLES
        or not _asks_inside(code)
        or code.ahead.is_spread
    ):
        return False
    network_in_pitches, pitch = _in_pitches(network)
    given = _arguments(code, network, places)
    if pitch is not None:
        given["pitch"] = builder.constant(pitch)
    signature = _signature(code, network_in_pitches, unknown.symbols, given)
    products = [unknown.value(unknown.symbols.number(product)) for product in signature.products]
    hints = [*given, *(product.name_hint for product in products)]
    function = builder.functions.of(signature, lambda: _function(signature, hints, code.schedule))
    builder.insert(CallOp(function.sym_name.data, [*given.values(), *products], []))
    return True


def _arguments(code: TileCode, network: Network, places: tuple[SSAValue, SSAValue]) -> dict[str, SSAValue]:
    """What every tile is given: its buffers, where it begins in them, and what to ask for, if anything."""
    builder, buffers, ahead = code.builder, code.buffers, code.ahead
    asked, written = ahead.place, ahead.written
    if asked is None:
        asked = _place_ahead(builder, network.loads, places[0], buffers.source_size, ahead.source)
    if written is None:
        written = _place_ahead(builder, network.stores, places[1], buffers.destination_size, ahead.destination)
    given = {
        "source": _of_any_size(builder, buffers.source),
        "destination": _of_any_size(builder, buffers.destination),
        "from": places[0],
        "to": places[1],
        "asked": asked,
        "written": written,
    }
    return {name: value for name, value in given.items() if value is not None}


def _place_ahead(
    builder: LoopBuilder, accesses: Sequence[Load] | Sequence[Store], place: SSAValue, size: int, distance: int
) -> SSAValue | None:
    """The place that is asked for so many elements ahead; None where nothing is, or where a call decides how far."""
    if not distance or is_symbolic(distance):
        return None
    return place_behind(builder, accesses, place, size, builder.constant(distance))


def _signature(code: TileCode, network: Network, symbols: Symbols, given: Mapping[str, SSAValue]) -> _Signature:
    pad = code.buffers.pad if any(isinstance(value, Splat) for value in network.values) else None
    return _Signature(
        network,
        symbols,
        tuple(given),
        (given["source"].type, given["destination"].type),
        None if pad is None else constant_of(pad),
        "asked" in given and code.ahead.is_far,
        code.ahead.times if "asked" in given else 1,
    )


def _asks_inside(code: TileCode) -> bool:
    """Whether what a tile asks for ahead of time can be told to lie inside of its buffers."""
    buffers, ahead = code.buffers, code.ahead
    is_whole = isinstance(buffers.destination.owner, StorageOp)
    knows_source = ahead.place is not None or not ahead.source or buffers.source_size > 0
    return knows_source and (is_whole or not ahead.destination)


def _in_pitches(network: Network) -> tuple[Network, int | None]:
    """
    A network with the offsets of stores in pitches, and how many elements that is; itself and None where it has none.

    Rows of a panel, which are whole lines, lie in another pitch than those of a destination with unknown extents.
    """
    offsets = [store.offset for store in network.stores]
    pitch = min((offset for offset in offsets if offset > 0), default=0)
    line = max(store.lanes for store in network.stores)
    is_row = is_symbolic(pitch) or (pitch > line and pitch % line == 0)
    if not is_row or any(offset % pitch or abs(offset // pitch) >= FACTOR_LIMIT for offset in offsets):
        return network, None
    stores = tuple(replace(store, offset=store.offset // pitch) for store in network.stores)
    return replace(network, stores=stores), pitch


def _of_any_size(builder: LoopBuilder, buffer: SSAValue) -> SSAValue:
    """A buffer as one that may have any size."""
    kind = cast("MemRefType[Attribute]", buffer.type)
    if kind.get_shape() == (DYNAMIC_INDEX,):
        return buffer
    any_size = MemRefType(kind.element_type, [DYNAMIC_INDEX], memory_space=kind.memory_space)
    return builder.insert(memref.CastOp.get(buffer, any_size)).dest


def _function(signature: _Signature, hints: Sequence[str | None], schedule: Schedule) -> FuncOp:
    """The function of a tile."""
    kinds = [*signature.kinds, *[IndexType()] * (len(hints) - 2)]
    body = Block(arg_types=kinds)
    for argument, hint in zip(body.args, hints, strict=True):
        argument.name_hint = hint
    given = dict(zip(signature.arguments, body.args, strict=False))
    products = dict(zip(signature.products, body.args[len(given) :], strict=True))
    builder = _body_builder(body, signature.symbols, products)
    pad = None if signature.pad is None else builder.scalar(signature.pad)
    buffers = Buffers(given["source"], given["destination"], pad, 0, 0, 0)
    # all that is asked for is at places that are given, which no schedule has a say in
    asked, written = given.get("asked"), given.get("written")
    ahead = Ahead(0, 0, signature.asks_far, signature.times, place=asked, written=written)
    TileCode(builder, buffers, schedule, ahead, given.get("pitch")).emit(
        signature.network, (given["from"], given["to"])
    )
    return private_function(kinds, body)


def _body_builder(body: Block, symbols: Symbols, products: Mapping[Product, SSAValue]) -> LoopBuilder:
    """
    What adds to the end of a function's body that is given products of unknown extents.

    Their multiples are computed where they are used first: all of them in front would have to be kept in memory.
    """
    constants = Constants(body)

    def insert(operation: Operation) -> None:
        builder.insert(operation)

    def constant(value: int) -> SSAValue:
        return constants.get(IntegerAttr(value, IndexType()))

    quantities = Quantities(insert, constant, {}, products)
    unknown = Unknown(symbols, lambda number: quantities.value(symbols.polynomial(number)))
    builder = LoopBuilder(InsertPoint.at_end(body), constants, unknown)
    return builder
