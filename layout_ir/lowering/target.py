"""What loops are made for, as a value and as the options of passes."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import Self

from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from layout_ir.errors import nearest
from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.lowering.processor_families import ICE_LAKE, MODELS

VECTOR_WIDTHS = (0, 16, 32, 64)
"""Bytes of the vectors that processors have; 0 for scalar loops."""

PREFETCHES = ("none", "source", "destination")
"""Along what the source of later tiles can be asked for."""


@dataclass(frozen=True)
class Preferences:
    """Choices that are made for the cost model; it makes those that are None itself. No result depends on them."""

    block_tiles: int | None = None
    """Tiles along each side of the blocks of a transposition; 1 for no blocks."""

    prefetch: str | None = None
    """Along what the source of later tiles is asked for ahead of time: `source`, `destination`, or `none`."""

    prefetch_tiles: int | None = None
    """How many tiles, or panels, ahead."""

    streams: bool | None = None
    """Whether whole lines of the destination bypass the caches, which needs vectors of 64 bytes."""

    run_bytes: int | None = None
    """About how long the runs of the destination are that a panel holds."""

    row_bytes: int | None = None
    """About how long the rows of the source are that a panel takes."""


NO_PREFERENCES = Preferences()
"""All is left to the cost model."""


@dataclass(frozen=True)
class Machine:
    """What loops are made for, as far as it is not a matter of choice."""

    vector_bytes: int = 0
    """Width of the vectors that tiles go through: 16, 32 or 64; 0 for scalar loops."""

    threads: bool = False
    """Whether the outermost loops may run in parallel."""

    panels: bool = False
    """Whether lines of a large destination are put together in a buffer first, where tiles alone would be slower."""

    stream_bytes: int | None = None
    """Bytes from which on a destination is large and bypasses the caches; 24 MiB by default."""

    processor: str = ICE_LAKE
    """The family of processors whose costs are counted with: a key of `MODELS`."""

    register_bytes: int = LINE_BYTES
    """
    Width of the vector registers: 16, 32 or 64.

    Where it is less than that of the vectors, these take several registers each. Copies past the caches go through
    them; others mostly go through vectors of one register.
    """

    team: int = 2
    """With `threads`: how many of them loops are divided among evenly; any number may run them."""

    share_bytes: int = 0
    """
    With `threads`: bytes read and written from which on they share a copy, else one of them makes it.

    An element that no tile moves counts as a line of the cache.
    """


@dataclass(frozen=True)
class Target(Machine):
    """What loops are made for."""

    preferences: Preferences = NO_PREFERENCES


ANY_PROCESSOR = Target()
"""Scalar loops, which are right everywhere."""


@dataclass(frozen=True)
class LoopOptions(Preferences, Machine, ModulePass):
    """A target as the options of a pass."""

    @classmethod
    def of(cls, target: Target) -> Self:
        """The pass with the options that mean `target`."""
        machine = [getattr(target, field.name) for field in fields(Machine)]
        return cls(*machine, *astuple(target.preferences))

    @property
    def target(self) -> Target:
        """What the options mean; raises `PassFailedException` where there is no such target."""
        self._check_one_of("vector-bytes", self.vector_bytes, VECTOR_WIDTHS)
        self._check_one_of("register-bytes", self.register_bytes, VECTOR_WIDTHS[1:])
        self._check_one_of("prefetch", self.prefetch, (None, *PREFETCHES))
        self._check_one_of("processor", self.processor, tuple(MODELS))
        for name in ("block_tiles", "prefetch_tiles", "run_bytes", "row_bytes", "team"):
            number: int | None = getattr(self, name)
            if number is not None and number < 1:
                what = name.replace("_", "-")
                raise PassFailedException(f"{self.name}: expected {what} to be at least 1, got {number}")
        if self.prefetch == "none" and self.prefetch_tiles is not None:
            raise PassFailedException(f"{self.name}: expected no prefetch-tiles with prefetch=none")
        if self.streams and self.vector_bytes != LINE_BYTES:
            raise PassFailedException(
                f"{self.name}: expected streams with vector-bytes={LINE_BYTES} alone, got {self.vector_bytes}"
            )
        preferences = Preferences(**{field.name: getattr(self, field.name) for field in fields(Preferences)})
        return Target(**{field.name: getattr(self, field.name) for field in fields(Machine)}, preferences=preferences)

    def _check_one_of(self, name: str, value: object, known: tuple[object, ...]) -> None:
        if value not in known:
            names = [str(one) for one in known if one is not None]
            suggestion = nearest(str(value), names) if isinstance(value, str) else ""
            raise PassFailedException(
                f"{self.name}: expected {name} to be one of {', '.join(names)}, got {value}{suggestion}"
            )
