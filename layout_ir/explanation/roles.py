"""
Roles of dims: what OpenVINO calls b,f,y,x is n,c,h,w in oneDNN, N,H,W,C in MACE and N,C,H,W in Ascend and cuDNN.

Two names can only say the same if their dims mean the same. Dims are matched by role; a notation without letters (tags
over a, b, c, ..., `ND`) is matched by position, in the order batch, channels, space or groups, outputs, inputs, space.
"""

from __future__ import annotations

from layout_ir.formats.format import Format

Roles = tuple[str, ...]
"""The role of every dim."""

_BATCH, _CHANNEL, _DEPTH, _HEIGHT, _WIDTH = "batch", "channel", "depth", "height", "width"
_GROUP, _OUTPUT, _INPUT = "group", "output", "input"

_DATA = {
    **{"n": _BATCH, "c": _CHANNEL, "d": _DEPTH, "h": _HEIGHT, "w": _WIDTH, "l": _WIDTH},
    **{"t": "time", "x": _WIDTH},
}
_OPENVINO_DATA = {
    **{"b": _BATCH, "f": _CHANNEL, "v": "space6", "u": "space5", "w": "space4"},
    **{"z": _DEPTH, "y": _HEIGHT, "x": _WIDTH},
}
_WEIGHTS = {
    **{"g": _GROUP, "o": _OUTPUT, "i": _INPUT, "m": "multiplier", "t": "tile"},
    **{"d": _DEPTH, "h": _HEIGHT, "w": _WIDTH, "z": _DEPTH, "y": _HEIGHT, "x": _WIDTH},
}
_CUDNN_FILTER = {"k": _OUTPUT, "c": _INPUT, "t": _DEPTH, "r": _HEIGHT, "s": _WIDTH}
_RECURRENT = {
    **{"l": "layer", "d": "direction", "n": _BATCH, "c": _CHANNEL},
    **{"i": "cell input", "g": "gate", "o": "cell output"},
}
_RECURRENT_MATRIX = {"k": _INPUT, "n": _OUTPUT, "c": _INPUT}

_ORDER = (
    *("layer", "direction", "time", "tile", _BATCH, _CHANNEL, "multiplier", _GROUP, _OUTPUT, _INPUT),
    *("cell input", "gate", "cell output", "space6", "space5", "space4", _DEPTH, _HEIGHT, _WIDTH),
)
"""The order in which dims without names are counted."""

NOUNS = {
    **{_BATCH: "samples", _CHANNEL: "channels", _DEPTH: "planes", _HEIGHT: "rows", _WIDTH: "columns"},
    **{_GROUP: "groups", _OUTPUT: "output channels", _INPUT: "input channels", "multiplier": "multipliers"},
    **{"tile": "tile positions", "time": "time steps", "layer": "layers", "direction": "directions", "gate": "gates"},
    **{"cell input": "inputs of a cell", "cell output": "outputs of a cell"},
    **{"space4": "steps of w", "space5": "steps of u", "space6": "steps of v"},
}
"""What the values of a dim are called in a sentence."""


def readings(layout: Format, rank: int) -> list[Roles | None]:
    """
    The roles that a format's dims can have, in the order of `Format.dims`; None where position alone counts.

    Ascend writes weights with the letters of data, so N,C,H,W is read as outputs, inputs, rows and columns too.
    """
    dims = layout.dims
    if dims is None or len(dims) != rank or rank == 1:
        return [None]
    letters = "".join(dims).lower()
    if letters == "abcdefghijkl"[:rank] and layout.system in ("onednn", ""):
        return [None]
    roles = _roles(layout.system, letters)
    if roles is None:
        return [None]
    if layout.system == "ascend" and {_BATCH, _CHANNEL} <= set(roles):
        weights = {_BATCH: _OUTPUT, _CHANNEL: _INPUT}
        return [roles, tuple(weights.get(role, role) for role in roles)]
    return [roles]


def _roles(system: str, letters: str) -> Roles | None:
    used = set(letters)
    if system == "openvino" and used == {"b", "x"}:  # x plays the part of f in these, as their later names show
        table = {"b": _BATCH, "x": _CHANNEL}
    elif system in ("openvino", "") and used <= set("bfvuwzyx") and used & set("bf"):
        table = _OPENVINO_DATA
    elif system == "onednn" and "l" in used and "d" in used:
        table = _RECURRENT
    elif used <= set("kctrs") and "k" in used:
        table = _CUDNN_FILTER
    elif system == "ascend" and (used == set("kn") or letters == "cn"):
        table = _RECURRENT_MATRIX
    elif used & set("oim") and not used & set("nc"):
        table = _WEIGHTS
    else:
        table = _DATA
    roles = tuple(table.get(letter, "") for letter in letters)
    return roles if all(roles) and len(set(roles)) == len(roles) else None


def _in_order(roles: Roles) -> list[int]:
    return sorted(range(len(roles)), key=lambda position: _ORDER.index(roles[position]))


def matching(wanted: Roles | None, given: Roles | None, rank: int) -> tuple[int, ...] | None:
    """For every dim of `given` the dim of `wanted` that has its role, or None where the roles differ."""
    if wanted is None:
        if given is None:
            return tuple(range(rank))
        position = {dim: i for i, dim in enumerate(_in_order(given))}
        return tuple(position[dim] for dim in range(rank))
    if given is None:
        return tuple(_in_order(wanted))
    if sorted(wanted) != sorted(given):
        return None
    return tuple(wanted.index(role) for role in given)
