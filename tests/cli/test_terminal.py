"""Output for people: escape codes on a terminal only, plain text elsewhere."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from trueup.cli.terminal import Screen, number, print_json, pvalue, span, working


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Terminal]:
    """Make standard output a terminal; called in the test, since pytest takes it for itself."""

    def made() -> Terminal:
        found = Terminal()
        monkeypatch.setattr(sys, "stdout", found)
        monkeypatch.setenv("COLUMNS", "60")
        return found

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return made


def fill(screen: Screen) -> None:
    screen.paragraph("A long sentence, " * 20, strong=True)
    screen.answers({"location": "here, " * 30, "precision": "quite"})
    screen.table("Errors", {"metric": ["ece", "[bold]mce"], "value": ["0.1", "–"]}, "A note.")
    screen.commands("What next:", ["trueup plot p.csv -o p.png"])


def test_plain_text_has_no_escape_codes(capsys: pytest.CaptureFixture[str]) -> None:
    fill(Screen())
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 88
    assert "\n\n\n" not in text
    assert "  metric     value\n  ece          0.1\n  [bold]mce      –\n" in text
    assert "\nprecision  quite\n" in text


def test_a_terminal_gets_colours_and_its_own_width(terminal: Callable[[], Terminal]) -> None:
    shown = terminal()
    fill(Screen())
    text = shown.getvalue()
    assert "\x1b[1m" in text
    assert "\x1b[36m" in text
    assert "[bold]mce" in text  # names are never taken for markup
    assert max(len(line) for line in text.splitlines() if "\x1b" not in line) <= 60


@pytest.mark.parametrize(
    ("name", "value", "absent"), [("NO_COLOR", "1", "\x1b[3"), ("TERM", "dumb", "\x1b")]
)
def test_terminals_without_colours(
    terminal: Callable[[], Terminal],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
    absent: str,
) -> None:
    monkeypatch.setenv(name, value)
    shown = terminal()
    fill(Screen())
    assert "trueup plot" in shown.getvalue()
    assert absent not in shown.getvalue()


def test_an_empty_table_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().table("Nothing", {"a": []})
    assert capsys.readouterr().out == ""


def test_numbers() -> None:
    assert number(0.5) == "0.5000"
    assert number(-3e-5) == "−3.0e-05"
    assert number(float("nan")) == "–"
    assert span(0.1, 0.2) == "[0.1000, 0.2000]"
    assert span(None, 0.2) == "–"
    assert pvalue(float("nan")) == "–"
    assert (pvalue(0.0123), pvalue(3e-308), pvalue(0.0)) == ("0.012", "< 1e-300", "< 1e-300")


def test_json_has_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": float("nan"), "b": [float("inf"), 1.5], "c": Path("x")})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [None, 1.5], "c": "x"}


def test_work_is_shown_on_terminals_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with working("thinking"):
        pass
    assert capsys.readouterr() == ("", "")
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    with working("thinking"):
        pass
    assert "thinking" in shown.getvalue()
