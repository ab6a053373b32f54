"""
Random reorders between names of different systems, over all names that the registry lists.

Two names store the same logical tensor when their dims play the same roles: OpenVINO's f is oneDNN's c, cuDNN's K is
the o of weights. The option `dims` brings both to one random order. A oneDNN tag over a, b, c, ... says nothing about
roles, so that it goes with every tensor of its rank.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from layout_families import pads_of
from reorder_batch import Reorder

import layout_ir as li
from layout_ir.formats.registry import SYSTEMS, parse_format
from layout_ir.interpreter.reference import allocated_size
from layout_ir.layouts.index_map import row_major_strides

DTYPES = ("i8", "u8", "i1", "f16", "bf16", "i16", "u16", "f32", "i32", "u32", "f64", "i64", "u64")
SIZES = (1, 1, 2, 3, 3, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 37, 47, 63, 64, 65)
ELEMENTS, BYTES = 6000, 1 << 21
"""The largest tensor and the largest storage."""

_DATA = {"b": "n", "f": "c", "l": "w", "z": "d", "y": "h", "x": "w"}
_WEIGHTS = {"n": "o", "k": "o", "c": "i", "z": "d", "y": "h", "x": "w", "t": "d", "r": "h", "s": "w"}
_FOUR_SPACES = {"b": "n", "f": "c", "z": "d", "y": "h", "x": "w", "w": "4", "u": "5", "v": "6"}

_MACE_DIMS = {"IN_OUT_CHANNEL": ("NHWC", "NC"), "IN_OUT_HEIGHT": ("NHWC", "NHW"), "IN_OUT_WIDTH": ("NHWC", "NHW")}
_ASCEND_WEIGHTS = ("FRACTAL_Z", "C1HWN")
_OPTIONS: dict[str, dict[str, Any]] = {
    "cudnn:CUDNN_TENSOR_NCHW_VECT_C": {"c0": 4},
    "ascend:ND_RNN_BIAS": {"hidden_size": 1},
    "ascend:FRACTAL_ZN_RNN": {"hidden_size": 1},
}
"""What a name alone leaves open."""


@dataclass(frozen=True)
class Reading:
    """One way to read a name: its dims, and what each of them is. Without dims it takes any tensor of its rank."""

    name: str
    rank: int
    letters: str = ""
    roles: str = ""

    def layout(self, order: str, shape: tuple[int, ...]) -> li.Layout:
        """The layout of a tensor whose dims are given in the order of roles `order`."""
        options = dict(_OPTIONS.get(self.name, {}))
        if self.name == "cudnn:strided":
            return li.layout(self.name, strides=row_major_strides([size + 1 for size in shape]))
        if self.letters:
            options["dims"] = "".join(self.letters[self.roles.index(role)] for role in order)
        return li.layout(self.name, **options)


@cache
def readings(system: str) -> dict[str, tuple[Reading, ...]]:
    """The readings of every listed name of a system; the empty system has the plain dim strings."""
    names = [name for name in li.formats() if ":" not in name] if not system else li.formats(system)
    return {name: tuple(_readings(name)) for name in names}


def _readings(name: str) -> Iterator[Reading]:
    system, _, bare = name.rpartition(":")
    dims = parse_format(name).dims
    if system == "mace" and dims is None:
        for letters in _MACE_DIMS[bare]:
            yield Reading(name, len(letters), letters, letters.lower())
    elif dims is None:
        yield from (Reading(name, rank) for rank in (2, 3, 4, 5))
    elif (system == "onednn" and dims == tuple("abcdefghijkl"[: len(dims)])) or bare in (
        "ND_RNN_BIAS",
        "FRACTAL_ZN_RNN",
        "x",
    ):
        yield Reading(name, len(dims))
    else:
        yield from _readings_by_role(name, "".join(dims))


def _readings_by_role(name: str, letters: str) -> Iterator[Reading]:
    lower = letters.lower()
    is_openvino_data = "b" in lower
    is_weight = not is_openvino_data and ("o" in lower or "k" in lower or any(f in name for f in _ASCEND_WEIGHTS))
    if not is_weight:
        table = _FOUR_SPACES if is_openvino_data else _DATA
        yield Reading(name, len(letters), letters, "".join(table.get(letter, letter) for letter in lower))
    if is_weight or (set(lower) >= set("nc") and "l" not in lower):
        yield Reading(name, len(letters), letters, "".join(_WEIGHTS.get(letter, letter) for letter in lower))


def random_reorder(seed: int) -> Reorder:
    """A reorder between two names of different systems; the same for the same seed."""
    rng = random.Random(seed)
    while True:
        systems = rng.sample(["", *SYSTEMS], 2)
        source, destination = (rng.choice(rng.choice(list(readings(system).values()))) for system in systems)
        if source.rank != destination.rank:
            continue
        if source.roles and destination.roles and sorted(source.roles) != sorted(destination.roles):
            continue
        roles = source.roles or destination.roles
        order = "".join(rng.sample(roles, len(roles)))
        for _ in range(20):
            reorder = _reorder(rng, source, destination, order)
            if reorder is not None:
                return reorder


def _reorder(rng: random.Random, source: Reading, destination: Reading, order: str) -> Reorder | None:
    """A reorder of a random shape and type, or None where they do not fit the names."""
    shape = _shape(rng, source.rank)
    dtype = rng.choice(DTYPES)
    layouts = [reading.layout(order, shape) for reading in (source, destination)]
    try:
        maps = [layout.index_map(shape, dtype) for layout in layouts]
    except li.LayoutError:  # a depthwise multiplier of 2, no C0 for the type, ...
        return None
    width = li.element_type(dtype).bytes
    if max(map(allocated_size, maps)) * width > BYTES:
        return None
    return Reorder(layouts[0], layouts[1], shape, dtype, rng.choice(pads_of(dtype)))


def _shape(rng: random.Random, rank: int) -> tuple[int, ...]:
    while True:
        limit = rng.choice(SIZES)
        shape = tuple(min(rng.choice(SIZES), limit) for _ in range(rank))
        if math.prod(shape) <= ELEMENTS:
            return shape
