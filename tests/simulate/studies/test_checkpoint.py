"""Checkpoints: a stopped study goes on to the same rows, and a doubtful file is refused."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueup as tu
from trueup.simulate.studies.run_study import study
from trueup.simulate.studies.study_result import Study
from trueup.simulate.worlds.calibration_curves import Glm, Power
from trueup.simulate.worlds.score_distributions import Beta, Uniform
from trueup.simulate.worlds.world import World

FLAT = World(Uniform(), Power(2))
RESNET = World(Beta(2.7752, 0.0478), Glm("logflip", "logflip", -0.24, 0.30))
WIDTH = tu.BinnedError(binning=tu.EqualWidth(8), norm=2)
SWEEP = tu.SweepError()
ARGUMENTS: dict[str, Any] = {
    "worlds": {"flat": FLAT, "resnet": RESNET},
    "measures": {"e": WIDTH, "sweep": SWEEP, "both": lambda p, y: {"b": p.max(), "a": y.mean()}},
    "n": [30, 900],
    "n_datasets": 250,
}


def same(a: Study, b: Study) -> bool:
    """Whether two studies are the same, bit for bit."""
    return (
        repr(a.rows) == repr(b.rows)
        and list(a.values) == list(b.values)
        and all(a.values[key].tobytes() == b.values[key].tobytes() for key in a.values)
    )


def test_a_failing_measure_stops_the_study_and_keeps_what_is_done(tmp_path: Path) -> None:
    calls: list[int] = []

    def fails(probs: np.ndarray, labels: np.ndarray) -> float:
        calls.append(len(probs))
        if len(calls) > 250:
            raise ZeroDivisionError
        return 0.0

    path = tmp_path / "c.jsonl"
    with pytest.raises(ZeroDivisionError):
        study(FLAT, {"f": fails}, 10, n_datasets=100_000, path=path)
    assert len(calls) < 1000
    assert len(path.read_text().splitlines()) >= 2


def test_a_checkpoint_changes_nothing(tmp_path: Path) -> None:
    path, plain = tmp_path / "c.jsonl", study(**ARGUMENTS)
    assert same(study(**ARGUMENTS, path=path), plain)
    before = path.read_bytes()
    assert same(study(**ARGUMENTS, path=path), plain)
    assert path.read_bytes() == before
    reordered = ARGUMENTS | {"worlds": dict(reversed(ARGUMENTS["worlds"].items()))}
    assert {*map(repr, study(**reordered, path=path).rows)} == {*map(repr, plain.rows)}
    longer = study(**ARGUMENTS | {"n": [30, 31, 900]}, path=path)
    assert repr(longer.select(n=900)) == repr(plain.select(n=900))


def test_every_cut_of_the_file_resumes_to_the_same_rows(tmp_path: Path) -> None:
    path, plain = tmp_path / "c.jsonl", study(**ARGUMENTS)
    study(**ARGUMENTS, path=path)
    whole = path.read_bytes()
    first = whole.index(b"\n")
    for end in (0, 1, first, first + 1, first + 2, len(whole) // 2, len(whole) - 1, len(whole)):
        path.write_bytes(whole[:end])
        assert same(study(**ARGUMENTS, path=path), plain)
        assert sorted(path.read_bytes().splitlines()) == sorted(whole.splitlines())


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    study(**ARGUMENTS, path=path)
    whole = path.read_bytes()
    lines = whole.split(b"\n")
    number = len(lines[2]) // 2
    damaged = {
        "a digit of a number": [*lines[:2], _flipped(lines[2], number), *lines[3:]],
        "the last line but complete": [*lines[:2], b"{}", b""],
        "no JSON": [*lines[:2], lines[2][:-5], *lines[3:]],
    }
    for kind, some in damaged.items():
        path.write_bytes(b"\n".join(some))
        with pytest.raises(tu.InputError) as refused:
            study(**ARGUMENTS, path=path)
        assert str(refused.value) == (
            f"`path` must be an undamaged checkpoint; got {str(path)!r}, damaged in line 3. "
            "Hint: delete it to start again."
        ), kind
        assert path.read_bytes() == b"\n".join(some)


def _flipped(line: bytes, place: int) -> bytes:
    other = b"A" if line[place : place + 1] != b"A" else b"B"
    return line[:place] + other + line[place + 1 :]


@pytest.mark.parametrize(
    ("change", "different"),
    [
        ({"rng": 1}, "`rng`"),
        ({"n_datasets": 251}, "`n_datasets`"),
        ({"worlds": {"flat": FLAT, "resnet": FLAT}}, "`worlds`"),
        ({"measures": {"e": WIDTH}, "rng": 2}, "`rng` and `measures`"),
    ],
)
def test_other_settings_are_refused(tmp_path: Path, change: dict[str, Any], different: str) -> None:
    path = tmp_path / "c.jsonl"
    study(**ARGUMENTS, path=path)
    before = path.read_bytes()
    with pytest.raises(tu.InputError) as refused:
        study(**ARGUMENTS | change, path=path)
    assert str(refused.value) == (
        f"`path` must be a checkpoint of this study; got {str(path)!r}, written with "
        f"different {different}. Hint: give another path, or delete it to start again."
    )
    assert path.read_bytes() == before


def test_the_engine_is_a_setting_too_for_its_last_bits_are_its_own(tmp_path: Path) -> None:
    pytest.importorskip("trueup.engines.native", reason="not built", exc_type=ImportError)
    path = tmp_path / "c.jsonl"
    with tu.engines.using("reference"):
        study(**ARGUMENTS, path=path)
    different = pytest.raises(tu.InputError, match="written with different `versions`")
    with tu.engines.using("native"), different:
        study(**ARGUMENTS, path=path)


@pytest.mark.parametrize("content", [b"my notes", b"my notes\n", b'{"schema": 1}\n', b"\x00\n"])
def test_other_files_are_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(tu.InputError) as refused:
        study(**ARGUMENTS, path=path)
    assert str(refused.value) == (
        f"`path` must be the checkpoint of a study; got {str(path)!r}, which is another file."
    )
    assert path.read_bytes() == content


def test_a_path_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tu.InputError, match=r"^`path` must be a file that can be read; got .*\.$"):
        study(**ARGUMENTS, path=tmp_path)
    missing = tmp_path / "no" / "c.jsonl"
    with pytest.raises(
        tu.InputError, match=r"^`path` must be a file that can be written; got .*\.$"
    ):
        study(**ARGUMENTS, path=missing)


SCRIPT = """
import sys, time
import trueup as tu
from trueup.simulate.worlds.calibration_curves import Power
from trueup.simulate.worlds.score_distributions import Uniform
from trueup.simulate.studies.run_study import study
from trueup.simulate.worlds.world import World

