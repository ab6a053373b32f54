"""The benchmark runs, checks what it measures, and writes what it promises. Times are not looked at."""

from __future__ import annotations

import json
import math
import platform
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import layout_ir as li
from benchmarks import cases, check, digits, dynamic, measure, report, runner
from benchmarks.buffers import SENTINEL, Buffers, allocate
from benchmarks.contestants import Contestant
from benchmarks.harness import evict

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("without", [[], ["--without", "numpy"]], ids=["all", "numpy only checks"])
def test_one_case_from_command_to_json(without: list[str], tmp_path: Path):
    output = tmp_path / "result.json"
    command = [sys.executable, "-m", "benchmarks", "--quick", "--threads", "1", "--json", str(output)]
    command += ["--case", "^nchw -> nChw8c, C = 64 f32 256k$", *without]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    written = json.loads(output.read_text())
    assert set(written) == {"machine", "summaries", "results"}
    (result,) = written["results"]
    assert result["error"] == ""
    assert result["disagreeing"] == []
    assert result["bytes_read"] == result["bytes_written"] == math.prod(result["shape"]) * 4
    assert "numpy" in result["checked_against"]
    expected = {"ours", "memcpy", "numpy"} - set(without)
    for name in ("oneDNN", "PyTorch"):
        if written["machine"][name] == "not installed":
            assert f"{name} is not installed and takes no part" in run.stdout
        else:
            expected.add(name)
    assert set(result["contestants"]) == expected
    for contestant in result["contestants"].values():
        assert len(contestant["samples"]) >= 3
        assert contestant["ratio"] > 0
    measured = {f"{name}, in cache" for name in ("memcpy", "numpy") if name in expected}
    assert {one["group"] for one in written["summaries"]} & {"memcpy, in cache", "numpy, in cache"} == measured


