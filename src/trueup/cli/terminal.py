"""Readable results on standard output: styled on a terminal, plain text everywhere else."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from trueup.errors import printable

if TYPE_CHECKING:
    from trueup.results import Interval

__all__ = [
    "Screen",
    "estimated",
    "is_terminal",
    "number",
    "print_json",
    "pvalue",
    "safe",
    "span",
    "working",
]

WIDEST = 100
PLAIN_WIDTH = 88
SMALLEST_SHOWN = 5e-4  # in four decimals, less would look like 0


class Screen:
    """Writer of the results of a command, with a blank line between parts."""

    def __init__(self) -> None:
        self._terminal = is_terminal(sys.stdout)
        self._begun = False
        columns = shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns
        self._width = min(columns, WIDEST) if self._terminal else PLAIN_WIDTH

    def paragraph(self, text: str, *, strong: bool = False) -> None:
        """Write sentences, wrapped to the width of the screen."""
        self._space()
        for part in text.splitlines():
            self._write(textwrap.fill(part, self._width, break_on_hyphens=False), strong)

    def answers(self, texts: Mapping[str, str]) -> None:
        """Write short labeled answers, one below the other."""
        self._space()
        indent = max(map(len, texts), default=0) + 2
        for label, text in texts.items():
            shown = textwrap.fill(
                safe(text),
                self._width,
                initial_indent=" " * indent,
                subsequent_indent=" " * indent,
                break_on_hyphens=False,
            )
            click.echo(self._styled(f"{label:<{indent}}", "bold") + shown[indent:])

    def table(self, title: str, columns: Mapping[str, Sequence[Any]], note: str = "") -> None:
        """Write a table under its title, with texts left-aligned and numbers right-aligned."""
        rows = list(zip(*columns.values(), strict=True))
        if not rows:
            return
        self._space()
        numeric = [all(_looks_numeric(cell) for cell in column) for column in columns.values()]
        names = [printable(name) for name in columns]
        cells = [[printable(str(cell)) for cell in row] for row in rows]
        if self._terminal:
            self._rich_table(title, names, cells, numeric)
        else:
            from trueup.notebook import text_table

            click.echo(safe(title))
            for line in text_table(names, cells, numeric):
                click.echo(f"  {line}".rstrip())
        if note:
            self._write(textwrap.fill(note, self._width, break_on_hyphens=False), False)

    def commands(self, title: str, lines: Sequence[str]) -> None:
        """Write commands to copy, each on a line of its own."""
        self._space()
        click.echo(safe(title))
        for line in lines:
            click.echo("  " + self._styled(line, "cyan"))

    def _rich_table(
        self, title: str, names: list[str], cells: list[list[str]], numeric: list[bool]
    ) -> None:
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for name, right in zip(names, numeric, strict=True):
            table.add_column(Text(name), justify="right" if right else "left")
        for row in cells:
            # As Text, since names of classes may hold what rich would take for markup.
            table.add_row(*(Text(cell) for cell in row))
        click.echo(self._styled(title, "bold"))
        Console(width=self._width, highlight=False).print(table)

    def _space(self) -> None:
        if self._begun:
            click.echo()
        self._begun = True

    def _write(self, text: str, strong: bool) -> None:
        click.echo(self._styled(text, "bold") if strong else safe(text))

    def _styled(self, text: str, style: str) -> str:
        text = safe(text)
        if not self._terminal:
            return text
        colour = None if style == "bold" or os.environ.get("NO_COLOR") else style
        return click.style(text, fg=colour, bold=style == "bold" or None)


def _looks_numeric(cell: object) -> bool:
    text = str(cell)
    return not text or text[0].isdigit() or text[0] in "-+−–<"


def number(value: float | None) -> str:
    """Return a number with four decimals, in scientific notation if small, a dash if missing.

    >>> number(-0.12345), number(0.00001234), number(None), number(0)
    ('−0.1235', '1.2e-05', '–', '0.0000')
    """
    if value is None or math.isnan(value):
        return "–"
    from trueup.readable import minus  # which loads NumPy

    return minus(f"{value:.1e}" if 0 < abs(value) < SMALLEST_SHOWN else f"{value:.4f}")


def estimated(found: Interval) -> str:
    """Return an estimate for a table that has its interval in the next column."""
    from trueup.readable import estimate_cell  # which loads NumPy

    return estimate_cell(number(found.estimate), found.estimate, found.low, found.high)


def span(low: float | None, high: float | None) -> str:
    """Return an interval as text, or a dash if it is missing.

    >>> span(0.07, 0.14), span(None, None)
    ('[0.0700, 0.1400]', '–')
    """
    return "–" if low is None or high is None else f"[{number(low)}, {number(high)}]"


def pvalue(value: float | None) -> str:
    """Return a p-value with two significant digits.

    >>> pvalue(0.001), pvalue(0.3456), pvalue(3.4e-12), pvalue(2.2e-308), pvalue(None)
    ('0.001', '0.35', '3.4e-12', '< 1e-300', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    from trueup.readable import pvalue_cell  # which loads NumPy

    return pvalue_cell(value, 2)


def print_json(content: Mapping[str, Any]) -> None:
    """Write strict JSON to standard output: NaN and infinity become null."""
    from trueup.codec import plain

    click.echo(json.dumps(plain(content), indent=2, allow_nan=False))


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show progress on a terminal; elsewhere show nothing."""
    from trueup.calls.display import on_terminal
    from trueup.calls.progress import watched

    with watched(on_terminal(), printable(what), at_once=True):
        yield


def is_terminal(stream: Any) -> bool:
    """Return whether a stream is a capable terminal; a stream that the process lacks is None."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def safe(text: str) -> str:
    """Return a text without control characters other than line ends, for safety on a terminal."""
    return printable(text, keep="\n")
