"""What is asked for ahead of time on a family of processors, all of it measured."""

from __future__ import annotations

from dataclasses import dataclass

PAGE_LINES = 64
"""Lines of a page, which are also those after which the sets of a first level cache repeat, on all of them."""


@dataclass(frozen=True)
class RequestModel:
    """What tiles and panels ask for before they read or write it."""

    asks_second_level: bool = False
    """
    Whether lines of a source in memory are asked for into a second level cache, and not into the first; and those of a
    large destination that a copy only writes parts of.

    A request for a first level cache takes a place there until the line has come from memory. Zen 4 has so few that
    loads wait for them, while its second level has many more, and looks ahead by itself as well: 1.2 times as fast in
    the mean of the benchmark, up to 2, and rows of bytes with gaps between them are written 1.1 times as fast. On
    Emerald Rapids streaming stores need the same places: 1.03 times as fast in the mean, 0.88 to 1.23, and as fast
    where a third level cache holds the source. On Ice Lake asking for it so is as fast or slightly slower.
    """

    near_loads: int = 0
    """
    Rows of a block of tiles up to which these ask for lines into the first level all the same.

    On Sapphire Rapids 146 copies of the benchmark are 1.04 times as fast so in the mean, 0.98 to 1.15 times; NCHW to
    NHWC of 64 channels in f16, in blocks of 64 rows, would be 0.56 times. Not measured on other processors.
    """

    asks_times: int = 1
    """
    How many times a tile asks the second level cache for a line of the source.

    Zen 4 does not always grant a request, and often one that is made again at once: four are 1.09 times as fast as one
    in the mean of the benchmark, up to 1.75 times where tiles write many rows; with two threads 1.04 times. Copies
    inside of lines are 0.9 times as fast with them, and ask once.
    """

    asks_for_destination: bool = True
    """
    Whether tiles in the caches ask for lines of the destination that later ones write.

    Ice Lake's stores wait for them otherwise; Zen 4 is 1.05 times as fast without, in the mean at 1 MiB.
    """

    mixed_lines: int = 256
    """
    Lines of one sequence that tiles in the caches write in an order of their own, up to which the next ones are asked
    for.

    What is asked for lies at a fixed distance, and between more lines it is mostly one of them. On Granite Rapids
    blocks and NHWC become planes of 12 x 12 to 28 x 28 1.1 times as fast by 160, in the mean of 17 copies in the
    caches, 0.92 to 1.4 times, and 1.25 to 1.4 times where sizes are unknown, of 14 x 14 and 15 x 15 in f32. Not
    measured on other processors.
    """

    few_mixed_lines: int = 256
    """
    The same, at most as many, up to which those are, and not the next ones of each row, where these could be as well.

    Of rows of unknown length, those that are written before tiles are done with any. On Emerald Rapids, by 104, 35
    copies from blocks to planes of 105 to 400 elements are 1.15 times as fast, 0.88 to 1.85 times, and with two threads
    1.4 times, 1.1 to 2.2 times. Not measured on other processors.
    """

    asks_for_ends: bool = False
    """
    Whether panels, and tiles of many rows with gaps behind them, ask for the lines that they only write parts of.

    Such rows, inside of lines, are written 1.5 times as fast by panels on Zen 4, 1.1 times by tiles that transpose,
    and up to 1.2 times between whole lines that are copied; not known of Ice Lake.
    """

    asks_across_gaps: bool = False
    """
    Whether tiles that copy rows with gaps behind them ask for the same parts of later rows, and for both lines in which
    a vector may lie; out of the caches as if to read them.

    On Sapphire Rapids rows of 56 elements are written 1.5 to 1.7 times as fast so as without asking, and 1.1 to 1.3
    times as if lines were asked for to be written. In the caches 1.04 to 2 times as fast as where lines are asked for
    at a distance that leads from a row to a gap, or not at all.
    """

    row_distances: int = 2
    """
    How many distances ahead the rows that a tile reads are long, at least, where it asks for what lies behind it along
    them rather than for the rows that follow all of them: behind the end of a row lies what has been read.

    On Zen 4, which keeps what is asked for in a second level cache, 59 copies of planes of 13 x 13 to 55 x 55 are 1.6
    times as fast with 8 as with 2, in the mean. Of 144 others, 18 change between 16 and 128: 1.1 times as fast.
    """

    asks_for_next_panel: bool = False
    """
    Whether a panel asks for the rows of the source that the next one takes while it is written; and before, where all
    panels read one sequence of lines, unless the processor follows that (`followed_sequence_bytes`).

    Zen 4 reads and writes at the same time then: rows in reverse order of axes are 1.05 to 1.5 times as fast. Ice Lake
    is slower, down to 0.65 times, where it writes short runs: these need the same buffers of lines. On Granite Rapids
    reversals of bytes are 1.3 to 1.4 times as fast. On Emerald Rapids, with the limits that follow, 84 copies are 1.05
    times as fast in the mean, 0.91 to 1.32 times, and with two threads 67 are 1.07 times, 0.92 to 1.67.
    """

    next_panel_bytes: int | None = None
    """
    Size of the largest scratch buffer of panels that ask so for rows, which are then a line or longer, more than the
    processor follows where lines are carried, and written in short runs; None: all panels ask for all rows.

    On Emerald Rapids those of 118 KB and more that ask are 0.78 to 1.12 times as fast, with few between; those that
    write more than 4 KB in one go 0.88 to 0.96 times, and where rows are 4 bytes long 0.56 times. NCHW to nChw16c
    inside of lines, which reads 16 rows, would be 0.92 to 0.98 times as fast.
    """

    asks_for_next_part: bool = False
    """
    Whether panels of parts of steps of unknown size ask for the next part while they are written, but of bytes.

    On Granite Rapids pixels of 64 to 2048 channels become planes of 14 x 14 to 28 x 28 1.03 times as fast so, in the
    mean of 212 copies of two and four bytes, 0.96 to 1.30 times.
    """

    followed_sequence_bytes: int | None = 0
    """
    Size of the largest panels whose processor reads on by itself where all of them read one sequence of lines: only
    larger ones ask for what the next one reads. None: no panels ask for that.

    On Granite Rapids three or four channels out of blocks of 16 are taken 1.0 to 1.3 times as fast so, of 1 to 4 bytes;
    of 60 others of the benchmark 1.01 times in the mean, 0.97 to 1.12. On Emerald Rapids panels of 130 to 320 KB are
    0.94 to 1.18 times as fast if they ask, smaller ones 0.9 to 1.02 times.
    """

    asks_line_behind: bool = False
    """
    Whether panels ask for one line more than those of the next panel along the rows of the source, not for its first.

    From a source that begins inside of a line Zen 4 takes NCHW to NHWC so 1.2 to 1.7 times as fast, and to blocks of 32
    channels 1.1 times; from others 0.98 times. Measured on no other processor.
    """

    asks_near_in_far_rows: bool = False
    """
    Whether panels whose tiles read 64 rows that begin at lines, a page or more apart, ask for the next line of each
    alone, and in a second level cache.

    On Emerald Rapids, of whose first level cache such rows take a few sets, permutations of bytes are 1.04 to 1.17
    times as fast so as where they ask for two lines ahead; of wider elements, in tiles of fewer rows, 0.9 to 1.1 times.
    """

    asks_by_shares: bool = False
    """
    Whether tiles, and those of panels, that read a line here and a line there ask together for what comes next, in the
    order in which it lies (`shared_requests`).

    On Sapphire Rapids, in a virtual machine where a line takes 140 ns, what loads and requests have on the way delivers
    5 GB/s, and what the processor follows by itself 10 to 15: 43 copies of the benchmark are 1.14 times as fast so in
    the mean, 0.95 to 2.6 times. Not measured on other processors.
    """

    asks_in_order: bool = False
    """
    Whether tiles of many rows ask for what comes some tiles later, where panels take parts of rows that the next panel
    does not go on with, and spread their requests over all of their code.

    On Emerald Rapids six copies of bytes, of all axes reversed and others, are 1.07 times as fast so with one thread,
    and 1.09 times with two, 0.95 to 1.29 times; six of halves 1.07 times, 1.00 to 1.16. Floats, whose tiles have 16
    rows, would be 0.8 to 1.16 times as fast, and panels that go on with rows 0.9 to 1.2 times. Not measured on Granite
    Rapids.
    """

    one_sequence_bytes: int | None = None
    """
    Bytes ahead of which tiles ask for the source where all that they read is one sequence of lines; None: as usual.

    With 3072 on Granite Rapids 83 copies of the benchmark are 1.04 times as fast in the mean, 0.94 to 1.13 times.
    """

    far_row_lines: int = PAGE_LINES
    """
    Lines from one row of a tile to the next from which on blocks of tiles ask for what lies behind along the rows.

    On Granite Rapids NCHW to NHWC of planes of 2 to 4 KB is 1.0 to 1.66 times as fast in f16 if these are far already,
    and as fast in f32; of planes of 1 KB 0.89 times.
    """

    asks_for_next_tile: bool = False
    """
    Whether tiles of few rows, pages apart, which begin at lines or their middles, ask for what the next tile reads
    along them, and not the one behind that.

    On Granite Rapids NCHW to NHWC in f16 takes 7 or 11 ms for 64 MiB without, from call to call: of 12 shapes with 48
    to 256 channels it is 1.0 to 1.9 times as fast so. Planes that begin elsewhere in lines would be 0.36 to 0.55 times
    as fast; 23 copies of other layouts are as fast, 0.94 to 1.04 times.
    """
