"""Stages move the bits that they say; found stages end in the wanted order; transposes need cheap ones only."""

from __future__ import annotations

import itertools

import pytest

from layout_ir.layouts.lane_stages import ROW, Stage, cheap_masks, cheap_stages, exchange, find_stages

SIZES = [(bits, segment_bits) for segment_bits in range(1, 5) for bits in range(1, segment_bits + 3)]


def run(stage: Stage, left: list[int], right: list[int]) -> tuple[list[int], ...]:
    """The two results of a stage."""
    return tuple([(left + right)[lane] for lane in mask] for mask in stage.masks)


@pytest.mark.parametrize(("bits", "segment_bits"), SIZES)
def test_a_stage_moves_the_bits_that_it_says(bits: int, segment_bits: int):
    lanes = range(1 << bits)
    for stage in (*cheap_stages(bits, segment_bits), *(exchange(bits, bit) for bit in range(bits))):
        for removed, result in enumerate(run(stage, list(lanes), [lane + (1 << bits) for lane in lanes])):
            for lane, value in enumerate(result):
                assert value >> stage.removed & 1 == removed
                for bit, source in enumerate(stage.sources):
                    assert value >> (bits if source == ROW else source) & 1 == lane >> bit & 1


@pytest.mark.parametrize(("bits", "segment_bits"), SIZES)
def test_cheap_stages_stay_in_their_segments_or_move_whole_ones(bits: int, segment_bits: int):
    size = min(1 << segment_bits, 1 << bits)
    for mask in cheap_masks(bits, segment_bits):
        stays = all((lane % (1 << bits)) // size == position // size for position, lane in enumerate(mask))
        moves = all(lane % size == position % size for position, lane in enumerate(mask))
        assert stays or moves or mask == tuple(range(2 << bits))


@pytest.mark.parametrize(("bits", "segment_bits"), SIZES)
def test_transposes_need_cheap_stages_only(bits: int, segment_bits: int):
    wanted = tuple(-1 - bit for bit in range(bits))
    found = find_stages(wanted, segment_bits, 2.0)
    assert found is not None
    assert len(found) == bits
    assert all(stage in cheap_stages(bits, segment_bits) for stage, _ in found)


@pytest.mark.parametrize("segment_bits", [1, 2, 3])
def test_found_stages_end_in_the_wanted_order(segment_bits: int):
    bits = 3
    for rows, places in itertools.product(range(1, bits + 1), itertools.permutations(range(bits))):
        wanted = tuple(-1 - places[bit] if places[bit] < rows else bit for bit in range(bits))
        found = find_stages(wanted, segment_bits, 2.0)
        assert found is not None
        values = [[lane | row << bits for lane in range(1 << bits)] for row in range(1 << rows)]
        for stage, row_bit in found:
            for row in range(1 << rows):
                if not row >> row_bit & 1:
                    other = row | 1 << row_bit
                    values[row], values[other] = run(stage, values[row], values[other])
        for value in values:
            for bit, label in enumerate(wanted):
                source = bits - 1 - label if label < 0 else label
                assert [number >> source & 1 for number in value] == [lane >> bit & 1 for lane in range(1 << bits)]


def test_an_order_that_no_stage_reaches():
    assert find_stages((1, 0), 2, 2.0) is None
