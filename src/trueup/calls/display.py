"""Progress displays: a terminal line, lines of a log, a notebook bar, or a function.

A separate thread updates lines and bars at intervals, so the display does not delay the work and
keeps moving during a long stage.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable
from html import escape
from importlib import import_module
from typing import Any, Protocol

FIRST = 1.0  # seconds before anything is shown
EVERY = 0.25  # seconds between two lines of a terminal
EVERY_OF_LOG = 10.0  # and of a log


class Reported(Protocol):
    """The parts of a report that displays use."""

    @property
    def fraction(self) -> float:
        """Fraction of the work that is done."""

    @property
    def spent(self) -> float:
        """Seconds since the start."""


class Display:
    """Base class of displays: `draw` is called from time to time, `close` at the end."""

    every = EVERY

    def start(self, report: Callable[[], Reported], at_once: bool) -> None:
        """Start displaying reports, at once or after a short time."""
        if at_once:
            self.draw(report())
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(report,), daemon=True)
        self._thread.start()

    def _run(self, report: Callable[[], Reported]) -> None:
        pause = FIRST
        while not self._ended.wait(pause):
            self.draw(report())
            pause = self.every

    def stage(self, report: Reported) -> None:
        """Handle the start of a stage; displays that a thread updates ignore it."""

    def draw(self, report: Reported) -> None:
        """Display a report."""
        raise NotImplementedError

    def close(self, report: Reported) -> None:
        """Stop the thread and remove the display, with a last report."""
        self._ended.set()
        self._thread.join()
        self.clear(report)

    def clear(self, report: Reported) -> None:
        """Remove the display."""


class TerminalLine(Display):
    """One line on standard error that is updated and removed at the end."""

    def __init__(self) -> None:
        self._length = 0

    def draw(self, report: Reported) -> None:
        """Overwrite the line."""
        width = shutil.get_terminal_size().columns - 1
        text = str(report)
        self._write(text if len(text) <= width else f"{text[: max(0, width - 1)]}…")

    def clear(self, report: Reported) -> None:
        """Blank out the line."""
        if self._length:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text:<{self._length}}")
        sys.stderr.flush()
        self._length = len(text)


class Log(Display):
    """Successive lines, for standard error that is redirected to a file."""

    every = EVERY_OF_LOG

    def draw(self, report: Reported) -> None:
        """Write a line."""
        sys.stderr.write(f"{report}\n")
        sys.stderr.flush()

    def clear(self, report: Reported) -> None:
        """Write a last line, unless the work was short."""
        if report.spent >= FIRST:
            self.draw(report)


class NotebookBar(Display):
    """A bar in the output of a cell, removed at the end."""

    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, report: Reported) -> None:
        """Display the bar, or update it."""
        parts = import_module("IPython.display")
        bar = f'<progress value="{report.fraction:.3f}" max="1"></progress>'
        shown = parts.HTML(f"{bar} {escape(str(report))}")
        if self._handle is None:
            self._handle = parts.display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def clear(self, report: Reported) -> None:
        """Replace the bar by empty output."""
        if self._handle is not None:
            self._handle.update(import_module("IPython.display").HTML(""))


class Function(Display):
    """A function from the caller, called at the start of each stage and at the end."""

    def __init__(self, function: Callable[[Any], object]) -> None:
        self._function = function

    def start(self, report: Callable[[], Reported], at_once: bool) -> None:
        """Do nothing: the function needs no thread of its own."""

    def stage(self, report: Reported) -> None:
        """Call the function."""
        self._function(report)

    def close(self, report: Reported) -> None:
        """Call the function a last time."""
        self._function(report)


def display_for(progress: Any) -> Display | None:
    """Return the display for progress, or None if progress is not displayed."""
    if callable(progress):
        return Function(progress)
    if sys.stderr is None or progress is False or (progress is None and not in_notebook()):
        return None
    if in_notebook():
        return NotebookBar()
    return TerminalLine() if on_terminal() else Log()


def on_terminal() -> bool:
    """Return whether standard error is a terminal on which a line can be overwritten."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def in_notebook() -> bool:
    """Return whether the code runs in a notebook, recognized by its kernel."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return any(base.__name__ == "ZMQInteractiveShell" for base in type(shell).__mro__)
