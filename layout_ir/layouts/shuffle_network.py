"""
Shuffle networks: which loads, two-input shuffles and stores move one small tile through vector registers.

A tile is a set of elements, each with an offset in the source and one in the destination. Its source is read in whole
vectors along contiguous *runs*, one run a *row*. `network_search` finds networks; here is what they are, and the
rewrites that make one shorter or put it into a better order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from layout_ir.layouts.lane_stages import CHEAP, is_blend, is_cheap


@dataclass(frozen=True)
class Load:
    """A vector of `lanes` elements read at `offset` elements behind the tile's origin in the source."""

    offset: int
    lanes: int


@dataclass(frozen=True)
class Splat:
    """A vector whose lanes all hold the pad value."""

    lanes: int


@dataclass(frozen=True)
class Shuffle:
    """Lane i is lane `mask[i]` of `left` followed by `right`, which name earlier values by their numbers."""

    left: int
    right: int
    mask: tuple[int, ...]


@dataclass(frozen=True)
class Store:
    """The first `lanes` lanes of a value, written at `offset` elements behind the tile's origin in the destination."""

    offset: int
    lanes: int
    value: int


Value = Load | Splat | Shuffle


@dataclass(frozen=True)
class Network:
    """A straight-line program: values in order, each stored as soon as it is there."""

    values: tuple[Value, ...]
    stores: tuple[Store, ...]
    segment_bits: int
    """The binary logarithm of the elements in 16 bytes, within which shuffles are cheap."""

    @cached_property
    def loads(self) -> tuple[Load, ...]:
        """The values that are read from the source, in order."""
        return tuple(value for value in self.values if isinstance(value, Load))

    @cached_property
    def cost(self) -> float:
        """Vector instructions, weighted: the quantity that a choice between networks minimises."""
        return sum(map(self.cost_of, self.values)) + len(self.stores)

    def instructions_of(self, value: Value) -> int:
        """Vector instructions of one value as they are, without weights."""
        return int(self.cost_of(value) / CHEAP)

    @cached_property
    def most_live(self) -> int:
        """How many values have to be kept at the same time, each stored as soon as it is there."""
        last_use = list(range(len(self.values)))
        for number, value in enumerate(self.values):
            if isinstance(value, Shuffle):
                last_use[value.left] = last_use[value.right] = number
        ends = Counter(last_use)
        live = most = 0
        for number in range(len(self.values)):
            most = max(most, live + 1)
            live += 1 - ends[number]
        return most

    def cost_of(self, value: Value) -> float:
        """Vector instructions of one value."""
        if not isinstance(value, Shuffle) or value.left == value.right:
            return CHEAP
        return cost_of_mask(value.mask, width_of(self.values[value.left]), self.segment_bits)


@lru_cache(maxsize=65536)
def cost_of_mask(mask: tuple[int, ...], width: int, segment_bits: int) -> float:
    """Vector instructions of a shuffle of two vectors of `width` lanes, weighted."""
    if is_cheap(mask, width, segment_bits):
        return CHEAP
    parts = whole_part_bits(segment_bits)
    return dear_shuffle(segment_bits - parts if moves_whole_parts(mask, parts) else segment_bits)


@lru_cache(maxsize=65536)
def reads_both(mask: tuple[int, ...], width: int) -> bool:
    """Whether a shuffle takes lanes of both its values, of `width` lanes each."""
    return min(mask) < width <= max(mask)


def is_copy(network: Network) -> bool:
    """Whether a network stores nothing but what it loads."""
    return not any(isinstance(value, Shuffle) for value in network.values)


def moves_whole_parts(mask: Sequence[int], bits: int) -> bool:
    """Whether a shuffle keeps aligned groups of `2**bits` lanes together."""
    size = 1 << bits
    return len(mask) % size == 0 and all(
        mask[start] % size == 0 and list(mask[start : start + size]) == list(range(mask[start], mask[start] + size))
        for start in range(0, len(mask), size)
    )


def whole_part_bits(segment_bits: int) -> int:
    """The binary logarithm of the elements in 4 bytes, which any shuffle moves at once if they stay together."""
    return max(segment_bits - 2, 0)


def dear_shuffle(segment_bits: int) -> float:
    """
    Cost of a shuffle of two vectors without a cheap instruction.

    It needs a register for its mask; elements of 1 and 2 bytes take two instructions or three.
    """
    return 2 * CHEAP if segment_bits >= 3 else 1.05 * CHEAP


def width_of(value: Value) -> int:
    """Lanes of a value."""
    return len(value.mask) if isinstance(value, Shuffle) else value.lanes


def simplified(network: Network, prepared: int = 0) -> Network:
    """
    Compose shuffles of one value with the shuffle that made it, drop what is an identity and what nobody uses.

    Pads of one width are one value. `prepared`: how many of the first values are made only when others need them.
    """
    values = list(network.values)
    alias = list(range(len(values)))
    pads: dict[Value, int] = {}
    for number, value in enumerate(values):
        if isinstance(value, Splat):
            alias[number] = pads.setdefault(value, number)
        if not isinstance(value, Shuffle):
            continue
        value = Shuffle(alias[value.left], alias[value.right], value.mask)
        values[number] = value
        only = _only_source(value, values)
        if only is None:
            continue
        source, mask = only
        inner = values[source]
        if mask == tuple(range(width_of(inner))):
            alias[number] = source
        elif isinstance(inner, Shuffle):
            both = Shuffle(inner.left, inner.right, tuple(inner.mask[lane] for lane in mask))
            if not is_blend(inner.mask, len(mask)) or network.cost_of(both) < 2 * CHEAP:
                values[number] = both
        elif isinstance(inner, Splat):
            values[number] = Splat(len(mask))
            alias[number] = pads.setdefault(values[number], number)
    stores = [Store(store.offset, store.lanes, alias[store.value]) for store in network.stores]
    return _in_order_of_use(replace(network, values=tuple(values), stores=tuple(stores)), prepared)


def _only_source(shuffle: Shuffle, values: Sequence[Value]) -> tuple[int, tuple[int, ...]] | None:
    """The one value that a shuffle reads, and the lanes that it takes of it; None where it reads two."""
    width = width_of(values[shuffle.left])
    if shuffle.left == shuffle.right:
        return shuffle.left, tuple(lane % width for lane in shuffle.mask)
    if max(shuffle.mask) < width:
        return shuffle.left, shuffle.mask
    if min(shuffle.mask) >= width:
        return shuffle.right, tuple(lane - width for lane in shuffle.mask)
    return None


def _in_order_of_use(network: Network, prepared: int) -> Network:
    """The values that are used, loads and `prepared` ones when they are needed, so that fewer are kept, mostly."""
    values = network.values
    used = {store.value for store in network.stores}
    for number in range(len(values) - 1, -1, -1):
        value = values[number]
        if number in used and isinstance(value, Shuffle):
            used |= {value.left, value.right}
    order: dict[int, None] = {}

    def need(number: int) -> None:
        value = values[number]
        if isinstance(value, Shuffle) and number not in order:
            need(value.left)
            need(value.right)
        order[number] = None

    for number in sorted(used):
        if isinstance(values[number], Shuffle) and number >= prepared:
            need(number)
    for store in network.stores:
        need(store.value)
    numbers = {old: new for new, old in enumerate(order)}
    kept = [
        Shuffle(numbers[v.left], numbers[v.right], v.mask) if isinstance(v, Shuffle) else v
        for v in (values[old] for old in order)
    ]
    stores = tuple(Store(s.offset, s.lanes, numbers[s.value]) for s in network.stores)
    return replace(network, values=tuple(kept), stores=stores)
