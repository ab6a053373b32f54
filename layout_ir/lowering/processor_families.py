"""The families of processors that the lowering knows, by name."""

from __future__ import annotations

from dataclasses import replace

from layout_ir.layouts.panel_costs import PanelCosts
from layout_ir.layouts.panel_of_step import MOST_BYTES, SHORT_PART_BYTES
from layout_ir.lowering.processor_model import ProcessorModel
from layout_ir.lowering.request_model import PAGE_LINES

ICE_LAKE, GRANITE_RAPIDS = "ice-lake", "granite-rapids"
SAPPHIRE_RAPIDS, EMERALD_RAPIDS = "sapphire-rapids", "emerald-rapids"
ZEN_3, ZEN_4 = "zen-3", "zen-4"

ZEN_4_PANELS = PanelCosts(
    end_bytes=900,
    short_run_bytes=45,
    far_run_bytes=110,
    carrying=0.08,
    visit_bytes=220,
    near_visit_bytes=24,
    far_visit_bytes=500,
    region_visit_bytes=3,
    region_part_bytes=40,
    many_rows=0.45,
    read_on_bytes=128,
    near_bytes=40 << 10,
    region_bytes=512 << 10,
    kept_region_bytes=256 << 10,
    large_region=0.15,
    region_near_bytes=5 << 10,
    tiny_bytes=1152,
    far=0.85,
    kept_bytes=192 << 10,
    driven_out=0.6,
    evenly=True,
)
"""
Fitted to 203 copies with up to 13 panels each, since the next panel is asked for: those that are chosen take 1.06 times
as long as the best ones, where they took 1.1 times before. Of 541 other copies, 201 are changed by that, and 1.05 times
as fast in the mean, 0.77 to 1.87. Regions of more than 96 KB are 1.5 times as fast where they have been asked for, up
to 512 KB, unless panels of rows stay in a first level cache.
"""

ZEN_4_INSIDE = replace(ZEN_4_PANELS, counts_first_visits=True, set_places=8)
"""
The same numbers are as good for copies 16 bytes behind a line: 63 of 180 are changed by them, too.
"""

GRANITE_RAPIDS_PANELS = PanelCosts(end_bytes=900, short_run_bytes=25, far_run_bytes=110, counts_first_visits=True)
"""
Ends of runs cost more than on Ice Lake, and short runs where lines are carried: with these numbers 111 copies 16 bytes
behind a line are 1.02 times as fast on Emerald Rapids in the mean, 0.8 to 1.35 times, and 117 copies at lines 1.003.
"""

_STEP_BYTES = 28 << 10
"""Size of the largest block of channels that panels of Emerald Rapids take at once, for sizes known and unknown."""

EMERALD_RAPIDS_INSIDE = replace(GRANITE_RAPIDS_PANELS, region_bytes=_STEP_BYTES)
"""
For larger blocks of channels panels of pieces of planes are up to 1.44 times as fast on Emerald Rapids: 69 copies of 24
to 50 MiB, whose panels the limit changes, 1.09 times in the mean, at worst 0.94. Copies from NHWC to NCHW that it
changes are as fast. Not measured on Granite Rapids.
"""

EMERALD_RAPIDS_PANELS = replace(
    EMERALD_RAPIDS_INSIDE, kept_source_bytes=3 << 19, pieced_region_bytes=(76 << 10, 160 << 10)
)
"""
Of images, and of whole blocks, a second level cache of 2 MB keeps what panels leave for later ones: NHWC to NCHW of odd
planes, and from blocks of 16 x 16, goes through scratch of 12 to 60 KB instead of 100 to 320. On Emerald Rapids 56 such
copies and others, which this changes, are 1.07 to 1.13 times as fast in the mean of a run, 0.84 to 1.55 times (one was
at 0.63 once); with two threads 62 are 1.03 times, 0.80 to 1.44. Where rows of the source are cut inside of lines, or
into lines one by one, they would be 0.73 to 0.95 times as fast; so would most for a source inside of a line.
Where lines are carried, planes that end inside of them cost less than anywhere else: 15 of 119 others, which that
changes, are 1.09 times as fast in the mean, 0.89 to 1.19 times. Smaller images, of 76 to 160 KB, are taken in pieces
that are asked for an image ahead: 30 of 249, which that changes, are 1.13 times as fast in the mean, 1.00 to 1.43. Of
images up to 200 KB some would be 0.88 to 0.95 times as fast, of wide elements in two pieces 0.65 to 0.86 times.
"""

