"""Schedules by measurement: every candidate is right, what wins wins by rule, and the cache is a memory, no more."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from layout_ir_text import parse
from reorder_batch import Reorder, faults, module_of
from xdsl.dialects.builtin import ModuleOp

import layout_ir as li
from layout_ir.lowering.target import Preferences, Target
from layout_ir.runtime import tuning
from layout_ir.runtime.candidates import (
    Candidate,
    compile_candidates,
    distinct,
    isolated,
    ways_to_prefetch,
    ways_to_store,
)
from layout_ir.runtime.measuring import Call
from layout_ir.runtime.module import compile_for
from layout_ir.runtime.tuning import Tuned, tune
from layout_ir.runtime.tuning_record import Record, Trial, recall, remember


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("LAYOUT_IR_CACHE", str(folder))
    monkeypatch.setenv("LAYOUT_IR_VECTOR_BYTES", "64")
    # what these kernels write does not depend on how long the compiler thinks about them
    monkeypatch.setattr("layout_ir.runtime.compiler_flags.BASE_FLAGS", ("-O0", "-std=gnu11", "-fPIC", "-shared"))
    return folder


class Stopwatch:
    """Measures nothing: the seconds that the second call takes, round by round, while all others take one."""

    def __init__(self, *seconds: float) -> None:
        self.seconds = list(seconds)
        self.rounds: list[int] = []

    def __call__(self, calls: Sequence[Call]) -> list[float]:
        for call in calls:
            call()
        self.rounds.append(len(calls))
        second = self.seconds[min(len(self.rounds), len(self.seconds)) - 1]
        return [1.0, second, *[1.0] * (len(calls) - 2)]


def transposition(rows: int | None = 64, columns: int = 96, name: str = "f") -> ModuleOp:
    extent = "?" if rows is None else rows
    plain, turned = (f"tensor<{extent}x{columns}xf32{layout}>" for layout in ("", ', #layout.format<"CN">'))
    return parse(f"""func.func @{name}(%x: {plain}) -> {turned} {{
      %y = layout.reorder %x : {plain} to {turned}
      func.return %y : {turned}
    }}""")


# -- candidates --------------------------------------------------------------------------------------------------------

PAIRS = (
    Reorder(li.layout("onednn:ab"), li.layout("onednn:ba"), (83, 130), "f32"),
    Reorder(li.layout("NCHW"), li.layout("NHWC"), (2, 100, 9, 13), "f32"),
    Reorder(li.layout("NCHW"), li.layout("onednn:nChw16c"), (2, 35, 9, 7), "f16", 3),
    Reorder(li.layout("onednn:nChw8c"), li.layout("onednn:nChw16c"), (2, 35, 7, 9), "f32", None),
    Reorder(li.layout("onednn:abc"), li.layout("onednn:cba"), (20, 31, 53), "f64"),
    Reorder(li.layout("onednn:abc"), li.layout("onednn:bac"), (37, 5, 19), "i16"),
)


@pytest.mark.parametrize(
    "pair, threads", [*((pair, None) for pair in PAIRS), *((pair, 2) for pair in PAIRS[1::2])], ids=str
)
def test_every_candidate_writes_the_same(pair: Reorder, threads: int | None) -> None:
    module = module_of([pair])
    model = Target(64, threads is not None, panels=True)
    stores = list(ways_to_store(model, other_panels=True))
    candidates = distinct(module, [model, *stores, *ways_to_prefetch(model), *ways_to_prefetch(stores[-1])])
    assert len(candidates) > 2
    kernels = compile_candidates(module, "case_0", candidates, threads)
    found = faults([pair] * len(kernels), kernels)
    assert not found, "\n".join(found)


def test_no_two_candidates_are_the_same() -> None:
    model = Target(64)
    targets = [model, *ways_to_store(model, other_panels=True)]
    candidates = distinct(transposition(), targets)
    assert candidates[0].target == model
    assert len({candidate.text for candidate in candidates}) == len(candidates) < len(targets)
    more = distinct(transposition(), ways_to_prefetch(model), candidates)
    assert more[: len(candidates)] == candidates
    assert len(more) > len(candidates)


def test_panels_that_the_environment_decides_about_are_left_alone() -> None:
    assert {target.panels for target in ways_to_store(Target(64), other_panels=False)} == {False}
    assert {target.panels for target in ways_to_store(Target(64), other_panels=True)} == {False, True}


CALLS = """
func.func private @inner(%x: tensor<8x40xf32>) -> tensor<8x40xf32, #layout.format<"CN">> {
  %y = layout.reorder %x : tensor<8x40xf32> to tensor<8x40xf32, #layout.format<"CN">>
  func.return %y : tensor<8x40xf32, #layout.format<"CN">>
}
func.func @candidate_1_f(%x: tensor<8x40xf32>) -> tensor<8x40xf32, #layout.format<"CN">> {
  %y = func.call @inner(%x) : (tensor<8x40xf32>) -> tensor<8x40xf32, #layout.format<"CN">>
  func.return %y : tensor<8x40xf32, #layout.format<"CN">>
}
func.func @f(%x: tensor<8x40xf32>) -> tensor<8x40xf32, #layout.format<"CN">> {
  %y = func.call @candidate_1_f(%x) : (tensor<8x40xf32>) -> tensor<8x40xf32, #layout.format<"CN">>
  func.return %y : tensor<8x40xf32, #layout.format<"CN">>
}
func.func @other(%x: tensor<8xf32>) -> tensor<8xf32> { func.return %x : tensor<8xf32> }
"""


def test_functions_that_call_others_keep_their_own() -> None:
    module = isolated(parse(CALLS), "f")
    assert [op.sym_name.data for op in module.ops] == ["inner", "candidate_1_f", "f"]  # pyright: ignore[reportAttributeAccessIssue]
    candidates = distinct(module, [Target(64), Target(0)])
    x = np.arange(320, dtype=np.float32).reshape(8, 40)
    for kernel in compile_candidates(module, "f", candidates, None):
        assert (kernel(x, np.zeros((40, 8), np.float32)) == x.T).all()
    kernel = tune(parse(CALLS), "f", measure=Stopwatch(0.5)).kernel()
    assert (kernel(x, np.zeros((40, 8), np.float32)) == x.T).all()


# -- who wins ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def without_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few candidates, whose kernels are all the cost model's, as far as only the rules matter."""

    def model_alone(
        module: ModuleOp, name: str, candidates: Sequence[Candidate], threads: int | None
    ) -> list[li.Kernel]:
        return compile_for(module, [name], candidates[0].target, threads) * len(candidates)

    def few_ways_to_store(model: Target, *, other_panels: bool) -> Iterator[Target]:
        return islice(ways_to_store(model, other_panels=other_panels), 3)

    monkeypatch.setattr(tuning, "compile_candidates", model_alone)
    monkeypatch.setattr(tuning, "ways_to_store", few_ways_to_store)
    monkeypatch.setattr(tuning, "ways_to_prefetch", lambda model: islice(ways_to_prefetch(model), 2))


