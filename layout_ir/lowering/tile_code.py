"""The straight-line code of one tile: loads, shuffles and stores, and what it asks for ahead of time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import vector
from xdsl.dialects.builtin import BoolAttr, MemRefType, UnitAttr
from xdsl.ir import Attribute, SSAValue

from layout_ir.dialects.aligned import AT_LINE
from layout_ir.layouts.shuffle_network import Load, Network, Shuffle, Splat, Value, is_copy
from layout_ir.lowering.box_loops import Buffers
from layout_ir.lowering.line_sequences import places_asked
from layout_ir.lowering.loop_builder import LoopBuilder
from layout_ir.lowering.prefetch_attribute import FIRST_LEVEL, SECOND_LEVEL, request, with_prefetch
from layout_ir.lowering.schedule import Schedule
from layout_ir.lowering.shuffles import shuffle, vector_of


@dataclass(frozen=True)
class Ahead:
    """How many elements ahead of each access what comes later is asked for; 0: not at all."""

    source: int
    destination: int
    is_far: bool = False
    """Whether what is asked for of the source is used much later."""

    times: int = 1
    """How many times it is asked for."""

    both_lines: bool = False
    """Whether both lines in which a vector of the destination may lie are asked for."""

    place: SSAValue | None = None
    """The place of the source whose tile is asked for instead of what lies `source` elements ahead."""

    offsets: tuple[int, ...] = ()
    """What is asked for from there on, spread over all of the code, if it is not what the tile's own loads read."""

    is_spread: bool = False
    """Whether what those read is asked for so, too, and not with the loads, one burst after another."""

    written: SSAValue | None = None
    """The same of the destination, to be written."""


@dataclass(frozen=True)
class TileCode:
    """Emits the straight-line code of a network."""

    builder: LoopBuilder
    buffers: Buffers
    schedule: Schedule
    ahead: Ahead

    def emit(self, network: Network, places: tuple[SSAValue, SSAValue], streamed: Collection[int] = ()) -> None:
        """The values of a network, each stored as soon as it is there, so that no register has to keep it."""
        source, destination = places
        is_part = is_copy(network) and not streamed
        stores: dict[int, list[tuple[int, int]]] = {}
        for store in network.stores:
            stores.setdefault(store.value, []).append((store.offset, store.lanes))
        results: list[SSAValue] = []
        asks = self.ahead.source or self.ahead.place is not None
        requests = places_asked(network.loads, self.schedule.lanes) if asks else {}
        spread = self._spread(network, requests)
        for number, value in enumerate(network.values):
            self._ask(next(spread))
            results.append(self._value(value, results, source, requests))
            for offset, lanes in stores.get(number, ()):
                self._ask(next(spread))
                if self.ahead.written is not None:
                    asked = self.builder.behind(self.ahead.written, offset)
                    self.builder.insert(request(self.buffers.destination, asked, None))
                place = self.builder.behind(destination, offset)
                store = vector.StoreOp.create(operands=[results[number], self.buffers.destination, place])
                if offset in streamed:
                    store.properties["nontemporal"] = BoolAttr.from_bool(True)
                    if self.schedule.starts_at_line and lanes == self.schedule.lanes:
                        store.attributes[AT_LINE] = UnitAttr()
                    self.builder.insert(store)
                else:
                    self.builder.insert(self._with_request(store, is_part))

    def _spread(self, network: Network, requests: Mapping[int, int]) -> Iterator[Sequence[int]]:
        """For every value and every store of a network the offsets that are asked for in front of it."""
        asked: Sequence[int] = self.ahead.offsets
        if self.ahead.is_spread:
            asked = [requests.get(load.offset, load.offset) for load in network.loads]
        operations = len(network.values) + len(network.stores)
        for number in range(operations):
            first, end = (-(-len(asked) * count // operations) for count in (number, number + 1))
            yield asked[first:end]

    def _ask(self, offsets: Sequence[int]) -> None:
        """Ask for offsets behind the place of another tile."""
        for offset in offsets:
            assert self.ahead.place is not None
            place = self.builder.behind(self.ahead.place, offset)
            self.builder.insert(request(self.buffers.source, place, self._locality, self.ahead.times))

    def _with_request(self, store: vector.StoreOp, is_part: bool) -> vector.StoreOp:
        """A store that asks for what later ones write, or parts of lines that nothing else writes."""
        if self.ahead.written is not None:
            return store
        locality, both_lines = None, is_part and self.ahead.both_lines
        if is_part and not self.schedule.narrows:
            second = SECOND_LEVEL if self.schedule.processor.asks_second_level else None
            locality = FIRST_LEVEL if both_lines else second
        return with_prefetch(store, self.ahead.destination, locality=locality, both_lines=both_lines)

    def _value(
        self, value: Value, earlier: Sequence[SSAValue], source: SSAValue, requests: Mapping[int, int]
    ) -> SSAValue:
        match value:
            case Load(offset=offset, lanes=lanes):
                asked = requests.get(offset, offset)
                if self.ahead.place is not None and not self.ahead.is_spread and not self.ahead.offsets:
                    self._ask([asked])
                return self._load(self.builder.behind(source, offset), lanes, ahead=asked - offset)
            case Splat(lanes=lanes):
                assert self.buffers.pad is not None
                return self.builder.splat(self.buffers.pad, lanes)
            case Shuffle(left=left, right=right, mask=mask):
                operation = shuffle(earlier[left], earlier[right], mask)
                self.builder.insert(operation)
                return _named(operation.result, "mixed")

    def _load(self, place: SSAValue, lanes: int, ahead: int) -> SSAValue:
        """A load, and a request for what lies as far ahead as all loads ask for, and `ahead` elements more."""
        kind = vector_of(cast("MemRefType[Attribute]", self.buffers.source.type).element_type, lanes)
        operation = vector.LoadOp.create(operands=[self.buffers.source, place], result_types=[kind])
        distance = self.ahead.source + ahead if self.ahead.source and self.ahead.place is None else 0
        self.builder.insert(with_prefetch(operation, distance, locality=self._locality, times=self.ahead.times))
        return _named(operation.result, "line")

    @property
    def _locality(self) -> int | None:
        """Which cache the source is asked for to come into; None for the first."""
        return SECOND_LEVEL if self.ahead.is_far else None


def _named(value: SSAValue, hint: str) -> SSAValue:
    value.name_hint = hint
    return value
