"""Display of results: as text, as small HTML tables in a notebook, and in JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any, ClassVar

import numpy as np

from trueup.codec import plain, stored_names
from trueup.errors import printable
from trueup.readable import minus, rounded_digits, short_number

ROWS_SHOWN = 20
LONGEST = 400
LONGEST_LINE = 160
DETAILS = ("notes", "target", "null")  # of a result inside another, which are asked for when needed


class TableShown:
    """Base class of tables, whose columns are shown in notebooks."""

    def _repr_html_(self) -> str:
        """Show the first rows in a notebook."""
        columns: Mapping[str, Sequence[Any]] = self.columns()  # type: ignore[attr-defined]
        names = list(columns)
        n = len(columns[names[0]]) if names else 0
        shown = min(n, ROWS_SHOWN)
        rows = [[_cell(columns[name][i]) for name in names] for i in range(shown)]
        more = f"<p>… and {n - shown:,} more rows</p>" if n > shown else ""
        return html_table(type(self).__name__, names, rows) + more


class FieldsShown:
    """Base class of results: they print as a line or as their text; a notebook shows every field.

    All digits remain in the fields and in JSON. A class whose line is not a list of its numbers
    overrides `_line`.
    """

    _prints_table: ClassVar[bool] = False  # of those that are little else than their table

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = vars(cls)
        if "__repr__" not in own:  # or the dataclass would make one with all digits
            cls.__repr__ = FieldsShown.__repr__  # type: ignore[method-assign]
        elif "__str__" not in own:
            cls.__str__ = cls.__repr__  # type: ignore[method-assign]

    def _line(self) -> str:
        """Return the result in one line: the first sentence of its text, or its numbers."""
        text = getattr(self, "text", "")
        if text:
            return str(text).partition(". ")[0]
        found = ((name, value) for name, value in self._shown() if name not in DETAILS)
        return ", ".join(f"{name} {shown}" for name, value in found if (shown := _brief(value)))

    def _shown(self) -> list[tuple[str, Any]]:
        """Return the fields that are not empty, without the text."""
        found = [(field.name, getattr(self, field.name)) for field in fields(self)]  # type: ignore[arg-type]
        return [(name, value) for name, value in found if name != "text" and not _empty(value)]

    def __str__(self) -> str:
        """Print the text or the numbers, and the table if there is one."""
        above = str(getattr(self, "text", "") or self._line())
        return f"{above}\n{self.table}" if self._prints_table else above  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        """Return the name and the most important numbers in one line."""
        return f"{type(self).__name__}({_short(self._line(), LONGEST_LINE)})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON; NaN and infinity are None.

        Returns
        -------
        dict
            The fields by name.
        """
        return {name: plain(getattr(self, name)) for name in stored_names(self)}

    def _repr_html_(self) -> str:
        """Show the line or text, and every field, in a notebook."""
        text = str(getattr(self, "text", "") or _short(self._line()))
        rows = ((name, _cell(value)) for name, value in self._shown())
        cells = "".join(f"<tr>{_left(name)}{_left(value)}</tr>" for name, value in rows)
        title = f"<p><b>{escape(type(self).__name__)}</b></p>"
        table = self.table._repr_html_() if self._prints_table else ""  # type: ignore[attr-defined]
        return f"{title}<p>{escape(text)}</p><table><tbody>{cells}</tbody></table>{table}"


def named_values(found: Any) -> str:
    """Return a named tuple as one line, with few digits.

    >>> from trueup.simulate.fitting.quality import Quality
    >>> Quality(0.017222568, 0.0351150, "well")
    Quality(distance 0.017, chance 0.035, grade well)
    """
    inside = ", ".join(f"{name} {_brief(getattr(found, name))}" for name in found._fields)
    return f"{type(found).__name__}({inside})"


def html_table(title: str, names: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with a title; numbers are right-aligned.

    >>> html_table("t", ["a"], [["<1"]])
    '<p><b>t</b></p><table><thead><tr><th style="text-align:left;padding-left:1em">a</th></tr></thead><tbody><tr><td style="text-align:left;padding-left:1em">&lt;1</td></tr></tbody></table>'
    """  # noqa: E501
    style = "text-align:left;padding-left:1em"
    head = "".join(f'<th style="{style}">{escape(name)}</th>' for name in names)
    body = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in rows)
    inside = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f"<p><b>{escape(title)}</b></p><table>{inside}</table>"


def text_table(
    names: Iterable[str], rows: Iterable[Sequence[str]], right: Sequence[bool], least: int = 0
) -> list[str]:
    """Return the lines of a table: columns marked in ``right`` are right-aligned.

    No column is narrower than ``least`` characters.

    >>> text_table(["name", "n"], [["a", "10"]], [False, True])
    ['name   n', 'a     10']
    """
    lines = [[printable(cell) for cell in line] for line in (list(names), *rows)]
    widths = [max(least, *map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right, strict=True)
        )
        for line in lines
    ]


def is_number(text: str) -> bool:
    """Return whether a text is a number, or begins with one."""
    return text[:1].isdigit() or (text[:1] in "-−" and text[1:2].isdigit())


def _left(text: str) -> str:
    return f'<td style="text-align:left;padding-right:1em">{escape(text)}</td>'


def _html_cell(text: str) -> str:
    side = "right" if is_number(text) else "left"
    return f'<td style="text-align:{side};padding-left:1em">{escape(text)}</td>'


def _cell(value: Any) -> str:
    """A value as one reads it in a table."""
    if hasattr(value, "item") and getattr(value, "size", 0) == 1:
        value = value.item()
    if isinstance(value, float):
        return minus(f"{value:.4g}" if math.isfinite(value) else str(value))
    if isinstance(value, Mapping):
        return _short(", ".join(f"{_key(key)}: {_cell(item)}" for key, item in value.items()))
    if isinstance(value, tuple | list):
        if value and all(isinstance(item, FieldsShown) for item in value):
            return f"{len(value):,} of {type(value[0]).__name__}"
        return _short(", ".join(map(_cell, value)))
    if isinstance(value, np.ndarray):
        return f"{' × '.join(f'{n:,}' for n in value.shape)} numbers"
    if isinstance(value, FieldsShown):
        return _short(value._line())
    if isinstance(value, TableShown):
        return _size(value)
    if is_dataclass(value) and not isinstance(value, type):
        names = (field.name for field in fields(value) if field.name not in DETAILS)
        found = ((name, getattr(value, name)) for name in names)
        return _short(", ".join(f"{name}: {_cell(item)}" for name, item in found))
    return _short(rounded_digits(str(value)))


def _key(key: Any) -> str:
    """The key of a dictionary; several parts are set next to each other."""
    return rounded_digits(", ".join(map(str, key)) if isinstance(key, tuple) else str(key))


def _brief(value: Any) -> str:
    """Return a number, a word or an inner result for a line; an empty text for all else."""
    if isinstance(value, FieldsShown):
        return value._line()
    if isinstance(value, bool | np.bool_ | str):
        return str(value)
    if isinstance(value, int | float | np.integer | np.floating):
        return short_number(value)
    return ""


def _size(table: TableShown) -> str:
    n = max((len(column) for column in table.columns().values()), default=0)  # type: ignore[attr-defined]
    return f"{type(table).__name__} of {n:,} row{'s' * (n != 1)}"


def _empty(value: Any) -> bool:
    return value is None or (isinstance(value, Mapping) and not value)


def _short(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