@pytest.mark.usefixtures("without_compiling")
@pytest.mark.parametrize(
    "seconds, wins",
    [((1.0,), False), ((0.98,), False), ((1.5,), False), ((0.9,), True), ((0.9, 0.9, 0.99), False)],
    ids=["as fast", "hardly faster", "slower", "clearly faster", "not again"],
)
def test_another_schedule_has_to_be_clearly_faster(seconds: tuple[float, ...], wins: bool) -> None:
    measure = Stopwatch(*seconds)
    tuned = tune(transposition(), "f", measure=measure)
    record = tuned.record
    assert record.is_model is not wins
    assert record.winner == record.trials[1 if wins else 0].target
    assert ("times as fast as the cost model's" in str(tuned)) is wins
    assert record.gain == pytest.approx(1 / 0.9 if wins else 1)
    assert len(measure.rounds) == (3 if min(seconds) < 0.95 else 2)
    assert measure.rounds[0] + measure.rounds[1] - 1 == len(record.trials)


@pytest.mark.usefixtures("without_compiling")
def test_the_report_names_every_schedule_by_its_pass() -> None:
    tuned = tune(transposition(), "f", measure=Stopwatch(0.5))
    first, *lines = tuned.report().splitlines()
    assert first == f"f: {len(lines)} schedules measured: one 2.00 times as fast as the cost model's"
    assert [line for line in lines if line.endswith("(chosen)")] == lines[:1]
    assert lines[0].split()[0] == f"{2 * 64 * 96 * 4 / 0.5 / 1e9:.2f}"
    assert sum("(the cost model's)" in line for line in lines) == 1
    assert all("GB/s  layout-lower{vector_bytes=" in line for line in lines)


