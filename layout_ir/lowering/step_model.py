"""What the lowering takes into account of a processor where it moves steps of unknown size, such as images."""

from __future__ import annotations

from dataclasses import dataclass

from layout_ir.layouts.panel_of_step import LONG_PART_BYTES, MOST_BYTES, SHORT_PART_BYTES


@dataclass(frozen=True)
class StepModel:
    """How panels take steps of unknown size on one family of processors, and parts of them."""

    small_step_bytes: int = 20 << 10
    """
    Size of the largest step of unknown size that is moved as one panel where panels within it can be asked for a step
    ahead as well.

    35 channels of 28 x 28 in i8 and of 14 x 14 in f32, steps of 27 KB, take NCHW to NHWC 1.2 times as fast by the
    panels within on Emerald Rapids; on Zen 4 35 channels of 14 x 14 are 1.15 to 1.4 times as fast by one, and of 28 x
    28 in f32 0.55 times.
    """

    largest_step_bytes: int = MOST_BYTES
    """
    The same where no panels within it can be asked for a step ahead, and for a block of channels that becomes planes.

    On Emerald Rapids blocks of 8 and 16 channels become planes of 27 x 27 to 75 x 75 up to 2.1 times as fast with a
    limit of 28 KB as with 160, by panels of pieces of planes. Of 100 channels and other numbers of them, which are not
    all in blocks, 200 copies of 1.6 to 64 MiB are 1.05 times as fast in the mean as with 64 KB, 0.94 to 1.6 times. Not
    measured on Granite Rapids.
    """

    whole_row_bytes: int = 0
    """
    Length of the rows of the destination up to which larger steps are moved as one panel as well.

    On Emerald Rapids blocks of 32 channels become planes of 22 x 22 in f16, and of 30 x 30 in i8, 1.2 times as fast so
    as by pieces of these rows.
    """

    whole_step_bytes: int = 20 << 10
    """
    Size of the largest step of unknown size that is moved as one panel where panels of its parts are the other choice.

    On Zen 4 such parts of planes of 7 x 7 are faster from there on. On Granite Rapids NHWC to blocks and to NCHW, 128
    to 640 channels of 7 x 7 in steps of 24 to 31 KB, are 1.08 times as fast as one panel in the mean, 0.93 to 1.43.
    """

    long_row_bytes: int = 256
    """
    Length of the rows of the source that the larger panels of parts of steps of unknown size take, where channels
    become planes.

    On Emerald Rapids 64 to 512 channels of 14 x 14 in f32 are 1.1 to 1.2 times as fast by rows of 128 bytes, of bytes
    and halves up to 1.2 times, and others as fast.
    """

    block_part_bytes: int = 0
    """
    Size of the largest panel of one block of channels, or of some, where steps of unknown size are larger; 0: no such.

    On Emerald Rapids blocks of 8 to 32 channels become planes 1.0 to 1.6 times as fast so, in f16 and i8: up to 64 KB
    for each, which is better than up to 16 KB. With less than a line of each row of the source, as of 64 channels in
    i8 to blocks, copies are 0.6 times as fast, so that there are none of these.
    """

    side_by_side_bytes: int = LONG_PART_BYTES
    """
    The same for blocks of channels that lie side by side in the source; 0: no such.

    On Emerald Rapids NHWC to blocks of 8 to 32 channels, of 15 x 15 and 27 x 27 in f16 and i8, is 1.4 to 1.7 times as
    fast by panels of all channels of a few pixels, which go on along the source, or as fast; of smaller planes as fast.
    """

    block_part_lines: int = 1
    """
    Lines of each row of the source that such a panel takes of blocks that lie side by side in it.

    On Granite Rapids two are 1.03 times as fast as one in the mean of 63 copies from NHWC to blocks of 8, 16 and 32,
    0.95 to 1.37 times, and four or eight no faster. Not measured on other processors.
    """

    byte_part_bytes: int = SHORT_PART_BYTES
    """
    Size of the largest panel of a part of a step of unknown size that takes a line of each row of a source of bytes.

    On Granite Rapids 192 to 1536 channels of 14 x 14 to 28 x 28 become planes 1.17 times as fast so in the mean, 0.9 to
    1.5 times, up to 64 KB; halves and floats 0.92 times, 0.56 to 1.3. On Emerald Rapids 192 to 1024 channels of 23 x 23
    to 31 x 33 become planes 1.33 times as fast up to 160 KB, in the mean of 20 copies, 1.1 to 1.6 times; smaller planes
    1.07 times, 0.86 to 1.34.
    """

    half_part_bytes: int = SHORT_PART_BYTES
    """
    The same for elements of two bytes.

    On Emerald Rapids 96 to 512 channels of 7 x 7 to 23 x 25 become planes 1.04 times as fast so up to 64 KB, in the
    mean of 28 copies, 0.86 to 1.39 times; up to 16 KB as fast.
    """

    step_ahead_bytes: int | None = None
    """
    Size of the largest step of unknown size that is asked for one step ahead where panels take parts of it; None: any.

    On Granite Rapids steps of 49 to 1568 KB, of 256 to 2048 channels to planes of 7 x 7 and 14 x 14, are 1.28 times as
    fast in f32, in the mean, where a part asks for the next one, 0.98 to 1.73 times; in i8 1.1 times, 0.95 to 1.82, in
    steps of 12 and 24 KB 0.93 and 0.99 times. On Emerald Rapids steps of 230 to 250 KB are 1.1 to 1.2 times as fast so,
    and of 185 KB 0.84 to 0.91 times.
    """

    short_row_bytes: int = 0
    """
    Length of the rows of the source up to which larger steps of unknown size are taken in parts of many rows, and not
    in long pieces of all of them.

    On Granite Rapids 512 to 2048 channels of 7 x 7 take NCHW to NHWC 1.3 to 1.5 times as fast so in f32. Not measured
    on other processors.
    """

    kept_row_bytes: int = 1200
    """
    Length of the rows of the destination from which on steps that a second level cache keeps are taken in pieces.

    On Emerald Rapids 64 to 512 channels become planes of 1250 bytes and more 1.09 times as fast so, in the mean of 37
    copies in f16 and f32, 0.97 to 1.33 times, and of 720 to 900 bytes 0.69 to 1.1 times; bytes become planes of 1155
    and 3135 bytes 1.06 times as fast.
    """

    together_bytes: int = 32 << 10
    """
    Size of the largest step that several parts fill as one panel: a first level cache holds it with its source.

    Measured against parts by themselves. On Emerald Rapids 100 channels of 14 x 14 in i8 are 1.25 times as fast, to
    blocks in steps of 22 and 25 KB, and others slower from 37 KB on. On Zen 4, whose first level cache is smaller, 35
    channels of 7 x 7 are up to 3.5 times as fast, to and from blocks, of 14 x 14 in i8 1.5 times; from 27 KB on they
    are 0.75 to 1 times as fast. All these steps were of unknown size; known ones of 4 to 27 KB, of 20 to 130 channels
    from blocks to planes, are 1.2 times as fast on Granite Rapids in the mean of 53 copies, 0.95 to 1.8 times.
    """
