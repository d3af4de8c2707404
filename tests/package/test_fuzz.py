"""The fuzzer sees what it must see; its long run is in `make test-slow`."""

from __future__ import annotations

import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import trueup as tu
from tools.fuzz import outcomes, targets
from tools.fuzz.__main__ import main, run_case
from tools.fuzz.mutations import damages_of
from tools.fuzz.outcomes import DefectError, checked
from tools.fuzz.whole_files import whole_recalibrators, whole_tables

ROOT = Path(__file__).parents[2]
MINUTES_2 = 120


@pytest.mark.slow
def test_two_minutes_of_damaged_files() -> None:
    command = [sys.executable, "-m", "tools.fuzz", "--seconds", str(MINUTES_2), "--seed", "18"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "0 defects" in found.stdout


@pytest.mark.parametrize("target", ["read", "several", "load", "evaluation", "csv"])
def test_some_cases(target: str) -> None:
    assert [run_case(target, 0, number) for number in range(10)] == [None] * 10


@pytest.mark.parametrize("name", [*whole_tables(), *whole_recalibrators()])
def test_files_are_right_before_they_are_damaged(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name in whole_recalibrators():
        path.write_bytes(whole_recalibrators()[name])
        assert tu.load_recalibrator(path).n_features_in_ > 0
        return
    path.write_bytes(whole_tables()[name])
    assert tu.read(path).n > 1


def test_the_same_case_is_the_same_file() -> None:
    for damage in {way for name in whole_tables() for way in damages_of(name)}:
        name = next(name for name in whole_tables() if damage in damages_of(name))
        one, other, third = (
            [damage(whole_tables()[name], random.Random(seed)) for _ in range(2)][1]
            for seed in (1, 1, 2)
        )
        assert one == other
        assert one != third or damage(whole_tables()[name], random.Random(3)) != one


def _raise(error: BaseException) -> Callable[[], Any]:
    def work() -> None:
        raise error

    return work


def _write_elsewhere() -> None:
    with pytest.raises(OSError, match="nowhere"), open("/nowhere/x", "w"):
        pass


PLANTED: dict[str, tuple[Callable[[], Any], str]] = {
    "a foreign exception": (_raise(KeyError("k")), "KeyError"),
    "too little memory": (_raise(MemoryError()), "MemoryError"),
    "endless nesting": (_raise(RecursionError()), "RecursionError"),
    "a warning": (lambda: warnings.warn("cast", stacklevel=1), "UserWarning"),
    "no file": (_raise(tu.InputError("probs", "is wrong")), "does not name the file"),
    "escape codes": (_raise(OSError("\x1b[31m bad.csv")), "control characters"),
    "a long message": (_raise(OSError("bad.csv" * 1000)), "characters"),
    "a hang": (lambda: time.sleep(5), "took more than 1 s"),
    "another file": (_write_elsewhere, "open for writing"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_defects_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    work, told = PLANTED[name]
    monkeypatch.setattr(outcomes, "SECONDS", 1)
    with pytest.raises(DefectError, match=told):
        checked(tmp_path, Path("bad.csv"), work)


def test_a_refusal_that_names_the_file_is_no_defect(tmp_path: Path) -> None:
    problem = tu.InputError("probs", "is wrong", file="bad.csv")
    assert checked(tmp_path, Path("bad.csv"), _raise(problem)) is None


def test_wrong_values_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "_same", lambda value, cell: False)
    found = [run_case("csv", 0, number) for number in range(10)]
    assert any(each is not None and "read" in each for each in found)


def test_a_defect_is_reported_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("planted")

    monkeypatch.setattr(tu, "read", broken)
    monkeypatch.setattr("tools.fuzz.__main__.KEPT", tmp_path)
    monkeypatch.setattr("tools.fuzz.__main__.limit_memory", lambda: None)
    assert main(["--target", "read", "--case", "3"]) == 1
    assert "KeyError: 'planted'" in capsys.readouterr().out
    assert [path.name.startswith("read-0-3-damaged") for path in tmp_path.iterdir()] == [True]
    assert main(["--target", "read", "--seconds", "0", "--seed", "5"]) == 1
    assert "1 files (read 1), 1 defects" in capsys.readouterr().out