def test_the_winner_is_compiled() -> None:
    module = transposition()
    tuned = tune(module, "f", measure=Stopwatch(0.5))
    kernel, usual = tuned.kernel(), li.compile_reorder("NC", "CN", shape=(64, 96), dtype="f32")
    x = np.arange(64 * 96, dtype=np.float32)
    assert (kernel(x, np.zeros_like(x)) == usual(x, np.zeros_like(x))).all()
    assert kernel.source.replace("f(", "reorder(") != usual.source


def test_where_there_is_one_schedule_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOUT_IR_VECTOR_BYTES", "0")
    measure = Stopwatch(0.5)
    assert str(tune(transposition(), "f", measure=measure)) == "f: there is only one schedule"
    assert measure.rounds == []


def test_a_compiler_without_shuffles_has_one_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old-cc"
    path.write_text(
        '#!/bin/sh\nfor word in "$@"; do\n  test -f "$word" && grep -q shufflevector "$word" && exit 1\n'
        'done\nexec gcc "$@"\n'
    )
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))
    tuned = tune(transposition(), "f", measure=Stopwatch(0.5))
    assert tuned.record.winner == Target()
    assert "vector_size" not in tuned.kernel().source


# -- the cache ---------------------------------------------------------------------------------------------------------


def recalled(module: ModuleOp, **options: int) -> Tuned | None:
    """What the cache knows; None where it has to be measured."""

    def measure(calls: Sequence[Call]) -> list[float]:
        raise LookupError

    try:
        return tune(module, "f", measure=measure, **options)
    except LookupError:
        return None


@pytest.mark.usefixtures("without_compiling")
def test_what_was_measured_is_not_measured_again(own_cache: Path) -> None:
    assert recalled(transposition()) is None
    tuned = tune(transposition(), "f", measure=Stopwatch(0.5))
    again = recalled(transposition())
    assert again is not None
    assert again.record == tuned.record
    assert again.is_recalled
    assert "schedules measured before" in str(again)
    assert again.kernel().source == tuned.kernel().source
    assert len(list(own_cache.glob("*.json"))) == 1


@pytest.mark.usefixtures("without_compiling")
def test_another_kernel_is_another_record(monkeypatch: pytest.MonkeyPatch) -> None:
    tune(transposition(), "f", measure=Stopwatch(0.5))
    assert recalled(transposition(65)) is None
    assert recalled(transposition(), threads=2) is None
    monkeypatch.setenv("LAYOUT_IR_VECTOR_BYTES", "32")
    assert recalled(transposition()) is None
    monkeypatch.setenv("LAYOUT_IR_VECTOR_BYTES", "64")
    assert recalled(transposition()) is not None
    monkeypatch.setattr("layout_ir.runtime.cache.processor", lambda: "another processor")
    assert recalled(transposition()) is None


