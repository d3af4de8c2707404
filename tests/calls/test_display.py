"""Where progress is shown: a line on a terminal, a log, a bar in a notebook; else nowhere."""

from __future__ import annotations

import io
import sys
import time
import types
from typing import Any

import pytest

from trueup.calls import display
from trueup.calls.progress import stage, watched


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "FIRST", 0.01)
    monkeypatch.setattr(display.Display, "every", 0.01)
    monkeypatch.setattr(display.Log, "every", 0.01)


def made_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Called in the test: pytest takes standard error for itself between fixtures and tests."""
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    return shown


def wait_for(text: str, shown: io.StringIO) -> None:
    until = time.monotonic() + 5
    while text not in shown.getvalue() and time.monotonic() < until:
        time.sleep(0.005)
    assert text in shown.getvalue()


def test_a_terminal_has_one_line_that_goes_away(
    quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = made_a_terminal(monkeypatch)
    with watched(True, "work"), stage("a stage whose name is very long, longer than the terminal"):
        wait_for("work, 0 s so far: a stage", terminal)
    lines = terminal.getvalue().split("\r")
    assert all(len(line) < 40 for line in lines)
    assert "\n" not in terminal.getvalue()
    assert lines[-1] == ""
    assert lines[-2].strip() == ""


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = made_a_terminal(monkeypatch)
    with watched(True, "work"):
        pass
    assert terminal.getvalue() == ""


def test_a_command_says_at_once_what_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = made_a_terminal(monkeypatch)
    with watched(True, "work", at_once=True):
        assert "work" in terminal.getvalue()


def test_a_file_gets_lines(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    with watched(True, "work"), stage("it"):
        wait_for("so far: it\n", shown)
    assert shown.getvalue().endswith("work, 100%, done\n")
    assert "\r" not in shown.getvalue()


def test_no_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert display.display_for(True) is None


def test_a_notebook_has_a_bar_that_goes_away(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    update = types.SimpleNamespace(update=shown.append)

    def draw(html: str, display_id: bool) -> Any:
        shown.append(html)
        return update

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = type("ZMQInteractiveShell", (), {})  # type: ignore[attr-defined]
    parts = types.ModuleType("IPython.display")
    parts.HTML, parts.display = str, draw  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", parts)
    with watched(None, "<work>"), stage("it"):  # without being asked
        until = time.monotonic() + 5
        while not shown and time.monotonic() < until:
            time.sleep(0.005)
    assert shown[0].startswith('<progress value="0.000" max="1"></progress> &lt;work&gt;')
    assert shown[-1] == ""
    with watched(False, "work"):
        assert display.display_for(False) is None
