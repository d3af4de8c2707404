from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

from trueup.cli.commands.demo import FILES, activation, in_words
from trueup.evaluation import Evaluation


@pytest.mark.parametrize(
    ("probs", "said"),
    [
        ([[0.9, 0.1], [0.1, 0.9]], "mean confidence 90.0%, accuracy 50.0%: overconfident."),
        ([0.4, 0.4], "mean confidence 60.0%, accuracy 100.0%: underconfident."),
        ([1.0, 0.0], "mean confidence 100.0%, accuracy 50.0%: overconfident."),
    ],
)
def test_in_words(probs, said) -> None:
    assert in_words(np.array(probs), np.array([0, 0])) == said


@pytest.mark.slow
def test_demo_says_what_it_found_and_where(run, tmp_path: Path) -> None:
    printed = run("demo", "--dir", "here").stdout
    text = " ".join(printed.split())
    assert "All results are in here" in text
    assert "random forest after TemperatureScaling" in text
    for folder in ("tumors", "digits"):
        for names in FILES:
            for name in names.split(", "):
                assert list((tmp_path / "here" / folder).glob(name)), name
        before, after = (
            Evaluation.from_json(tmp_path / "here" / folder / f"{name}.json")
            for name in ("before", "after")
        )
        assert after.estimates[0].value < before.estimates[0].value
    commands = [line.strip() for line in printed.partition("Try it yourself:")[2].splitlines()]
    commands = [line for line in commands if line and not line.startswith(". ")]
    assert len(commands) == 4
    for command in commands:
        name, *arguments = shlex.split(command)
        assert name == "trueup"
        run(*arguments)


def test_the_demo_says_how_the_shell_finds_the_program(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "activate").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.prefix", str(tmp_path / ".venv"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert activation() == [". .venv/bin/activate"]
    program = tmp_path / "trueup"
    program.touch(mode=0o755)
    assert activation() == []
    program.unlink()
    (tmp_path / ".venv" / "bin" / "activate").unlink()
    assert activation() == []