DAMAGE = {
    "nothing": "",
    "no JSON": "{",
    "bytes": "\x00\x01",
    "a list": "[]",
    "another version": lambda content: {**content, "format": 99},
    "no winner": lambda content: {key: content[key] for key in ("format", "trials")},
    "a winner that did not take part": lambda content: {**content, "winner": "layout-lower{vector_bytes=16}"},
    "no trials": lambda content: {**content, "trials": []},
    "another pass": lambda content: {**content, "winner": "canonicalize"},
    "an unknown option": lambda content: {**content, "winner": "layout-lower{speed=9}"},
    "a wrong option": lambda content: {**content, "winner": "layout-lower{vector_bytes=63}"},
    "two passes": lambda content: {**content, "winner": "layout-lower,layout-lower"},
    "no text": lambda content: {**content, "winner": 7},
    "half a trial": lambda content: {**content, "trials": [content["trials"][0][:2]]},
    "no time": lambda content: {**content, "trials": [[content["trials"][0][0], 0, 1.0]]},
    "another model": lambda content: {**content, "trials": content["trials"][1:]},
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_record_is_none(name: str, tmp_path: Path) -> None:
    file, change = tmp_path / "record.json", DAMAGE[name]
    model, other = Target(64), Target(64, preferences=Preferences(1, "source", 2, True, 512, 64))
    record = Record(other, (Trial(model, 2.0, 1.0), Trial(other, 1.0, 2.0)))
    remember(file, record)
    assert recall(file, model) == record
    file.write_text(change if isinstance(change, str) else json.dumps(change(json.loads(file.read_text()))))
    assert recall(file, model) is None
    file.write_bytes(b"\xff\xfe")
    assert recall(file, model) is None


@pytest.mark.usefixtures("without_compiling")
def test_a_damaged_record_is_measured_anew(own_cache: Path) -> None:
    tuned = tune(transposition(), "f", measure=Stopwatch(0.5))
    (file,) = own_cache.glob("*.json")
    whole = file.read_text()
    file.write_text(whole[: len(whole) // 2])
    assert recalled(transposition()) is None
    assert tune(transposition(), "f", measure=Stopwatch(0.5)).record == tuned.record
    assert file.read_text() == whole


def test_without_tune_the_cache_changes_nothing() -> None:
    pair = {"src": "NC", "dst": "CN", "shape": (64, 96), "dtype": "f32"}
    usual = li.compile_reorder(**pair).source
    li.compile_reorder(**pair, tune=True)
    li.api._compiled.cache_clear()
    assert li.compile_reorder(**pair).source == usual


def test_two_processes_measure_at_once(own_cache: Path) -> None:
    program = (
        "import layout_ir as li, numpy as np\n"
        "kernel = li.compile_reorder('NC', 'CN', shape=(32, 48), dtype='f32', tune=True)\n"
        "x = np.arange(32 * 48, dtype=np.float32).reshape(32, 48)\n"
        "assert (kernel(x, np.zeros((48, 32), np.float32)) == x.T).all()\n"
    )
    processes = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [process.wait(timeout=300) for process in processes] == [0, 0]
    assert len(list(own_cache.glob("*.json"))) == 1
    assert {path.suffix for path in own_cache.iterdir()} == {".c", ".so", ".json"}


# -- sizes and errors --------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("without_compiling")
def test_unknown_extents_are_measured_with_sizes() -> None:
    tuned = tune(transposition(None), "f", sizes={"n": 64, "other": 3}, measure=Stopwatch(0.5))
    assert len(tuned.record.trials) > 2
    assert not tuned.record.is_model
    x = np.arange(80 * 96, dtype=np.float32).reshape(80, 96)
    assert (tuned.kernel()(x, np.zeros((96, 80), np.float32), sizes=(80,)) == x.T).all()  # pyright: ignore[reportCallIssue]
    assert recalled(transposition(None), sizes={"n": 64}) is not None  # pyright: ignore[reportArgumentType]
    assert recalled(transposition(None), sizes={"n": 63}) is None  # pyright: ignore[reportArgumentType]


def test_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(li.LayoutError, match="f: expected sizes for n, as schedules are measured on buffers of"):
        tune(transposition(None), "f")
    with pytest.raises(li.LayoutError, match=r"reorder: expected sizes for n, as .* got none for n"):
        li.compile_reorder("NC", "CN", shape=(None, 3), dtype="f32", tune=True)
    with pytest.raises(li.LayoutError, match="expected tune for the target c alone, got it for opencl"):
        li.compile_reorder("NC", "CN", shape=(4, 3), dtype="f32", target="opencl", tune=True)
    with pytest.raises(li.LayoutError, match="no function 'g', expected one of: f"):
        tune(transposition(), "g")
    monkeypatch.setattr(tuning, "MOST_BYTES", 1000)
    with pytest.raises(li.LayoutError, match=r"f: expected buffers of at most 1000 bytes to .*, got 49152; tune a"):
        tune(transposition(), "f")