def test_unknown_case_is_an_error():
    command = [sys.executable, "-m", "benchmarks", "--case", "no such case"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "--list" in run.stderr


def test_names_are_unique_and_sizes_as_promised():
    runs = list(cases.runs(list(cases.WIDTHS), cases.SIZES))
    assert len({run.name for run in runs}) == len(runs)
    for run in runs:
        size = math.prod(run.shape) * cases.WIDTHS[run.dtype]
        assert 0.85 * cases.SIZES[run.size] <= size <= 1.6 * cases.SIZES[run.size], run.name


@pytest.mark.parametrize("run", list(cases.runs(["f32"], {"256k": 4096})), ids=lambda run: run.case.name)
def test_every_case_has_two_layouts_and_a_strided_copy_that_is_right(run: cases.Run):
    source, destination = (layout.index_map(run.shape, run.dtype) for layout in run.layouts())
    copy = digits.strided_copy(source, destination)
    if copy is None:  # pads, a source's last block that is not full, or blocks that do not nest
        assert destination.pad_count or source.pad_count or "Acdb" in run.name
        return
    grids = np.indices(copy.extents).reshape(len(copy.extents), -1)
    for index_map, strides, offset in (
        (source, copy.source_strides, copy.source_offset),
        (destination, copy.destination_strides, copy.destination_offset),
    ):
        assert np.array_equal(np.array(strides) @ grids + offset, index_map.offsets().reshape(-1))


@pytest.mark.parametrize("shape", [(2, 35, 4, 4), (1, 16, 3, 3)])
@pytest.mark.parametrize("damage", ["none", "element", "pad"])
def test_check_finds_a_wrong_element_and_an_unwritten_pad(shape: tuple[int, ...], damage: str):
    maps = (li.layout("nchw").index_map(shape, "f16"), li.layout("onednn:nChw16c").index_map(shape, "f16"))
    source = np.zeros(maps[0].storage_size * 2, np.uint8)
    check.fill_source(source, maps[0], "f16", 2)
    result = np.full(maps[1].storage_size, SENTINEL * 257, np.uint16)
    result[:] = 0
    result[maps[1].offsets()] = source.view(np.uint16)[maps[0].offsets()]
    if damage == "element":
        result[maps[1](*(n - 1 for n in shape))] ^= 1
    if damage == "pad":
        pads = np.setdiff1d(np.arange(len(result)), maps[1].offsets())
        result[pads[:1]] = SENTINEL * 257
    error = check.find_error(source, result.view(np.uint8), maps, 2, sampled=False)
    is_damaged = damage == "element" or (damage == "pad" and maps[1].pad_count > 0)
    assert (error is not None) == is_damaged


def test_chunks_cover_a_shape_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(check, "CHUNK", 7)
    seen = np.zeros((2, 3, 5, 4), np.int64)
    for index in check.chunks(seen.shape):
        seen[tuple(index)] += 1
    assert (seen == 1).all()


def test_random_floats_are_normal_and_pads_of_a_source_are_zero():
    index_map = li.layout("onednn:nChw8c").index_map((1, 3, 5, 5), "f32")
    storage = np.full(index_map.storage_size * 4, SENTINEL, np.uint8)
    check.fill_source(storage, index_map, "f32", 4)
    values = storage.view(np.float32)
    elements = values[index_map.offsets()]
    assert np.isfinite(elements).all()
    assert (np.abs(elements) >= np.finfo(np.float32).tiny).all()
    assert np.count_nonzero(values) == index_map.size


def test_ratios_are_medians_of_pairs_and_summaries_geometric_means():
    ours, theirs = measure.Samples((1.0, 1.0, 4.0), 1), measure.Samples((2.0, 3.0, 8.0), 1)
    assert theirs.ratio_to(ours) == 2.0

    def result(name: str, ratio: float) -> SimpleNamespace:
        run = SimpleNamespace(size="out", name=name)
        ratios = {"oneDNN": ratio}
        return SimpleNamespace(run=run, implementation="jit:uni", error="", ratio=ratios.get)

    (summary,) = report.summaries([result("fast", 8.0), result("slow", 0.5)])  # pyright: ignore[reportArgumentType]
    assert (summary.count, summary.mean, summary.worst, summary.worst_case) == (2, pytest.approx(2.0), 0.5, "slow")
    assert not summary.is_met


def test_what_is_done_before_a_sample_is_done_before_each_and_a_sample_is_one_call_then():
    done: list[str] = []

    def seconds(calls: int) -> float:
        done.append(f"{calls} call")
        return 1e-6

    effort = measure.Effort(rounds=3, sample_seconds=1.0, opponent_seconds=1.0)
    one = Contestant("one", seconds)
    assert measure.measure([one], effort, 1, lambda: done.append("evict"))["one"].calls == 1
    assert done == ["evict", "1 call"] * 3


def test_buffers_are_the_same_after_they_were_evicted():
    buffers = allocate(3 * 4096, 4096 + 100)
    buffers.source[:] = np.arange(len(buffers.source)) % 251
    before = [buffers.source.copy(), buffers.destination.copy()]
    is_told = evict(buffers)
    assert is_told == (platform.machine() in ("x86_64", "AMD64", "aarch64", "arm64"))
    assert np.array_equal(before[0], buffers.source)
    assert np.array_equal(before[1], buffers.destination)


@pytest.mark.parametrize("options, kept", [([], "dropped from all caches"), (["--keep-caches"], "stay in the caches")])
def test_the_heading_says_whether_caches_are_kept(options: list[str], kept: str):
    command = [
        sys.executable,
        "-m",
        "benchmarks",
        "--quick",
        "--threads",
        "1",
        "--case",
        "^nchw -> nChw8c, C = 64 i8 out$",
    ]
    run = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert kept in run.stdout


@pytest.mark.parametrize("size, evicts, count", [("out", True, 9), ("out", False, 0), ("1m", True, 0)])
def test_both_buffers_are_evicted_before_every_call_out_of_cache(
    size: str, evicts: bool, count: int, monkeypatch: pytest.MonkeyPatch
):
    evicted: list[tuple[int, int]] = []

    def note(buffers: Buffers) -> bool:
        evicted.append((len(buffers.source), len(buffers.destination)))
        return True

    monkeypatch.setattr(runner, "evict", note)
    (run,) = [one for one in cases.runs(["i8"], {size: 1 << 16}) if one.case.name == "nchw -> nChw8c, C = 64"]
    unmeasured = {"oneDNN", "PyTorch"}
    conditions = runner.Conditions(measure.QUICK, unmeasured, evicts)
    result = runner.run_case(run, 1, conditions, allocate(1 << 17, 1 << 17))
    assert (result.error, set(result.samples)) == ("", {"ours", "memcpy", "numpy"})
    assert evicted == [runner.storage_bytes(run)] * count


def test_kernels_for_unknown_sizes_are_compared(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(dynamic, "PAIRS", dynamic.PAIRS[:1])
    monkeypatch.setattr(dynamic, "IMAGES", ((7, 7),))
    monkeypatch.setattr(dynamic, "SIZES", {"in": 1 << 16, "out": 1 << 17})
    dynamic.main(["--channels", "8"])
    *lines, end = capsys.readouterr().out.splitlines()
    assert [line.split(" known ")[0].strip() for line in lines] == [
        "NCHW -> NHWC, 41x8x7x7 f32",
        "NCHW -> NHWC, 83x8x7x7 f32",
    ]
    assert end.startswith("geometric mean ")
    dynamic.main(["--channels", "8", "--size", "in", "--image", "3x5"])
    assert capsys.readouterr().out.startswith("NCHW -> NHWC, 136x8x3x5 f32 ")


@pytest.mark.parametrize("image", ["28", "0x4", "3x4x5", "axb"])
def test_an_image_is_a_height_and_a_width(image: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        dynamic.main(["--image", image])
    assert f"argument --image: invalid image value: '{image}'" in capsys.readouterr().err
