"""Two checkouts side by side: the arithmetic of the table, and the process that takes turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import trueup as tu
from benchmarks import __main__ as command, against, rows, worker
from benchmarks.against import Measured, line_of, summary


def test_a_ratio_is_the_median_over_rounds() -> None:
    found = Measured([2.0, 4.0, 3.0], [9.0, 1.0, 3.0])
    assert found.ratio == 1.0
    assert found.ratio_of_smallest == 0.5
    assert line_of("row", found).split() == ["row", "3000", "ms", "3000", "ms", "1.000", "0.500"]
    assert line_of("row", Measured([1.0], [1.2])).endswith("!")
    assert line_of("row", "new: KeyError").endswith("failed, new: KeyError")


def test_limits() -> None:
    quick, slow = Measured([4.0], [1.0]), Measured([1.0], [1.2])
    lines, kept = summary({"a": quick, "b": slow}, {"b": Measured([1.0], [1.05])})
    assert kept
    assert "geometric mean of 2 rows: 0.548" in lines[0]
    assert lines[1].endswith("none")
    lines, kept = summary({"a": quick, "b": slow}, {"b": slow})
    assert not kept
    assert "b (1.200, 1.200)" in lines[1]
    assert not summary({"a": slow}, {"a": quick})[1]  # on average
    lines, kept = summary({"a": quick, "c": "old: AttributeError"}, {})
    assert not kept
    assert lines[-1] == "failed: c"


def test_a_worker_calls_rows(tmp_path: Path) -> None:
    file = tmp_path / "rows.py"
    file.write_text(
        "THREADS = 1\n"
        "def rows():\n"
        "    return {'sum': lambda: print(sum(range(10**5))), 'bad': lambda: 1 / 0}\n"
    )
    requests = [{"row": "sum", "times": 3}, {"row": "bad", "times": 1}]
    source = Path(tu.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, worker.__file__, str(file)],
        input="\n".join(map(json.dumps, requests)),
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    about, first, second = map(json.loads, done.stdout.splitlines())
    assert about["rows"] == ["sum", "bad"]
    assert Path(about["file"]).is_relative_to(source)
    assert 0 < first["seconds"] < 1
    assert second["error"].startswith("ZeroDivisionError")


def test_rows_find_what_was_renamed() -> None:
    assert rows.named("no_such_name", "ece") is tu.ece
    with pytest.raises(AttributeError, match="none of no_such_name"):
        rows.named("no_such_name")
    assert rows.parameter(tu.simulate.study, "n_sets", "n_datasets") == "n_datasets"
    assert rows.named("estimate_many", "infer") is tu.inference.estimate_many
    assert rows.rows()["ece, 100"]() == tu.ece(*rows.binary(100))
    assert against.ROUNDS >= 7


def test_what_cannot_be_measured_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is not a checkout"):
        against.run(tmp_path)
    lines, kept = summary({"a": "new: KeyError"}, {})
    assert not kept
    assert lines[-1] == "failed: a"


@pytest.mark.parametrize(
    ("typed", "called"),
    [
        ([], ("others", "")),
        (["ece_sweep"], ("others", "ece_sweep")),
        (["ten", "metrics"], ("others", "ten metrics")),
        (["--against", "old"], ("against", Path("old"), [], against.ROUNDS)),
        (["--against", "old", "--rounds", "1", "ece"], ("against", Path("old"), ["ece"], 1)),
    ],
)
def test_the_command_line_says_what_is_measured(
    monkeypatch: pytest.MonkeyPatch, typed: list[str], called: tuple[object, ...]
) -> None:
    calls: list[tuple[object, ...]] = []
    monkeypatch.setattr(sys, "argv", ["benchmarks", *typed])
    monkeypatch.setattr(command, "with_others", lambda word: calls.append(("others", word)))
    monkeypatch.setattr(against, "run", lambda *given: calls.append(("against", *given)) or 5)
    assert command.main() == (5 if called[0] == "against" else 0)
    assert calls == [called]
