"""What the lowering takes into account of a processor beyond the width of its vectors, all of it measured."""

from __future__ import annotations

from dataclasses import dataclass

from layout_ir.layouts.panel_costs import DEFAULT_COSTS, PanelCosts
from layout_ir.lowering.request_model import RequestModel
from layout_ir.lowering.step_model import StepModel


@dataclass(frozen=True)
class ProcessorModel(StepModel, RequestModel):
    """How copies are made for one family of processors."""

    stream_bytes: int = 24 << 20
    """
    Size of a destination from which on it bypasses the caches: it would push everything else out of them.

    On Zen 4 where both sides no longer fit into the third level together: of 10 MiB 1.9 times as fast in the mean,
    of 13 MiB 2.3 times, of 6 MiB 0.8 times.
    """

    medium_bytes: int | None = None
    """
    The same for a destination at a line that one thread writes in whole lines: the mean of both sides.

    None where there is no other limit. On Emerald Rapids the second level cache holds 2 MiB, and the third is so far
    that memory is no slower: with this limit 33 copies of 2.5 MiB of f32 in runs of lines are 1.27 times as fast in the
    mean, at worst 1.06 times, 36 of 5 MiB 1.26 and 0.96 times, 68 of 10 MiB 1.29 and 0.9 times; of i8 1.16 and 0.94,
    1.14 and 0.94, 1.22 and 0.78 times. Those that write single lines, as tiles that transpose do: 58 copies of 2.2 to 7
    MiB, of 1 to 4 bytes an element, are 1.38 times as fast in the mean, 0.83 to 2.8 times. Of 103 random permutations
    of 1.5 to 2 MiB 1.2 and 0.75 times; 72 of 1 to 1.3 MiB would be 0.93 and 0.43 times as fast.

    A kernel for unknown sizes compares its size with the same limit: with one of 2 MiB copies of 1.5 to 2 MiB are 0.96
    times as fast on Emerald Rapids, in the mean of 35, 0.74 to 1.36 times, and of 1.7 and 1.9 MiB 0.93 times on Granite
    Rapids, in the mean of 320, 0.64 to 1.41.
    """

    far_written_bytes: int | None = None
    """
    Distance of the rows that tiles write from which on panels of unknown sizes pay for such a copy; None: never.

    On Granite Rapids, of 35 channels from NHWC to NCHW and 1.7 to 12 MiB, planes of 14 x 14 are 1.12 to 1.28 times as
    fast without panels in one and two bytes, 0.81 and 0.92 times in four; of 28 x 28 1.05 to 1.25 times, 0.88 in four;
    larger ones 0.51 to 0.96 times in two and four bytes. On Emerald Rapids 48 calls of 2.5 to 18 MiB are 1.06 times as
    fast without, 0.7 to 1.5 times, and none is slower than 0.91 times a kernel for one size, instead of 15.
    """

    picks_by_panels: bool = False
    """
    Whether copies that pick few elements out of each line of a sequence that they read go through panels.

    On Zen 4 those of 3 and 4 channels out of 16 are 1.14 to 1.3 times as fast, in f32 and f16; on Granite Rapids, of 1
    to 4 bytes, where panels asked for the next one, 0.8 to 0.93 times.
    """

    stages_lines: bool = False
    """
    Whether tiles write whole lines of a destination that begins inside of one, where rows go on from tile to tile.

    Panels read the source while they write nothing, and in the order of the destination. From and to buffers 16 bytes
    behind a line this is 1.4 times as fast on Zen 4, in the mean of 28 copies whose tiles write little of many rows.
    Measured on no other processor.
    """

    streams_parts: bool = True
    """
    Whether parts of lines bypass the caches where they are all that a line gets.

    Ordinary stores of them make copies of rows with gaps between them 1.4 to 1.9 times as fast on Zen 4.
    """

    crowding_lines: int | None = None
    """
    Lines from row to row, or multiples of so many, at which blocks of tiles read too many rows from few sets of a
    second level cache; None where blocks are as good as without.

    Granite Rapids follows 32 rows by itself, and asks for those of more. Of 128 x 128 pixels and 256 x 256, 32 or 128
    KB apart, 64 rows in f16 push each other out until they are read: NCHW to NHWC is 1.5 to 2 times as fast if tiles of
    32 rows go on along them. Of rows elsewhere 0.84 to 1.05 times. Sapphire Rapids does not always follow 64 rows that
    are any number of lines apart: ten transpositions in f16 are 1.32 times as fast so in the mean, 0.91 to 2.7 times.
    """

    reads_on: bool = False
    """
    Whether tiles of a large transposition go on along the source at once where that leads to lines of the destination
    nearby, and not in blocks along both directions.

    Measured for lines less than a page apart: on Zen 4 1.1 to 1.6 times as fast, further away 0.5 to 0.9 times; but in
    blocks 1.4 times as fast, in the mean of 33 copies of 2 to 8 bytes, where tiles read more than 16 rows, or rows that
    are whole pages apart, or write lines 512 bytes or more apart by a power of two. Tiles that write several lines in
    one go are 1.05 to 1.45 times as fast so where these are whole pages apart, and 1.6 to 2.5 times where they read
    parts of lines, as of filters of 3 x 3.
    """

    set_places: int | None = None
    """
    Places of a set of the first level cache, by which copies of lines in the caches are ordered.

    None: blocks, or the order of the destination where lines of the source all belong to one set, as measured on Ice
    Lake. On Zen 4 blocks of two lines take up to 1.7 times as long as the best order, and sequences that all belong to
    one set up to 2.2 times.
    """

    followed_bytes: int = 0
    """
    Size of the largest destination to which copies of long rows in the caches, or of rows far apart, go in its order.

    On Granite Rapids, whose second level cache has 2 MB, 40 copies between plain and blocked matrices, images and
    volumes of up to 768 KB are 1.05 times as fast so as in blocks, 0.90 to 1.46 times. Of larger ones, of rows of half
    a line or less, and of lines near each other some take 1.2 times as long. Not measured on other processors.
    """

    gathered_sequences: int = 0
    """
    Sequences of lines in the caches up to which copies put them together in the order of the destination; up to three
    times as many where its rows would compete for one set.

    On Emerald Rapids 59 copies of up to 6 MB are 1.09 times as fast so as in blocks, 0.93 to 1.54 times, and with two
    threads 87 1.06 times. Kernels of unknown sizes are then at 0.92 to 1.00 of the speed of others, where they were at
    0.81 to 1.02. Not measured on other processors.
    """

    goes_on_to_ask: bool = False
    """
    Whether tiles in the caches go on along a destination of 512 KB and more where they can ask for its lines only so.

    On Emerald Rapids 31 copies of 0.5 to 1.4 MB are 1.11 times as fast so, 0.90 to 1.40 times, and with two threads
    1.06 times, 0.91 to 1.69; 18 smaller ones of one or two bytes would be 0.98 times, 0.89 to 1.08. Of 260 copies of
    1.5 to 8 MB eight change. Not measured on other processors.
    """

    finishes_competing_lines: bool = False
    """
    Whether tiles in the caches finish the lines of a destination one after the other where its rows compete for one set
    of the first level cache.

    On Granite Rapids, of 2613 copies of weights and activations, the 122 that change are 1.04 times as fast without
    blocks, 0.86 to 1.41 times; others, of blocks of 4 or 8 channels and of powers of two, up to 2.3 times.
    """

    worth_narrowing: float = 1.02
    """
    By how much vectors of half a line have to be better in the caches, unless they only copy.

    On Emerald Rapids 405 copies for which halves seem to be up to 1.3 times as good, of 1133 of all pairs of five
    layouts and of all three types, take whole lines 1.07 times as fast in the mean, 0.65 to 1.9 times; from NHWC to
    NCHW 1.1 times. Not measured on Granite Rapids.
    """

    worth_narrowing_rows: float | None = None
    """
    The same where no line that a tile reads, or writes, follows another; None where that is no difference.

    On Zen 4 whole lines are up to 1.2 times as fast then where halves seem to be up to a fifth better, and 0.8 to 0.95
    times where they seem to be more than a third better (75 transpositions). Where lines of blocks follow each other
    halves are as good as they seem.
    """

    dear_elements: int = 0
    """
    Elements that a tile of whole lines may keep in registers of half a line before dear shuffles lead to panels.

    On Zen 4 without its vectors of 64 bytes 36 copies whose tiles keep up to 640 are 1.13 times as fast so in the mean,
    0.75 to 1.68 times; of those that keep more, 20 would be 0.92 times as fast, at worst 0.51. Not measured on Zen 3.
    """

    fits_runs: bool = False
    """
    Whether runs that just fit into a vector are tried in the caches as well.

    On Emerald Rapids, of 2300 copies of which 69 change, these are 1.2 times as fast in the mean, 0.7 to 2.2 times:
    channels that no vector divides are read at once, and no tile moves any of them again. Before other choices were
    made as they are now nothing was gained on other processors, and bytes with their three axes reversed were slower.
    """

    unknown_tile_cycles: int = 0
    """
    Cycles that a tile takes longer in the caches where it is not known how far the rows that it writes lie apart.

    Each row needs an address of its own then, for which smaller tiles take more of their time. Where it is not 0, the
    tiles of whole lines that halves are compared with are those that are best in the caches, as for known sizes. On
    Emerald Rapids 1 MiB from NHWC to NCHW would be 0.98 times as fast in f32 without these cycles, 0.99 in f16, 1.01
    in bytes (35 calls of each, 0.67 to 1.4 times). Not measured on others.
    """

    has_small_sets: bool = False
    """
    Whether rows that all belong to one set of the first level cache do not stay there until their lines are finished.

    The sets of Zen 4 have 8 places and not 12. Vectors of half a line are twice as slow there where the rows that they
    write collide, and those that they read have to save more. Transpositions in the caches are 1.1 times as fast in
    the mean, up to 1.4, if tiles follow each other along the source, and not in blocks, where they write whole lines of
    which not too many belong to one set.
    """

    keeps_to_lines: bool = False
    """
    Whether loads of a large source stay in lines that hold something of their tile, even if that is more work.

    Three channels in lines of their own, read by loads that begin in the lines between: 1.35 times as fast on Zen 4
    without. Not known of Ice Lake, which fetches lines in pairs.
    """

    written_again: float = 1.3
    """Cells that tiles write, for every cell there is, above which panels are faster: last tiles overlap others."""

    panel_costs: PanelCosts = DEFAULT_COSTS
    """What the parts of a panel cost, by which one is chosen."""

    inside_costs: PanelCosts = DEFAULT_COSTS
    """The same for a destination that begins inside of a line, where the source mostly does so too."""

    def costs_of_panels(self, *, at_lines: bool) -> PanelCosts:
        """What the parts of a panel cost where the destination begins at a line, or inside of one."""
        return self.panel_costs if at_lines else self.inside_costs
