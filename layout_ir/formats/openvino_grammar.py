"""
The grammar of OpenVINO's (formerly clDNN's) names of memory formats, e.g. `g_os_is_yx_isa8_osv16_isv4`.

Segments between `_`, slowest first. The leading part names the outer axes: letters are plain dims (`iyx`), a number
pads the dim before it without splitting it (`x8`), `os` is a dim counted in slices and `yxs` a slice of the fused
`y*X + x`. The trailing part names the blocks inside of a slice: `osv16` or `osa4`, of which the last of a dim is the
least significant; the names of 2019 also write `f16` for a block of a dim that stands plain in front. `__ai32` pads i
to 32. `_rotate_180` runs y and x backwards, `_swizzled_by_4` exchanges the digits of o inside of blocks of 32.

Source: the notation is that of clDNN's tensor.hpp; the digits' order is what its kernels' index functions compute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from layout_ir.errors import LayoutError
from layout_ir.formats.openvino_order import Digit, StorageOrder
from layout_ir.formats.openvino_swizzle import BLOCK_OF_SWIZZLE, swizzled

DATA_DIMS = "bfvuwzyx"
WEIGHT_DIMS = "goizyx"
FUSED_DIMS = ("yx", "zyx", "zy")
LONGEST_NAME = 128
LARGEST_BLOCK = 65536

_ROTATED = "_rotate_180"
_SWIZZLED = re.compile(r"_swizzled_by_([0-9]+)\Z")
_SLICE = re.compile(r"([a-z]+)s")
_BLOCK = re.compile(r"([a-z]+)s[va]([0-9]+)")
_UNFINISHED_BLOCK = re.compile(r"[a-z]+s[va]([0-9]*)")
_SHORT_BLOCK = re.compile(r"([a-z])([0-9]+)")
_PADDING = re.compile(r"a([a-z])([0-9]+)")
_LETTERS = re.compile(r"(?:[a-z][0-9]*)+")


def parse_order(name: str) -> StorageOrder:
    """
    The storage order that a name stands for.

    Raises `LayoutError` with the position in the name and what was expected there.
    """
    reader = _Reader(name)
    if len(name) > LONGEST_NAME:
        raise LayoutError(
            f"openvino: expected the end of the name at position {LONGEST_NAME} or before, got {len(name)} characters"
        )
    stem, rotated = name.removesuffix(_ROTATED), name.endswith(_ROTATED)
    swizzle = _SWIZZLED.search(stem)
    stem = stem[: swizzle.start()] if swizzle else stem
    for segment, position in _segments(stem):
        reader.read(segment, position)
    order = reader.order(len(stem))
    if swizzle:
        step = reader.size(swizzle.group(1), swizzle.start(1))
        order = swizzled(order, step) or reader.fail(
            swizzle.start(), f"o in blocks of {BLOCK_OF_SWIZZLE} in which steps of {step} are exchanged"
        )
    return _rotated(reader, order, len(stem)) if rotated else order


def _segments(stem: str) -> Iterator[tuple[str, int]]:
    """The texts between underscores with their positions; the empty one of `__ai32` is left out."""
    position = 0
    for segment in stem.split("_"):
        padding_follows = segment == "" and position > 0 and _PADDING.match(stem, position + 1)
        if not padding_follows:
            yield segment, position
        position += len(segment) + 1


def _rotated(reader: _Reader, order: StorageOrder, position: int) -> StorageOrder:
    plain = {digit.letters for digit in order.digits if digit.modulus is None and digit.divisor == 1}
    if not {"y", "x"} <= plain or "z" in order.dims or {"y", "x"} & dict(order.padding).keys():
        reader.fail(position, "two spatial dims y and x that are neither blocked nor padded, to be rotated")
    return StorageOrder(order.dims, order.digits, order.padding, mirrored="yx")


@dataclass
class _Reader:
    """What has been read of one name so far."""

    name: str

    dims: str = DATA_DIMS + WEIGHT_DIMS
    """Letters that are still possible: the first of b, f, v, u, w makes it data, the first of g, o, i weights."""

    outer: dict[str, bool] = field(default_factory=dict[str, bool])
    """Letters of every outer axis, one dim or fused ones, and whether it is a slice."""

    blocks: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    padding: dict[str, int] = field(default_factory=dict[str, int])

    outer_ended: bool = False
    """Whether a block or a padding has been read, after which no outer axis may follow."""

    def fail(self, position: int, expected: str) -> NoReturn:
        """Raise the error of one position in the name."""
        rest = self.name[position:]
        got = f"'{rest[:32]}{'...' if len(rest) > 32 else ''}'" if rest else "the end of the name"
        raise LayoutError(f"openvino:{self.name}: expected {expected} at position {position}, got {got}")

    def size(self, digits: str, position: int) -> int:
        """A block size or a padding."""
        if len(digits) > len(str(LARGEST_BLOCK)) or digits.startswith("0") or int(digits) > LARGEST_BLOCK:
            self.fail(position, f"a size from 1 to {LARGEST_BLOCK}")
        return int(digits)

    def read(self, segment: str, position: int) -> None:
        """Read the segment at a position."""
        if match := _BLOCK.fullmatch(segment):
            self._block(match, position)
        elif match := _PADDING.fullmatch(segment):
            self._pad(match.group(1), match.group(2), position + 1)
            self.outer_ended = True
        elif (match := _SHORT_BLOCK.fullmatch(segment)) and self.outer.get(match.group(1)) is False:
            self._short_block(match, position)
        elif match := _UNFINISHED_BLOCK.match(segment):
            self.fail(position + match.end(), "the end of the block" if match.group(1) else "the size of the block")
        elif self.outer_ended:
            self.fail(position, "a block such as fsv16 or a padding such as __ai32")
        elif match := _SLICE.fullmatch(segment):
            self._slice(match.group(1), position)
        elif _LETTERS.fullmatch(segment):
            for letter in re.finditer(r"([a-z])([0-9]*)", segment):
                self._plain(letter, position)
        else:
            self.fail(position, "dims such as yx, a slice such as fs, or a block such as fsv16")

    def _letters(self) -> str:
        return "".join(self.outer)

    def _letter(self, letter: str, position: int) -> None:
        if letter not in self.dims:
            self.fail(position, f"a dim out of {', '.join(dict.fromkeys(self.dims))}")
        if letter in self._letters():
            self.fail(position, f"every dim once before the blocks, and {letter} stands before")
        if letter in "bfvuw":
            self.dims = DATA_DIMS
        elif letter in "goi":
            self.dims = WEIGHT_DIMS

    def _plain(self, match: re.Match[str], segment_position: int) -> None:
        letter, digits = match.groups()
        self._letter(letter, segment_position + match.start())
        self.outer[letter] = False
        if digits:
            self._pad(letter, digits, segment_position + match.start())

    def _slice(self, letters: str, position: int) -> None:
        if len(letters) > 1 and letters not in FUSED_DIMS:
            self.fail(position, f"one dim or {', '.join(FUSED_DIMS)} before the s of a slice")
        for offset, letter in enumerate(letters):
            self._letter(letter, position + offset)
        self.outer[letters] = True

    def _block(self, match: re.Match[str], position: int) -> None:
        letters, digits = match.groups()
        if not self.outer.get(letters):
            slices = [f"{letters}s" for letters, is_slice in self.outer.items() if is_slice]
            self.fail(position, f"a block of a slice that stands before ({', '.join(slices) or 'none does'})")
        self.blocks.append((letters, self.size(digits, position + match.start(2))))
        self.outer_ended = True

    def _short_block(self, match: re.Match[str], position: int) -> None:
        letter, digits = match.groups()
        self.blocks.append((letter, self.size(digits, position + 1)))
        self.outer_ended = True

    def _pad(self, letter: str, digits: str, position: int) -> None:
        if letter not in self._letters():
            self.fail(position, f"a dim out of {', '.join(self._letters())}")
        if letter in self.padding or any(letter in letters for letters in self.outer if len(letters) > 1):
            self.fail(position, f"one padding of a dim that is not fused, not another of {letter}")
        self.padding[letter] = self.size(digits, position + 1)

    def order(self, end: int) -> StorageOrder:
        """The storage order of what has been read; `end` is the position after it."""
        inner: list[Digit] = []
        divisors = dict.fromkeys(self.outer, 1)
        for letters, size in reversed(self.blocks):
            inner.append(Digit(letters, divisors[letters], size))
            divisors[letters] *= size
        for letters, is_slice in self.outer.items():
            if is_slice and not any(letters == blocked for blocked, _ in self.blocks):
                self.fail(end, f"a block of the slice {letters}s, such as {letters}sv16,")
        digits = [Digit(letters, divisors[letters]) for letters in self.outer] + inner[::-1]
        dims = tuple(sorted(self._letters(), key=self.dims.index))
        return StorageOrder(dims, tuple(digit for digit in digits if digit.modulus != 1), tuple(self.padding.items()))
