"""The flags that C texts are compiled with, by what is in them."""

from __future__ import annotations

import re

from layout_ir.layouts.cache_line import LINE_BYTES
from layout_ir.runtime.compiler import processor, register_bytes

BASE_FLAGS = ("-O3", "-std=gnu11", "-fPIC", "-shared")
"""Flags of kernels without vectors."""

VECTORS = "__builtin_shufflevector"
"""What every text with vectors names, if only for compilers that do not have it."""

SHUFFLE = f"{VECTORS}("

LEFT_OUT = ("-fno-thread-jumps", "-fno-tree-dominator-opts", "-fno-tree-ccp")
"""
What GCC need not look for where vectors are shuffled: it finds nothing in straight-line code.

Without, it takes 0.78 to 0.87 of the time, and kernels of unknown sizes are as fast (1.002 times in the mean of 120).
"""

TILE_FLAGS = ("-O1", "-fexpensive-optimizations", "-fpeel-loops", *LEFT_OUT)
"""
Instead of -O3 where there are vectors: they stand in an order that keeps few of them at a time.

With -O3 GCC puts them into an order of its own. That takes it 1.3 (a known size) to 1.6 times as long, and what it
makes is no faster: on Emerald Rapids 0.997 times in the mean of 232 kernels, 0.99 in that of 150 calls with sizes.
With -O1 alone tiles of few shuffles are 0.97 times as fast. The loops that are to be unrolled are scalar ones beside
the tiles, which would be half as fast. Where vectors are only copied, -O3 is 0.85 times as fast on Zen 4 without its
vectors of 64 bytes for rows of 56 bytes that lie 120 apart.
"""

LONG_TILE_FLAGS = ("-Og", "-fmove-loop-invariants")
"""
The same where all tiles are long, and of elements of 4 bytes or more: half the time for GCC, or a tenth.

On Granite Rapids 46 such kernels of known sizes, with data in the caches, are 1.003 times as fast in the mean, 0.95 to
1.09 times. 117 of 64 to 190 shuffles would be 0.995 times as fast, at worst 0.87 times; 180 calls with sizes, of tiles
of any length, 0.97 and 0.81 times. On Zen 4 without its vectors of 64 bytes long tiles of bytes would be 0.5 times as
fast, and of floats are 1.02 times, 0.97 to 1.1.
"""

LONG_BYTE_TILE_FLAGS = ("-O1", *TILE_FLAGS[2:])
"""
The same of elements of 1 or 2 bytes in functions with sizes, in registers of 64 bytes: 0.65 of the time for GCC.

On Emerald Rapids twelve such calls in the caches are as fast, 0.97 to 1.03 times.
"""

LONG_TILE_SHUFFLES = 190
"""Shuffles of a function from which on it is a long tile."""

_SMALL_ELEMENTS = re.compile(r"\b[iu](?:8|16)x\d")
"""Vectors of bytes or halves, which are moved as integers."""

ORDER_FLAG = "-fno-loop-interchange"
"""
With which GCC leaves scalar loops in the order that was chosen for them.

It would look at strides alone, and neither at lines that are written in many parts nor at pages: 1.09 times as fast in
the mean of 50 copies of one to three channels of blocks on Emerald Rapids, up to 3.9.
"""

GREAT_MANY_SHUFFLES = 1000
"""Shuffles of a function from which on GCC takes too long to choose how it reckons their hundreds of addresses."""

TAKES_SIZES = re.compile(r"restrict \w+,\s+int64_t ")
"""
In a function that is called with sizes, for which GCC should not choose that either.

It would keep a pointer for each row that a tile reads or writes, far more than there are registers.
"""

STACK_FLAG = "-mtune-ctrl=^inter_unit_moves_from_vec"
"""
With which GCC leaves on the stack what it has no register for, instead of in registers of vectors, on AMD's processors.

Kernels that are called with sizes have a number for each row of a tile, and fetch them all for every tile. With data in
the caches, Zen 4 runs those that read planes 1.05 to 1.2 times as fast so.
"""

LOOPS_FLAG = "-falign-loops=32"
"""
With which the loops of such kernels begin where processors fetch instructions.

On Zen 4 four channels of bytes, from blocks of 16 to planes, are taken 1.4 times as fast so, because of where GCC would
put that loop otherwise; 72 others are 1.006 times as fast in the mean.
"""

REGISTERS_FLAG = "-fipa-ra"
"""
With which GCC keeps what loops of such kernels need in registers that a tile's function leaves alone, not on the stack.

A number that is fetched from there for every tile waits for stores whose addresses end in the same 12 bits. On Granite
Rapids 240 calls with sizes are 1.003 times as fast in the mean so, 0.92 to 1.09 times: blocks of channels that become
planes of 14 x 14 and 28 x 28, out of the caches, 1.05 to 1.09 times.
"""

NATIVE_FLAG = "-march=native"
THREADS_FLAG = "-fopenmp"


def is_long_tile(function: str) -> bool:
    """Whether GCC gains little by optimizing a function."""
    if function.count(SHUFFLE) < LONG_TILE_SHUFFLES:
        return False
    is_plain = register_bytes() == LINE_BYTES and TAKES_SIZES.search(function) is not None
    return is_plain or _SMALL_ELEMENTS.search(function) is None


def wanted_flags(source: str, threads: bool) -> tuple[str, ...]:
    """Flags that a C text is compiled with where the compiler takes them."""
    tiles = _tiles(source)
    base = [*TILE_FLAGS, *BASE_FLAGS[1:]] if VECTORS in source else [*BASE_FLAGS, ORDER_FLAG]
    takes_sizes = TAKES_SIZES.search(source) is not None
    if takes_sizes or any(tile.count(SHUFFLE) >= GREAT_MANY_SHUFFLES for tile in tiles):
        base.append("-fno-ivopts")
    if takes_sizes:
        base += [LOOPS_FLAG, REGISTERS_FLAG]
    if takes_sizes and "AuthenticAMD" in processor():
        base.append(STACK_FLAG)
    return flags_of_unit(source, (*base, NATIVE_FLAG, *((THREADS_FLAG,) if threads else ())))


def flags_of_unit(unit: str, flags: tuple[str, ...]) -> tuple[str, ...]:
    """Flags of a part of a text that has others: those for long tiles where it has nothing but such ones."""
    tiles = _tiles(unit)
    if flags[: len(TILE_FLAGS)] == TILE_FLAGS and tiles and all(map(is_long_tile, tiles)):
        are_small = any(map(_SMALL_ELEMENTS.search, tiles))
        return (*(LONG_BYTE_TILE_FLAGS if are_small else LONG_TILE_FLAGS), *flags[len(TILE_FLAGS) :])
    return flags


def _tiles(source: str) -> list[str]:
    """The functions in which vectors are shuffled."""
    return [function for function in source.split("\n}\n") if SHUFFLE in function]
