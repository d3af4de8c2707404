"""The program in this process, and small files of predictions whose answer is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.command_line import calibrated, overconfident, three_classes
from trueup.cli.program import program
from trueup.io import write_table

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the program in a folder of its own; a fault of it fails the test."""
    monkeypatch.chdir(tmp_path)

    def run(*args: Any, code: int = 0, **options: Any) -> Result:
        result = CliRunner().invoke(program, [str(arg) for arg in args], **options)
        assert result.exit_code == code, f"{result.exit_code}\n{result.output}"
        assert "\x1b" not in result.output
        return result

    return run


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with one file of each kind of predictions."""
    write_table(tmp_path / "wrong.csv", overconfident())
    write_table(tmp_path / "right.csv", calibrated())
    write_table(tmp_path / "three.csv", three_classes())
    return tmp_path