def slow(probs, labels):
    time.sleep(float(sys.argv[2]))
    return float(probs.max())

found = study({"w": World(Uniform(), Power(2))}, {"slow": slow, "e": tu.BinnedError()}, [20, 40],
              n_datasets=500, rng=7, path=sys.argv[1])
print(found.rows)
print({key: column.tobytes().hex() for key, column in found.values.items()})
"""
BATCHES = 10


def command(path: Path, seconds: float) -> list[str]:
    """Run the script, whose measure takes so long for each dataset."""
    return [sys.executable, "-c", SCRIPT, str(path), str(seconds)]


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_a_killed_study_resumes_to_the_same_rows(tmp_path: Path) -> None:
    path = tmp_path / "killed.jsonl"
    child = subprocess.Popen(command(path, 0.002), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while child.poll() is None and len(lines_of(path)) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    child.kill()
    assert child.wait() == -signal.SIGKILL
    saved = lines_of(path)
    assert 4 <= len(saved) <= BATCHES
    resumed = subprocess.run(command(path, 0), capture_output=True, check=True)
    assert lines_of(path)[: len(saved)] == saved
    assert len(lines_of(path)) == BATCHES + 1
    whole = subprocess.run(command(tmp_path / "whole.jsonl", 0), capture_output=True, check=True)
    assert resumed.stdout == whole.stdout
    assert b"StudyRow" in whole.stdout


def test_a_study_interrupted_here_gives_the_rows_of_one_that_was_not(tmp_path: Path) -> None:
    left = iter(range(170))

    def peak(probs: np.ndarray, labels: np.ndarray) -> float:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return float(probs.max())

    path = tmp_path / "c.jsonl"
    arguments: dict[str, Any] = {"worlds": FLAT, "n": [10, 20], "n_datasets": 200}
    with pytest.raises(KeyboardInterrupt):
        study(**arguments, measures={"m": WIDTH, "peak": peak}, path=path, workers=1)
    left = iter(range(10**6))
    resumed = study(**arguments, measures={"m": WIDTH, "peak": peak}, path=path)
    assert same(resumed, study(**arguments, measures={"m": WIDTH, "peak": peak}))