_ZEN_4 = ProcessorModel(
    stream_bytes=9 << 20,
    asks_second_level=True,
    asks_times=4,
    asks_for_destination=False,
    set_places=8,
    has_small_sets=True,
    worth_narrowing_rows=1.22,
    asks_for_ends=True,
    row_distances=128,
    asks_for_next_panel=True,
    picks_by_panels=True,
    asks_line_behind=True,
    stages_lines=True,
    streams_parts=False,
    reads_on=True,
    keeps_to_lines=True,
    written_again=1.32,
    small_step_bytes=64 << 10,
    together_bytes=20 << 10,
    panel_costs=ZEN_4_PANELS,
    inside_costs=ZEN_4_INSIDE,
)

_EMERALD_RAPIDS = ProcessorModel(
    asks_second_level=True,
    fits_runs=True,
    unknown_tile_cycles=16,
    medium_bytes=3 << 19,
    asks_for_ends=True,
    asks_for_next_panel=True,
    next_panel_bytes=20 << 10,
    followed_sequence_bytes=128 << 10,
    asks_across_gaps=True,
    asks_near_in_far_rows=True,
    asks_in_order=True,
    streams_parts=False,
    worth_narrowing=1.3,
    few_mixed_lines=104,
    long_row_bytes=128,
    block_part_bytes=64 << 10,
    side_by_side_bytes=0,
    byte_part_bytes=MOST_BYTES,
    half_part_bytes=64 << 10,
    step_ahead_bytes=200 << 10,
    largest_step_bytes=_STEP_BYTES,
    whole_row_bytes=1280,
    gathered_sequences=32,
    goes_on_to_ask=True,
    panel_costs=EMERALD_RAPIDS_PANELS,
    inside_costs=EMERALD_RAPIDS_INSIDE,
)

_SAPPHIRE_RAPIDS = replace(
    _EMERALD_RAPIDS,
    asks_by_shares=True,
    near_loads=32,
    crowding_lines=1,
    panel_costs=replace(EMERALD_RAPIDS_PANELS, near_visit_bytes=60),
)
"""
Measured from and to memory alone, in a virtual machine whose memory has small pages on its host: a visit to a row far
away costs more than on Emerald Rapids. By `near_visit_bytes` seven copies of the benchmark are 1.07 times as fast in
the mean, 0.80 to 1.50 times: f32 whose dims are reversed, and FRACTAL_NZ to NC in i8, are faster.
"""

_GRANITE_RAPIDS = replace(
    _EMERALD_RAPIDS,
    next_panel_bytes=None,
    asks_in_order=False,
    gathered_sequences=0,
    goes_on_to_ask=False,
    asks_for_next_part=True,
    followed_sequence_bytes=None,
    far_row_lines=PAGE_LINES // 2,
    far_written_bytes=2 << 10,
    asks_for_next_tile=True,
    crowding_lines=512,
    one_sequence_bytes=3072,
    row_distances=8,
    mixed_lines=160,
    few_mixed_lines=160,
    side_by_side_bytes=64 << 10,
    block_part_lines=2,
    whole_step_bytes=32 << 10,
    largest_step_bytes=MOST_BYTES,
    panel_costs=GRANITE_RAPIDS_PANELS,
    inside_costs=GRANITE_RAPIDS_PANELS,
    byte_part_bytes=64 << 10,
    half_part_bytes=SHORT_PART_BYTES,
    finishes_competing_lines=True,
    followed_bytes=768 << 10,
    step_ahead_bytes=48 << 10,
    short_row_bytes=256,
    streams_parts=True,
    written_again=1.2,
)
"""
Measured from and to memory, but for the orders of tiles in the caches. All axes reversed, bytes are 1.3 to 1.4 times as
fast where the next panel is asked for; of the other copies of the benchmark some 70 change, and are as fast in the
mean, 0.89 to 1.4 times. From planes of 14 x 14 and 28 x 28 some are 1.1 to 1.2 times as fast where rows follow, and
rows with gaps between them are written 1.24 to 1.48 times as fast past the caches.
Panels are 1.09 to 1.98 times as fast as tiles that write 1.26 to 1.28 cells for each, as of planes of 5 x 5 or 10 x 10:
a line that is streamed again soon after takes longer than two others. From 1.1 to 1.2 cells both are as fast.
"""

MODELS = {
    ICE_LAKE: ProcessorModel(),
    SAPPHIRE_RAPIDS: _SAPPHIRE_RAPIDS,
    EMERALD_RAPIDS: _EMERALD_RAPIDS,
    GRANITE_RAPIDS: _GRANITE_RAPIDS,
    # other numbers for what Zen 4 asks for made no difference there
    ZEN_3: _ZEN_4,
    ZEN_4: replace(_ZEN_4, dear_elements=640),
}
"""The families by name."""
